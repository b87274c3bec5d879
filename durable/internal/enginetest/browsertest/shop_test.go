package browsertest

import (
	"bufio"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// customer is a customer of examples/shop.
type customer struct {
	*tab

	origin, password string
	served           *exec.Cmd
}

// openStore builds the shop and starts it.
func openStore(t *testing.T) *customer {
	t.Helper()
	c := &customer{tab: open(t)}
	program := filepath.Join(t.TempDir(), "shop")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/quickstream-go/quickstream/examples/shop").CombinedOutput()
	require.NoError(t, err, "%s", built)
	served := exec.CommandContext(t.Context(), program, "-addr", "127.0.0.1:0") // until the test ends
	out, err := served.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, served.Start())
	c.served = served
	t.Cleanup(func() { _ = served.Wait() })
	for lines := bufio.NewScanner(out); c.password == "" && lines.Scan(); {
		if at, is := strings.CutPrefix(lines.Text(), "open "); is {
			c.origin = at
		} else {
			c.password = lines.Text()[strings.LastIndex(lines.Text(), " ")+1:]
		}
	}
	return c
}

func (c *customer) visit(path string) {
	c.Helper()
	c.do(chromedp.Navigate(c.origin + path))
}

// buy orders a mug by the keyboard alone, and returns the order.
func (c *customer) buy() (id string) {
	c.Helper()
	c.visit("/")
	c.send("form button")
	c.says("Not paid yet")
	at, err := chromedp.Run(c.ctx, chromedp.Evaluate[string]("location.pathname"))
	require.NoError(c, err)
	return strings.TrimPrefix(at, "/orders/")
}

// send presses a form's button, and waits for the page that follows.
func (c *customer) send(button string) {
	c.Helper()
	c.do(chromedp.Evaluate[chromedp.Void]("window.left = true; undefined"))
	c.press(button)
	c.waitFor("!window.left && document.readyState === 'complete'")
}

// pay pays the order that is shown, by the keyboard alone.
func (c *customer) pay(card string) {
	c.Helper()
	c.waitFor("window.QuickstreamAPI")
	c.press(`[data-card="` + card + `"]`)
	c.press("#card [type=submit]")
}

// confirm answers the bank's question in its frame.
func (c *customer) confirm() {
	c.Helper()
	c.waitFor(`document.activeElement.tagName === "IFRAME" && performance.getEntriesByType("resource").some((e) => e.initiatorType === "iframe")`)
	c.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r")) // "Yes, it is me"
}

// The shop's pages are good on a phone and on a desk, in the light and in the dark, and by the keyboard alone.
func TestShop(t *testing.T) {
	c := openStore(t)
	c.visit("/")
	c.look("shop")
	id := c.buy()
	c.look("shop-order")
	c.pay(noFunds)
	c.says("Your payment was declined")
	c.look("shop-declined")
	c.pay(sandbox.CardChallenge)
	c.confirm()
	c.says("Thank you. It is paid.")
	c.says("1 charged once, 0 not charged, none twice")
	c.waitFor("!document.querySelector('#card')")
	c.look("shop-paid")

	c.buy()
	c.do(chromedp.SendKeys(chromedp.CSS("#name"), "Ann Example"), chromedp.SendKeys(chromedp.CSS("#payid"), "ann@example.com"))
	c.send(`form[action$="/payto"] button`)
	c.says("Confirm it in your banking app")
	c.look("shop-bank")
	c.send("[value=confirm]")
	c.says("Thank you. It is paid.")

	c.visit("/orders")
	c.says(id)
	c.look("shop-orders")
	c.visit("/trouble")
	for _, fault := range []string{"down", "hang", "lost"} {
		c.send("#switch-" + fault)
		c.waitFor(fmt.Sprintf(`document.querySelector("form:has(#switch-%s) .state")?.innerText === "on"`, fault)) // what the switch says, as a person sees it
		c.waitFor(fmt.Sprintf(`document.querySelector("#bar").innerText.includes(document.querySelector("form:has(#switch-%s) h2").firstChild.textContent.trim())`, fault))
	}
	c.look("shop-trouble")
	c.send("#switch-down")
	c.waitFor(`document.querySelector("form:has(#switch-down) .state").innerText === "off"`)
	c.send("#switch-hang")
	c.waitFor(`document.querySelector("form:has(#switch-hang) .state").innerText === "off"`)
	c.buy()
	c.pay(sandbox.CardAttempted)
	c.says("We are finding out")
	c.do(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0); undefined"))
	c.picture("shop", 560)
	c.look("shop-unknown")
	c.visit("/trouble")
	c.send("#switch-lost")
	c.send("#kill")
	c.says("Killed once")
	c.send("#later")
	c.says("The clock is 1 × 48 hours ahead")
	c.visit("/login")
	c.look("shop-login")
	c.do(chromedp.SendKeys(chromedp.CSS("#who"), "Robin"), chromedp.SendKeys(chromedp.CSS("#password"), c.password), chromedp.KeyEvent("\r"))
	c.says("You are Robin.")
	c.waitFor(`!document.body.innerText.includes("Clocks apart")`)
	c.look("shop-console")
	c.visit("/console/payment?id=" + url.QueryEscape(id+"/2"))
	c.says("In short")
}

// Six tabs of one browser have one stream, and all of them change. A lost connection is said on the page.
func TestShopTabs(t *testing.T) {
	c := openStore(t)
	id := c.buy()
	tabs := []*customer{c}
	for range 5 {
		other := &customer{tab: c.another(), origin: c.origin}
		other.visit("/orders/" + id)
		tabs = append(tabs, other)
	}
	for _, one := range tabs {
		one.waitFor("window.QuickstreamAPI")
		one.do(chromedp.Evaluate[chromedp.Void]("window.same = true; undefined"))
	}
	last := tabs[len(tabs)-1]
	last.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#holder').value = 'Half'; undefined"))
	c.pay(sandbox.CardAttempted)
	for _, one := range tabs {
		one.says("Thank you. It is paid.")
		one.waitFor("window.same && !document.querySelector('#card') && document.querySelector('#lost').hidden")
	}
	require.NoError(t, c.served.Process.Kill())
	for _, one := range tabs {
		one.says("The connection to the shop is lost. What you see is as it was on")
	}
}
