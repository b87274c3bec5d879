package browsertest

import (
	"testing"
)

// One press goes 48 hours forward, and what is due on the way is done when it is there: a payment that never arrived is
// looked up again and again, until it is for a person.
func TestOnePressFor48Hours(t *testing.T) {
	p := open(t)
	p.turn("lost-before")
	order := p.order("beans")
	p.pay(visa)
	p.becomes("unknown")
	p.turn("normal")
	p.turn("forward").says("48 hours ahead")
	p.becomes("person")
	p.charged(order, 0)
}

// A day without transactions is compared with the service's list like any other one.
func TestEmptyDayIsCompared(t *testing.T) {
	p := open(t)
	staff := p.office("installation")
	staff.waitFor("!document.querySelector('#comparison').innerText.includes('Transactions')")
	p.turn("forward")
	staff.waitFor("/Transactions\\s+0\\s+Differences\\s+0/.test(document.querySelector('#comparison').innerText)")
	staff.look("console-compared")
}

// A payment by PayTo says what it waits for, and ends some seconds after the customer has agreed: no clock is moved.
func TestPayToTakesSeconds(t *testing.T) {
	p := open(t)
	p.order("beans")
	p.click("#payto-button")
	p.becomes("pending")
	p.says("Your bank waits for you to agree in its app.")
	p.look("payto-waits")
	bank := p.another()
	p.inBankApp(bank, "confirm")
	p.becomes("approved")
}
