package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// ChaosOptions are the choices of a Chaos. The zero value is a good beginning.
type ChaosOptions struct {
	// Orders is how many orders the merchant is to be paid for; 0 is 200.
	Orders int
	// Seed makes the faults and the outcomes repeatable; with one worker, and a
	// merchant that does not draw lots, the whole run.
	Seed uint64
	// Workers is how many orders are worked on at a time; 0 is 8.
	Workers int
	// Faults is the share of requests that meet a fault, of all the kinds of
	// [worlds.RandomFaults]; 0 means 0.3, and a negative share no faults.
	Faults float64
	// Declined is the share of orders whose first payment is declined, and Erred
	// that of orders whose first payment gets summary code 2, and is approved or
	// declined within a day. 0 means 0.1, and a negative share no such orders. All
	// others go as the test numbers say.
	Declined, Erred float64
	// Settle, unless it is nil, is called for each order that is not settled,
	// again and again and without faults, until it says how the order ended. It
	// answers as the merchant's function does. A week passes meanwhile; now is
	// the sandbox's time, which is ahead of package time by what was skipped.
	Settle func(ctx context.Context, client *quickstream.Client, order string, now time.Time) error
	// World is what is true of the service and of the merchant's clock, which is the
	// now of Settle; the zero value is the default world. In any other an order may
	// end unknown though it was charged, for there are worlds in which nobody can
	// know better, and declines carry codes that the service may retry by itself.
	World worlds.World
	// Sandbox and Client are applied after Chaos's own options. The sandbox has no
	// TokenQuota: with one, most orders of a merchant that makes a token for each
	// would end before their payment. The client has short waits and time limits,
	// for tests outside of synctest.
	Sandbox []sandbox.Option
	Client  []quickstream.ClientOption
}

// Chaos shows whether a merchant's code charges anybody twice or loses a payment.
//
//	sandboxtest.Chaos(t, sandboxtest.ChaosOptions{Seed: 1, Settle: shop.settle}, shop.pay)
//
// It calls pay once for each of many orders, concurrently, while calls fail in
// every way that a network, a gateway and the service can fail; then it lets a
// week pass and holds what pay said against the sandbox's ledger. Every payment
// has to carry the order as its CustomerReferenceNumber, which is how the ledger
// is read: by order and never by idempotency key, because a payer does not care
// which key the second charge had.
//
// What pay returns is the merchant's word: nil says that the order is paid, an
// error that matches quickstream.ErrOutcomeUnknown that nothing is known yet, and
// every other error that it is not paid and nothing was taken. t fails when an
// order was charged more than once, when it was charged and the merchant said or
// went on believing otherwise, and when it was not charged and the merchant said
// that it was. An order that is still unknown is no failure without Settle; with
// it, nobody may be charged whose order is unknown in the end.
//
// t fails too when fewer than half of the orders have a payment in the ledger,
// charged or not: then pay hardly came to its payments, and the run shows little.
//
// It works inside and outside of testing/synctest; inside, pay can wait for days
// by itself. Payments that the service has not made when its caller gives up are
// made up to 20 hours later.
func Chaos(t testing.TB, opts ChaosOptions, pay func(ctx context.Context, client *quickstream.Client, order string) error) {
	t.Helper()
	opts = opts.orDefaults()
	c := &chaos{ctx: t.Context(), opts: opts, clock: newRunningClock(), words: make([]error, opts.Orders)}
	c.box = sandbox.New(append([]sandbox.Option{
		sandbox.WithSeed(opts.Seed),
		sandbox.WithClock(c.clock.Clock),
		opts.World.Option(),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }),
	}, opts.Sandbox...)...)
	defer c.box.Close()
	c.client = Client(t, c.box, append([]quickstream.ClientOption{
		quickstream.WithHTTPClient(&http.Client{Transport: clockedTransport{c.clock, c.box.HTTPClient().Transport}}),
		quickstream.WithAttemptTimeout(500 * time.Millisecond), // a slow machine is no fault
		quickstream.WithRetryWait(time.Millisecond, 5*time.Millisecond),
	}, opts.Client...)...)
	c.drawOutcomes()
	if err := c.box.Inject(append(opts.World.Faults("POST /transactions"), worlds.RandomFaults(opts.Faults)...)...); err != nil {
		t.Fatal(err)
	}

	c.each(func(i int) { c.words[i] = pay(c.ctx, c.client, order(i)) })
	c.box.ClearFaults()
	asked := c.settle()
	c.judge(t, asked)
}

func (o ChaosOptions) orDefaults() ChaosOptions {
	share := func(given, usual float64) float64 {
		if given == 0 {
			return usual
		}
		return max(given, 0)
	}
	if o.Orders <= 0 {
		o.Orders = 200
	}
	if o.Workers <= 0 {
		o.Workers = 8
	}
	o.Faults = share(o.Faults, 0.3)
	o.Declined, o.Erred = share(o.Declined, 0.1), share(o.Erred, 0.1)
	return o
}

// chaos is one run.
type chaos struct {
	ctx    context.Context // of the test
	opts   ChaosOptions
	clock  *runningClock
	box    *sandbox.Sandbox
	client *quickstream.Client
	words  []error // the merchant's, by order
}

// inDefaultWorld reports whether nothing is drawn that nobody could know.
func (o ChaosOptions) inDefaultWorld() bool { return o.World.String() == worlds.World{}.String() }

func order(i int) string { return fmt.Sprintf("CHAOS-%05d", i+1) }

// drawOutcomes decides by the seed alone which orders are declined or erred.
func (c *chaos) drawOutcomes() {
	dice := rand.New(rand.NewPCG(c.opts.Seed, 1)) //nolint:gosec // repeatable on purpose
	for i := range c.opts.Orders {
		lot, end, after := dice.Float64(), sandbox.Approved(), time.Duration(dice.Int64N(int64(24*time.Hour)))
		if dice.IntN(2) == 0 {
			end = sandbox.Declined("05")
		}
		code := "51"
		if !c.opts.inDefaultWorld() {
			code = []string{"01", "05", "51", "91"}[dice.IntN(4)]
		}
		switch {
		case lot < c.opts.Declined:
			c.box.NextTransactionFor(order(i), sandbox.Declined(code))
		case lot < c.opts.Declined+c.opts.Erred:
			c.box.NextTransactionFor(order(i), sandbox.Erred().ThenAfter(after, end))
		}
	}
}

// each calls do for all orders, some at a time.
func (c *chaos) each(do func(i int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(c.opts.Workers, c.opts.Orders) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range c.opts.Orders {
		next <- i
	}
	close(next)
	workers.Wait()
}

// settle lets a week pass, first in small steps, and asks the merchant at each of
// them about the orders that he does not know about. It returns how often.
func (c *chaos) settle() (asked int) {
	const week, longest = 7 * 24 * time.Hour, 3 * time.Hour
	begun := c.box.Now()
	var asking sync.Mutex
	for step, passed := 5*time.Second, time.Duration(0); passed < week; step = min(2*step, longest) {
		passed += step
		if c.box.Drain(c.ctx) != nil { // the caller has given up
			return asked
		}
		c.clock.skip(step)
		if c.opts.Settle == nil {
			continue
		}
		c.each(func(i int) {
			if !errors.Is(c.words[i], quickstream.ErrOutcomeUnknown) {
				return
			}
			c.words[i] = c.opts.Settle(c.ctx, c.client, order(i), c.opts.World.MerchantTime(c.box.Now(), begun))
			asking.Lock()
			defer asking.Unlock()
			asked++
		})
	}
	return asked
}
