package resolve

import (
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Service reads what became of an intent. Client.Transactions is one.
type Service interface {
	Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
	Retries(receiptNumber string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction]
}

// Look reads what became of an intent, once. Of a decline that the service may have
// retried by itself it reads the retries too: one that is not declined takes its
// place.
func (p Policy) Look(ctx context.Context, s Service, intent quickstream.Intent) Observation {
	o := Observe(s.Resume(ctx, intent))
	if !o.Retryable || p.mayFollow() == 0 {
		return o
	}
	for retry, err := range s.Retries(o.ReceiptNumber).All(ctx) {
		switch {
		case errors.Is(err, quickstream.ErrNotFound):
			return o
		case err != nil:
			return Observation{Sighting: SawError}
		}
		if seen := ObserveTransaction(retry); seen.Outcome != quickstream.OutcomeDeclined && seen.Outcome != quickstream.OutcomeRejected {
			seen.Retryable = seen.Sighting != SawOutcome
			return seen
		}
	}
	return o
}

// Run drives a state to its end in this process, which can take 48 hours. After
// every look it gives the state to save, which may be nil; when save fails Run
// ends with its error. It returns the last state, with the context's error when
// the context ended first.
//
// Run does not survive a crash by itself: after one, give it the state that was
// saved last. For many payments or machines drive Policy.Next from a queue of
// durable jobs instead.
func Run(ctx context.Context, service Service, p Policy, s State, save func(State) error) (State, error) {
	if !p.ServiceRetries.said {
		return s, errors.New("resolve: the policy does not say whether the service retries declines")
	}
	for !s.Stage.Final() {
		if err := sleep(ctx, time.Until(s.NextLook)); err != nil {
			return s, err
		}
		o := p.Look(ctx, service, s.Intent)
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		s = p.Next(s, o, time.Now())
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
