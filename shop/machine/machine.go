// Package machine runs the shop for a stranger to try: the sandbox as the payment
// service, the shop's program as a child process that can be killed, a proxy in front
// of it, and a page of switches for what goes wrong, with the sandbox's ledger beside
// them. A merchant has no use for it; what he copies is package store.
package machine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Config says what is run. Child and Listen are required.
type Config struct {
	// Listen is the loopback address of the shop; port 0 takes a free one.
	Listen string
	// Child is the command of the shop's program. It gets the variables of
	// store.ConfigFromEnv and prints "listening http://ADDRESS" when it is ready. It
	// ends when its standard input does.
	Child []string
	// Env are more variables for it.
	Env []string
	// Directory is where the database is; it has to exist.
	Directory string
	// Password is that of the back office; a random one unless it is given.
	Password string
	// Log gets what the child prints; os.Stderr unless it is given.
	Log io.Writer
	// Sandbox are more options of the sandbox.
	Sandbox []sandbox.Option
	// Received, unless it is nil, gets all that reaches the child: requests through the
	// proxy, and answers of the service.
	Received io.Writer
}

// payToTakes is how long a bank takes to pay by PayTo: a visitor waits for it.
const payToTakes = 5 * time.Second

// Machine is a running shop with its surroundings.
type Machine struct {
	config   Config
	origin   string // where customers reach the shop
	service  string // where the sandbox listens
	box      *sandbox.Sandbox
	clock    *liveclock.Clock
	child    *child
	trouble  *trouble
	received *recorder
	told     atomic.Int64 // how often the shop's program has asked for the time

	end     context.CancelFunc
	begun   bool // the child is run
	servers []*http.Server
	running sync.WaitGroup
}

// Start starts everything and returns when the shop answers. Close ends it.
func Start(ctx context.Context, config Config) (*Machine, error) {
	if config.Log == nil {
		config.Log = os.Stderr
	}
	if config.Password == "" {
		config.Password = strings.ToLower(rand.Text()[:12])
	}
	m := &Machine{config: config, clock: liveclock.New(), received: &recorder{to: config.Received}}
	living, end := context.WithCancel(context.WithoutCancel(ctx))
	m.end = end
	if err := m.start(ctx, living); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *Machine) start(ctx, living context.Context) error {
	public, err := listen(ctx, m.config.Listen)
	if err != nil {
		return err
	}
	m.origin = "http://" + public.Addr().String()
	inner, err := listen(ctx, "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, public.Close())
	}
	m.service = "http://" + inner.Addr().String()
	options := append([]sandbox.Option{
		sandbox.WithClock(m.clock.Clock), sandbox.WithShop(m.origin),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.PayToApprovedAfter = payToTakes }),
	}, m.config.Sandbox...)
	m.box = sandbox.New(options...)
	secret := rand.Text()
	m.child = newChild(m.config.Child, m.environment(secret), m.config.Log)
	if m.trouble, err = newTrouble(m); err != nil {
		return errors.Join(err, public.Close(), inner.Close())
	}
	m.serve(inner, m.serviceHandler())
	m.serve(public, m.front())
	// The receiver judges signatures by this machine's clock, which does not jump.
	err = m.box.Subscribe(sandbox.Subscription{URL: m.origin + "/webhooks", Secret: secret, Scheme: signature.AssumedHMAC{}, Clock: time.Now})
	if err != nil {
		return err
	}
	m.begun = true
	m.running.Go(func() { m.child.run(living) })
	return m.child.wait(ctx)
}

// environment is what the shop is told about its surroundings.
func (m *Machine) environment(webhookKey string) []string {
	keys := m.box.Keys()
	return append([]string{
		"SHOP_DB=" + filepath.Join(m.config.Directory, "shop.db"), "SHOP_SERVICE=" + m.service, "SHOP_ORIGIN=" + m.origin,
		"SHOP_SECRET_KEY=" + keys.Secret, "SHOP_PUBLISHABLE_KEY=" + keys.Publishable, "SHOP_WEBHOOK_KEY=" + webhookKey,
		"SHOP_PASSWORD=" + m.config.Password, "SHOP_CLOCK=" + m.service + clockPath, "SHOP_BANK=" + m.service + sandbox.PayerPage,
		"SHOP_BUSINESS=" + sandbox.DefaultBusiness,
	}, m.config.Env...)
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("%q is not a loopback address such as 127.0.0.1:8080", address)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

func (m *Machine) serve(l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	m.servers = append(m.servers, server)
	m.running.Go(func() { _ = server.Serve(l) }) // ends with Close
}

// Close ends everything: the shop in order first, then what it uses.
func (m *Machine) Close() error {
	m.end()
	if m.begun {
		m.child.end()
	}
	if m.box != nil {
		m.box.Close()
	}
	var errs []error
	for _, server := range m.servers {
		errs = append(errs, server.Close())
	}
	m.running.Wait()
	return errors.Join(errs...)
}

// Origin is where customers reach the shop.
func (m *Machine) Origin() string { return m.origin }

// Service is where the sandbox listens.
func (m *Machine) Service() string { return m.service }

// Sandbox is the payment service.
func (m *Machine) Sandbox() *sandbox.Sandbox { return m.box }

// Forward moves the clock of the service and of the shop forward. What becomes due on
// the way has happened at the service when it returns, and the shop's program knows the
// time: an order that it takes is not two days old a moment later.
func (m *Machine) Forward(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_ = m.box.Flush(ctx) // no time limit of the jump ends what is being posted
	m.clock.Jump(d)
	_ = m.box.Flush(ctx)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	// It asks for the time again when it knows what it was told.
	for asked := m.told.Load(); m.told.Load() < asked+2; {
		select {
		case <-tick.C:
		case <-ctx.Done(): // it is not there
			return
		}
	}
}

// Kill ends the shop's program as a power cut would. It is started again.
func (m *Machine) Kill() { m.child.kill() }

// Run runs the shop until ctx ends, and says where it is.
func Run(ctx context.Context, config Config, out io.Writer) error {
	directory, err := os.MkdirTemp("", "shop-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a temporary directory
	config.Directory = directory
	m, err := Start(ctx, config)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `The shop:        %[1]s/
Trouble:         %[1]s/trouble
The bank's app:  %[2]s
Back office:     %[1]s/office/  password %[3]s
Everything is made up: no money moves, and all is gone when you press Ctrl-C.
`, m.origin, m.service+sandbox.PayerPage, m.config.Password)
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, m.Close())
}
