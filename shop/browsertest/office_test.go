package browsertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"

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
	staff.waitFor(row + "?.dataset.state === 'resolving'")
	staff.do(chromedp.Focus(chromedp.CSS("#order-" + order + " a")))
	p.machine.Forward(t.Context(), 48*time.Hour)
	staff.waitFor(row + "?.dataset.state === 'approved'")
	assert.True(t, staff.holds("window.same && document.activeElement.closest('tr')?.id === 'order-"+order+"'"))
}

// What could not be found out is shown with its evidence to copy, and a person decides. The
// payment comes after the order was paid again: the customer was charged twice, and one of the
// payments goes back by a button.
func TestOfficeChargedTwice(t *testing.T) {
	p := open(t)
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(30*24*time.Hour, sandbox.Approved()))
	order := p.order("pot")
	p.pay(visa)
	p.becomes("unknown")
	staff := p.office("/person")
	staff.inDays("document.querySelector('.evidence pre')?.textContent.includes('" + order + "')")
	p.visit("/checkout/" + order)
	p.becomes("person")
	p.says("do not pay again")
	p.look("person")
	staff.click(".copy")
	staff.waitFor("/Copied|Selected/.test(document.querySelector('.evidence [role=status]').innerText)")
	staff.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('[name=verdict]').value = 'not_sent'; undefined"))
	staff.typed("[name=by]", "Robin")
	staff.typed("[name=note]", "Support has no such payment")
	staff.submit(".decide button")
	staff.says("Decided by Robin: Support has no such payment")
	p.becomes("unsent")
	p.charged(order, 0)
	p.submit("#again")
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

// The pages of the back office are good on a phone and on a desk, their forms work, and
// without the password nothing is shown: a wrong one is not taken, and a login can be ended.
func TestOfficeLook(t *testing.T) {
	p := open(t)
	p.expect("403")
	p.visit("/office/figures")
	p.waitFor("location.pathname === '/office/login'")
	assert.True(t, p.holds("document.activeElement.id === 'password'"))
	p.look("office-login")
	p.typed("#password", "wrong")
	p.submit(".login button")
	p.says("That is not the password.")
	p.look("office-login-wrong")
	staff := p.office("/")
	assert.True(t, staff.holds("!document.cookie.includes('shop_office')"))
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
	staff.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#date').value = document.querySelector('#date').max; undefined"))
	staff.submit("#compare")
	staff.waitFor("document.querySelector('#runs').innerText.includes('Payments settled on ' + document.querySelector('#date').max)")
	staff.visit("/office/orders/" + lost)
	staff.look("office-order-decide")
	staff.submit("nav button")
	staff.waitFor("location.pathname === '/office/login'")
	staff.visit("/office/")
	staff.waitFor("location.pathname === '/office/login'")
}
