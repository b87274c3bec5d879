package browsertest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// atTheBank opens the bank's app by the link of the page, in the same tab, and presses a button there. It comes
// back to the page. The page may replace the link at any time, so that it is changed and pressed at once.
func (p *tab) atTheBank(action string) {
	p.Helper()
	back := p.path()
	p.do(chromedp.Evaluate[chromedp.Void](`window.left = true;
		const link = document.querySelector('main a[href$="/_shop/payer"]');
		link.removeAttribute("target");
		link.click()`))
	p.waitFor("!window.left && document.readyState === 'complete'")
	p.says("PayTo agreements")
	p.submit(`button[value="` + action + `"]`)
	p.visit(back)
}

// agreement waits for a state of the agreement of the page.
func (p *tab) agreement(state string) {
	p.Helper()
	p.waitFor(`document.readyState === 'complete' && document.querySelector('#status')?.dataset.state.startsWith('` + state + `')`)
}

// A customer who declines in the bank's app is charged nothing, and can be asked again. Who
// agrees there is charged once a month until the agreement is suspended.
func TestPayToFromAgreementToCollection(t *testing.T) {
	p := open(t)
	order := p.order("monthly")
	p.click("#payto-button")
	p.waitFor("location.pathname.startsWith('/payto/')")
	p.agreement("pending")
	p.atTheBank("decline")
	p.agreement("over")
	assert.Empty(t, p.machine.Sandbox().Ledger())
	p.submit(`a[href="/checkout/` + order + `"]`)
	p.click("#payto-button")
	p.waitFor("location.pathname.startsWith('/payto/')")
	p.agreement("pending")
	p.atTheBank("confirm")
	p.agreement("active")
	charges := func() int {
		charged := 0
		for _, e := range p.machine.Sandbox().Ledger() {
			if e.Type == "PAYMENT" && e.Outcome == "approved" {
				charged++
			}
		}
		return charged
	}
	p.inTime("the first collection", func() bool { return charges() == 1 })
	p.machine.Forward(t.Context(), 32*24*time.Hour)
	p.inTime("the second collection", func() bool { return charges() == 2 })
	p.says("Collections")
	p.waitFor(`[...document.querySelectorAll('.rows li')].filter((li) => li.innerText.includes('paid')).length === 2`)
	p.turn("twice")
	p.machine.Forward(t.Context(), time.Hour)
	assert.Equal(t, 2, charges(), "webhooks that come again collect nothing")
	page := p.path()
	p.atTheBank("suspend")
	p.agreement("suspended")
	p.machine.Forward(t.Context(), 32*24*time.Hour)
	p.visit(page)
	p.agreement("suspended")
	assert.Equal(t, 2, charges())
	for _, e := range p.machine.Sandbox().Ledger() {
		if e.Type == "PAYMENT" {
			p.charged(e.CustomerReferenceNumber, 1)
		}
	}
}

// One payment by PayTo waits for the customer's answer at the bank.
func TestPayToOnce(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.choose("payto")
	p.click("#payto-button")
	p.waitFor("location.pathname !== '/checkout/" + order + "' && document.querySelector('#status')")
	if strings.HasPrefix(p.path(), "/payto/") {
		p.agreement("pending")
	}
	p.charged(order, 0)
	p.atTheBank("confirm")
	p.inTime("the payment", func() bool { return len(p.machine.Sandbox().Ledger().Charged(order)) == 1 })
	p.visit("/orders/" + order)
	p.becomes("approved")
}

// A stored card pays with one click, however often that is clicked, and can be removed.
func TestStoredCard(t *testing.T) {
	p := open(t)
	first := p.order("beans")
	p.click("#save-card")
	p.pay(visa)
	p.becomes("approved")
	p.charged(first, 1)
	p.until("the stored card", func() bool {
		p.visit("/customers/")
		return p.holds(`document.querySelector('form.line')`)
	})
	second := p.order("pot")
	p.do(chromedp.DoubleClick(chromedp.CSS("button.pay-stored")))
	p.becomes("approved")
	p.charged(second, 1)
	p.visit("/customers/")
	p.submit("form.line button")
	assert.False(t, p.holds(`document.querySelector('form.line')`))
	p.order("cup")
	assert.False(t, p.holds(`document.querySelector('button.pay-stored')`))
}
