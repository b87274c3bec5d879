package browsertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// value is what a field of the page holds.
func (p *tab) value(selector string) string {
	p.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q).value", selector)))
	require.NoError(p, err)
	return value
}

// wrong are the fields that are marked, each with what is said about it, in the order of the page.
func (p *tab) wrong() []string {
	p.Helper()
	said, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll('[aria-invalid=true]')].map((input) =>
		input.id + ': ' + input.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id)).filter((e) => e.matches('.error')).map((e) => e.innerText).join())`))
	require.NoError(p, err)
	return said
}

// hold keeps back what the page loads from an address, and returns what lets it go, or has it fail.
func (p *tab) hold(pattern string) (release func(fails bool)) {
	p.Helper()
	held := make(chan fetch.RequestID, 10)
	require.NoError(p, chromedp.Listen(p.ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			held <- e.RequestID
		}
	}))
	_, err := chromedp.Call(p.ctx, fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: pattern}}})
	require.NoError(p, err)
	return func(fails bool) {
		p.Helper()
		select {
		case id := <-held:
			if fails {
				_, err = chromedp.Call(p.ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: id, ErrorReason: "Failed"})
			} else {
				_, err = chromedp.Call(p.ctx, fetch.ContinueRequest, fetch.ContinueRequestParams{RequestID: id})
			}
			require.NoError(p, err)
		case <-time.After(patience):
			require.FailNow(p, "nothing is loaded from "+pattern)
		}
	}
}

// A press that comes before the service's script says what it waits for, loses nothing, and pays once. If the script
// cannot be loaded, nothing is charged, and the next press loads it again.
func TestEarlyPress(t *testing.T) {
	p := open(t)
	p.expect("net::ERR_FAILED")
	order := p.order("beans")
	release := p.hold("*quickstream-api*")
	_, err := chromedp.Call(p.ctx, page.Navigate, page.NavigateParams{URL: p.machine.Origin() + "/checkout/" + order})
	require.NoError(t, err)
	p.waitFor("document.readyState === 'interactive' && document.querySelector('#pay-button')")
	p.pay(visa)
	waits := "document.querySelector('#card-status').innerText.startsWith('The payment service\\'s part of this page is still on its way')"
	p.waitFor(waits + " && document.querySelector('#pay-button').disabled")
	release(true)
	p.waitFor("document.querySelector('#card-status').innerText.includes('Nothing was charged')")
	p.charged(order, 0)
	p.do(chromedp.DoubleClick(chromedp.CSS("#pay-button")))
	p.waitFor(waits)
	assert.Equal(t, "4242 4242 4242 4242", p.value("#number"))
	release(false)
	p.becomes("approved")
	p.charged(order, 1)
	assert.Len(t, p.machine.Sandbox().Ledger().Order(order), 1)
}

// All that is wrong is said at once, each at its field. The first one has the focus, and what was entered stays.
func TestErrorsAtOnce(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.fill("4242424242424241")
	p.typed("#expiry", "0120")
	p.typed("#cvn", "12")
	p.typed("#street", " ")
	p.click("#pay-button")
	assert.Equal(t, []string{
		"number: This is not the number of a card. Compare its digits.", "expiry: The card has expired.",
		"cvn: The 3 digits on the back of the card, please.", "street: Fill this in, please.",
	}, p.wrong())
	assert.True(t, p.holds("document.activeElement.id === 'number'"))
	assert.Equal(t, "A Customer", p.value("#cardholder"))
	p.typed("#number", visa)
	assert.Len(t, p.wrong(), 3, "a field that is changed is not marked any more")
	p.choose("payto")
	p.typed("#name", " ")
	p.typed("#payid", "nobody")
	p.click("#payto-button")
	assert.Equal(t, []string{"name: Fill this in, please.", "payid: This is not an e-mail address."}, p.wrong()[3:])
	assert.True(t, p.holds("document.activeElement.id === 'name'"))
	assert.Empty(t, p.machine.Sandbox().Agreements())
	p.choose("card")
	p.typed("#expiry", "1299")
	p.typed("#cvn", "123")
	p.typed("#street", "2 Example Street")
	p.click("#pay-button") // what is wrong with the other way does not matter
	p.becomes("approved")
	p.charged(order, 1)
}

// What the service says of a field is said there, of the month and the year too, which are one field.
func TestServiceRefusesField(t *testing.T) {
	p := open(t)
	p.expect("422")
	order := p.order("beans")
	p.machine.Forward(t.Context(), 70*24*time.Hour)
	p.fill(visa)
	p.typed("#expiry", time.Now().Format("01/06"))
	p.click("#pay-button")
	p.waitFor("document.querySelector('#expiry-error').innerText.includes('has expired') && document.activeElement.id === 'expiry'")
	p.typed("#expiry", "1299")
	p.click("#pay-button")
	p.becomes("approved")
	p.charged(order, 1)
}

// What was entered is there again when the shop says why it did not take it, without anything of the card.
func TestKeptInput(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.typed("#city", "Perth")
	p.click("#save-card")
	p.pay(sandbox.CardNotAuthenticated)
	p.noticed("Your bank did not confirm")
	assert.Equal(t, "Perth", p.value("#city"))
	assert.True(t, p.holds("document.querySelector('#save-card').checked && [...document.querySelectorAll('#card input')].every((i) => i.value === '')"))
	p.visit("/checkout/" + order)
	assert.Equal(t, "Sydney", p.value("#city"), "another page is a new one")
}

// A test card is filled in by a click, with all of its fields, and pays.
func TestTestCard(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.click("#test-cards summary")
	for number, shown := range map[string][2]string{
		"5163200000000008": {"5163 2000 0000 0008", "Mastercard"}, "340000000636513": {"3400 000006 36513", "American Express"}, visa: {"4242 4242 4242 4242", "Visa"},
	} {
		p.click(`[data-test-card="` + number + `"]`)
		p.keeps(number)
		assert.Equal(t, shown[0], p.value("#number"))
		assert.True(t, p.holds(fmt.Sprintf("document.querySelector('#brand').innerText === %q", shown[1])), number)
		assert.True(t, p.holds("document.activeElement.id === 'pay-button'"))
	}
	p.press(kb.Enter)
	p.becomes("approved")
	p.charged(order, 1)
}

// typing presses keys in a field, and returns what it shows, with a stroke where the caret is.
func (p *tab) typing(selector, keys string) string {
	p.Helper()
	p.do(chromedp.Focus(chromedp.CSS(selector)))
	p.press(keys)
	shown, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](fmt.Sprintf(
		"(({ value, selectionStart: at }) => value.slice(0, at) + '|' + value.slice(at))(document.querySelector(%q))", selector)))
	require.NoError(p, err)
	return shown
}

// Digits are shown as on the card while they are typed, and the caret stays among them. What stands between them is
// neither typed nor deleted.
func TestTypedCard(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	for _, step := range []struct{ field, keys, shown string }{
		{"#number", "4242", "4242|"},
		{"#number", "4", "4242 4|"},
		{"#number", "2424242", "4242 4242 4242|"},
		{"#number", strings.Repeat(kb.ArrowLeft, 5), "4242 4242| 4242"},
		{"#number", "1", "4242 4242 1|424 2"},
		{"#number", kb.Backspace, "4242 4242 |4242"},
		{"#number", kb.Backspace, "4242 424|4 242"},
		{"#number", kb.Delete, "4242 424|2 42"},
		{"#number", kb.ArrowRight + kb.Delete, "4242 4242 |2"},
		{"#number", "4242 424", "4242 4242 4242 424|2"},
		{"#expiry", "3", "03|"},
		{"#expiry", kb.Backspace + kb.Backspace + "1/", "01/|"},
		{"#expiry", "30", "01/30|"},
		{"#expiry", strings.Repeat(kb.Backspace, 3), "0|"},
		{"#expiry", kb.Backspace + "122099", "12/2099|"},
		{"#cvn", "12x3", "123|"},
		{"#cardholder", "A Customer", "A Customer|"},
	} {
		assert.Equal(t, step.shown, p.typing(step.field, step.keys), "after %q", step.keys)
	}
	p.keeps(visa)
	p.press(kb.Enter)
	p.becomes("approved")
	p.charged(order, 1)
}

// visible are those of the parts of a page that can be seen.
func (p *tab) visible(selectors ...string) (seen []string) {
	p.Helper()
	for _, selector := range selectors {
		if p.holds(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.checkVisibility())", selector)) {
			seen = append(seen, selector)
		}
	}
	return seen
}

// A receipt prints with what was paid, how and when, and without what is for the screen. An order that is not paid
// prints so.
func TestPrintedReceipt(t *testing.T) {
	p := open(t)
	parts := []string{"nav", "footer", ".button", ".picture", ".brand", "#status", "#receipt"}
	unpaid := p.order("pot")
	order := p.order("beans")
	p.pay(visa)
	p.becomes("approved")
	p.waitFor("/Paid by\\s*VISA ending in 242\\s*Paid on\\s*\\d+ \\w+ 20\\d\\d, \\d\\d:\\d\\d AE[DS]T\\s*Receipt number\\s*\\d+/.test(document.querySelector('#paid').innerText)")
	assert.Equal(t, []string{"nav", "footer", ".picture", ".brand", "#status", "#receipt"}, p.visible(parts...))
	p.look("receipt")
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	require.NoError(t, err)
	assert.Equal(t, []string{".brand", "#status", "#receipt"}, p.visible(parts...))
	p.look("receipt-printed")
	p.visit("/orders/" + unpaid)
	assert.Equal(t, []string{".brand", "#status"}, p.visible(parts...))
	p.says("Not paid yet")
	p.charged(order, 1)
}
