package browsertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/sandbox"
)

// office opens the console in a tab of its own.
func (p *tab) office(path string) *tab {
	p.Helper()
	staff := p.another()
	staff.login("Robin", path)
	return staff
}

func (p *tab) login(name, path string) {
	p.Helper()
	p.visit("/office/" + path)
	p.typed("#name", name)
	p.typed("#password", "password")
	p.submit("form[action='/office/login'] button")
	p.waitFor("location.pathname === '/office/" + path + "' && document.readyState === 'complete'")
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

// mark finds the state of an order's line.
func mark(order, state string) string {
	return fmt.Sprintf("[...document.querySelectorAll('#rows tr')].some((r) => r.innerText.includes(%q) && r.querySelector('.mark')?.innerText === %q)", order, state)
}

// openPayment opens the page of an order's payment.
func (p *tab) openPayment(order string) {
	p.Helper()
	p.visit("/office/?find=" + order)
	p.submit("#rows tr:last-child a")
}

// lose pays an order whose payment nobody can find.
func (p *tab) lose() (order string) {
	p.Helper()
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(30*24*time.Hour, sandbox.Approved()))
	order = p.order("pot")
	p.pay(visa)
	p.becomes("unknown")
	return order
}

// The list of payments changes without a reload, and where its reader was stays.
func TestConsoleChanges(t *testing.T) {
	p := open(t)
	staff := p.office("")
	staff.says("There is nothing here.")
	staff.do(chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	order := p.order("beans")
	p.pay(visa)
	p.becomes("unknown")
	staff.waitFor(mark(order, "resolving"))
	staff.do(chromedp.Focus(chromedp.CSS("#rows a")))
	p.machine.Forward(t.Context(), 48*time.Hour)
	staff.waitFor(mark(order, "approved"))
	assert.True(t, staff.holds("window.same && document.activeElement.closest('#rows') !== null"))
}

// streams is how many streams the shop was asked for.
func (b *bench) streams() int {
	return strings.Count(string(b.received.bytes()), "GET /office/stream ")
}

// All pages of a browser share one stream, and one that has lost its connection says so, and since when.
func TestConsoleStream(t *testing.T) {
	p := open(t)
	for _, part := range []string{"502", "503", "ERR_", "office/stream"} {
		p.expect(part)
	}
	first := p.office("")
	pages := []*tab{first}
	for range 5 {
		page := first.another()
		page.visit("/office/")
		pages = append(pages, page)
	}
	order := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	for _, page := range pages {
		page.waitFor(mark(order, "approved"))
	}
	assert.Equal(t, 1, p.streams(), "six pages have one stream")
	p.machine.Kill()
	for _, page := range pages {
		page.waitFor("/The connection is lost. What you see is as it was .* AE[DS]T/.test(document.querySelector('#lost').innerText)")
	}
	first.look("console-lost")
	for _, page := range pages {
		page.waitFor("document.querySelector('#lost').hidden")
	}
}

// What could not be found out is shown with its evidence to copy, and a person decides. The
// payment comes after the order was paid again: the customer was charged twice, and one of the
// payments is refunded by a button.
func TestConsoleChargedTwice(t *testing.T) {
	p := open(t)
	order := p.lose()
	staff := p.office("attention")
	staff.inDays("document.querySelector('#people').innerText.includes('" + order + "')")
	p.visit("/checkout/" + order)
	p.becomes("person")
	p.says("do not pay again")
	p.look("person")
	staff.look("console-attention")
	staff.submit("#people tr:last-child a")
	staff.click("[data-copy]")
	staff.waitFor("/Copied|Selected/.test(document.querySelector('[data-copy] + [role=status]').innerText)")
	staff.submit("form[action='look-up'] button")
	staff.says("What became of it")
	staff.look("console-decide")
	staff.click("#verdict-declined")
	staff.typed("#note-decide", "Support has no such payment")
	staff.submit("form[action=decide] button")
	staff.says("decided: declined: Support has no such payment by Robin")
	p.becomes("declined")
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
	staff.visit("/office/attention")
	staff.says("Charged twice")
	staff.look("console-twice")
	staff.submit("#people tr:last-child a")
	staff.look("console-twice-payment")
	staff.click("#how-all")
	staff.typed("#note-refund", "charged twice")
	staff.submit("form[action=refund] button")
	p.settles("approved")
	p.says("You had paid twice, and have one payment back.")
	p.look("one-back")
	staff.visit("/office/attention")
	staff.waitFor("!document.body.innerText.includes('Charged twice')")
	p.visit("/")
	p.says("paid, and a second payment given back")
}

// Of two people who decide at once one does, and the other is shown what the first one has decided. What somebody has
// begun to fill in stays, and is said to be old.
func TestConsoleTwoPeople(t *testing.T) {
	p := open(t)
	p.expect("422")
	order := p.lose()
	robin := p.office("attention")
	robin.inDays("document.querySelector('#people').innerText.includes('" + order + "')")
	kim := p.elsewhere()
	kim.login("Kim", "")
	for _, person := range []*tab{robin, kim} {
		person.openPayment(order)
		person.submit("form[action='look-up'] button")
		person.says("What became of it")
	}
	robin.visit(robin.address()) // after Kim's look-up
	for i, person := range []*tab{robin, kim} {
		person.click([]string{"#verdict-declined", "#verdict-voided"}[i])
		person.typed("#note-decide", "support says so")
	}
	robin.submit("form[action=decide] button")
	robin.says("Decided.")
	kim.says("This has changed since you began to fill it in")
	assert.True(t, kim.holds("document.querySelector('#note-decide').value === 'support says so'"))
	kim.submit("form[action=decide] button")
	kim.says("Something has happened to the payment since your page was shown")
	kim.says("decided: declined: support says so by Robin")
	kim.look("console-second")
}

// The pages of the console are good on a phone and on a desk, and without the password nothing is shown.
func TestConsoleLook(t *testing.T) {
	p := open(t)
	p.expect("403")
	p.expect("404")
	p.visit("/office/attention")
	p.waitFor("location.pathname === '/office/login'")
	assert.True(t, p.holds("document.activeElement.id === 'name'"))
	p.look("office-login")
	p.typed("#name", "Robin")
	p.typed("#password", "wrong")
	p.submit("form[action='/office/login'] button")
	p.says("That is not the password.")
	p.look("office-login-wrong")
	staff := p.office("")
	assert.True(t, staff.holds("!document.cookie.includes('shop_office')"))
	staff.look("console-empty")
	paid := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	p.order("pot")
	p.pay(noFunds)
	p.becomes("declined")
	lost := p.lose()
	staff.inDays("document.querySelector('#waiting .count')")
	staff.openPayment(paid)
	staff.look("console-payment")
	staff.click("#how-part")
	staff.typed("#part", "5")
	staff.typed("#note-refund", "a torn bag")
	staff.submit("form[action=refund] button")
	staff.inDays("document.querySelector('#money').innerText.includes('$19.90')") // part of it can go back once it is settled
	staff.look("console-refunded")
	staff.openPayment(lost)
	staff.look("console-not-found")
	staff.visit("/office/")
	staff.look("console-list")
	staff.visit("/office/installation")
	staff.look("console-installation")
	staff.typed("#note-pause", "the bank asks for it")
	staff.submit("form[action=pause] button")
	staff.says("Robin has paused the installation")
	staff.look("console-paused")
	staff.typed("#note-unpause", "done")
	staff.submit("form[action=unpause] button")
	staff.visit("/office/attention")
	staff.look("console-person")
	staff.visit("/office/nothing")
	staff.look("console-nothing")
	staff.submit("footer a")
	staff.submit("form[action='/office/logout'] button")
	staff.visit("/office/")
	staff.waitFor("location.pathname === '/office/login'")
}

// A refund is made without a mouse.
func TestConsoleKeyboard(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	staff := p.office("")
	staff.waitFor(mark(order, "approved"))
	staff.reach("#rows a")
	staff.press(kb.Enter)
	staff.waitFor("location.pathname === '/office/payment' && document.readyState === 'complete'")
	staff.reach("#how-all")
	staff.press(" ")
	staff.reach("#note-refund")
	staff.press("changed their mind")
	staff.reach("form[action=refund] button")
	staff.press(kb.Enter)
	staff.says("It is stored, and sent by itself.")
	staff.waitFor("document.querySelector('#state .mark').innerText === 'voided'")
}
