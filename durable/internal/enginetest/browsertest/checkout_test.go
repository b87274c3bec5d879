package browsertest

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The checkout of docs/browser.md takes a payment in a browser, with a challenge in the bank's frame.
func TestCheckout(t *testing.T) {
	p := open(t)
	program := filepath.Join(t.TempDir(), "checkout")
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/quickstream-go/quickstream/durable/sqlite/examples/checkout").CombinedOutput()
	require.NoError(t, err, "%s", built)
	served := exec.CommandContext(t.Context(), program, "-serve", "127.0.0.1:0") // until the test ends
	out, err := served.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, served.Start())
	t.Cleanup(func() { _ = served.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	p.do(chromedp.Navigate(strings.TrimSpace(strings.TrimPrefix(line, "open "))))
	p.look("checkout")
	for _, field := range [][2]string{
		{"cardholderName", "Ann Example"}, {"cardNumber", sandbox.CardChallenge}, {"expiryDateMonth", "03"}, {"expiryDateYear", "2035"}, {"cvn", "123"},
	} {
		p.do(chromedp.SendKeys(chromedp.CSS(`[data-quickstream-api="`+field[0]+`"]`), field[1]))
	}
	p.press("form button")
	p.waitFor(`performance.getEntriesByType("resource").some((e) => e.initiatorType === "iframe")`) // it has loaded
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("iframe").focus(); undefined`))
	p.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r")) // "Yes, it is me"
	p.says("Thank you.")
	p.picture("checkout", 480)
}
