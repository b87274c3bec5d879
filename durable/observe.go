package durable

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream"
)

// OutcomeChange is told to OnOutcome.
type OutcomeChange struct {
	Payment Payment
	Before  State
	After   State
}

// outcomeError is the error of OnOutcome.
type outcomeError struct{ err error }

func (e *outcomeError) Error() string { return "OnOutcome: " + e.err.Error() }
func (e *outcomeError) Unwrap() error { return e.err }

// observe applies what was seen of a payment. Where OnOutcome refuses it, it is kept
// beside the payment and applied again later: what the claim's holder has seen can be
// seen by nobody else.
func (e *Engine[TTx]) observe(ctx context.Context, id string, o observed) error {
	var refused *outcomeError
	err := e.retried(ctx, func(tx TTx) error {
		err := e.apply(ctx, tx, id, &o)
		e.step("before the observation's commit")
		return err
	})
	e.step("after the observation's commit")
	if !errors.As(err, &refused) {
		return err
	}
	return errors.Join(err, within(ctx, e.db, func(tx TTx) error {
		r, err := e.read(ctx, tx, id)
		if err != nil || r == nil {
			return err
		}
		before := *r
		if o.Kind != "" && !slices.ContainsFunc(r.pending, func(p observed) bool {
			return p.Kind == o.Kind && p.Claim == o.Claim && p.Seen.Result == o.Seen.Result && p.Seen.Outcome == o.Seen.Outcome
		}) {
			r.pending = append(slices.Clone(r.pending), o)
		}
		r.Failures++
		r.Problem, r.Due = refused.Error(), e.opts.Clock().Add(pause(r.Failures))
		return e.save(ctx, tx, &before, r)
	}))
}

// note applies what was seen in the course of work on many payments, which goes on where
// OnOutcome refuses one: that is kept, and told again.
func (e *Engine[TTx]) note(ctx context.Context, id string, o observed) error {
	err := e.observe(ctx, id, o)
	if refused := (*outcomeError)(nil); errors.As(err, &refused) {
		e.opts.Logger.WarnContext(ctx, "quickstream: OnOutcome has refused an outcome, and is told again", "id", id)
		return nil
	}
	return err
}

// retried runs f in a transaction, up to five times: what was seen is worth more than one
// try.
func (e *Engine[TTx]) retried(ctx context.Context, f func(tx TTx) error) (err error) {
	var refused *outcomeError
	for try := 1; try <= 5; try++ {
		err = within(ctx, e.db, f)
		final := errors.As(err, &refused) && !inTheWay(err)
		if err == nil || final || errors.Is(err, ErrNoPayment) || !wait(ctx, pause(try)/10) {
			break
		}
	}
	return err
}

// inTheWay reports whether a transaction was rolled back because it was in the way of
// another one, as when the merchant holds an order that OnOutcome wants, and waits for
// its payment: the same again may succeed.
func inTheWay(err error) bool {
	var database interface{ SQLState() string }
	return errors.As(err, &database) && strings.HasPrefix(database.SQLState(), "40")
}

// apply folds what is pending of a payment and then one more observation into it, in the
// merchant's transaction, and tells OnOutcome of every change. o is nil for what is
// pending alone.
func (e *Engine[TTx]) apply(ctx context.Context, tx TTx, id string, o *observed) error {
	r, err := e.read(ctx, tx, id)
	if err != nil {
		return err
	}
	if r == nil {
		return ErrNoPayment
	}
	all := r.pending
	if len(all) > 0 {
		r.pending, r.Failures, r.Problem = nil, 0, ""
	}
	if o != nil {
		all = append(slices.Clone(all), *o)
	}
	now := e.opts.Clock()
	for i, o := range all {
		if i > 0 { // OnOutcome may have changed it, by a follow-up
			if r, err = e.read(ctx, tx, id); err != nil {
				return err
			}
		}
		was := r.State
		next := r.after(o, e.policy, now)
		if err := e.beside(ctx, tx, &next, was); err != nil {
			return err
		}
		if next.State != was {
			next.Changed = now
		}
		if err := e.save(ctx, tx, r, &next); err != nil {
			return err
		}
		if next.State != was && next.State != StatePrepared && next.State != StateUnknown {
			if err := e.tell(ctx, tx, OutcomeChange{Payment: next.Payment, Before: was, After: next.State}); err != nil {
				return err
			}
		}
		if err := e.carryOver(ctx, tx, &next, was); err != nil {
			return err
		}
	}
	return nil
}

// tell calls OnOutcome, whose panic is an error.
func (e *Engine[TTx]) tell(ctx context.Context, tx TTx, change OutcomeChange) (err error) {
	defer func() {
		if err != nil {
			err = &outcomeError{err}
		}
	}()
	defer report("it", &err)
	e.step("before OnOutcome")
	if err := e.opts.OnOutcome(ctx, tx, change); err != nil {
		return err
	}
	e.step("after OnOutcome")
	return nil
}

// beside holds a payment against the others of its order. One that turns out to be
// approved, or open, while another one stands is no longer the order's payment, and two
// that are approved are a second charge.
func (e *Engine[TTx]) beside(ctx context.Context, tx TTx, r *row, was State) error {
	if r.ReceiptOf != "" || !r.State.Blocks() || r.State == was {
		return nil
	}
	other, err := e.one(ctx, tx, `order_id = $1 AND id <> $2 AND receipt_of = ''
		AND (state IN ('approved', 'charged twice') OR passed_by = '' AND `+blocking+`)
		ORDER BY CASE WHEN state IN ('approved', 'charged twice') THEN 0 ELSE 1 END LIMIT 1`+e.db.Words().ForUpdate, r.OrderID, r.ID)
	if err != nil || other == nil {
		return err
	}
	if other.PassedBy == "" && r.PassedBy == "" {
		r.PassedBy = other.ID
	}
	if r.State == StateApproved && (other.State == StateApproved || other.State == StateTwice) {
		r.State = StateTwice
	}
	return nil
}

// blocking is the condition of a payment whose state keeps its order from being paid.
const blocking = "state NOT IN ('declined', 'refused', 'not sent', 'voided', 'returned')"

// carryOver takes the outcome of a follow-up to the payment that it is about.
func (e *Engine[TTx]) carryOver(ctx context.Context, tx TTx, r *row, was State) error {
	if r.intent.Operation != quickstream.OperationVoid || r.State != StateVoided || was == StateVoided {
		return nil
	}
	payment, err := e.byReceipt(ctx, tx, r.ReceiptOf)
	if err != nil || payment == nil || payment.State != StateApproved && payment.State != StateTwice {
		return err
	}
	next := *payment
	next = next.ended(StateVoided)
	if err := e.save(ctx, tx, payment, &next); err != nil {
		return err
	}
	return e.tell(ctx, tx, OutcomeChange{Payment: next.Payment, Before: payment.State, After: StateVoided})
}
