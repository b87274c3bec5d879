package sandbox

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
)

const (
	basePath = "/rest/v1"

	maxRequestBody = 64 << 20
)

// Sandbox is one simulated facility of the service. Every method may be called
// from several goroutines.
type Sandbox struct {
	assume    Assumptions
	form      form.Format // of the assumptions
	clock     timekeeper
	routes    routes
	listener  *memnet.Listener
	server    *http.Server
	transport *memnet.Transport
	noThreeDS func(code string) bool
	shops     []string
	shopFront http.Handler // nil without shops

	closing  chan struct{}
	serving  sync.WaitGroup // accept loops
	handling sync.WaitGroup // requests

	// mu guards all that follows. It is never held while a response is
	// written: a caller that stops reading must not stop the facility.
	mu           sync.Mutex
	closed       bool
	timers       map[*timer]struct{}
	ids          *rand.Rand
	dice         *rand.Rand
	keys         keyring
	requests     recorder
	dialFaults   faultList
	serverFaults faultList
	replays      replayStore
	businesses   []*business
	customers    customerStore
	tokens       tokenStore
	accounts     accountStore
	transactions transactionStore
	script       []Outcome
	orderScripts map[string][]Outcome // by customerReferenceNumber in lower case
	agreements   agreementStore
	webhooks     hooks

	threeDSScript []TransStatus
	reports       map[string]*report // by query
	files         fileStore
	schedules     scheduleStore

	listsRead  int            // where their order is unstable
	pagesAsked map[string]int // by address, where they are gone at times
}

// New starts a sandbox. Close it when done.
func New(opts ...Option) *Sandbox {
	cfg := settings{assume: DefaultAssumptions(), clock: packageTime{}, noThreeDS: func(string) bool { return false }}
	for _, opt := range opts {
		opt(&cfg)
	}
	b := &Sandbox{
		assume:       cfg.assume,
		form:         formOf(&cfg.assume),
		clock:        cfg.clock,
		noThreeDS:    cfg.noThreeDS,
		shops:        cfg.shops,
		listener:     memnet.NewListener(),
		closing:      make(chan struct{}),
		timers:       make(map[*timer]struct{}),
		ids:          cfg.source("ids"),
		dice:         cfg.source("dice"),
		businesses:   cfg.directory(),
		customers:    newCustomerStore(),
		tokens:       newTokenStore(),
		accounts:     newAccountStore(),
		transactions: newTransactionStore(),
		orderScripts: make(map[string][]Outcome),
		reports:      make(map[string]*report),
		files:        newFileStore(),
		schedules:    newScheduleStore(),
		replays:      newReplayStore(),
		agreements:   newAgreementStore(),
		pagesAsked:   make(map[string]int),
	}
	b.keys = newKeyring(b.ids)
	b.webhooks.life, b.webhooks.end = context.WithCancel(context.Background())
	b.routes = newRoutes(b.operations())
	b.shopFront = b.newShopFront()
	b.transport = memnet.NewTransport(b.listener, b.dialFault)
	b.server = newServer(b)
	b.serveOn(b.listener)
	return b
}

func newServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
}

// Close stops the sandbox: open connections are closed, calls that hang are let
// go, timers are stopped. When it returns nothing of the sandbox runs on. A
// second Close does nothing.
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
	// The only errors of Close are those of listeners that are going away.
	_ = b.server.Close()
	b.webhooks.close()
	b.handling.Wait()
	b.serving.Wait()
}

// URL is the base address of the in-memory service, to be used with
// [Sandbox.HTTPClient].
func (b *Sandbox) URL() string { return "http://" + memnet.Host + basePath }

// HTTPClient returns a client whose connections lead to this sandbox, in
// memory, and nowhere else: other host names do not resolve. All clients of a
// sandbox share one connection pool.
func (b *Sandbox) HTTPClient() *http.Client { return &http.Client{Transport: b.transport} }

// Drain waits until the calls that their callers have given up, as after a timeout, have
// ended in the sandbox too, with all that they do. A test that moves the clock by days
// calls it before: a request that is still on its way would arrive days after it was
// sent, when its idempotency key may be forgotten. It knows the calls of
// [Sandbox.HTTPClient], and not those over TCP.
func (b *Sandbox) Drain(ctx context.Context) error { return b.listener.Drain(ctx) }

// Now is the sandbox's time.
func (b *Sandbox) Now() time.Time { return b.clock.Now() }

// Assumptions returns the assumptions in force.
func (b *Sandbox) Assumptions() Assumptions { return b.assume }

// Listen serves the sandbox on a real TCP port as well, for other processes and
// other languages, and returns the base address. Port 0 takes a free port.
// The address must be a loopback address.
func (b *Sandbox) Listen(addr string) (string, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("sandbox: listen address: %w", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("sandbox: %q is not a loopback address", addr)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("sandbox: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", errors.Join(errors.New("sandbox: closed"), l.Close())
	}
	b.serveOn(l)
	return "http://" + l.Addr().String() + basePath, nil
}

// serveOn ends when the listener is closed, which Server.Close does.
func (b *Sandbox) serveOn(l net.Listener) {
	b.serving.Go(func() { _ = b.server.Serve(l) })
}

type timer struct{ stop func() bool }

// after runs f once, holding mu, when d has passed on the sandbox's clock. The
// caller holds mu.
func (b *Sandbox) after(d time.Duration, f func()) {
	t := &timer{}
	b.timers[t] = struct{}{}
	t.stop = b.clock.afterFunc(d, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.closed {
			return
		}
		delete(b.timers, t)
		f()
	})
}

// wait blocks for d on the sandbox's clock and reports false when the sandbox
// was closed, or given up for, before.
func (b *Sandbox) wait(d time.Duration, gone <-chan struct{}) bool {
	done := make(chan struct{})
	stop := b.clock.afterFunc(d, func() { close(done) })
	defer stop()
	select {
	case <-done:
		return true
	case <-gone:
	case <-b.closing:
	}
	return false
}

// Option configures a [Sandbox].
type Option func(*settings)

type settings struct {
	assume     Assumptions
	clock      timekeeper
	seed       [8]byte
	seeded     bool
	businesses []*business
	noThreeDS  func(code string) bool
	shops      []string
}

// WithClock makes the sandbox live on c instead of package time.
func WithClock(c *Clock) Option {
	return func(s *settings) {
		if c != nil {
			s.clock = c
		}
	}
}

// WithSeed makes keys, identifiers and the dice of [Fault.Probability] the same
// in every run. Calls that race each other still draw in the order they come.
func WithSeed(n uint64) Option {
	return func(s *settings) {
		binary.LittleEndian.PutUint64(s.seed[:], n)
		s.seeded = true
	}
}

// WithBusiness adds a business with the surcharges it puts on card payments.
// [DefaultBusiness] exists without it; naming that code replaces it.
func WithBusiness(code, name string, surcharges ...Surcharge) Option {
	return func(s *settings) {
		s.businesses = append(s.businesses, &business{code: code, name: name, surcharges: surcharges})
	}
}

// WithAssumptions changes what the sandbox assumes where the public contract is
// silent.
func WithAssumptions(change func(*Assumptions)) Option {
	return func(s *settings) { change(&s.assume) }
}

// source returns a generator of its own for each purpose, so that drawing dice
// does not change the identifiers of a seeded run.
func (s *settings) source(purpose string) *rand.Rand {
	var seed [32]byte
	if s.seeded {
		copy(seed[:], s.seed[:])
		copy(seed[8:], purpose)
	} else {
		_, _ = crand.Read(seed[:]) // never fails
	}
	return rand.New(rand.NewChaCha8(seed)) //nolint:gosec // repeatable on purpose; nothing here guards anything
}

func (s *settings) directory() []*business {
	list := []*business{{code: DefaultBusiness, name: "Sandbox Trading Company"}}
	for _, added := range s.businesses {
		replaced := false
		for i, known := range list {
			if known.code == added.code {
				list[i], replaced = added, true
			}
		}
		if !replaced {
			list = append(list, added)
		}
	}
	return list
}
