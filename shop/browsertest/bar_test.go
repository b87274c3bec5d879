package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The bar of every page says what is switched on, and what the ledger has of the order beside what the page says.
func TestBar(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.barSays("No trouble is switched on.")
	p.barSays("this order is not charged.")
	old := p.another()
	old.visit("/orders/" + order)
	old.barSays("not charged. The shop says the same.")
	switches := p.turn("lost-after")
	for _, tab := range []*tab{p, old, switches} {
		tab.barSays("Switched on: The answer to a payment is lost.")
	}
	p.pay(visa)
	p.becomes("unknown")
	p.barSays("charged once, and has cost $24.90. The shop says that it does not know yet.")
	p.turn("normal")
	p.settles("approved")
	p.barSays("charged once, and has cost $24.90. The shop says the same.")
	old.becomes("approved")
	old.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#status').dataset.state = 'declined'; undefined"))
	old.barSays("This page says otherwise.")
	staff := p.office("")
	staff.barSays("Nobody was charged twice")
	staff.openPayment(order)
	staff.barSays("charged once, and has cost $24.90.")
	staff.look("bar-console")
	bank := p.another()
	bank.visitService(sandbox.PayerPage)
	bank.barSays("Nobody was charged twice: one order has paid, once.")
	bank.look("bar-bank")
	bank.click("#bar a[href$='/trouble']")
	bank.says("Watch it go wrong")
}

// play presses the button of a scenario, and waits for its end. Steps are parts of what it says on the way.
func (p *tab) play(name string, steps ...string) (order string) {
	p.Helper()
	p.visit("/trouble")
	p.click(`button[data-scenario="` + name + `"]`)
	for _, step := range steps {
		p.says(step)
	}
	p.inTime("the end of the scenario", func() bool { return p.holds("document.querySelector('#steps a')") })
	p.says("The customer reads: “Paid, thank you”.")
	p.says("The ledger: this order was charged once, and has cost $24.90.")
	assert.True(p, p.holds(`!document.querySelector('button[name=switch][aria-pressed="true"]') && !document.querySelector('button[data-scenario]:disabled')`))
	p.submit("#steps a")
	p.becomes("approved")
	order = p.path()[len("/orders/"):]
	p.charged(order, 1)
	return order
}

// One press plays a payment whose answers are lost, and tells each step.
func TestScenarioAnswerLost(t *testing.T) {
	p := open(t)
	p.visit("/trouble")
	p.look("scenarios")
	order := p.play("lost-after", "We are finding out: do not pay again", "Answers arrive again.")
	p.barSays("The shop says the same.")
	p.charged(order, 1)
}

// One press plays a program that is killed as the money is taken.
func TestScenarioKilled(t *testing.T) {
	p := open(t)
	p.expect("503")
	p.expect("net::ERR_")
	p.play("kill-in-payment", "the program is killed", "We are finding out")
}
