package browsertest

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// The pages of the sandbox's command are as good as the shop's.
func TestLookSandbox(t *testing.T) {
	p := open(t)
	p.visit("/")
	variables := p.startSandbox()
	page := variables["SANDBOX"]
	t.Setenv("QUICKSTREAM_ENVIRONMENT", variables["QUICKSTREAM_ENVIRONMENT"])
	t.Setenv("QUICKSTREAM_SECRET_KEY", variables["QUICKSTREAM_SECRET_KEY"])
	p.expect("a request to " + page)
	p.useSandbox(page)
	for _, path := range []string{"/payer", "/challenge", "/help", "/"} {
		p.do(chromedp.Navigate(page + path))
		p.waitFor("document.readyState === 'complete'")
		p.look("sandbox" + strings.ReplaceAll(path, "/", "-"))
	}
	for _, what := range []string{"request", "delivery"} {
		p.do(chromedp.Navigate(page + "/"))
		p.submit(`a[href*="inspect?` + what + `="]`)
		p.look("sandbox-" + what)
	}
}

// startSandbox builds the sandbox's command and starts it, and returns the variables that it prints.
func (p *tab) startSandbox() map[string]string {
	p.Helper()
	program := filepath.Join(p.TempDir(), "quickstream-sandbox")
	built, err := exec.CommandContext(p.Context(), "go", "build", "-o", program, "github.com/quickstream-go/quickstream/cmd/quickstream-sandbox").CombinedOutput()
	require.NoError(p, err, "%s", built)
	command := exec.CommandContext(p.Context(), program, "-addr", "127.0.0.1:0", "-quiet") // until the test ends
	out, err := command.StdoutPipe()
	require.NoError(p, err)
	require.NoError(p, command.Start())
	p.Cleanup(func() { _ = command.Wait() })
	variables := map[string]string{}
	for lines := bufio.NewScanner(out); variables["SANDBOX"] == "" && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		variables[name] = value
	}
	return variables
}
