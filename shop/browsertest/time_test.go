package browsertest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// One press goes 48 hours forward, and a payment that the service knows after 36 hours is known when it is there.
func TestOnePressFor48Hours(t *testing.T) {
	p := open(t)
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	order := p.order("beans")
	p.pay(visa)
	p.becomes("unknown")
	p.turn("forward").says("48 hours ahead")
	p.becomes("approved")
	p.charged(order, 1)
}

// A day without transactions is compared with the service's list like any other one.
func TestEmptyDayIsCompared(t *testing.T) {
	p := open(t)
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(t, err)
	staff := p.office("installation")
	p.turn("forward")
	// Days are compared at four o'clock on the next one.
	yesterday := p.machine.Sandbox().Now().In(sydney).Add(-4*time.Hour).AddDate(0, 0, -1).Format(time.DateOnly)
	var shown string
	p.until("the comparison of "+yesterday, func() bool {
		shown, err = chromedp.Run(staff.ctx, chromedp.Evaluate[string]("document.querySelector('#comparison').innerText"))
		return err == nil && strings.Contains(shown, yesterday)
	})
	require.Regexp(t, `Transactions\s+0\s+Differences\s+0`, shown)
	staff.look("console-compared")
}

// A payment by PayTo says what it waits for, and ends some seconds after the customer has agreed: no clock is moved.
func TestPayToTakesSeconds(t *testing.T) {
	p := open(t)
	p.order("beans")
	p.choose("payto")
	p.click("#payto-button")
	p.becomes("pending")
	p.says("Your bank waits for you to agree in its app.")
	p.look("payto-waits")
	bank := p.another()
	p.inBankApp(bank, "confirm")
	p.becomes("approved")
}
