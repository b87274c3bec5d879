package main

import (
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
)

// tries is how often the programs try to be paid for an order, and later is when a
// job runs again: the service has forgotten the key by then.
const (
	tries = 3
	later = 6 * time.Minute
)

// right stores the intent, looks for what is lost, and pays nothing again.
func right(ctx context.Context, s *shop, order string) error {
	_, err := s.client.Transactions.Pay(ctx, byCard(order, visa), s.storing(order))
	return s.concluded(ctx, err)
}

// An error is an error: what has failed is paid again. The intent is stored, or not, in
// the given way; in the end the order is what the program says.
func anyErrorPaysAgain(store func(s *shop, order string) quickstream.Option, end error) program {
	return func(ctx context.Context, s *shop, order string) error {
		for range tries {
			_, err := s.client.Transactions.Pay(ctx, byCard(order, visa), store(s, order))
			if err == nil {
				return nil
			}
		}
		return end
	}
}

func nothing(*shop, string) quickstream.Option {
	return quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error { return nil })
}

// once stores one intent for each order. The insert fails in the second turn, and nothing
// is sent.
func (s *shop) once(order string) quickstream.Option {
	return quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		return s.insert(order, intent)
	})
}

func (s *shop) insert(key string, intent quickstream.Intent) error {
	if _, taken := s.intents[key]; taken {
		return errors.New("duplicate key")
	}
	s.intents[key] = intent
	return nil
}

// Not found is taken for not paid. One look settles it, by the given sign.
func notFoundPaysAgain(absent func(error) bool) program {
	return func(ctx context.Context, s *shop, order string) error {
		for range tries {
			_, err := s.client.Transactions.Pay(ctx, byCard(order, visa), s.storing(order))
			if sent, unknown := lost(err); unknown {
				if _, err = s.client.Transactions.Resume(ctx, sent); absent(err) {
					continue // it is not there, so it did not arrive: pay again
				}
				return s.lookFor(ctx, sent)
			}
			return s.concluded(ctx, err)
		}
		return errNotPaid
	}
}

func notFoundError(err error) bool { return errors.Is(err, quickstream.ErrNotFound) }

func noCandidates(err error) bool {
	open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	return ok && open.Cause == nil && len(open.Candidates) == 0
}

// Every error that is not an unknown outcome is taken for a failure. What is unknown, the given
// function says.
func othersTakeAnotherCard(unknown func(error) bool) program {
	return func(ctx context.Context, s *shop, order string) error {
		for _, card := range []string{visa, another, another} {
			_, err := s.client.Transactions.Pay(ctx, byCard(order, card), s.storing(order))
			if err == nil {
				return nil
			}
			if unknown(err) {
				return s.lookFor(ctx, s.intents[order])
			}
		}
		return errNotPaid
	}
}

func unknownByIs(err error) bool { return errors.Is(err, quickstream.ErrOutcomeUnknown) }

func unknownByType(err error) bool {
	_, ok := lost(err)
	return ok
}

// What is not approved is taken for declined, whatever the error says: another card, please.
func anotherCardUnlessApproved(ctx context.Context, s *shop, order string) error {
	for _, card := range []string{visa, another} {
		tx, err := s.client.Transactions.Pay(ctx, byCard(order, card), s.storing(order))
		if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
			tx = lost.Transaction
		}
		if tx.Outcome() == quickstream.OutcomeApproved {
			return nil
		}
	}
	return errNotPaid
}

// One key and one reference for all attempts, of the merchant's own: surely that is
// safe. But the job runs again when the service has forgotten the key.
func jobPaysAgainUnderItsKey(runs, perRun int) program {
	return func(ctx context.Context, s *shop, order string) error {
		params := byCard(order, visa)
		params.PaymentReferenceNumber = order
		for range runs {
			for range perRun {
				_, err := s.client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey("pay-"+order))
				if err == nil {
					return nil
				}
			}
			<-time.After(later)
		}
		return errNotPaid
	}
}

// A planned intent is submitted in each run of a job until that succeeds. What the
// claim is, and what follows a failure, differ.
func jobSubmitsAgain(claim func(*shop, quickstream.Intent) quickstream.Claim, next afterFailure) program {
	return func(ctx context.Context, s *shop, order string) error {
		intent, err := s.client.Transactions.Plan(ctx, s.byAccount(order))
		if err != nil {
			return errNotPaid
		}
		for range tries {
			if _, err = s.client.Transactions.Submit(ctx, intent, claim(s, intent)); err == nil {
				break
			}
			var over bool
			if intent, over = next(intent, err); over {
				return errNotPaid
			}
			<-time.After(later)
		}
		return s.concluded(ctx, err)
	}
}

// claim lets each intent be sent once.
func (s *shop) claim(intent quickstream.Intent) quickstream.Claim {
	return func(context.Context) error { return s.insert(intent.ID, intent) }
}

func emptyClaim(*shop, quickstream.Intent) quickstream.Claim {
	return func(context.Context) error { return nil }
}

// afterFailure returns the intent of the job's next run, or that there is none.
type afterFailure func(intent quickstream.Intent, err error) (next quickstream.Intent, over bool)

// submitsThePlan keeps to the intent as it was planned.
func submitsThePlan(intent quickstream.Intent, _ error) (quickstream.Intent, bool) {
	return intent, false
}

// submitsTheLost takes over the intent of the error, which knows that it was sent and
// is refused, and takes ErrNotSent for "not paid". The refusal does not match it.
func submitsTheLost(intent quickstream.Intent, err error) (quickstream.Intent, bool) {
	if sent, unknown := lost(err); unknown {
		return sent, false
	}
	return intent, errors.Is(err, quickstream.ErrNotSent)
}

// What is planned and stored is not what is sent: Pay chooses a key and an id of its
// own, by which nobody looks for it.
func paysWhatWasNotPlanned(ctx context.Context, s *shop, order string) error {
	params := s.byAccount(order)
	params.PaymentReferenceNumber = order
	intent, err := s.client.Transactions.Plan(ctx, params)
	if err != nil {
		return errNotPaid
	}
	_, err = s.client.Transactions.Pay(ctx, params)
	if errors.Is(err, quickstream.ErrOutcomeUnknown) {
		return s.lookFor(ctx, intent)
	}
	return s.concluded(ctx, err)
}

// Each call has a time limit, and a time limit that was exceeded is a passing
// trouble. All other errors are dealt with as they should be.
func deadlineIsTemporary(exceeded func(context.Context, error) bool) program {
	return func(ctx context.Context, s *shop, order string) error {
		for range tries {
			callCtx, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
			_, err := s.client.Transactions.Pay(callCtx, byCard(order, visa), s.storing(order))
			passing := err != nil && exceeded(callCtx, err)
			cancel()
			if !passing {
				return s.concluded(ctx, err)
			}
		}
		return errNotPaid
	}
}

func exceededByError(_ context.Context, err error) bool {
	timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && timeout.Timeout()
}

func exceededByContext(ctx context.Context, _ error) bool { return ctx.Err() != nil }
