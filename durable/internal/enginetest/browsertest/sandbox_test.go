package browsertest

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The pages of the sandbox's command are good on a phone and on a desk, and the first one shows what happens at once.
func TestSandbox(t *testing.T) {
	p := open(t)
	page, client := startSandbox(t)
	p.do(chromedp.Navigate(page))
	p.says("This page is live.")
	for i, card := range []string{sandbox.CardAttempted, noFunds, sandbox.CardAttempted} {
		params := payment(quickstream.FromCard(sandboxtest.Card(card)))
		params.CustomerReferenceNumber = fmt.Sprintf("ORDER-%d", 1042+i)
		_, err := client.Transactions.Pay(t.Context(), params)
		assert.Equal(t, card == noFunds, errors.Is(err, quickstream.ErrDeclined), card)
	}
	p.click("form:has(#event) button")
	p.waitFor(`document.querySelector('a[href*="inspect?delivery="]')`)
	p.says("ORDER-1044")
	p.look("sandbox")
	p.picture("sandbox", 960)
	for _, path := range []string{"payer", "challenge", "help"} {
		p.do(chromedp.Navigate(page + path))
		p.look("sandbox-" + path)
	}
	for _, what := range []string{"request", "delivery"} {
		p.do(chromedp.Navigate(page))
		p.click(`a[href*="inspect?` + what + `="]`)
		p.waitFor(`document.readyState === "complete" && location.search.startsWith("?` + what + `=")`)
		p.look("sandbox-" + what)
	}
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
	command := exec.CommandContext(t.Context(), program, "-addr", "127.0.0.1:0", "-world", "plain", "-quiet", "-webhook", receiver.URL) // until the test ends
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
