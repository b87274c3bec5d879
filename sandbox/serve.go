package sandbox

import (
	"bytes"
	"cmp"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// ServeHTTP answers every request, over any connection. Use it to serve the sandbox from a
// server of your own.
func (b *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !b.enter() {
		panic(http.ErrAbortHandler)
	}
	defer b.handling.Done()
	release := b.clock.hold()
	defer release()
	if b.crossOrigin(w, r) {
		return
	}
	if path := r.URL.Path; b.shopFront != nil && (path == scriptPath || strings.HasPrefix(path, shopPath)) {
		b.shopFront.ServeHTTP(w, r)
		return
	}

	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBody))
	if err != nil { // the caller stopped in the middle: the service never saw it
		panic(http.ErrAbortHandler)
	}
	x := b.admit(w, r, body)
	x.decided = release
	defer x.log()
	defer x.end()
	if x.fault != nil {
		x.fault.play(x)
		return
	}
	x.send(x.commit())
}

// enter counts a request that begins. It returns false if the sandbox is closed.
func (b *Sandbox) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.handling.Add(1)
	}
	return !b.closed
}

// exchange is a call with its connection and its record. A fault is a function that plays it.
type exchange struct {
	*call
	w       http.ResponseWriter
	r       *http.Request
	fault   *FaultKind
	entry   *Request
	settled bool
	result  answer
	raised  []*delivery // by the operation
	decided func()      // the answer is on its way: the clock may move

	ended bool // the connection
}

// newCall reads a request. Its operation is nil if none has its path and method.
func (b *Sandbox) newCall(r *http.Request, body []byte) *call {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	c := &call{
		box: b, method: r.Method, url: r.URL, origin: scheme + "://" + r.Host,
		header: r.Header.Clone(), query: r.URL.Query(), body: body,
		idempotencyKey: r.Header.Get("Idempotency-Key"), now: b.clock.Now(),
	}
	c.op, c.params = b.routes.find(r.Method, r.URL.EscapedPath())
	return c
}

func (b *Sandbox) admit(w http.ResponseWriter, r *http.Request, body []byte) *exchange {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.newCall(r, body)
	x := &exchange{call: c, w: w, r: r, entry: c.record()}
	b.requests.add(x.entry)
	if c.op == nil {
		x.settle(c.problem(http.StatusNotFound, "There is nothing at this path for "+c.method+"."))
		return x
	}
	if x.fault = b.faults.next(false, b.dice, *x.entry); x.fault != nil {
		x.entry.Fault = x.fault.name
	}
	return x
}

// claim checks the API key and reserves the idempotency key, as the service does when a
// request arrives. It may settle the exchange. The caller holds mu.
func (x *exchange) claim() {
	if x.settled {
		return
	}
	if refusal, ok := x.box.authenticate(x.call); !ok {
		x.settle(refusal)
		return
	}
	if a, settled, replayed := x.box.replays.claim(x.call); settled {
		x.entry.Replayed = replayed
		x.settle(a)
	}
}

// carryOut runs the operation, stores its answer, and keeps the events that it raises. The caller holds mu.
func (x *exchange) carryOut() {
	if x.settled {
		return
	}
	x.box.webhooks.raised = &x.raised
	x.now = x.box.clock.Now()
	if refusal, ok := x.checkQuery(); ok {
		x.settle(x.op.handle(x.call))
	} else {
		x.settle(refusal)
	}
	x.entry.Committed = x.result.succeeded()
	x.box.replays.store(x.call, x.result)
	x.box.webhooks.raised = nil
}

func (x *exchange) settle(a answer) {
	x.result = x.render(a)
	x.settled = true
}

// commit carries out the operation once, and returns its answer, after its events if Events is before.
func (x *exchange) commit() answer {
	x.decide()
	return x.afterEvents()
}

func (x *exchange) decide() {
	x.box.mu.Lock()
	defer x.box.mu.Unlock()
	x.claim()
	x.carryOut()
}

// commitLater carries out the operation after d, in the goroutine of the clock. Until then its
// idempotency key is in use.
func (x *exchange) commitLater(d time.Duration) (carriedOut <-chan struct{}) {
	done := make(chan struct{})
	x.box.mu.Lock()
	defer x.box.mu.Unlock()
	x.claim()
	x.box.after(d, func() {
		x.carryOut()
		close(done)
		x.reverseIfLost()
	})
	return done
}

// afterEvents returns the answer of an operation that was carried out. If Events is before, it first waits
// until each notification was posted once.
func (x *exchange) afterEvents() answer {
	for _, d := range x.raised {
		if x.box.assume.Events != "before" {
			break
		}
		select {
		case <-d.tried:
		case <-x.r.Context().Done():
			return x.result
		case <-x.box.closing:
			return x.result
		}
	}
	return x.result
}

// send answers the caller. It holds no lock while it writes.
func (x *exchange) send(a answer) {
	x.head(a)
	_, err := x.w.Write(a.raw) // the caller may have gone
	if err == nil && a.status == x.result.status && bytes.Equal(a.raw, x.result.raw) {
		x.arrived()
	}
}

func (x *exchange) arrived() {
	x.box.mu.Lock()
	defer x.box.mu.Unlock()
	if x.made != nil {
		x.made.answered = true
	}
}

func (x *exchange) end() {
	x.box.mu.Lock()
	defer x.box.mu.Unlock()
	x.ended = true
	x.reverseIfLost()
}

// reverseIfLost plans the void of an approved card payment whose answer was lost: see ReversalAfter. If a
// replayed answer arrives first, the payment is not voided. The caller holds mu.
func (x *exchange) reverseIfLost() {
	tx, wait := x.made, x.box.assume.ReversalAfter
	if wait <= 0 || !x.ended || tx == nil || tx.answered {
		return
	}
	x.box.after(wait, func() {
		if voidable, _ := x.box.reversible(tx, x.box.clock.Now()); voidable && !tx.answered {
			x.box.settle(tx, Outcome{result: resultVoided, code: tx.code})
		}
	})
}

func (x *exchange) head(a answer) {
	x.answered(a)
	x.decided()
	h := x.w.Header()
	h.Set("Date", x.box.clock.Now().Add(x.box.assume.ClockSkew).UTC().Format(http.TimeFormat))
	maps.Copy(h, a.header)
	if a.status != http.StatusNoContent {
		h.Set("Content-Length", strconv.Itoa(len(a.raw)))
	}
	x.w.WriteHeader(a.status)
}

func (x *exchange) answered(a answer) {
	x.box.mu.Lock()
	defer x.box.mu.Unlock()
	x.entry.Status = a.status
	if x.box.served.answers {
		x.box.requests.answered(x.entry, a.raw)
	}
}

// drop closes the connection without an answer. If reset is true, the caller sees a reset.
func (x *exchange) drop(reset bool) {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // also closes the connection
	}
	if reset {
		memnet.Reset(conn)
		return
	}
	_ = conn.Close()
}

// wait waits for d on the sandbox's clock. It returns false if the caller gives up, or the sandbox is
// closed, before that.
func (x *exchange) wait(d time.Duration) bool {
	return x.box.clock.wait(d, x.r.Context().Done(), x.box.closing)
}

func (x *exchange) hang() {
	select {
	case <-x.r.Context().Done():
	case <-x.box.closing:
	}
	x.drop(false)
}

type served struct {
	keys         Keys
	origin       string   // of links in webhooks; empty: the in-memory address
	webhookHosts []string // in lower case
	answers      bool
	logger       *slog.Logger
}

// WithKeys sets the API keys. The sandbox makes up a key that is empty, as without the option.
// Never use keys of the real service.
func WithKeys(keys Keys) Option { return func(s *settings) { s.served.keys = keys } }

// WithOrigin sets the scheme and the host, such as http://127.0.0.1:8642, of links in the bodies
// of webhooks. The default is the address of [Sandbox.HTTPClient].
func WithOrigin(origin string) Option { return func(s *settings) { s.served.origin = origin } }

// WithWebhookHosts allows subscriptions with URLs on these hosts, which are host names or IP
// addresses, as well as on loopback addresses.
func WithWebhookHosts(hosts ...string) Option {
	return func(s *settings) {
		for _, host := range hosts {
			s.served.webhookHosts = append(s.served.webhookHosts, strings.ToLower(host))
		}
	}
}

// WithAnswerBodies keeps the bodies of answers in the records of [Sandbox.Requests], which then hold
// fewer requests.
func WithAnswerBodies() Option { return func(s *settings) { s.served.answers = true } }

// WithLogger logs each request when it has ended, answered or not, and each attempt to deliver a
// notification. It logs no key, no reference and no body.
func WithLogger(l *slog.Logger) Option { return func(s *settings) { s.served.logger = l } }

func (b *Sandbox) namedHost(target string) bool {
	u, err := url.Parse(target)
	return err == nil && slices.Contains(b.served.webhookHosts, strings.ToLower(u.Hostname()))
}

// check verifies a signature as the receiver does, and returns what is wrong with it.
func (s *Subscription) check(header string, body []byte) string {
	v, err := signature.NewVerifier(s.Scheme, []string{s.Secret}, signature.WithClock(s.Clock))
	if err == nil {
		err = v.Verify([]string{header}, body)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (x *exchange) log() {
	x.box.mu.Lock()
	e := *x.entry
	x.box.mu.Unlock()
	x.box.served.logger.Info("request", "call", cmp.Or(e.Operation, e.Method+" (no such path)"), "status", e.Status, "key", e.Key,
		"committed", e.Committed, "replayed", e.Replayed, "fault", e.Fault)
}
