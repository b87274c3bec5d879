package browsertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
)

// mark marks a page, so that a reload can be noticed.
func (p *tab) mark() {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
}

// tabs opens an address in some more tabs of the browser.
func (p *tab) tabs(n int, path string) (list []*tab) {
	p.Helper()
	for range n {
		page := p.another()
		page.visit(path)
		page.mark()
		list = append(list, page)
	}
	return list
}

// listening is how many streams of customers the shop was asked for.
func (b *bench) listening() int {
	return strings.Count(string(b.received.bytes()), "GET /changes ")
}

// A browser opens six connections to a shop. Its tabs share one stream, so that the seventh one loads too, and
// all of them show what one of them has paid.
func TestSevenTabs(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	pages := p.tabs(6, "/orders/"+order)
	p.pay(visa)
	p.becomes("approved")
	for _, page := range pages {
		page.becomes("approved")
		assert.True(t, page.holds("window.same"), "it was not reloaded")
	}
	p.another().visit("/customers/")
	assert.LessOrEqual(t, p.listening(), 3, "the checkout, and the page after it, have had one in their time")
}

// An old page says that an order was declined, or not paid, until another tab has paid it.
func TestStaleDeclined(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	unpaid := p.tabs(1, "/orders/"+order)[0]
	unpaid.says("Nothing was charged")
	p.pay(noFunds)
	p.becomes("declined")
	unpaid.becomes("declined")
	p.mark()
	second := p.another()
	second.visit("/checkout/" + order)
	second.pay(visa)
	second.becomes("approved")
	for _, old := range []*tab{p, unpaid} {
		old.becomes("approved")
		assert.True(t, old.holds("window.same && !document.body.innerText.includes('Nothing was charged')"))
	}
	p.charged(order, 1)
}

// The bank's question goes away, and a checkout leads to the payment, when another tab has paid.
func TestStaleChallenge(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.mark()
	stale, second := p.tabs(1, "/checkout/"+order)[0], p.another()
	second.visit("/checkout/" + order)
	second.pay(visa)
	second.becomes("approved")
	p.becomes("approved")
	assert.True(t, p.holds("window.same && !document.querySelector('iframe') && !document.querySelector('#authenticated')"))
	stale.waitFor("location.pathname === '/orders/" + order + "'")
	stale.becomes("approved")
	p.charged(order, 1)
}

// A payment that staff has voided is not said to be paid any more, and a list of orders says so too.
func TestStaleVoid(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	p.mark()
	list := p.tabs(1, "/")[0]
	list.says("paid")
	staff := p.office("")
	staff.openPayment(order)
	staff.click("#how-all")
	staff.typed("#note-refund", "changed their mind")
	staff.submit("form[action=refund] button")
	p.becomes("voided")
	assert.True(t, p.holds("window.same && !document.body.innerText.includes('Paid, thank you')"))
	list.says("money given back")
}

// An agreement that was cancelled in the bank's app is said to be over, and that nothing more is collected only if
// that is so: a collection that has begun before is named, with what becomes of it.
func TestStaleCancelled(t *testing.T) {
	p := open(t)
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	p.order("monthly")
	p.click("#payto-button")
	p.waitFor("location.pathname.startsWith('/payto/')")
	p.agreement("pending")
	p.mark()
	bank := p.another()
	p.inBankApp(bank, "confirm")
	p.agreement("active")
	p.waitFor("document.querySelector('#status .rows')")
	p.until("the service has the collection", func() bool { return len(p.machine.Sandbox().Ledger()) == 1 })
	p.inBankApp(bank, "cancel")
	p.agreement("over")
	p.says("A collection had begun before, and may still be taken")
	assert.True(t, p.holds("window.same && !document.body.innerText.includes('Nothing more is collected')"))
	p.turn("forward")
	p.says("Nothing more is collected.")
	assert.True(t, p.holds("window.same && /paid/.test(document.querySelector('#status .rows').innerText)"))
}

// inBankApp answers in the bank's app, in a tab that was opened for it.
func (p *tab) inBankApp(bank *tab, action string) {
	p.Helper()
	bank.visitService(sandbox.PayerPage)
	bank.submit(`button[value="` + action + `"]`)
}

// A page that has lost its connection says so, with the time of what it shows, and what is true as soon as it can.
func TestOffline(t *testing.T) {
	p := open(t)
	p.expect("ERR_INTERNET_DISCONNECTED")
	p.expect("net::ERR_")
	order := p.order("beans")
	old := p.tabs(1, "/orders/"+order)[0]
	old.offline(true)
	old.waitFor("/The connection is lost. What you see is as it was on .* AE[DS]T/.test(document.querySelector('#lost').innerText)")
	old.look("offline")
	p.pay(visa)
	p.becomes("approved")
	assert.True(t, old.holds("document.querySelector('#status').dataset.state === 'new'"))
	old.offline(false)
	old.becomes("approved")
	old.waitFor("document.querySelector('#lost').hidden")
}

// A hidden page reads nothing and holds no stream. It is read again when it is shown.
func TestHidden(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	old := p.tabs(1, "/orders/"+order)[0]
	old.hide(true)
	p.pay(visa)
	p.becomes("approved")
	assert.True(t, old.holds("document.querySelector('#status').dataset.state === 'new'"))
	p.do(chromedp.Navigate("about:blank")) // no other page is left that could pass on a change
	old.hide(false)
	old.becomes("approved")
	assert.True(t, old.holds("window.same"))
}

// hide hides a page, as another tab in front of it does, or shows it again.
func (p *tab) hide(is bool) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
		"Object.defineProperty(document, 'hidden', { configurable: true, get: () => %t }); document.dispatchEvent(new Event('visibilitychange')); undefined", is)))
}

// offline takes the network away from a page, or gives it back.
func (p *tab) offline(is bool) {
	p.Helper()
	rules := []*network.Conditions{}
	if is {
		rules = append(rules, &network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	}
	_, err := chromedp.Call(p.ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules})
	require.NoError(p, err)
	_, err = chromedp.Call(p.ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1})
	require.NoError(p, err)
}

// Who has logged out in one tab is logged out in all, and a form that comes later leads back to the login.
func TestLogoutElsewhere(t *testing.T) {
	p := open(t)
	p.expect("403")
	p.expect("office/stream")
	order := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	staff := p.office("")
	staff.openPayment(order)
	second := staff.another()
	second.visit("/office/login")
	second.submit("form[action='/office/logout'] button")
	staff.says("Your login has ended")
	staff.click("#how-all")
	staff.typed("#note-refund", "too late")
	staff.submit("form[action=refund] button")
	staff.says("Your login has ended")
	staff.submit(`main a[href="/office/login"]`)
	staff.says("Password")
	assert.Empty(t, p.machine.Sandbox().Ledger().Order(order)[1:])
}

// A session that has ended says so, on a page that is open, on one that is opened, and after a form, each with a way back.
func TestEndedSession(t *testing.T) {
	p := open(t)
	p.expect("403")
	p.expect("changes")
	order := p.order("beans")
	checkout := p.tabs(1, "/checkout/"+order)[0]
	p.visit("/orders/" + order)
	db, err := sqlite.Open(p.files + "/shop.db")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "UPDATE shop_session SET seen = seen - ?", (31 * 24 * time.Hour).Microseconds())
	require.NoError(t, err)
	require.NoError(t, db.Close())
	p.waitFor("document.querySelector('#lost').innerText.startsWith('Your session has ended')")
	checkout.choose("payto")
	checkout.submit("#payto-button")
	checkout.says("Your session has ended")
	checkout.look("ended")
	p.visit("/orders/" + order)
	checkout.submit("form[action='/orders/" + order + "/back'] button")
	checkout.becomes("new")
	p.submit("form[action='/orders/" + order + "/back'] button") // which is this browser's again
	p.becomes("new")
	p.submit("#again")
	p.pay(visa)
	p.becomes("approved")
	p.charged(order, 1)
	stranger := p.elsewhere()
	stranger.visit("/orders/" + order)
	stranger.says("Ask the shop about order " + order)
	stranger.submit(`main a[href="/"]`)
	stranger.says("Coffee beans")
}

// "I have answered" says so if the bank has no answer.
func TestAnsweredInSilence(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.submit("#authenticated button")
	p.says("Your bank has no answer from you yet")
	p.becomes("challenge")
	p.charged(order, 0)
	p.answer("Y")
	p.becomes("approved")
}
