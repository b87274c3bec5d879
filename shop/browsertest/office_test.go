package browsertest

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// office opens the back office in a tab of its own.
func (p *tab) office(path string) *tab {
	p.Helper()
	staff := p.another()
	staff.visit("/office" + path)
	staff.typed("#password", "password")
	staff.submit(".login button")
	staff.waitFor("location.pathname === '/office" + path + "' && document.readyState === 'complete'")
	return staff
}

// typed puts a text in the place of what a field holds.
func (p *tab) typed(selector, text string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%q).select()", selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// inDays lets days go by, some hours at once, until a condition holds.
func (p *tab) inDays(condition string) {
	p.Helper()
	p.until(condition, func() bool {
		p.machine.Forward(p.Context(), 3*time.Hour)
		return p.holds(condition)
	})
}

// Without the password nothing is shown, and a wrong one is not taken.
func TestOfficeLogin(t *testing.T) {
	p := open(t)
	p.expect("403")
	p.visit("/office/figures")
	p.waitFor("location.pathname === '/office/login'")
	assert.True(t, p.holds("document.activeElement.id === 'password'"))
	p.typed("#password", "wrong")
	p.submit(".login button")
	p.says("That is not the password.")
	p.typed("#password", "password")
	p.submit(".login button")
	p.waitFor("location.pathname === '/office/figures'")
	p.says("Approval rate")
	assert.True(t, p.holds("!document.cookie.includes('shop_office')"))
	p.submit("nav button")
	p.waitFor("location.pathname === '/office/login'")
	p.visit("/office/")
	p.waitFor("location.pathname === '/office/login'")
}

// The list of payments changes without a reload, and where its reader was stays.
func TestOfficeList(t *testing.T) {
	p := open(t)
	staff := p.office("/")
	staff.says("There are no payments yet.")
	staff.do(chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	order := p.order("beans")
	p.pay(visa)
	p.becomes("unknown")
	row := "document.querySelector('#order-" + order + "')"
	staff.waitFor(row + "?.dataset.state === 'unknown'")
	staff.do(chromedp.Focus(chromedp.CSS("#order-" + order + " a")))
	p.machine.Forward(t.Context(), 48*time.Hour)
	staff.waitFor(row + "?.dataset.state === 'approved'")
	assert.True(t, staff.holds("window.same && document.activeElement.closest('tr')?.id === 'order-"+order+"'"))
}

// Money goes back by the button of the back office, to the customer's page, too.
func TestOfficeRefund(t *testing.T) {
	p := open(t)
	order := p.order("pot")
	p.pay(visa)
	p.becomes("approved")
	p.machine.Forward(t.Context(), 48*time.Hour)
	staff := p.office("/orders/" + order)
	staff.typed("#amount", "10.50")
	staff.submit("#give-back")
	staff.inTime("a part is given back", func() bool { return staff.holds("document.body.innerText.includes('up to $53.50')") })
	staff.typed("#amount", "60")
	staff.submit("#give-back")
	staff.expect("422")
	staff.says("more than is left")
	staff.visit("/office/orders/" + order)
	staff.submit("#give-back")
	staff.inTime("all of it is given back", func() bool { return staff.holds("document.body.innerText.includes('All of it was given back.')") })
	staff.visit("/office/returned")
	staff.says("$64.00 was given back.")
	p.visit("/orders/" + order)
	p.says("We have given $64.00 back.")
	p.charged(order, 1)
	metrics := p.scraped()
	assert.Contains(t, metrics, `shop_payments{state="approved"} 3`)
	assert.NotContains(t, metrics, visa)
	assert.NotContains(t, metrics, order)
}

// scraped is what Prometheus reads.
func (p *tab) scraped() string {
	p.Helper()
	answer, err := http.Get(p.machine.Origin() + "/metrics")
	require.NoError(p, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(p, err)
	return string(body)
}

// All of a payment of the same day is voided.
func TestOfficeVoid(t *testing.T) {
	p := open(t)
	order := p.order("pot")
	p.pay(visa)
	p.becomes("approved")
	staff := p.office("/orders/" + order)
	staff.submit("#give-back")
	staff.inTime("it is voided", func() bool {
		return staff.holds("document.querySelector('#state .mark').innerText === 'voided'")
	})
	p.visit("/orders/" + order)
	p.becomes("voided")
}

// A payment that a person took for lost comes after the order was paid again: the customer
// was charged twice, and one of the payments goes back by a button.
func TestOfficeChargedTwice(t *testing.T) {
	p := open(t)
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(30*24*time.Hour, sandbox.Approved()))
	order := p.order("pot")
	p.pay(visa)
	p.becomes("unknown")
	staff := p.office("/person")
	staff.inDays("document.querySelector('[name=verdict]')")
	p.becomes("person")
	p.look("person")
	staff.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[name=verdict]').value = 'not sent'; undefined"))
	staff.typed("[name=who]", "Robin")
	staff.typed("[name=reason]", "Support has no such payment")
	staff.submit(".decide button")
	p.visit("/checkout/" + order)
	p.pay(visa)
	p.becomes("approved")
	p.machine.Forward(t.Context(), 30*24*time.Hour)
	p.visit("/orders/" + order)
	p.inTime("it is charged twice", func() bool {
		p.visit("/orders/" + order)
		return p.holds("document.querySelector('#status').dataset.state === 'twice'")
	})
	p.charged(order, 2)
	p.look("twice")
	staff.visit("/office/person")
	staff.look("office-person-twice")
	staff.visit("/office/orders/" + order)
	staff.look("office-order-twice")
	staff.submit("#give-back-1")
	p.settles("approved")
	p.says("You had paid twice, and have one payment back.")
	p.look("one-back")
	staff.visit("/office/orders/" + order)
	staff.waitFor("document.querySelector('#state .mark').innerText === 'approved'")
	p.visit("/")
	p.says("paid, and a second payment given back")
}

// What could not be found out is shown with its evidence to copy, and a person decides.
func TestOfficeDecide(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.turn("lost-before")
	p.pay(visa)
	p.becomes("unknown")
	p.turn("normal")
	staff := p.office("/person")
	staff.inDays("document.querySelector('.evidence pre')?.textContent.includes('" + order + "')")
	staff.click(".copy")
	staff.waitFor("/Copied|Selected/.test(document.querySelector('.evidence [role=status]').innerText)")
	staff.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[name=verdict]').value = 'not sent'; undefined"))
	staff.typed("[name=who]", "Robin")
	staff.typed("[name=reason]", "Support has no such payment")
	staff.submit(".decide button")
	staff.says("Decided by Robin: Support has no such payment")
	p.visit("/orders/" + order)
	p.becomes("unsent")
	p.submit("#again")
	p.pay(visa)
	p.becomes("approved")
	p.charged(order, 1)
}

// A day is compared when the button is pressed.
func TestOfficeComparison(t *testing.T) {
	p := open(t)
	staff := p.office("/comparison")
	staff.says("No differences")
	today, err := chromedp.Run(staff.ctx, chromedp.Evaluate[string]("document.querySelector('#date').max"))
	require.NoError(t, err)
	staff.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#date').value = '" + today + "'; undefined"))
	staff.submit("#compare")
	staff.says("Payments settled on " + today)
}

// The pages of the back office are good on a phone and on a desk.
func TestOfficeLook(t *testing.T) {
	p := open(t)
	p.expect("403")
	p.visit("/office/login")
	p.look("office-login")
	p.typed("#password", "wrong")
	p.submit(".login button")
	p.look("office-login-wrong")
	staff := p.office("/")
	staff.look("office-empty")
	paid := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	p.order("pot")
	p.pay(noFunds)
	p.becomes("declined")
	lost := p.order("cup")
	p.turn("lost-before")
	p.pay(visa)
	p.becomes("unknown")
	p.turn("normal")
	staff.visit("/office/figures")
	staff.look("office-figures")
	staff.inDays("document.querySelector('#waiting a')")
	staff.visit("/office/orders/" + paid)
	staff.typed("#amount", "5")
	staff.submit("#give-back")
	staff.inTime("it is given back", func() bool { return staff.holds("document.body.innerText.includes('up to $19.90')") })
	staff.look("office-order")
	staff.visit("/office/")
	staff.waitFor("document.querySelector('#waiting a')")
	staff.look("office-list")
	for _, page := range []string{"person", "returned", "comparison"} {
		staff.visit("/office/" + page)
		staff.look("office-" + page)
	}
	staff.visit("/office/orders/" + lost)
	staff.look("office-order-decide")
}
