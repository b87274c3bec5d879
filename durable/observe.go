package durable

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/resolve"
)

// observeAnswer applies the answer to a write, and calls OnOutcome in the same transaction. If that fails the answer is
// stored alone, and a job calls OnOutcome.
func (e *engine) observeAnswer(ctx context.Context, r *row, o observed) error {
	called, cancel := context.WithTimeout(ctx, hangAfter)
	defer cancel()
	with := o
	with.callsHook = true
	if err := e.observeOnce(called, r, with); err == nil {
		e.waiting.wake(r.ID)
		return nil
	}
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.longestPay/4+jobMargin)
	defer cancel()
	return e.observe(stored, r, o)
}

func (e *engine) observeOnce(ctx context.Context, r *row, o observed) error {
	return within(ctx, e.db, func(tx tx) error { return e.apply(ctx, tx, r, o) })
}

// observe applies an observation of a write in a transaction of its own. It tries up to five times.
func (e *engine) observe(ctx context.Context, r *row, o observed) (err error) {
	for try := 1; try <= 5; try++ {
		err = e.observeOnce(ctx, r, o)
		if err == nil || errors.Is(err, ErrNoWrite) || !wait(ctx, pause(time.Second, try)/10) {
			break
		}
	}
	return err // waiters are woken when OnOutcome has run
}

// rolledBack reports whether the database ended a transaction in favour of another one: a second try may
// succeed.
func rolledBack(err error) bool {
	var database interface{ SQLState() string }
	return errors.As(err, &database) && strings.HasPrefix(database.SQLState(), "40")
}

// apply applies an observation of a write. of is the write as it was read before: apply locks its order, reads it again,
// and sets of to the result.
func (e *engine) apply(ctx context.Context, tx tx, of *row, o observed) error {
	r, err := e.locked(ctx, tx, of)
	if err != nil {
		return err
	}
	if o.at.IsZero() {
		o.at = r.now
	}
	next := r.after(o, e.policy)
	if next.Standing == r.Standing && next.same(r) {
		*of = *r
		return nil
	}
	next.callsHook = o.callsHook
	if err := e.change(ctx, tx, r, &next); err != nil {
		return err
	}
	if event, news := o.event(r, &next); news {
		if err := e.record(ctx, tx, &next, event); err != nil {
			return err
		}
	}
	if next.notified > r.notified {
		if err := e.callHook(ctx, tx, &next, r.reported); err != nil {
			return err
		}
	}
	*of = next
	return nil
}

// unchangedBy reports whether an observation changes nothing, as almost always.
func (r *row) unchangedBy(o observed, p resolve.Policy) bool {
	next := r.after(o, p)
	return next.Standing == r.Standing && next.same(r)
}

// same reports whether an observation has changed nothing that is worth storing.
func (r *row) same(before *row) bool {
	return r.ReceiptNumber == before.ReceiptNumber && r.SettlementDate == before.SettlementDate && r.Total.Equal(before.Total) && r.Due.Equal(before.Due) &&
		r.Problem == before.Problem && r.CardDigits == before.CardDigits && r.lookups.Version == 0 && before.lookups.Version == 0 && r.LookedUp.Equal(before.LookedUp)
}

// change stores a changed write, what the change means for other writes, and the jobs that follow from it. locked has read the
// write, or it becomes free.
func (e *engine) change(ctx context.Context, tx tx, r, next *row) error {
	next.compareWithOrder(r.Standing)
	if next.moneyBack() && !next.byPerson {
		captured, err := e.captured(ctx, tx, next)
		if err != nil {
			return err
		}
		if captured { // the pre-authorisation is gone, and the money is not
			next.Standing = standing(StateNeedsPerson, ReasonReversed)
		}
	}
	if r.State == StateNotSent && next.State != StateNotSent { // another write may have taken its single-use token since
		next.token = ""
	}
	if err := e.save(ctx, tx, r, next); err != nil {
		return err
	}
	if err := e.jobsAfter(ctx, tx, r, next); err != nil {
		return err
	}
	if !next.IsPayment() && !r.State.isFree() && next.State.isFree() { // more is left of its payment than a person has seen
		if err := execute(ctx, tx, "UPDATE quickstream.write SET version = version + 1 WHERE id = $1", next.Follows); err != nil {
			return err
		}
	}
	if err := e.propagateVoid(ctx, tx, next); err != nil {
		return err
	}
	return e.paysAlone(ctx, tx, r, next)
}

// paysAlone ends a double charge when one of the two payments is voided, returned or declined: the other one pays the order,
// unless it is refunded, or may be.
func (e *engine) paysAlone(ctx context.Context, tx tx, r, next *row) error {
	if !r.IsPayment() || r.State.isFree() || !next.State.isFree() {
		return nil
	}
	var paid []*row
	err := e.each(ctx, tx, func(other *row) { paid = append(paid, other) }, "order_id = $1 AND follows = '' AND "+sqlApproved()+" ORDER BY id"+e.dialect.ForUpdate, r.Order)
	if err != nil || len(paid) != 1 || paid[0].State == StateApproved || paid[0].unreadable != nil || paid[0].twice() {
		return err
	}
	if back, err := e.refunded(ctx, tx, &row{Write: Write{Follows: paid[0].ID}}, paid[0].Amount); err != nil || back.IsPositive() {
		return err
	}
	alone := *paid[0]
	alone.Standing = standing(StateApproved)
	if err := e.change(ctx, tx, paid[0], &alone); err != nil {
		return err
	}
	return e.record(ctx, tx, &alone, Event{Kind: EventLookedUp})
}

// jobsAfter inserts the jobs that follow from a change. Existing jobs stay.
func (e *engine) jobsAfter(ctx context.Context, tx tx, r, next *row) error {
	if next.changes > r.changes && !next.callsHook {
		if err := e.enqueue(ctx, tx, notifyQueue, 0, job{next.ID, strconv.FormatInt(next.changes, 10)}); err != nil {
			return err
		}
	}
	queue := lookUpQueue
	switch {
	case next.Due.IsZero() || next.State == StateSending:
		return nil
	case next.State == StateQueued: // its own job sleeps, unless it was not queued
		if r.State == StateQueued || r.State == StateSending {
			return nil
		}
		queue = sendQueue
	case !r.Due.IsZero() && r.State != StateQueued && r.State != StateSending:
		return nil // it has one
	}
	return e.enqueue(ctx, tx, queue, next.Due.Sub(r.now), job{ID: next.ID})
}

// compareWithOrder compares a payment with the others of its order. If it turns out to be
// approved or open while another one counts, it is replaced by that one. Two approved
// payments are a double charge.
func (r *row) compareWithOrder(was Standing) {
	if !r.IsPayment() || r.State.isFree() || r.Standing == was {
		return
	}
	paid, current := false, ""
	for _, other := range r.others {
		paid = paid || other.Paid()
		if other.ReplacedBy == "" && other.State.Blocks() {
			current = other.ID
		}
	}
	if r.ReplacedBy == "" {
		r.ReplacedBy = current
	}
	if r.State == StateApproved && paid {
		r.Standing = standing(StateNeedsPerson, ReasonDoubleCharged)
	}
}

// propagateVoid sets a payment to voided when its void was done.
func (e *engine) propagateVoid(ctx context.Context, tx tx, r *row) error {
	if r.IsPayment() || !r.isVoid() || r.State != StateApproved {
		return nil
	}
	payment, err := e.read(ctx, tx, r.Follows)
	if err != nil || payment == nil || !payment.approved() && payment.Reason != ReasonReversed || payment.twice() {
		return err
	}
	next := payment.ended(standing(StateVoided))
	next.decided = false // a person knew nothing of the void
	if err := e.change(ctx, tx, payment, &next); err != nil {
		return err
	}
	return e.record(ctx, tx, &next, Event{Kind: EventLookedUp})
}
