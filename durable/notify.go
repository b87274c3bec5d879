package durable

import (
	"context"
	"errors"
	"time"
)

// OutcomeChange is what OnOutcome is notified of.
type OutcomeChange struct {
	// Write is the write as it is now. Only a write that IsPayment says whether an order is paid.
	Write Write
	// Before is its standing when OnOutcome was last notified of it; the State is empty the first time.
	Before Standing
}

// workNotify notifies OnOutcome of a write as it is now, in one transaction with the mark that it was notified. A job
// that runs twice, or after the job of a later change, does nothing.
func (e *engine) workNotify(ctx context.Context, id string) error {
	called, err := e.notified(ctx, id)
	for try := 1; try <= 3 && rolledBack(err) && wait(ctx, pause(time.Second, try)/20); try++ { // another transaction held a row that the hook wants
		called, err = e.notified(ctx, id)
	}
	if called && err != nil {
		refused := (*hookError)(nil)
		if !errors.As(err, &refused) { // as by a constraint that is checked at the commit
			refused = &hookError{"OnOutcome", "could not be committed: " + typesOf(err), err}
			err = refused
		}
		stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobMargin)
		defer cancel()
		err = errors.Join(err, within(stored, e.db, func(tx tx) error {
			return execute(stored, tx, "UPDATE quickstream.write SET failures = failures + 1, problem = $1 WHERE id = $2 AND changes > notified", refused.Error(), id)
		}))
	}
	e.waiting.wake(id)
	return err
}

// notified calls OnOutcome unless it has been notified.
func (e *engine) notified(ctx context.Context, id string) (called bool, err error) {
	err = within(ctx, e.db, func(tx tx) error {
		r, err := e.read(ctx, tx, id)
		if err != nil || r == nil || r.notified >= r.changes || r.State.InProgress() {
			return err
		}
		called = true
		return e.runHook(ctx, tx, r)
	})
	return called, err
}

// runHook calls OnOutcome, and marks the write as notified in the same transaction: not of what the hook itself changes.
func (e *engine) runHook(ctx context.Context, tx tx, r *row) error {
	before := r.reported
	r.notifies()
	if err := e.callHook(ctx, tx, r, before); err != nil {
		return err
	}
	return execute(ctx, tx, "UPDATE quickstream.write SET notified = $1, reported_state = $2, reported_reason = $3, failures = 0, problem = CASE WHEN changes = $1 THEN $4 ELSE problem END WHERE id = $5",
		r.changes, r.State, r.Reason, r.Problem, r.ID)
}

// notifies marks a row as notified, and ends the failures of OnOutcome.
func (r *row) notifies() {
	if r.Failures > 0 {
		r.Problem = ""
	}
	r.notified, r.reported, r.Failures = r.changes, r.Standing, 0
}

// callHook calls OnOutcome.
func (e *engine) callHook(ctx context.Context, tx tx, r *row, before Standing) error {
	return guard("OnOutcome", func() error {
		return e.onOutcome(ctx, tx, OutcomeChange{Write: r.shown(), Before: before})
	})
}
