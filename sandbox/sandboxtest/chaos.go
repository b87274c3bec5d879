package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// ChaosOptions are the options of [Chaos]. The zero value is a good start.
type ChaosOptions struct {
	// Orders is the number of orders; 0 is 200.
	Orders int
	// Seed makes the faults and the outcomes repeatable. With one worker, and a merchant
	// that is not random, it makes the whole run repeatable.
	Seed uint64
	// Workers is the number of orders that are worked on at the same time; 0 is 8.
	Workers int
	// Faults is the share of requests that meet one of the faults of [worlds.RandomFaults]; 0 is
	// 0.3, and a negative share is no faults.
	Faults float64
	// Declined is the share of orders whose first payment is declined. Erred is the share of
	// orders whose first payment gets summary code 2, and is approved or declined within a
	// day. 0 is 0.1, and a negative share is no such orders. The test numbers decide all
	// other outcomes.
	Declined, Erred float64
	// Settle is called for each order whose outcome is unknown, repeatedly and without
	// faults, until it returns how the order ended. It returns what the merchant's function
	// returns. A week passes meanwhile: now is the sandbox's time, which is ahead of package
	// time. Optional.
	Settle func(ctx context.Context, client *quickstream.Client, order string, now time.Time) error
	// Sandbox and Client are added to the options of Chaos. The sandbox has no TokenQuota,
	// because most orders of a merchant that creates a token for each would otherwise end
	// before their payment. The client has short waits and time limits, for tests outside
	// synctest.
	Sandbox []sandbox.Option
	Client  []quickstream.ClientOption
}

// Chaos shows whether a merchant's code charges an order twice or loses a payment: see the
// package documentation for what it does. pay returns nil if the order is paid, an error that
// matches [quickstream.ErrOutcomeUnknown] or [quickstream.ErrPending] if the outcome is unknown,
// and any other error if the order is not paid. Every payment must have the order as its CustomerReferenceNumber.
//
// t fails if an order was charged more than once, if it was charged and pay or Settle
// returned that it is not paid, or if it was not charged and they returned that it is.
// Without Settle an order may stay unknown. With it, an order that stays unknown must not be
// charged. t fails too if fewer than half of the orders have a payment in the ledger, because
// such a run shows little.
func Chaos(t testing.TB, opts ChaosOptions, pay func(ctx context.Context, client *quickstream.Client, order string) error) {
	t.Helper()
	opts = opts.orDefaults()
	c := &chaos{ctx: t.Context(), opts: opts, clock: sandbox.NewRunningClock(time.Now()), words: make([]error, opts.Orders)}
	c.box = sandbox.New(append([]sandbox.Option{
		sandbox.WithSeed(opts.Seed),
		sandbox.WithClock(c.clock),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }),
	}, opts.Sandbox...)...)
	defer c.box.Close()
	c.client = Client(t, c.box, append([]quickstream.ClientOption{
		quickstream.WithAttemptTimeout(500 * time.Millisecond), // a slow machine is no fault
		quickstream.WithRetryWait(time.Millisecond, 5*time.Millisecond),
	}, opts.Client...)...)
	c.drawOutcomes()
	if err := c.box.Inject(worlds.RandomFaults(opts.Faults)...); err != nil {
		t.Fatal(err)
	}

	c.each(func(i int) { c.words[i] = pay(c.ctx, c.client, order(i)) })
	c.box.ClearFaults()
	c.settle()
	c.judge(t)
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
	clock  *sandbox.Clock
	box    *sandbox.Sandbox
	client *quickstream.Client
	words  []error // results of pay and Settle, by order
}

func order(i int) string { return fmt.Sprintf("CHAOS-%05d", i+1) }

// drawOutcomes draws, from the seed alone, the orders that are declined or erred.
func (c *chaos) drawOutcomes() {
	dice := rand.New(rand.NewPCG(c.opts.Seed, 1)) //nolint:gosec // repeatable on purpose
	for i := range c.opts.Orders {
		lot, end, after := dice.Float64(), sandbox.Approved(), time.Duration(dice.Int64N(int64(24*time.Hour)))
		if dice.IntN(2) == 0 {
			end = sandbox.Declined("05")
		}
		switch {
		case lot < c.opts.Declined:
			c.box.NextTransactionFor(order(i), sandbox.Declined("51"))
		case lot < c.opts.Declined+c.opts.Erred:
			c.box.NextTransactionFor(order(i), sandbox.Erred().ThenAfter(after, end))
		}
	}
}

// each calls do for all orders, some at the same time.
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

// settle lets a week pass, in growing steps, and calls Settle at each of them for the orders
// that are unknown.
func (c *chaos) settle() {
	const week, longest = 7 * 24 * time.Hour, 3 * time.Hour
	for step, passed := 5*time.Second, time.Duration(0); passed < week; step = min(2*step, longest) {
		passed += step
		if c.box.Drain(c.ctx) != nil { // the caller has given up
			return
		}
		c.clock.Advance(step)
		if c.opts.Settle == nil {
			continue
		}
		c.each(func(i int) {
			if isUnknown(c.words[i]) {
				c.words[i] = c.opts.Settle(c.ctx, c.client, order(i), c.box.Now())
			}
		})
	}
}

// mostFailures is the largest number of orders that are reported one by one.
const mostFailures = 10

// judge compares the merchant's results with the ledger.
func (c *chaos) judge(t testing.TB) {
	t.Helper()
	ledger := c.box.Ledger()
	missing := c.withoutPayment(ledger)
	if len(missing) == c.opts.Orders {
		t.Errorf("chaos (seed %d): nothing was paid for any order; is the order the CustomerReferenceNumber? The merchant's last word on %s: %s",
			c.opts.Seed, order(missing[0]), wording(c.words[missing[0]]))
		return
	}
	if reached := c.opts.Orders - len(missing); 2*reached < c.opts.Orders {
		t.Errorf("chaos (seed %d): only %d of %d orders reached the service as a payment, charged or not; the others show nothing. "+
			"The merchant's last word on %s: %s", c.opts.Seed, reached, c.opts.Orders, order(missing[0]), wording(c.words[missing[0]]))
	}
	var failures, paid, unpaid, unknown int
	for i, word := range c.words {
		entries := ledger.Order(order(i))
		charged := entries.Charged(order(i))
		switch {
		case word == nil:
			paid++
		case isUnknown(word):
			unknown++
		default:
			unpaid++
		}
		wrong := c.fault(word, len(charged))
		if wrong == "" {
			continue
		}
		if failures++; failures <= mostFailures {
			t.Errorf("chaos (seed %d): %s", c.opts.Seed, report(order(i), wrong, word, entries, c.requests(order(i), entries)))
		}
	}
	if failures > mostFailures {
		t.Errorf("chaos (seed %d): %d orders failed altogether", c.opts.Seed, failures)
	}
	t.Logf("chaos: seed %d, %d orders: %d paid, %d not paid, %d unknown; faults: %s",
		c.opts.Seed, c.opts.Orders, paid, unpaid, unknown, counts(c.box.FaultCounts()))
}

// withoutPayment returns the orders that are not in the ledger.
func (c *chaos) withoutPayment(ledger sandbox.Ledger) (missing []int) {
	for i := range c.words {
		if len(ledger.Order(order(i))) == 0 {
			missing = append(missing, i)
		}
	}
	return missing
}

// fault returns what is wrong with an order, or "".
func (c *chaos) fault(word error, charged int) string {
	unknown := isUnknown(word)
	switch {
	case charged > 1:
		return fmt.Sprintf("was charged %d times", charged)
	case charged == 1 && unknown && c.opts.Settle != nil:
		return "was charged and is lost: the merchant still does not know after a week without faults"
	case charged == 1 && word != nil && !unknown:
		return "was charged, and the merchant said that it was not"
	case charged == 0 && word == nil:
		return "was not charged, and the merchant said that it was"
	default:
		return ""
	}
}

// requests returns the requests that name an order, one of its references or of its receipts.
func (c *chaos) requests(order string, entries sandbox.Ledger) []sandbox.Request {
	names := []string{order}
	for _, e := range entries {
		names = append(names, e.Receipt, e.PaymentReferenceNumber)
	}
	return slices.DeleteFunc(c.box.Requests(), func(r sandbox.Request) bool {
		text := r.Path + " " + r.Query.Encode() + " " + string(r.Body)
		return !slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.Contains(text, name) })
	})
}

// report describes an order and its requests.
func report(order, wrong string, word error, entries sandbox.Ledger, requests []sandbox.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "order %s %s\n", order, wrong)
	fmt.Fprintf(&b, "  the merchant's last word: %s\n", wording(word))
	for _, e := range entries {
		fmt.Fprintf(&b, "  ledger: %s %s, %d.%02d %s, receipt %s, reference %s, key %s\n",
			e.Type, e.Outcome, e.Amount/100, e.Amount%100, e.Currency, e.Receipt, e.PaymentReferenceNumber, e.IdempotencyKey)
	}
	for i, r := range requests {
		fmt.Fprintf(&b, "  request %d: %s", i+1, r.Operation)
		if r.IdempotencyKey != "" {
			fmt.Fprintf(&b, ", key %s", r.IdempotencyKey)
		}
		if r.Fault != "" {
			fmt.Fprintf(&b, ", fault %s", r.Fault)
		}
		switch {
		case r.Replayed:
			b.WriteString(", replayed")
		case r.Committed && r.Method != "GET":
			b.WriteString(", carried out")
		}
		if r.Status == 0 {
			b.WriteString(", not answered\n")
		} else {
			fmt.Fprintf(&b, ", answered %d\n", r.Status)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// isUnknown reports whether a word holds the order.
func isUnknown(word error) bool {
	return errors.Is(word, quickstream.ErrOutcomeUnknown) || errors.Is(word, quickstream.ErrPending)
}

func wording(word error) string {
	switch {
	case word == nil:
		return "paid"
	case isUnknown(word):
		return "unknown: " + word.Error()
	default:
		return "not paid: " + word.Error()
	}
}

func counts(faults map[string]int) string {
	fired := make([]string, 0, len(faults))
	for _, kind := range slices.Sorted(maps.Keys(faults)) {
		fired = append(fired, fmt.Sprintf("%s %d", kind, faults[kind]))
	}
	return strings.Join(fired, ", ")
}
