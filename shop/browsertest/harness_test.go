package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/shop/machine"
)

// patience is how long something on a page is waited for.
const patience = 30 * time.Second

// buffer keeps what several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.text.Bytes())
}

// tab is a page of the browser, at a shop of the test's own.
type tab struct {
	*testing.T
	*bench

	ctx context.Context
}

// bench is a shop and what is watched of it.
type bench struct {
	machine  *machine.Machine
	files    string // where the database is
	received buffer // all that reached the shop's program
	logged   buffer

	mu        sync.Mutex
	documents sync.Map // the request of each frame's document
	numbers   []string // of cards that were typed in
	problems  []string
	expected  []string // parts of problems that the test brings about
}

// open starts a shop and opens a page at it. When the test ends nothing may have gone
// wrong in the page, and no card number may have reached the shop. Without Chromium the test
// is skipped, but fails if SHOP_BROWSER is "required", as in .ci/long.
func open(t *testing.T, options ...sandbox.Option) *tab {
	t.Helper()
	if browser == nil {
		t.Skip("there is no Chromium")
	}
	b := &bench{files: t.TempDir()}
	var err error
	b.machine, err = machine.Start(t.Context(), machine.Config{
		Listen: "127.0.0.1:0", Child: []string{os.Args[0]}, Env: []string{childVariable + "=1", "SHOP_TRACES=" + filepath.Join(b.files, "spans.json")}, Directory: b.files,
		Password: "password", Log: &b.logged, Received: &b.received, Sandbox: options,
	})
	require.NoError(t, err)
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p := &tab{t, b, ctx}
	t.Cleanup(func() {
		if t.Failed() {
			p.describe()
		}
		cancel()
		assert.NoError(t, b.machine.Close())
		p.nothingWrong()
	})
	p.watch()
	return p
}

// another opens another tab of the same browser.
func (p *tab) another() *tab {
	p.Helper()
	ctx, cancel := chromedp.NewContext(p.ctx)
	p.Cleanup(cancel)
	second := &tab{p.T, p.bench, ctx}
	second.watch()
	return second
}

// elsewhere opens a tab of another browser, which shares no cookies.
func (p *tab) elsewhere() *tab {
	p.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	p.Cleanup(cancel)
	second := &tab{p.T, p.bench, ctx}
	second.watch()
	return second
}

// address is the path and the query of the page.
func (p *tab) address() string {
	p.Helper()
	at, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("location.pathname + location.search"))
	require.NoError(p, err)
	return at
}

// watch notes errors on the console, violations of the policy and requests elsewhere.
func (p *tab) watch() {
	p.Helper()
	require.NoError(p, chromedp.Listen(p.ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			p.note(fmt.Sprint("console: ", e.Type))
		case *runtime.EventExceptionThrown:
			p.note("exception: " + e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				p.note(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
			}
		case *network.EventResponseReceived:
			if e.Type == network.ResourceTypeDocument {
				p.documents.Store(e.FrameID, e.RequestID)
			}
		case *network.EventRequestWillBeSent:
			u, err := url.Parse(e.Request.URL)
			own := err == nil && (u.Scheme+"://"+u.Host == p.machine.Origin() || u.Scheme+"://"+u.Host == p.machine.Service())
			if !own && u.Scheme != "data" {
				p.note("a request to " + e.Request.URL)
			}
		}
	}))
}

func (b *bench) note(problem string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, problem)
}

// expect names a problem that the test itself brings about.
func (b *bench) expect(part string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, part)
}

func (p *tab) nothingWrong() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		known := slices.ContainsFunc(p.expected, func(part string) bool { return strings.Contains(problem, part) })
		assert.True(p, known, problem)
	}
	assert.NotEmpty(p, p.leaks([]byte("SQLite format")), "the database is looked at")
	for _, number := range p.numbers {
		assert.Empty(p, p.leaks([]byte(number)), "a card number")
	}
}

// leaks are the places where the shop has something: what it has received, stored and
// logged.
func (p *tab) leaks(what []byte) (where []string) {
	p.Helper()
	places := map[string][]byte{"received": p.received.bytes(), "logged": p.logged.bytes()}
	files, err := filepath.Glob(filepath.Join(p.files, "*"))
	require.NoError(p, err)
	for _, file := range files {
		places[file], err = os.ReadFile(file)
		require.NoError(p, err)
	}
	for place, content := range places {
		if bytes.Contains(content, what) {
			where = append(where, place)
		}
	}
	return where
}

// describe says where a failed test has stopped.
func (p *tab) describe() {
	at, _ := chromedp.Run(p.ctx, chromedp.Location())
	text, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	p.Logf("at %s:\n%s\nlog:\n%s\nopen:\n%s", at, text, p.logged.bytes(), strings.Join(p.open(), "\n"))
	if directory := os.Getenv("SHOP_PICTURES"); directory != "" {
		image, _ := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
		_ = os.WriteFile(filepath.Join(directory, "failed-"+filepath.Base(p.Name())+".png"), image, 0o600)
	}
}

// open is what the shop's database says is to be done.
func (p *tab) open() (open []string) {
	db, err := sqlite.Open(filepath.Join(p.files, "shop.db"))
	require.NoError(p, err)
	defer db.Close()
	rows, err := db.QueryContext(context.Background(), `SELECT operation || ' ' || state || ' due ' || next_at || ' enqueued ' || due_at || ' ' || lookups || problem
		FROM quickstream_write WHERE next_at IS NOT NULL
		UNION ALL SELECT 'notification ' || state || ' due ' || coalesce(next_at, '') || ' failures ' || failures || ' ' || problem || ' ' || raw FROM quickstream_notification
		UNION ALL SELECT 'job ' || queue || ' ' || state || ' ' || args FROM river_job WHERE state <> 'completed'`)
	require.NoError(p, err)
	defer rows.Close()
	for rows.Next() {
		var line string
		require.NoError(p, rows.Scan(&line))
		open = append(open, line)
	}
	return append(open, fmt.Sprint("now ", time.Now().UnixMicro()), fmt.Sprint(rows.Err()))
}

// do carries steps out, or fails.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p, chromedp.Do(ctx, steps...))
}

// visit opens an address of the shop.
func (p *tab) visit(path string) {
	p.Helper()
	p.do(chromedp.Navigate(p.machine.Origin() + path))
}

// visitService opens an address of the service.
func (p *tab) visitService(path string) {
	p.Helper()
	p.do(chromedp.Navigate(p.machine.Service() + path))
}

// click presses something as a mouse does.
func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// submit presses something that leads to another page, or to this one again, and waits for
// that.
func (p *tab) submit(selector string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void]("window.left = true; undefined"))
	p.click(selector)
	p.waitFor("!window.left && document.readyState === 'complete'")
}

// holds evaluates a condition in the page. A page that is being left has none.
func (p *tab) holds(condition string) bool {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+condition+")"))
	return err == nil && value
}

// waitFor waits until a condition holds in the page.
func (p *tab) waitFor(condition string) {
	p.Helper()
	p.until(condition, func() bool { return p.holds(condition) })
}

func (p *tab) until(what string, is func() bool) {
	p.Helper()
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(20 * time.Millisecond); !is(); <-tick.C {
		if time.Now().After(deadline) {
			require.FailNow(p, "it does not come true: "+what)
		}
	}
}

// inTime lets time go by, a quarter of a minute at once, until something is so.
func (p *tab) inTime(what string, is func() bool) {
	p.Helper()
	p.until(what, func() bool {
		p.machine.Forward(p.Context(), 15*time.Second)
		return is()
	})
}

// says waits until the page has a text, below the bar.
func (p *tab) says(text string) {
	p.Helper()
	p.waitFor(fmt.Sprintf("document.readyState === 'complete' && document.body.innerText.replace(document.querySelector('#bar')?.innerText ?? '', '').includes(%q)", text))
}

// barSays waits until the bar has a text.
func (p *tab) barSays(text string) {
	p.Helper()
	p.waitFor(fmt.Sprintf("document.querySelector('#bar').innerText.includes(%q)", text))
}

// path is where the page is.
func (p *tab) path() string {
	p.Helper()
	at, err := chromedp.Run(p.ctx, chromedp.Location())
	require.NoError(p, err)
	u, err := url.Parse(at)
	require.NoError(p, err)
	return u.Path
}

// order puts something into an order, and returns its number.
func (p *tab) order(item string) string {
	p.Helper()
	p.visit("/")
	p.submit(`form:has(input[value="` + item + `"]) button`)
	require.Contains(p, p.path(), "/checkout/")
	return strings.TrimPrefix(p.path(), "/checkout/")
}

// choose chooses a way to pay: card, payto, or a stored card.
func (p *tab) choose(way string) {
	p.Helper()
	p.click(`label[for="way-` + way + `"]`)
}

// fill types a card in.
func (p *tab) fill(number string) {
	p.Helper()
	p.choose("card")
	for id, value := range map[string]string{"#cardholder": "A Customer", "#number": number, "#expiry": "1299", "#cvn": "837"} {
		p.do(chromedp.SendKeys(chromedp.CSS(id), value))
	}
	p.keeps(number)
}

// keeps notes that a card number, as it is and as the page shows it, may reach the service alone.
func (p *tab) keeps(number string) {
	p.Helper()
	shown, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("document.querySelector('#number').value"))
	require.NoError(p, err)
	assert.Equal(p, number, strings.ReplaceAll(shown, " ", ""))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.numbers = append(p.numbers, number, shown)
}

// pay pays the order of the checkout by a card.
func (p *tab) pay(number string) {
	p.Helper()
	p.fill(number)
	p.click("#pay-button")
}

// becomes waits for the state of the order of the page, which changes by itself.
func (p *tab) becomes(state string) {
	p.Helper()
	p.waitFor(fmt.Sprintf("document.querySelector('#status')?.dataset.state === %q && document.readyState === 'complete'", state))
}

// settles waits for the state as time goes by.
func (p *tab) settles(state string) {
	p.Helper()
	p.inTime(state, func() bool {
		return p.holds(fmt.Sprintf("document.querySelector('#status')?.dataset.state === %q", state))
	})
}

// noticed waits for the checkout to say why the card was not taken.
func (p *tab) noticed(text string) {
	p.Helper()
	p.waitFor(fmt.Sprintf("location.pathname.startsWith('/checkout/') && document.querySelector('#notice')?.innerText.includes(%q)", text))
}

// charged holds how often an order was really charged.
func (p *tab) charged(order string, times int) {
	p.Helper()
	assert.Len(p, p.machine.Sandbox().Ledger().Charged(order), times)
}

// answer presses a button in the frame of the bank.
func (p *tab) answer(transStatus string) {
	p.Helper()
	p.until("the bank's question", func() bool {
		tree, err := chromedp.Call(p.ctx, page.GetFrameTree, cdp.Empty{})
		if err != nil || tree.FrameTree == nil || len(tree.FrameTree.ChildFrames) == 0 {
			return false
		}
		world, err := chromedp.Call(p.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: tree.FrameTree.ChildFrames[0].Frame.ID})
		if err != nil {
			return false
		}
		pressed, err := chromedp.Call(p.ctx, runtime.Evaluate, runtime.EvaluateParams{
			Expression: fmt.Sprintf(`(() => { const b = document.querySelector('button[value=%q]'); b?.click(); return !!b })()`, transStatus),
			ContextID:  world.ExecutionContextID, ReturnByValue: new(true),
		})
		return err == nil && pressed.Result != nil && string(pressed.Result.Value) == "true"
	})
}

// noted reports whether a problem was noticed.
func (b *bench) noted(part string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.problems, func(problem string) bool { return strings.Contains(problem, part) })
}
