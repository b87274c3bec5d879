package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// However often the button is pressed, an order is paid once. Going back from it, to its
// checkout, and loading it again show that it is paid.
func TestPressedTwice(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.fill(visa)
	p.do(chromedp.DoubleClick(chromedp.CSS("#pay-button")))
	p.becomes("approved")
	p.do(chromedp.NavigateBack())
	p.waitFor("location.pathname === '/orders/" + order + "'")
	p.becomes("approved")
	p.visit("/checkout/" + order)
	p.becomes("approved")
	p.do(chromedp.Reload())
	p.becomes("approved")
	p.charged(order, 1)
	assert.Len(t, p.machine.Sandbox().Ledger().Order(order), 1)
}

// The same order in two tabs, with two cards: whichever is first pays, and both show it. So
// does a third tab that was open since before the order was paid.
func TestTwoTabs(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	second, stale := p.another(), p.another()
	second.visit("/checkout/" + order)
	stale.visit("/checkout/" + order)
	stale.do(chromedp.Evaluate[chromedp.Void]("XMLHttpRequest.prototype.send = () => {}; undefined")) // it hears of nothing, or it would leave the checkout by itself
	p.fill(visa)
	second.fill("5163200000000008")
	press := chromedp.Evaluate[chromedp.Void](`document.querySelector('#pay-button').click()`)
	done := make(chan error)
	for _, tab := range []*tab{p, second} {
		go func() { done <- chromedp.Do(tab.ctx, press) }()
	}
	assert.NoError(t, <-done)
	assert.NoError(t, <-done)
	p.becomes("approved")
	second.becomes("approved")
	stale.pay(visa)
	stale.becomes("approved")
	p.charged(order, 1)
}
