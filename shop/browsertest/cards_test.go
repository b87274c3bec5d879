package browsertest

import (
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	visa    = "4242424242424242"
	noFunds = "4111111111444496"
)

// The bank asks in a frame, and only its word counts: who says no, or takes too long, is
// charged nothing and can try again, and a customer may come back to the question.
func TestChallenge(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.charged(order, 0)
	p.answer("N")
	p.noticed("Nothing was charged")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.machine.Forward(t.Context(), 11*time.Minute)
	p.answer("Y")
	p.noticed("That took longer than the card's details are kept")
	p.charged(order, 0)
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.visit("/orders/" + order)
	p.answer("Y")
	p.becomes("approved")
	p.says("Paid, thank you")
	p.charged(order, 1)
}

// What is wrong with the fields is said beside them, and the shop never hears of it.
func TestWrongDetails(t *testing.T) {
	p := open(t)
	p.expect("422")
	order := p.order("beans")
	p.pay("4242424242424241")
	p.waitFor("document.querySelector('#number-error').innerText.startsWith('Card number is not ') && document.activeElement.id === 'number'")
	p.charged(order, 0)
	p.visit("/checkout/" + order)
	p.pay(visa)
	p.becomes("approved")
	p.charged(order, 1)
}
