package browsertest

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// look holds that a page needs no horizontal scrolling on a phone and on a desk, that axe finds nothing on it, and
// html-validate nothing in what was sent, and that it lets in nothing from elsewhere.
func (p *tab) look(name string) {
	p.Helper()
	for _, width := range []int64{320, 390, 1280} {
		p.do(chromedp.EmulateViewport(width, 844))
		wide, err := chromedp.Run(p.ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		require.NoError(p, err)
		assert.LessOrEqual(p, wide, width, "%s at %d px", name, width)
		p.axe(name, width)
	}
	p.mu.Lock()
	document := p.document
	p.mu.Unlock()
	p.protected(name, document.Response.Headers)
	p.valid(name, document.RequestID)
}

// axe holds that axe finds nothing on the page. QUICKSTREAM_AXE names its file.
func (p *tab) axe(name string, width int64) {
	p.Helper()
	file := os.Getenv("QUICKSTREAM_AXE")
	if file == "" {
		return
	}
	script, err := os.ReadFile(file)
	require.NoError(p, err)
	p.do(chromedp.Evaluate[chromedp.Void](string(script) + "; undefined"))
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](`
		axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((r) =>
			r.passes.length === 0 ? ["axe has seen nothing"] : r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))`,
		chromedp.EvalAwaitPromise))
	require.NoError(p, err)
	assert.Empty(p, found, "%s at %d px", name, width)
}

// protected holds that the page has the headers that keep it to itself.
func (p *tab) protected(name string, headers network.Headers) {
	p.Helper()
	policy := headers["Content-Security-Policy"]
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
		assert.Contains(p, policy, part, name)
	}
	assert.NotContains(p, policy, "unsafe", name)
	for header, value := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		assert.Equal(p, value, headers[header], "%s: %s", name, header)
	}
}

// valid holds that html-validate finds nothing in the page as it was sent. QUICKSTREAM_HTML names the program.
func (p *tab) valid(name string, request network.RequestID) {
	p.Helper()
	program := os.Getenv("QUICKSTREAM_HTML")
	if program == "" {
		return
	}
	source, err := chromedp.Call(p.ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: request})
	require.NoError(p, err)
	command := exec.CommandContext(p.Context(), program, "--preset=recommended", "--rule=doctype-style:off", "--rule=no-redundant-role:off", "--stdin")
	command.Stdin = bytes.NewReader(source.Body)
	found, err := command.CombinedOutput()
	assert.NoError(p, err, "%s: %s", name, found)
}

// picture writes what a window of this height shows into the folder that QUICKSTREAM_PICTURES names.
func (p *tab) picture(name string, height int64) {
	p.Helper()
	p.do(chromedp.EmulateViewport(1000, height))
	shot, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p, err)
	directory := cmp.Or(os.Getenv("QUICKSTREAM_PICTURES"), p.TempDir())
	require.NoError(p, os.WriteFile(filepath.Join(directory, name+".png"), shot, 0o600))
}
