package resolve

import (
	"context"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Reconciler looks for the transaction of an intent. TransactionsService is one.
type Reconciler interface {
	Reconcile(ctx context.Context, intent quickstream.PaymentIntent, opts ...quickstream.CallOption) (*quickstream.Reconciliation, error)
}

// Run drives a state to its end in this process, which can take 48 hours. After
// every look it gives the state to save, which may be nil; when save fails Run
// ends with its error. It returns the last state, with the context's error when
// the context ended first.
//
// Run does not survive a crash by itself: after one, give it the state that was
// saved last. For many payments or machines drive Policy.Next from a queue of
// durable jobs instead.
func Run(ctx context.Context, r Reconciler, p Policy, s State, save func(State) error) (State, error) {
	for !s.Stage.Final() {
		if err := sleep(ctx, time.Until(s.NextLook)); err != nil {
			return s, err
		}
		found, err := r.Reconcile(ctx, s.Intent)
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		s = p.Next(s, Observe(found, err), time.Now())
		if save == nil {
			continue
		}
		if err := save(s); err != nil {
			return s, err
		}
	}
	return s, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
