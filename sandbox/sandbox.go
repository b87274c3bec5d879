package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/internal/loopback"
	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
)

const (
	basePath = "/rest/v1"

	maxRequestBody = 16 << 20
)

// Sandbox is one simulated facility of the service. All methods are safe for concurrent use.
type Sandbox struct {
	settings
	routes    routes
	listener  *memnet.Listener
	server    *http.Server
	transport *memnet.Transport
	shopFront http.Handler // nil without shops

	closing  chan struct{}
	serving  sync.WaitGroup // accept loops
	handling sync.WaitGroup // requests

	// mu guards the fields below. It is never held while a response is written, so that a
	// caller that stops reading does not block others.
	mu           sync.Mutex
	closed       bool
	timers       map[*timer]struct{}
	ids          *rand.Rand
	dice         *rand.Rand
	keys         keyring
	requests     recorder
	faults       faultList
	replays      replayStore
	customers    store[customer]
	tokens       store[token]
	accounts     store[account]
	transactions store[transaction]
	byReference  map[string][]*transaction // by all references, in lower case
	script       []Outcome
	orderScripts map[string][]Outcome // by customerReferenceNumber in lower case
	agreements   store[agreement]
	webhooks     hooks

	reports   map[string]*report // by query
	files     store[paymentFile]
	batches   store[batch]
	schedules store[schedule]

	pagesAsked map[string]int // number of requests by address, for Paging
}

// New starts a sandbox. Call [Sandbox.Close] to stop it.
func New(opts ...Option) *Sandbox {
	b := &Sandbox{
		settings: settings{
			assume: DefaultAssumptions(), served: served{logger: slog.New(slog.DiscardHandler)},
			seed:       rand.Uint64(), //nolint:gosec // it guards nothing
			businesses: []*business{{code: DefaultBusiness, name: "Sandbox Trading Company"}},
		},
		listener: memnet.NewListener(), closing: make(chan struct{}),
	}
	for _, opt := range opts {
		opt(&b.settings)
	}
	if b.clock == nil {
		b.clock = NewRunningClock(time.Now())
	}
	// Two sources, so that draws for faults do not change the identifiers of a seeded run.
	b.ids, b.dice = rand.New(rand.NewPCG(b.seed, 1)), rand.New(rand.NewPCG(b.seed, 2)) //nolint:gosec // repeatable on purpose
	b.timers = make(map[*timer]struct{})
	b.customers, b.tokens, b.accounts = newStore[customer](), newStore[token](), newStore[account]()
	b.transactions, b.byReference = newStore[transaction](), make(map[string][]*transaction)
	b.agreements, b.schedules = newStore[agreement](), newStore[schedule]()
	b.files, b.batches, b.reports = newStore[paymentFile](), newStore[batch](), make(map[string]*report)
	b.orderScripts, b.replays, b.pagesAsked = make(map[string][]Outcome), make(replayStore), make(map[string]int)
	b.faults.counts = make(map[string]int)
	b.keys = keyring{make(map[string]*issuedKey), make(map[string]string)}
	b.issueKey(KeySecret, b.served.keys.Secret)
	b.issueKey(KeyPublishable, b.served.keys.Publishable)
	b.webhooks.life, b.webhooks.end = context.WithCancel(context.Background())
	b.routes = b.operations()
	b.shopFront = b.newShopFront()
	b.transport = memnet.NewTransport(b.listener, b.dialFault)
	b.server = newServer(b)
	b.serveOn(b.listener)
	return b
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
}

// Close stops the sandbox. It closes all connections, ends calls that hang, stops all timers,
// and returns when nothing of the sandbox runs any more. A second Close does nothing.
func (b *Sandbox) Close() {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return
	}
	b.closed = true
	close(b.closing)
	for t := range b.timers {
		t.stop()
	}
	clear(b.timers)
	b.mu.Unlock()

	b.transport.CloseIdleConnections()
	// Server.Close returns only errors of listeners, which are of no use here.
	_ = b.server.Close()
	b.webhooks.close()
	b.handling.Wait()
	b.serving.Wait()
}

var errClosed = errors.New("sandbox: closed")

// URL returns the base address of the sandbox for [Sandbox.HTTPClient].
func (b *Sandbox) URL() string { return "http://" + memnet.Host + basePath }

// HTTPClient returns a client with connections to this sandbox in memory. No other host name
// resolves. All clients of a sandbox share one connection pool.
func (b *Sandbox) HTTPClient() *http.Client { return &http.Client{Transport: b.transport} }

// Drain waits until the sandbox has finished every call whose caller has given up, such as
// after a timeout. It covers the calls of [Sandbox.HTTPClient], and not calls over TCP.
func (b *Sandbox) Drain(ctx context.Context) error { return b.listener.Drain(ctx) }

// Now returns the sandbox's time.
func (b *Sandbox) Now() time.Time { return b.clock.Now() }

// Assumptions returns the sandbox's assumptions.
func (b *Sandbox) Assumptions() Assumptions { return b.assume }

// Listen serves the sandbox on a TCP port too, for other processes and languages, and returns
// the base address. The address must be a loopback address. Port 0 takes a free port.
func (b *Sandbox) Listen(addr string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("sandbox: listen address: %w", err)
	}
	if !loopback.IsHost(host) {
		return "", fmt.Errorf("sandbox: %q is not a loopback address", addr)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", errors.Join(errClosed, l.Close())
	}
	b.serveOn(l)
	return "http://" + l.Addr().String() + basePath, nil
}

// serveOn serves until Server.Close closes the listener.
func (b *Sandbox) serveOn(l net.Listener) {
	b.serving.Go(func() { _ = b.server.Serve(l) })
}

type timer struct{ stop func() bool }

// after runs f once, with mu held, after d on the sandbox's clock. The caller holds mu.
func (b *Sandbox) after(d time.Duration, f func()) {
	t := &timer{}
	b.timers[t] = struct{}{}
	t.stop = b.clock.afterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if _, set := b.timers[t]; !set || b.closed {
			return
		}
		delete(b.timers, t)
		f()
	})
}

// HoldClock makes [Clock.Advance] wait until release is called. Use it for a client's call: between its attempts
// the sandbox sees no request. The clients of package sandboxtest hold the clock during their writes.
func (b *Sandbox) HoldClock() (release func()) { return b.clock.holdCall() }

// Option configures a [Sandbox].
type Option func(*settings)

type settings struct {
	assume     Assumptions
	clock      *Clock
	seed       uint64
	businesses []*business
	shops      []string
	served     served
}

// WithClock sets the sandbox's clock. Without it the sandbox uses package time.
func WithClock(c *Clock) Option {
	return func(s *settings) { s.clock = c }
}

// WithSeed makes keys, identifiers and the draws of [Fault.Probability] the same in every
// run. Concurrent calls draw in the order in which they arrive.
func WithSeed(n uint64) Option {
	return func(s *settings) { s.seed = n }
}

// WithBusiness adds a business with its surcharges on card payments. It replaces a business
// with the same code, such as [DefaultBusiness], which every sandbox has.
func WithBusiness(code, name string, surcharges ...Surcharge) Option {
	return func(s *settings) {
		s.businesses = slices.DeleteFunc(s.businesses, func(known *business) bool { return known.code == code })
		s.businesses = append(s.businesses, &business{code: code, name: name, surcharges: surcharges})
	}
}

// WithAssumptions changes the sandbox's assumptions.
func WithAssumptions(change func(*Assumptions)) Option {
	return func(s *settings) { change(&s.assume) }
}

type store[T any] struct {
	byID    map[string]*T
	ordered []*T // oldest first
}

func newStore[T any]() store[T] { return store[T]{byID: make(map[string]*T)} }

func (s *store[T]) add(id string, object *T) {
	s.byID[id] = object
	s.ordered = append(s.ordered, object)
}

func (s *store[T]) where(want func(*T) bool) []*T {
	return slices.DeleteFunc(slices.Clone(s.ordered), func(object *T) bool { return !want(object) })
}

func (s *store[T]) first(want func(*T) bool) *T {
	if i := slices.IndexFunc(s.ordered, want); i >= 0 {
		return s.ordered[i]
	}
	return nil
}
