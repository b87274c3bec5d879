package browsertest

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The two pages of the sandbox's command are good on a phone and on a desk, in the light and in the dark, and by
// keyboard alone; the first one shows what happens at once.
func TestSandbox(t *testing.T) {
	p := open(t)
	page, client := startSandbox(t)
	p.do(chromedp.Navigate(page))
	p.says("Nothing has come in yet")
	p.look("sandbox-empty")
	p.waitFor(`document.getElementById("state").textContent === "Live"`)
	for i, card := range []string{sandbox.CardAttempted, noFunds, sandbox.CardAttempted} {
		params := payment(quickstream.FromCard(sandboxtest.Card(card)))
		params.CustomerReferenceNumber = fmt.Sprintf("ORDER-%d", 1042+i)
		_, err := client.Transactions.Pay(t.Context(), params)
		assert.Equal(t, card == noFunds, errors.Is(err, quickstream.ErrDeclined), card)
	}
	p.says("ORDER-1044")
	p.press(`li[id^="request-"] summary`)
	p.waitFor(`document.querySelector('li[id^="request-"] .detail pre')`)
	p.do(chromedp.Evaluate[chromedp.Void]("document.activeElement.blur(); scrollTo(0, 0); undefined"))
	p.picture("sandbox", 960)
	p.do(chromedp.Navigate(page + "simulate"))
	p.press("button[value=ResetAfterCommit]")
	p.waitFor(`document.querySelector("button[value=ResetAfterCommit]").ariaPressed === "true"`)
	p.look("sandbox-simulate-fault")
	p.press("form.notice button")
	p.waitFor(`!document.querySelector("[aria-pressed=true]")`)
	p.press("button[value='4242424242424242']")
	p.waitFor(`document.getElementById("state").textContent === "Done."`)
	p.waitFor(`document.activeElement.value === "4242424242424242"`) // the page was shown again, and the focus stays
	p.do(chromedp.Click(chromedp.CSS("form:has(#event) button")))
	p.press("button[value=new]") // an agreement
	p.says("PayTo agreement")
	p.do(chromedp.Navigate(page))
	p.press(`li[id^="delivery-"] summary`)
	p.waitFor(`document.querySelector('li[id^="delivery-"] .detail pre')`)
	p.look("sandbox")
	p.do(chromedp.Navigate(page + "simulate"))
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => { d.open = true; }); undefined`))
	p.look("sandbox-simulate")
	p.do(chromedp.Navigate(page + "detail?request=1"))
	p.look("sandbox-detail")
}

// press focuses an element and presses Enter.
func (p *tab) press(selector string) {
	p.Helper()
	p.waitFor("document.querySelector(" + strconv.Quote(selector) + ")")
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector("+strconv.Quote(selector)+").focus(); undefined"), chromedp.KeyEvent("\r"))
}

// startSandbox builds the sandbox's command and starts it, and returns the address of its page and a client. Its events
// are delivered.
func startSandbox(t *testing.T) (page string, client *quickstream.Client) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "quickstream-sandbox")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/quickstream-go/quickstream/cmd/quickstream-sandbox").CombinedOutput()
	require.NoError(t, err, "%s", built)
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	command := exec.CommandContext(t.Context(), program, "-addr", "127.0.0.1:0", "-world", "plain", "-webhook", receiver.URL) // until the test ends
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Wait() })
	variables := map[string]string{}
	for lines := bufio.NewScanner(out); variables["SANDBOX"] == "" && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		variables[name] = value
	}
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey(variables["QUICKSTREAM_SECRET_KEY"])}
	client, err = quickstream.NewClient(quickstream.CustomURL(variables["QUICKSTREAM_ENVIRONMENT"]), keys)
	require.NoError(t, err)
	return variables["SANDBOX"] + "/", client
}
