package store

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const webhookKey = "whsec"

// world is a shop at a sandbox, both on ports of their own.
type world struct {
	*testing.T
	box    *sandbox.Sandbox
	clock  *liveclock.Clock
	client *quickstream.Client // the browser's script's
	config Config
	web    *httptest.Server

	mu       sync.Mutex
	shop     *server
	received bytes.Buffer // all that reached the shop
	logged   bytes.Buffer
}

func newWorld(t *testing.T, options ...sandbox.Option) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t, options...)
}

// newWorldAlone is a world beside which no other one runs.
func newWorldAlone(t *testing.T, options ...sandbox.Option) *world {
	t.Helper()
	w := &world{T: t, clock: liveclock.New()}
	w.box, w.client = sandboxtest.New(t, append(options, sandbox.WithClock(w.clock.Clock))...)
	base, err := w.box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	times := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(answer).Encode(map[string]time.Time{"now": w.box.Now()})
	}))
	t.Cleanup(times.Close)
	w.web = httptest.NewServer(http.HandlerFunc(w.receive))
	t.Cleanup(w.web.Close)
	w.config = Config{
		Database: filepath.Join(t.TempDir(), "shop.db"), Service: strings.TrimSuffix(base, "/rest/v1"), Business: sandbox.DefaultBusiness, Origin: w.web.URL,
		SecretKey: w.box.Keys().Secret, PublishableKey: w.box.Keys().Publishable, WebhookKey: webhookKey, Password: "p", Clock: times.URL,
	}
	require.NoError(t, w.config.check())
	require.NoError(t, w.box.Subscribe(sandbox.Subscription{
		URL: w.web.URL + "/webhooks", Secret: webhookKey, Scheme: signature.AssumedHMAC{}, Clock: time.Now,
	}))
	w.open()
	t.Cleanup(func() { w.close() })
	return w
}

// open starts the merchant's program, on the file that an earlier one has left.
func (w *world) open() {
	w.Helper()
	s, err := open(w.Context(), w.config, slog.New(slog.NewTextHandler(&locked{w: w}, &slog.HandlerOptions{Level: slog.LevelDebug})))
	require.NoError(w, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shop = s
}

func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(w, w.shop.close(ctx))
}

// locked keeps what is logged.
type locked struct{ w *world }

func (l *locked) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("level=DEBUG")) {
		_, _ = l.w.Output().Write(p)
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.w.logged.Write(p)
}

// receive keeps each request and hands it to the shop.
func (w *world) receive(answer http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	w.mu.Lock()
	_ = r.Header.Write(&w.received)
	r.Header.Set("X-Forwarded-For", "203.0.113.7") // by the shop's proxy: the service wants a public address
	w.received.WriteString(r.Method + " " + r.URL.String() + "\n" + string(body) + "\n")
	shop := w.shop
	w.mu.Unlock()
	shop.handler().ServeHTTP(answer, r)
}

// browser is a customer's.
type browser struct {
	*world
	http    *http.Client
	form    string // the form token of the last page
	payment string // the id that the last checkout's forms have
}

func (w *world) browser() *browser {
	w.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(w, err)
	b := &browser{world: w, http: &http.Client{Jar: jar}}
	b.get("/")
	return b
}

var (
	formPattern    = regexp.MustCompile(`name="form" value="([0-9a-f]+)"`)
	paymentPattern = regexp.MustCompile(`name="payment" value="([^"]+)"`)
)

// shown is what a browser was shown.
type shown struct {
	status int
	path   string // and query, after redirects
	body   string
}

func (b *browser) do(r *http.Request) shown {
	b.Helper()
	answer, err := b.http.Do(r)
	require.NoError(b, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(b, err)
	return shown{answer.StatusCode, answer.Request.URL.RequestURI(), string(body)}
}

func (b *browser) get(path string) shown {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, b.web.URL+path, nil)
	require.NoError(b, err)
	page := b.do(r)
	if token := formPattern.FindStringSubmatch(page.body); token != nil {
		b.form = token[1]
	}
	return b.fills(page)
}

// fills keeps the id in the forms of a checkout, which the next form that is sent has.
func (b *browser) fills(page shown) shown {
	if id := paymentPattern.FindStringSubmatch(page.body); id != nil {
		b.payment = id[1]
	}
	return page
}

// post sends a form as a browser does, with the session's token.
func (b *browser) post(path string, fields ...string) shown {
	b.Helper()
	values := url.Values{"form": {b.form}, "payment": {b.payment}}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return b.send(path, values, http.Header{"Origin": {b.web.URL}, "Sec-Fetch-Site": {"same-origin"}})
}

func (b *browser) send(path string, values url.Values, header http.Header) shown {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, b.web.URL+path, strings.NewReader(values.Encode()))
	require.NoError(b, err)
	for name, value := range header {
		r.Header[name] = value
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// order places an order and returns its id.
func (b *browser) order(item string) string {
	b.Helper()
	page := b.fills(b.post("/orders", "item", item))
	id, ok := strings.CutPrefix(page.path, "/checkout/")
	require.True(b, ok, "%s: %s", page.path, page.body)
	return id
}

// token is what the service's script makes of a card in the browser.
func (b *browser) token(number string) string {
	b.Helper()
	token, err := sandboxtest.CardToken(b.Context(), b.client, number, sandboxtest.ThreeDS)
	require.NoError(b, err)
	return token
}

// pay pays an order by a card.
func (b *browser) pay(order, number string, more ...string) shown {
	b.Helper()
	return b.post("/orders/"+order+"/pay", append([]string{
		"token", b.token(number), "street", "1 Example Street", "city", "Sydney", "state", "NSW", "postcode", "2000",
	}, more...)...)
}

// paid is an order that a card has paid.
func (b *browser) paid(item string) string {
	b.Helper()
	id := b.order(item)
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	return id
}

var statePattern = regexp.MustCompile(`data-state="([^"]*)"`)

// state is what a page says about a payment or an agreement.
func (p shown) state() string {
	if found := statePattern.FindStringSubmatch(p.body); found != nil {
		return found[1]
	}
	return ""
}

// becomes waits until a page is in a state, while the time passes.
func (b *browser) becomes(path, state string, step time.Duration) shown {
	b.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		page := b.get(path)
		if page.state() == state || strings.HasPrefix(page.state(), state+" ") {
			return page
		}
		if time.Now().After(deadline) {
			p, _ := b.shop.engine.PaymentOf(b.Context(), strings.TrimPrefix(path, "/orders/"))
			require.Failf(b, "It stays", "%s did not become %s: it is %q, and its payment %+v", path, state, page.state(), p)
		}
		b.clock.Jump(step)
		<-time.After(50 * time.Millisecond)
	}
}

// changes opens the browser's stream, and returns what waits for its next change, and reports that there was one.
func (b *browser) changes(ctx context.Context) (changed func() bool) {
	b.Helper()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	b.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.web.URL+"/changes", nil)
	require.NoError(b, err)
	answer, err := b.http.Do(r)
	require.NoError(b, err)
	b.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(b, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewScanner(answer.Body)
	return func() bool {
		for lines.Scan() {
			if lines.Text() == "data: changed" {
				return true
			}
		}
		return false
	}
}

// charged is how often an order was charged, by the ledger.
func (w *world) charged(order string) int { return len(w.box.Ledger().Charged(order)) }

// everything is what the shop has received, stored, logged and shown. The shop is closed.
func (w *world) everything() string {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(w.config.Database), "*"))
	require.NoError(w, err)
	w.mu.Lock()
	all := w.received.String() + w.logged.String()
	w.mu.Unlock()
	require.NotEmpty(w, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(w, err)
		all += string(data)
	}
	return all
}
