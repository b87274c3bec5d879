package sandboxtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// 0.3. One in ten orders is declined, and one in ten gets summary code 2 and is approved or
	// declined within a day. With a negative share there are no faults, declines or codes 2.
	Faults float64
	// Settle is called for each order whose outcome is unknown, repeatedly and without faults, until it
	// returns how the order ended. Its results mean the same as those of pay. A week passes meanwhile: now
	// is the sandbox's time, which is ahead of package time. Optional.
	Settle func(ctx context.Context, client *quickstream.Client, order string, now time.Time) error
	// Sandbox and Client are added to the options of Chaos. The sandbox has no TokenQuota: it would end
	// most orders with a token of their own before their payment. The client has short waits and limits.
	Sandbox []sandbox.Option
	Client  []quickstream.ClientOption
}

// Chaos shows whether a merchant's code charges an order twice or loses a payment: see the
// package documentation for what it does. pay returns nil if the order is paid, an error that
// matches [quickstream.ErrOutcomeUnknown] or [quickstream.ErrPending] if the outcome is unknown,
// and any other error if the order is not paid. Every payment must have the order as its CustomerReferenceNumber.
//
// t fails if an order was charged more than once, if it was charged and pay or Settle returned that it
// is not paid, or if it was not charged and they returned that it is. Without Settle an order may stay
// unknown. With it, an order that stays unknown must not be charged. t fails too if fewer than half of
// the orders have a payment in the ledger, because such a run shows little.
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
		quickstream.WithFinalDeclines(false), // the service may retry declines
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
	o.Orders, o.Workers, o.Faults = cmp.Or(o.Orders, 200), cmp.Or(o.Workers, 8), cmp.Or(o.Faults, 0.3)
	return o
}

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
		case c.opts.Faults < 0:
		case lot < 0.1:
			c.box.NextTransactionFor(order(i), sandbox.Declined("51"))
		case lot < 0.2:
			c.box.NextTransactionFor(order(i), sandbox.Erred().ThenAfter(after, end))
		}
	}
}

// each calls do for all orders, some at the same time.
func (c *chaos) each(do func(i int)) {
	slots := make(chan struct{}, c.opts.Workers)
	var working sync.WaitGroup
	for i := range c.opts.Orders {
		slots <- struct{}{}
		working.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	working.Wait()
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

func (c *chaos) judge(t testing.TB) {
	t.Helper()
	const shown = 10 // failures, one by one
	ledger := c.box.Ledger()
	reached, missing, said, failures := 0, 0, map[string]int{}, 0
	for i := range c.words {
		if len(ledger.Order(order(i))) > 0 {
			reached++
		} else {
			missing = i
		}
	}
	if 2*reached < c.opts.Orders {
		t.Errorf("chaos (seed %d): only %d of %d orders reached the service as a payment, charged or not; is the order the CustomerReferenceNumber? "+
			"The merchant's last word on %s: %s", c.opts.Seed, reached, c.opts.Orders, order(missing), wording(c.words[missing]))
		return
	}
	for i, word := range c.words {
		entries := ledger.Order(order(i))
		kind, _, _ := strings.Cut(wording(word), ":")
		said[kind]++
		wrong := c.fault(word, len(entries.Charged(order(i))))
		if wrong == "" {
			continue
		}
		if failures++; failures <= shown {
			t.Errorf("chaos (seed %d): %s", c.opts.Seed, c.report(i, wrong, entries))
		}
	}
	if failures > shown {
		t.Errorf("chaos (seed %d): %d orders failed altogether", c.opts.Seed, failures)
	}
	t.Logf("chaos: seed %d, %d orders: %d paid, %d not paid, %d unknown; faults: %v",
		c.opts.Seed, c.opts.Orders, said["paid"], said["not paid"], said["unknown"], c.box.FaultCounts())
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

// report describes an order, with the requests that contain its number, a reference or a receipt of it.
func (c *chaos) report(i int, wrong string, entries sandbox.Ledger) string {
	var b strings.Builder
	fmt.Fprintf(&b, "order %s %s\n  the merchant's last word: %s", order(i), wrong, wording(c.words[i]))
	names := []string{order(i)}
	for _, e := range entries {
		names = append(names, e.ReceiptNumber, e.PaymentReferenceNumber)
		fmt.Fprintf(&b, "\n  ledger: %s %s, %d.%02d %s, receipt %s, reference %s, key %s",
			e.Type, e.Outcome, e.Amount/100, e.Amount%100, e.Currency, e.ReceiptNumber, e.PaymentReferenceNumber, e.IdempotencyKey)
	}
	for _, r := range c.box.Requests() {
		text := r.Path + " " + r.Query.Encode() + " " + string(r.Body)
		if slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.Contains(text, name) }) {
			fmt.Fprintf(&b, "\n  request %d: %s, key %q, fault %q, replayed %t, succeeded %t, answered %d",
				r.Number, r.Operation, r.IdempotencyKey, r.Fault, r.Replayed, r.Committed, r.Status)
		}
	}
	return b.String()
}

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
