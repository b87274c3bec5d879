// Package oracle runs a merchant's program in a world, and checks afterwards what it did with
// money.
//
// A [Run] is a sandbox with orders to be paid, and with faults and crashes on the way. The oracle
// reads the sandbox's ledger and that schedule. It shares no code with the client, and does not
// know how the client looks payments up.
package oracle

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// Options are the choices of a Run.
type Options struct {
	// Orders is how many orders are to be paid, and Seed decides what happens to them.
	Orders int
	Seed   uint64
	// Faults is three times the share of orders that meet the world's fault.
	Faults float64
	// World describes the service and the merchant's clock, which fault there is, and where workers
	// crash.
	World worlds.World
	// Flags are the other flags of the program, to run it again.
	Flags string
}

// String returns the flags that run it again.
func (o Options) String() string {
	return fmt.Sprintf("-payments %d -seed %d -faults %g -world '%s' %s", o.Orders, o.Seed, o.Faults, o.World, o.Flags)
}

// Run is one run of a merchant's program.
type Run struct {
	Box    *sandbox.Sandbox
	Orders []Order

	opts    Options
	clock   *sandbox.Clock
	begun   time.Time
	crashed sync.Map // the keys of the writes whose worker has crashed
	faulty  sync.Map // how often a write has met the world's fault, by key
}

// New starts the sandbox of a run. Nothing fails before [Run.Begin].
func New(opts Options) *Run {
	r := &Run{opts: opts}
	weeks := []time.Time{
		time.Date(2027, time.March, 18, 0, 0, 0, 0, time.UTC), // Easter, and daylight saving ends
		time.Date(2026, time.December, 18, 0, 0, 0, 0, time.UTC),
		time.Date(2027, time.June, 15, 0, 0, 0, 0, time.UTC),
	}
	dice := r.dice("begin")
	r.begun = weeks[dice.IntN(len(weeks))].Add(time.Duration(dice.IntN(14*24*60)) * time.Minute)
	r.clock = sandbox.NewClock(r.begun)
	r.Box = sandbox.New(
		sandbox.WithSeed(opts.Seed), opts.World.Option(), sandbox.WithClock(r.clock),
		sandbox.WithBusiness(sandbox.DefaultBusiness, "Example Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 150}),
	)
	return r
}

// Begin draws the orders. From then on calls can fail.
func (r *Run) Begin() error {
	r.drawOrders()
	if r.opts.Faults == 0 {
		return nil
	}
	return r.injectWorld()
}

// Now is the merchant's clock.
func (r *Run) Now() time.Time { return r.opts.World.MerchantTime(r.clock.Now(), r.begun) }

// AdvanceTo moves time until the merchant's clock has passed t. It waits for requests that
// were given up: the service must not forget the idempotency key of a call that is being made.
func (r *Run) AdvanceTo(ctx context.Context, t time.Time) error {
	const tick = 5 * time.Minute
	err := r.Box.Drain(ctx)
	r.clock.Advance(max(0, t.Truncate(tick).Add(tick).Sub(r.Now())))
	return err
}

// RetriesFor is how long after a decline the service may retry it by itself; 0 is never.
func (r *Run) RetriesFor() (last time.Duration) {
	if r.opts.World.Value("SoftDeclineCodes") == "none" || len(r.waits()) == 0 {
		return 0
	}
	for _, wait := range r.waits() {
		last += wait
	}
	return last + time.Hour
}

// waits are the pauses of the service between its own attempts at a payment.
func (r *Run) waits() (waits []time.Duration) {
	for text := range strings.SplitSeq(r.opts.World.Value("RetrySchedule"), ",") {
		if wait, err := time.ParseDuration(text); err == nil {
			waits = append(waits, wait)
		}
	}
	return waits
}

// Transport carries a client's requests, each on a connection of its own: net/http repeats some
// requests by itself, but none on a new connection.
func (r *Run) Transport() http.RoundTripper { return transport{r.Box.HTTPClient().Transport} }

type transport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	alone := request.WithContext(request.Context())
	alone.Close = true
	return t.next.RoundTrip(alone)
}

// immediate returns a fault that ends immediately, with the same effect on a client that gives up:
// waiting for the real one would depend on how busy the machine is.
func immediate(kind sandbox.FaultKind) sandbox.FaultKind {
	switch kind.String() {
	case sandbox.HangBeforeCommit().String():
		return sandbox.ResetBeforeCommit()
	case sandbox.DelayBeforeCommit(0).String():
		return sandbox.CommitLate(10 * time.Minute)
	case sandbox.HangAfterCommit().String(), sandbox.DelayAfterCommit(0).String():
		return sandbox.ResetAfterCommit()
	case sandbox.SlowBody(1).String():
		return sandbox.TruncatedBody(1)
	default:
		return kind
	}
}

// injectWorld makes the writes of faulty orders meet the world's fault. One in four of the
// addresses that a look-up reads meets it too, the first time that it is read.
func (r *Run) injectWorld() error {
	write := func(times int) func(sandbox.Request) bool {
		return func(request sandbox.Request) bool {
			met, isFaulty := r.faulty.Load(request.IdempotencyKey)
			if n, _ := met.(int); isFaulty && n < times {
				r.faulty.Store(request.IdempotencyKey, n+1)
				return true
			}
			return false
		}
	}
	var asked sync.Map
	var places atomic.Uint64 // drawn by number, because references are random
	lookUp := func(int) func(sandbox.Request) bool {
		return func(request sandbox.Request) bool {
			_, before := asked.LoadOrStore(request.Path+"?"+request.Query.Encode(), true)
			return !before && r.dice(fmt.Sprint("place ", places.Add(1))).IntN(4) == 0
		}
	}
	for operation, match := range map[string]func(int) func(sandbox.Request) bool{
		"POST /transactions": write, "POST /transactions/{receiptNumber}/void": write,
		"GET /transactions/{receiptNumber}": lookUp, "GET /transactions/{receiptNumber}/refunds": lookUp, "GET /transactions/for-reference-number": lookUp,
	} {
		for _, f := range r.opts.World.Faults(operation) {
			f.Kind, f.Match, f.Nth, f.Times = immediate(f.Kind), match(f.Times), 0, 0
			if err := r.Box.Inject(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// Crashes reports whether the worker of a write dies at a point: beforeSend, afterAnswer or
// betweenLooks. Call it with beforeSend before the first byte is sent: from then on the write can
// meet the world's fault. If again is set, the write replaces one that was not carried out, and
// nothing fails.
func (r *Run) Crashes(order, key, where string, again bool) bool {
	o := r.Orders[slices.IndexFunc(r.Orders, func(o Order) bool { return o.ID == order })]
	if again {
		return false
	}
	if o.faulty && where == "beforeSend" {
		r.faulty.Store(key, 0)
	}
	at := r.opts.World.Value(worlds.Crash)
	if at == "afterCommit" && where == "afterAnswer" { // to the merchant the two are one
		where = at
	}
	if at != where || !o.crashing {
		return false
	}
	_, before := r.crashed.LoadOrStore(key, true)
	return !before
}

// Formless reports whether error bodies are not in the service's form. A gateway could have sent
// them, so a write that is refused with one is looked up.
func (r *Run) Formless() bool {
	return slices.Contains([]string{"list", "html", "empty"}, r.opts.World.Value("ErrorForm"))
}

// ProvesAnswers reports whether every answer proves that it belongs to the request: it shows the id
// as it was sent or, without one, its own reference.
func (r *Run) ProvesAnswers() bool {
	return provesAnswer(r.opts.World, Refund) && provesAnswer(r.opts.World, Capture)
}

// lost returns a function that reports whether the answer to a key may have been lost: the write
// met a fault, its worker died before it stored the answer, or it was refused in another form than
// the service's.
func (r *Run) lost() func(key string) bool {
	formless := make(map[string]bool)
	for _, request := range r.Box.Requests() {
		if r.Formless() && request.Method != http.MethodGet && request.Status >= 400 && request.Status < 500 {
			formless[request.IdempotencyKey] = true
		}
	}
	return func(key string) bool {
		_, crashed := r.crashed.Load(key)
		met, isFaulty := r.faulty.Load(key)
		return crashed || isFaulty && met != 0 || formless[key]
	}
}

// dice are the same for a purpose and a seed.
func (r *Run) dice(purpose string) *rand.Rand {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, purpose)                        // a hash takes everything
	return rand.New(rand.NewPCG(r.opts.Seed, h.Sum64())) //nolint:gosec // repeatable on purpose
}
