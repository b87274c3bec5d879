package browsertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// look holds that the page needs no horizontal scrolling on a phone and on a desk, and
// that a person who cannot see it hears what everything is, by axe too where SHOP_AXE names its file, and by
// html-validate where SHOP_HTML names that. It takes pictures where they are wanted.
func (p *tab) look(name string) {
	p.Helper()
	for _, width := range []int64{320, 390, 1280} {
		p.do(chromedp.EmulateViewport(width, 844))
		p.waitFor("document.readyState === 'complete'")
		wide, err := chromedp.Run(p.ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		require.NoError(p, err)
		assert.LessOrEqual(p, wide, width, "%s at %d px", name, width)
		p.axe(name, width)
		if directory := os.Getenv("SHOP_PICTURES"); directory != "" {
			image, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
			require.NoError(p, err)
			require.NoError(p, os.WriteFile(filepath.Join(directory, fmt.Sprintf("%s-%d.png", name, width)), image, 0o600))
		}
	}
	for what, condition := range map[string]string{
		"a language":            "document.documentElement.lang === 'en'",
		"a title":               "document.title !== ''",
		"one main part":         "document.querySelectorAll('main').length === 1",
		"one heading":           "document.querySelectorAll('h1').length === 1",
		"names of all fields":   "[...document.querySelectorAll('input:not([type=hidden])')].every((i) => i.labels.length > 0 || i.ariaLabel)",
		"names of all buttons":  "[...document.querySelectorAll('button, a')].every((b) => b.textContent.trim() !== '')",
		"titles of all frames":  "[...document.querySelectorAll('iframe')].every((f) => f.title !== '')",
		"no card field to send": "[...document.querySelectorAll('[data-quickstream-api]')].every((i) => !i.name && !i.form)",
	} {
		assert.True(p, p.holds(condition), "%s has %s", name, what)
	}
	p.do(chromedp.EmulateViewport(1280, 844))
	p.valid(name)
}

// valid holds that html-validate finds nothing in the page as it was sent. htmlvalidate.json permits what it takes for
// style, and the refreshing of pages that are read without scripts.
func (p *tab) valid(name string) {
	p.Helper()
	program := os.Getenv("SHOP_HTML")
	if program == "" {
		return
	}
	tree, err := chromedp.Call(p.ctx, page.GetFrameTree, cdp.Empty{})
	require.NoError(p, err)
	request, _ := p.documents.Load(tree.FrameTree.Frame.ID)
	source, err := chromedp.Call(p.ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: request.(network.RequestID)})
	require.NoError(p, err)
	require.Contains(p, string(source.Body), "<main", name)
	file := filepath.Join(p.TempDir(), name+".html")
	require.NoError(p, os.WriteFile(file, source.Body, 0o600))
	found, err := exec.CommandContext(p.Context(), program, "--config", "htmlvalidate.json", file).CombinedOutput()
	assert.NoError(p, err, "%s", found)
}

// axe holds that axe finds nothing on the page.
func (p *tab) axe(name string, width int64) {
	p.Helper()
	file := os.Getenv("SHOP_AXE")
	if file == "" {
		return
	}
	script, err := os.ReadFile(file)
	require.NoError(p, err)
	begin := string(script) + `;
		axe.run(document, { iframes: false, runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((r) => {
			window.found = ["seen", ...r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" "))];
		});
		undefined`
	p.holds("delete window.axe, delete window.found")
	var found []string
	p.until("axe has seen the page", func() bool {
		if !p.holds("window.axe") { // or it has led on by itself
			_ = chromedp.Do(p.ctx, chromedp.Evaluate[chromedp.Void](begin))
		}
		found, err = chromedp.Run(p.ctx, chromedp.Evaluate[[]string]("window.found ?? []"))
		return err == nil && len(found) > 0
	})
	assert.Equal(p, []string{"seen"}, found, "%s at %d px", name, width)
}

// Every page is good on a phone and on a desk.
func TestLook(t *testing.T) {
	p := open(t)
	p.expect("503")
	p.expect("404")
	p.visit("/")
	p.look("catalogue")
	p.order("beans")
	p.look("checkout")
	p.pay(sandbox.CardNotAuthenticated)
	p.noticed("Your bank did not confirm")
	p.look("checkout-not-authenticated")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.look("challenge")
	p.answer("Y")
	p.becomes("approved")
	p.look("approved")
	p.order("pot")
	p.click("#save-card")
	p.pay(noFunds)
	p.becomes("declined")
	p.look("declined")
	p.says("not enough money")
	p.submit("#again")
	p.pay(visa)
	p.becomes("approved")
	p.machine.Sandbox().NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	unknown := p.order("cup")
	p.pay(visa)
	p.becomes("unknown")
	p.look("unknown")
	p.order("monthly")
	p.look("checkout-monthly")
	p.click("#payto-button")
	p.waitFor("location.pathname.startsWith('/payto/')")
	p.agreement("pending")
	p.look("payto-pending")
	agreement := p.path()
	p.do(chromedp.Navigate(p.machine.Service() + sandbox.PayerPage))
	p.look("bank")
	p.submit(`button[value="confirm"]`)
	p.visit(agreement)
	p.agreement("active")
	p.look("payto-active")
	p.visit("/customers/")
	p.look("customer")
	p.visit("/")
	p.look("catalogue-with-orders")
	p.visit("/orders/none")
	p.look("not-found")
	p.visit("/trouble")
	p.submit(`button[value="lost-after"]`)
	p.look("trouble")
	p.machine.Kill()
	p.visit("/orders/" + unknown)
	p.look("away")
}

// press presses a key of the keyboard.
func (p *tab) press(keys string) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys))
}

// reach presses the tab key until something has the focus, and sees that it shows.
func (p *tab) reach(selector string) {
	p.Helper()
	for range 60 {
		if p.holds(fmt.Sprintf("document.activeElement?.matches(%q)", selector)) {
			assert.True(p, selector == "iframe" || p.holds("getComputedStyle(document.activeElement).outlineStyle !== 'none'"), "%s shows its focus", selector)
			return
		}
		p.press(kb.Tab)
	}
	require.FailNow(p, "the keyboard does not reach "+selector)
}

// Everything can be done without a mouse, the bank's question too.
func TestKeyboardOnly(t *testing.T) {
	p := open(t)
	p.visit("/")
	p.reach(`form:has(input[value="beans"]) button`)
	p.press(kb.Enter)
	p.waitFor("location.pathname.startsWith('/checkout/') && document.readyState === 'complete'")
	p.numbers = append(p.numbers, sandbox.CardChallenge)
	for _, field := range [][2]string{
		{"#cardholder", "A Customer"}, {"#number", "4111 1111 1111 1111"}, {"#expiry", "12/2099"}, {"#cvn", "837"},
	} {
		p.reach(field[0])
		p.press(field[1])
	}
	p.reach("#save-card")
	p.press(" ")
	assert.True(t, p.holds("document.querySelector('#save-card').checked"))
	p.reach("#pay-button")
	p.press(kb.Enter)
	p.becomes("challenge")
	p.reach("iframe") // and its first button
	p.press(kb.Enter)
	p.becomes("approved")
	p.reach(`a[href="/customers/"]`)
	p.press(kb.Enter)
	p.waitFor("location.pathname === '/customers/'")
}

// What the harness is to notice it notices.
func TestHarnessNotices(t *testing.T) {
	p := open(t)
	p.visit("/")
	for part, script := range map[string]string{
		"console: error":      "console.error('x')",
		"exception":           "setTimeout(() => { throw new Error('x') })",
		"Content Security":    "document.body.style.cssText; document.body.setAttribute('style', 'color: red')",
		"http://192.0.2.1:9/": "fetch('http://192.0.2.1:9/').catch(() => 0)",
		"404":                 "fetch('/nowhere').then(() => 0)",
	} {
		p.do(chromedp.Evaluate[chromedp.Void](script + "; undefined"))
		p.until(part, func() bool { return p.noted(part) })
		p.expect(part)
	}
	assert.Empty(t, p.leaks([]byte(noFunds)))
	p.do(chromedp.Evaluate[chromedp.Void]("fetch('/nowhere?number=" + noFunds + "'); undefined"))
	p.until("the number is noticed", func() bool { return len(p.leaks([]byte(noFunds))) == 1 })
}
