package browsertest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// turn presses a switch on the page of troubles, in a tab of its own.
func (p *tab) turn(name string) *tab {
	p.Helper()
	second := p.another()
	second.visit("/trouble")
	second.submit(`button[value="` + name + `"]`)
	return second
}

// The service itself does not know: the page says that we are finding out, and turns into
// the outcome by itself when it is known. Nothing leads to a second payment.
func TestUnknownThenSettled(t *testing.T) {
	p := open(t)
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	order := p.order("beans")
	p.pay(visa)
	p.becomes("unknown")
	p.says("do not pay again")
	p.charged(order, 0)
	second := p.another()
	second.visit("/checkout/" + order)
	second.becomes("unknown")
	p.turn("forward")
	p.settles("approved")
	second.becomes("approved")
	p.charged(order, 1)
}

// The shop's program is killed as the service takes the money. The page of the proxy says
// not to pay again and leads to the order, which learns its outcome.
func TestWorkerKilled(t *testing.T) {
	p := open(t)
	p.expect("503")
	p.expect("net::ERR_")
	order := p.order("beans")
	switches := p.turn("kill-in-payment")
	switches.waitFor(`document.querySelector('[aria-pressed="true"]')`)
	p.pay(visa)
	p.says("Do not pay again.")
	p.waitFor("location.pathname === '/orders/" + order + "'")
	p.settles("approved")
	p.charged(order, 1)
	switches.says("Nobody was charged twice: one order has paid, once.")
	switches.waitFor(`!document.querySelector('[aria-pressed="true"]')`)
}

// A customer who waits for the outcome sees it after the program was killed, too.
func TestWorkerKilledWhileWaiting(t *testing.T) {
	p := open(t)
	for _, known := range []string{"503", "ERR_INCOMPLETE_CHUNKED_ENCODING", "net::ERR_"} {
		p.expect(known)
	}
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	order := p.order("beans")
	p.pay(visa)
	p.becomes("unknown")
	p.machine.Kill()
	p.machine.Forward(t.Context(), 48*time.Hour)
	p.settles("approved")
	p.charged(order, 1)
}

// The service is down: nothing is charged, the customer is told, and can pay later.
func TestServiceDown(t *testing.T) {
	p := open(t)
	p.expect("net::ERR_")
	order := p.order("beans")
	p.turn("down")
	p.fill(visa)
	p.click("#pay-button")
	p.says("The payment service does not answer as it should. Nothing was charged.")
	p.charged(order, 0)
	p.turn("normal")
	p.click("#pay-button")
	p.becomes("approved")
	p.charged(order, 1)
}

// The page of switches says what the ledger says, as it changes.
func TestTroublePage(t *testing.T) {
	p := open(t)
	p.visit("/trouble")
	p.says("Nobody was charged yet.")
	shop := p.another()
	order := shop.order("beans")
	shop.pay(visa)
	shop.becomes("approved")
	p.says("Nobody was charged twice: one order has paid, once.")
	p.says("Order " + order)
	p.submit(`button[value="lost-after"]`)
	require.True(t, p.holds(`document.querySelector('button[value="lost-after"]').ariaPressed === 'true'`))
	p.submit(`button[value="normal"]`)
	require.False(t, p.holds(`document.querySelector('[aria-pressed="true"]')`))
	p.submit(`button[value="forward"]`)
	p.says("48 hours ahead")
}
