package durabletest

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// Worlds runs a test in n worlds: the first is the default world, and the next ones cover every pair of
// values that can differ, as in [worlds.Generate]. The test makes its kit by [NewIn]. A subtest that fails
// prints its world, and [worlds.Parse] reads it.
//
// The engine charges no order twice in any world. In some worlds it cannot find out the outcome of a
// payment, which then needs a person.
func Worlds(t *testing.T, n int, test func(t *testing.T, world worlds.World)) {
	t.Helper()
	for world := range worlds.Generate(1, max(n, 1)) {
		t.Run("world", func(t *testing.T) {
			t.Logf("in the world %q", world)
			test(t, world)
		})
	}
}

// ChaosOptions are the options of [Kit.Chaos]. The zero value is a good start.
type ChaosOptions struct {
	// Orders is the number of orders; 0 is 40.
	Orders int
	// Paid reports whether the merchant's own tables say that an order is paid. Optional.
	Paid func(ctx context.Context, order string) (bool, error)
}

// Chaos calls pay for each of many orders, four at once, while three of ten calls fail in every way that a network, a
// gateway and the service can fail, and while the engine is killed four times. pay is the merchant's: it stores
// the order, calls [durable.Engine.Pay] and returns its error. The faults do not meet the creation
// of a [Kit.Token], because that call is the browser's.
//
// Then the faults end, time passes until everything is settled, and [Kit.Judge] and Paid say whether
// the merchant has lost a payment or charged one twice.
func (k *Kit[TTx]) Chaos(opts ChaosOptions, pay func(ctx context.Context, order string) error) {
	k.t.Helper()
	faults := worlds.RandomFaults(0.3)
	for i := range faults {
		faults[i].Match = func(r sandbox.Request) bool { return r.Operation != "POST /single-use-tokens" }
	}
	k.must(k.Sandbox.Inject(faults...))
	orders := make([]string, cmp.Or(opts.Orders, 40))
	next := make(chan string)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for order := range next {
				if err := pay(k.t.Context(), order); err != nil {
					k.t.Errorf("durabletest: order %s: %v", order, err)
				}
			}
		})
	}
	for i := range orders {
		orders[i] = fmt.Sprintf("CHAOS-%05d", i+1)
		next <- orders[i]
		if (i+1)*4/len(orders) > i*4/len(orders) {
			k.Kill()
		}
	}
	close(next)
	workers.Wait()
	k.Sandbox.ClearFaults()
	for _, order := range orders { // what is due is sent before the clock moves: a token lives for ten minutes
		for _, w := range k.writes(order) {
			k.Until(w.ID, func(w durable.Write) bool { return w.State != durable.StateQueued || w.Due.After(k.Now()) })
		}
	}
	for _, order := range orders {
		for _, w := range k.writes(order) {
			k.Settled(w.ID)
		}
		if opts.Paid == nil {
			continue
		}
		payment, err := k.Engine().PaymentOf(k.t.Context(), order)
		k.must(err)
		if said, err := opts.Paid(k.t.Context(), order); err != nil || said != payment.Paid() {
			k.t.Errorf("durabletest: order %s is %s, and the merchant's tables say paid: %t (%v)", order, payment.Text(), said, err)
		}
	}
	k.Judge(orders...)
}

// writes returns the writes of an order.
func (k *Kit[TTx]) writes(order string) []durable.Write {
	k.t.Helper()
	writes, err := k.Engine().Writes(k.t.Context(), order)
	k.must(err)
	return writes
}
