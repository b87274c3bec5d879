// Package browsertest looks at the console, the shop and the pages of the sandbox's command in Chromium.
package browsertest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/needs"
)

// tab is a page of a Chromium of its own.
type tab struct {
	*testing.T

	ctx context.Context

	mu       sync.Mutex
	document network.RequestID // of the page as it was sent
	problems []string
}

// open starts Chromium. When the test ends nothing may have gone wrong in the page.
func open(t *testing.T) *tab {
	t.Helper()
	for _, name := range []string{"QUICKSTREAM_AXE", "QUICKSTREAM_HTML"} { // axe's script, and the program html-validate
		if os.Getenv(name) == "" {
			needs.Skip(t, name)
		}
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		needs.Skip(t, "Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("no-proxy-server", true),
		// Names are looked up nowhere.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"))
	allocator, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	p := &tab{T: t, ctx: ctx}
	t.Cleanup(func() {
		cancel()
		stop()
		p.mu.Lock()
		defer p.mu.Unlock()
		assert.Empty(t, p.problems)
	})
	p.watch()
	return p
}

// watch notes what the browser reports, such as violations of the policy, and requests to other machines.
func (p *tab) watch() {
	p.Helper()
	require.NoError(p, chromedp.Listen(p.ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.Context().Err() != nil {
			return // the test is over, and servers end
		}
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			p.problems = append(p.problems, "exception: "+e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		case *network.EventResponseReceived:
			if e.Type == network.ResourceTypeDocument {
				p.document = e.RequestID
			}
		case *network.EventRequestWillBeSent:
			if u, err := url.Parse(e.Request.URL); err != nil || u.Hostname() != "127.0.0.1" && u.Scheme != "data" {
				p.problems = append(p.problems, "a request to "+e.Request.URL)
			}
		}
	}))
}

// do carries steps out, or fails.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	require.NoError(p, chromedp.Do(ctx, steps...))
}

// submit sends a form, and waits for the page that follows.
func (p *tab) submit(form string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void]("window.left = true; undefined"))
	p.do(chromedp.Click(chromedp.CSS(form + " button")))
	p.waitFor("!window.left && document.readyState === 'complete'")
}

// waitFor waits until a condition holds in the page. A page that is being left has none.
func (p *tab) waitFor(condition string) {
	p.Helper()
	require.Eventually(p, func() bool {
		is, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
		return err == nil && is
	}, time.Minute, 20*time.Millisecond, "it does not come true: %s", condition)
}

func (p *tab) says(text string) {
	p.Helper()
	p.waitFor(fmt.Sprintf("document.readyState === 'complete' && document.body.innerText.includes(%q)", text))
}

// look holds that a page needs no horizontal scrolling on a phone and on a desk, light and dark, that axe finds nothing on it, and
// html-validate nothing in what was sent.
func (p *tab) look(name string) {
	p.Helper()
	script, err := os.ReadFile(os.Getenv("QUICKSTREAM_AXE"))
	require.NoError(p, err)
	p.do(chromedp.Evaluate[chromedp.Void](string(script) + "; undefined"))
	for _, at := range []struct {
		scheme string
		width  int64
	}{{"dark", 390}, {"dark", 1280}, {"light", 320}, {"light", 390}, {"light", 1280}} {
		width, name := at.width, name+", "+at.scheme
		_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: at.scheme}}, //nolint:misspell // the name is CSS's
		})
		require.NoError(p, err)
		p.do(chromedp.EmulateViewport(width, 844))
		wide, err := chromedp.Run(p.ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		require.NoError(p, err)
		assert.LessOrEqual(p, wide, width, "%s at %d px", name, width)
		found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string](`
			axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then((r) =>
				r.passes.length === 0 ? ["axe has seen nothing"] : r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))`,
			chromedp.EvalAwaitPromise))
		require.NoError(p, err)
		assert.Empty(p, found, "%s at %d px", name, width)
	}
	p.mu.Lock()
	document := p.document
	p.mu.Unlock()
	source, err := chromedp.Call(p.ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: document})
	require.NoError(p, err)
	command := exec.CommandContext(p.Context(), os.Getenv("QUICKSTREAM_HTML"), "--preset=recommended", "--rule=doctype-style:off", "--rule=no-redundant-role:off", "--stdin")
	command.Stdin = bytes.NewReader(source.Body)
	wrong, err := command.CombinedOutput()
	assert.NoError(p, err, "%s: %s", name, wrong)
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

// another is another tab of the same browser.
func (p *tab) another() *tab {
	p.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	other := &tab{T: p.T, ctx: ctx}
	p.Cleanup(func() {
		cancel()
		other.mu.Lock()
		defer other.mu.Unlock()
		assert.Empty(p, other.problems)
	})
	other.watch()
	return other
}
