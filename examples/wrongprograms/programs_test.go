package wrongprograms

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
	tx, err := s.client.Transactions.Pay(ctx, byCard(order, visa), s.storing(order))
	if sent, unknown := lost(err); unknown {
		return s.lookFor(ctx, sent)
	}
	if err != nil {
		return errNotPaid // nothing was charged
	}
	return s.answered(ctx, tx)
}

// An error is an error: what has failed is paid again.
func anyErrorPaysAgain(ctx context.Context, s *shop, order string) error {
	for range tries {
		tx, err := s.client.Transactions.Pay(ctx, byCard(order, visa))
		if err == nil {
			return s.answered(ctx, tx)
		}
	}
	return errNotPaid
}

// The intent is stored, but each turn of the loop makes another and forgets the one
// before.
func storesInTheLoop(ctx context.Context, s *shop, order string) error {
	for range tries {
		tx, err := s.client.Transactions.Pay(ctx, byCard(order, visa), s.storing(order))
		if err == nil {
			return s.answered(ctx, tx)
		}
	}
	return errNotPaid
}

// The same loop, over a table with one intent for each order. The insert fails in
// the second turn, and nothing is sent.
func storesOnceInTheLoop(ctx context.Context, s *shop, order string) error {
	insert := quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		if _, taken := s.intents[order]; taken {
			return errors.New("duplicate key")
		}
		s.intents[order] = intent
		return nil
	})
	for range tries {
		tx, err := s.client.Transactions.Pay(ctx, byCard(order, visa), insert)
		if err == nil {
			return s.answered(ctx, tx)
		}
	}
	return errHeld // the order has an intent, and the program does not know of what
}

// claim lets each intent be sent once.
func (s *shop) claim(intent quickstream.Intent) quickstream.Claim {
	return func(context.Context) error {
		if _, taken := s.intents[intent.ID]; taken {
			return errors.New("sent before")
		}
		s.intents[intent.ID] = intent
		return nil
	}
}

// Not found is taken for not paid. One look settles it, by the given sign.
func notFoundPaysAgain(absent func(error) bool) program {
	return func(ctx context.Context, s *shop, order string) error {
		for range tries {
			tx, err := s.client.Transactions.Pay(ctx, byCard(order, visa), s.storing(order))
			if sent, unknown := lost(err); unknown {
				tx, err = s.client.Transactions.Resume(ctx, sent)
				if absent(err) {
					continue // it is not there, so it did not arrive: pay again
				}
				if err != nil {
					return s.lookFor(ctx, sent)
				}
			}
			if err != nil {
				return errNotPaid
			}
			return s.answered(ctx, tx)
		}
		return errNotPaid
	}
}

func notFoundError(err error) bool { return errors.Is(err, quickstream.ErrNotFound) }

func noCandidates(err error) bool {
	open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	return ok && open.Cause == nil && len(open.Candidates) == 0
}

// Every error of RequireApproved that is not an unknown outcome is taken for a
// failure. What is unknown, the given function says.
func requireApproved(unknown func(error) bool) program {
	return func(ctx context.Context, s *shop, order string) error {
		for _, card := range []string{visa, another, another} {
			_, err := quickstream.RequireApproved(s.client.Transactions.Pay(ctx, byCard(order, card), s.storing(order)))
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

// What is not approved is taken for declined: another card, please. What the outcome
// is, the given function says; its error is dealt with like one of Pay.
func notApprovedTakesAnotherCard(outcomeOf func(*quickstream.Transaction) (quickstream.Outcome, error)) program {
	return func(ctx context.Context, s *shop, order string) error {
		for _, card := range []string{visa, another} {
			var outcome quickstream.Outcome
			tx, err := s.client.Transactions.Pay(ctx, byCard(order, card), s.storing(order))
			if err == nil {
				outcome, err = outcomeOf(tx)
			}
			if sent, unknown := lost(err); unknown {
				return s.lookFor(ctx, sent)
			}
			if err != nil {
				return errNotPaid
			}
			if outcome == quickstream.OutcomeApproved {
				return nil
			}
		}
		return errNotPaid
	}
}

func outcomeWithoutItsError(tx *quickstream.Transaction) (quickstream.Outcome, error) {
	outcome, _ := tx.Outcome()
	return outcome, nil
}

// One key and one reference for all attempts, of the merchant's own: surely that is
// safe. But the job runs again when the service has forgotten the key.
func jobPaysAgainUnderItsKey(runs, perRun int) program {
	return func(ctx context.Context, s *shop, order string) error {
		params := byCard(order, visa)
		params.PaymentReferenceNumber = order
		for range runs {
			for range perRun {
				tx, err := s.client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey("pay-"+order))
				if err == nil {
					return s.answered(ctx, tx)
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
			var tx *quickstream.Transaction
			if tx, err = s.client.Transactions.Submit(ctx, intent, claim(s, intent)); err == nil {
				return s.answered(ctx, tx)
			}
			var over bool
			if intent, over = next(intent, err); over {
				return errNotPaid
			}
			<-time.After(later)
		}
		if sent, unknown := lost(err); unknown {
			return s.lookFor(ctx, sent)
		}
		return errNotPaid
	}
}

// afterFailure returns the intent of the job's next run, or that there is none.
type afterFailure func(intent quickstream.Intent, err error) (next quickstream.Intent, over bool)

func emptyClaim(*shop, quickstream.Intent) quickstream.Claim {
	return func(context.Context) error { return nil }
}

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

// renewsWhatWasNotSent takes every error that matches ErrNotSent for proof. That an
// earlier call had sent the intent does not count: the refused claim does not match it.
func renewsWhatWasNotSent(intent quickstream.Intent, err error) (quickstream.Intent, bool) {
	if errors.Is(err, quickstream.ErrNotSent) {
		return intent.Renewed(), false
	}
	return intent, false
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
	tx, err := s.client.Transactions.Pay(ctx, params)
	switch {
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return s.lookFor(ctx, intent)
	case err != nil:
		return errNotPaid
	default:
		return s.answered(ctx, tx)
	}
}

// Each call has a time limit, and a time limit that was exceeded is a passing
// trouble. All other errors are dealt with as they should be.
func deadlineIsTemporary(exceeded func(context.Context, error) bool) program {
	return func(ctx context.Context, s *shop, order string) error {
		for range tries {
			callCtx, cancel := context.WithTimeout(ctx, 10*time.Second)
			tx, err := s.client.Transactions.Pay(callCtx, byCard(order, visa), s.storing(order))
			passing := err != nil && exceeded(callCtx, err)
			cancel()
			if passing {
				continue
			}
			if sent, unknown := lost(err); unknown {
				return s.lookFor(ctx, sent)
			}
			if err != nil {
				return errNotPaid
			}
			return s.answered(ctx, tx)
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
