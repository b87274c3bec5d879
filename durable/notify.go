package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

// OutcomeChange is what OnOutcome is notified of.
type OutcomeChange struct {
	// Write is a [Payment], a [FollowUp] or an [OtherWrite]: use a type switch, because only a Payment
	// says whether an order is paid. Its Standing is the new one.
	Write Write
	// Before is where it stood before.
	Before Standing
}

// observe applies what was observed of a write. If OnOutcome refuses it, it is kept
// beside the write and applied again later: no other process can see what the claim's holder has
// seen.
func (e *engine) observe(ctx context.Context, id string, o observed) error {
	var refused *hookError
	err := e.retried(ctx, func(tx tx) error {
		err := e.apply(ctx, tx, id, &o)
		e.step("before the observation's commit")
		return err
	})
	e.step("after the observation's commit")
	e.waiting.wake(id)
	if !errors.As(err, &refused) {
		return err
	}
	return errors.Join(err, within(ctx, e.db, func(tx tx) error {
		r, err := e.read(ctx, tx, id)
		if err != nil || r == nil {
			return err
		}
		before := *r
		if o.Kind != "" && !slices.ContainsFunc(r.pending, func(p observed) bool {
			return p.Kind == o.Kind && p.Claim == o.Claim && p.Receipt == o.Receipt && p.Seen.Result == o.Seen.Result && p.Seen.Outcome == o.Seen.Outcome
		}) {
			r.pending = append(slices.Clone(r.pending), o)
		}
		r.Failures++
		r.Problem, r.Due = refused.Error(), e.clock().Add(pause(time.Second, r.Failures))
		return e.save(ctx, tx, &before, r)
	}))
}

// observeOne applies what was observed in the course of work on many writes, which goes on if
// OnOutcome refuses one: OnOutcome is notified again.
func (e *engine) observeOne(ctx context.Context, id string, o observed) error {
	err := e.observe(ctx, id, o)
	if refused := (*hookError)(nil); errors.As(err, &refused) {
		e.logger.WarnContext(ctx, "quickstream: OnOutcome has refused an outcome, and is notified again", "id", id)
		return nil
	}
	return err
}

// retried runs f in a transaction, up to five times: an observation is worth more than one try.
func (e *engine) retried(ctx context.Context, f func(tx tx) error) (err error) {
	var refused *hookError
	for try := 1; try <= 5; try++ {
		err = within(ctx, e.db, f)
		final := errors.As(err, &refused) && !rolledBack(err)
		if err == nil || final || errors.Is(err, ErrNoWrite) || !wait(ctx, pause(time.Second, try)/10) {
			break
		}
	}
	return err
}

// rolledBack reports whether the database ended a transaction for the sake of another one, as when
// the merchant holds an order that OnOutcome wants, and waits for its payment: the same again may
// succeed.
func rolledBack(err error) bool {
	var database interface{ SQLState() string }
	return errors.As(err, &database) && strings.HasPrefix(database.SQLState(), "40")
}

// apply applies what is pending of a write and then one more observation, in the
// merchant's transaction, and notifies OnOutcome of every change. o is nil for what is
// pending alone.
func (e *engine) apply(ctx context.Context, tx tx, id string, o *observed) error {
	r, err := e.read(ctx, tx, id)
	if err != nil {
		return err
	}
	if r == nil {
		return ErrNoWrite
	}
	all := r.pending
	if len(all) > 0 {
		r.pending, r.Failures, r.Problem = nil, 0, ""
	}
	if o != nil {
		all = append(slices.Clone(all), *o)
	}
	for i, o := range all {
		if i > 0 { // OnOutcome may have changed it, by a follow-up
			if r, err = e.read(ctx, tx, id); err != nil {
				return err
			}
		}
		if err := e.applyOne(ctx, tx, r, o); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) applyOne(ctx context.Context, tx tx, r *row, o observed) error {
	now := e.clock()
	next := r.after(o, e.policy, now)
	if gone := next.State == StateNotFound || next.State == StateEscalated; gone && r.State.InProgress() && !o.found() && o.Kind != sawConflict && e.time.doubted() {
		next = *r // nothing is given up by a doubtful clock
		next.Due = now.Add(10 * time.Minute)
	}
	if err := e.compareWithOrder(ctx, tx, &next, r.Standing); err != nil {
		return err
	}
	if err := e.keepToken(ctx, tx, &next, r.State); err != nil {
		return err
	}
	if next.Standing != r.Standing {
		next.Changed = now
	}
	if err := e.save(ctx, tx, r, &next); err != nil {
		return err
	}
	var events []Event
	if event, told := o.event(r, &next); told && o.Kind != "" {
		events = append(events, event)
	}
	if next.Standing != r.Standing && next.State != StateQueued && next.State != StateResolving {
		if err := e.notify(ctx, tx, &next, r.Standing); err != nil {
			return err
		}
		events = append(events, Event{Kind: EventNotified})
	}
	if len(events) > 0 {
		if err := e.record(ctx, tx, &next, events...); err != nil {
			return err
		}
	}
	if next.Standing == r.Standing {
		return nil
	}
	if err := e.wakeFollowUps(ctx, tx, &next, r.Reversal); err != nil {
		return err
	}
	if next.follows != "" { // the next in line may go
		if err := execute(ctx, tx, "UPDATE quickstream.write SET due_at = $1 WHERE follows <> '' AND follows = $2 AND state = 'queued' AND next_at <= $3",
			now, next.follows, now.Add(linePause)); err != nil {
			return err
		}
	}
	return e.propagateVoid(ctx, tx, &next)
}

// notify calls OnOutcome.
func (e *engine) notify(ctx context.Context, tx tx, r *row, before Standing) error {
	e.step("before OnOutcome")
	if err := guard("OnOutcome", func() error { return e.onOutcome(ctx, tx, OutcomeChange{Write: r.write(), Before: before}) }); err != nil {
		return err
	}
	e.step("after OnOutcome")
	return nil
}

// compareWithOrder compares a payment with the others of its order. One that turns out to be
// approved, or open, while another one counts is no longer the order's payment, and two
// that are approved are a double charge.
func (e *engine) compareWithOrder(ctx context.Context, tx tx, r *row, was Standing) error {
	if !r.isPayment() || !r.Blocks() || r.Standing == was {
		return nil
	}
	paid, current := false, ""
	err := e.each(ctx, tx, func(other *row, _ error) {
		paid = paid || other.Paid()
		if other.ReplacedBy == "" && other.Blocks() {
			current = other.ID
		}
	}, "order_id = $1 AND id <> $2 AND kind = 'payment' ORDER BY id"+e.dialect.ForUpdate, r.Order, r.ID)
	if r.ReplacedBy == "" {
		r.ReplacedBy = current
	}
	if r.State == StateSettled && r.Paid() && paid {
		r.Standing = standing(StateDoubleCharged)
	}
	return err
}

// keepToken leaves a single-use token to the write that has it since, if one that was not sent turns out to have been.
func (e *engine) keepToken(ctx context.Context, tx tx, r *row, was State) error {
	if was != StateNotSent || r.State == StateNotSent || r.token == "" {
		return nil
	}
	return query(ctx, tx, func(scan func(...any) error) error {
		r.token = ""
		return scan(new(string))
	}, "SELECT id FROM quickstream.write WHERE token <> '' AND token = $1 AND state <> 'not_sent' AND id <> $2 LIMIT 1", r.token, r.ID)
}

// propagateVoid takes a void that was done to the payment that it follows, unless that has a second transaction.
func (e *engine) propagateVoid(ctx context.Context, tx tx, r *row) error {
	if r.intent.Operation != quickstream.OperationVoid || !r.Approved() {
		return nil
	}
	payment, err := e.read(ctx, tx, r.follows)
	if err != nil || payment == nil || !payment.Paid() || payment.twice() {
		return err
	}
	next := payment.ended(settledAs(quickstream.OutcomeApproved))
	next.Reversal = ReversalVoided
	if err := e.save(ctx, tx, payment, &next); err != nil {
		return err
	}
	if err := e.wakeFollowUps(ctx, tx, &next, payment.Reversal); err != nil {
		return err
	}
	if err := e.notify(ctx, tx, &next, payment.Standing); err != nil {
		return err
	}
	return e.record(ctx, tx, &next, Event{Kind: EventLookedUp}, Event{Kind: EventNotified})
}

// wakeFollowUps has what waits to be done to a payment end now if its money is back.
func (e *engine) wakeFollowUps(ctx context.Context, tx tx, r *row, was Reversal) error {
	if r.Reversal == was || r.Reversal == ReversalNone {
		return nil
	}
	return execute(ctx, tx, "UPDATE quickstream.write SET next_at = $1, due_at = $1 WHERE follows <> '' AND follows = $2 AND state = 'queued'", e.clock(), r.ID)
}

// Verdict is how a person closes a write.
type Verdict string

// The verdicts.
const (
	VerdictApproved Verdict = "approved"
	VerdictDeclined Verdict = "declined"
	VerdictNotSent  Verdict = "not_sent"
	VerdictVoided   Verdict = "voided"
	VerdictReturned Verdict = "returned"
)

func (v Verdict) standing() (s Standing, known bool) {
	approved := settledAs(quickstream.OutcomeApproved)
	switch v {
	case VerdictApproved:
		return approved, true
	case VerdictDeclined:
		return settledAs(quickstream.OutcomeDeclined), true
	case VerdictNotSent:
		return standing(StateNotSent), true
	case VerdictVoided:
		approved.Reversal = ReversalVoided
		return approved, true
	case VerdictReturned:
		approved.Reversal = ReversalReturned
		return approved, true
	default:
		return s, false
	}
}

// Decision is the decision of a person who has asked technical support, or has seen the transaction.
type Decision struct {
	Verdict Verdict
	// ReceiptNumber is required for an approved payment without one.
	ReceiptNumber string
	// By and Note say who has decided and why: one line each, of up to 200 printable bytes. Required.
	By, Note string
	// Version is Version of the write that was seen: if it has changed since, the error matches [ErrStale].
	// Zero is not compared, for programs that decide by themselves. With a version, the last look-up of
	// a transaction may be a minute old at most: otherwise the error matches [ErrLookUpFirst].
	Version int64
}

// Decide closes a write that is resolving, not_found or escalated. What is observed of it later, by
// an event or a comparison, is notified all the same. OnOutcome is notified in tx. What OnOutcome has
// refused of the write comes first: until it has taken that, the error matches [ErrNotAllowed].
func (e *Engine[TTx]) Decide(ctx context.Context, tx TTx, id string, d Decision) error {
	return e.decide(ctx, e.typed.Join(tx), id, d)
}

func (e *engine) decide(ctx context.Context, tx tx, id string, d Decision) error {
	r, err := e.read(ctx, tx, id)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	s, known := d.Verdict.standing()
	switch {
	case r == nil:
		return ErrNoWrite
	case d.Version != 0 && d.Version != r.Version:
		return ErrStale
	}
	err = e.notDecidable(r)
	switch {
	case err != nil && (d.Version != 0 || !errors.Is(err, ErrLookUpFirst)):
		return err
	case !known:
		return fmt.Errorf("durable: %q is no verdict", d.Verdict)
	case d.Verdict == VerdictApproved && d.ReceiptNumber == "" && r.ReceiptNumber == "" && r.intent.Operation != quickstream.OperationVoid:
		return errors.New("durable: what is approved has a receipt number")
	}
	if err := checkPerson(d.By, d.Note); err != nil {
		return err
	}
	if err := e.checkReceipt(ctx, tx, id, d.ReceiptNumber); err != nil {
		return err
	}
	return e.apply(ctx, tx, id, &observed{
		Kind: sawDecision, At: e.clock(), Receipt: d.ReceiptNumber, Decision: &verdict{Standing: s, By: d.By, Note: d.Note},
	})
}

// notDecidable is why a person cannot decide about a write now; nil if they can.
func (e *engine) notDecidable(r *row) error {
	switch {
	case !e.ends(r).IsZero():
		return &StillSendingError{e.ends(r)}
	case r.State != StateResolving && r.State != StateNotFound && r.State != StateEscalated:
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, r.Text())
	case len(r.pending) > 0:
		return errPending
	case !e.justLookedUp(r):
		return ErrLookUpFirst
	default:
		return nil
	}
}

// ends is until when a process may still be sending a write whose outcome is unknown; zero if none can. The
// times of two processes may differ by a leap that is not seen yet.
func (e *engine) ends(r *row) time.Time {
	left := quickstream.ClaimLife + e.longestPay + jobMargin + 2*mostLeap - e.time.passed(r.lastSent)
	if r.claim == "" || !slices.Contains(unknown(), r.State) || left <= 0 {
		return time.Time{}
	}
	return e.clock().Add(left)
}

// justLookedUp reports whether the last look-up of a transaction is recent enough for a decision.
func (e *engine) justLookedUp(r *row) bool {
	looked := r.lookups.Lookups
	return !r.intent.Operation.IsTransaction() || len(looked) > 0 && e.time.passed(looked[len(looked)-1].Last) <= time.Minute
}

// checkReceipt refuses a receipt with which nothing could be done, and that of another write.
func (e *engine) checkReceipt(ctx context.Context, tx tx, id, receipt string) error {
	if receipt == "" {
		return nil
	}
	if _, err := e.client.Transactions.PlanVoid(ctx, receipt); err != nil {
		return fmt.Errorf("durable: the receipt number: %w", err)
	}
	other, err := e.one(ctx, tx, ofReceipt+" AND id <> $2 LIMIT 1", receipt, id)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if other != nil {
		return fmt.Errorf("%w: the receipt is that of another write", ErrNotAllowed)
	}
	return nil
}

// errPending means that more is known of a write than its state says.
var errPending = fmt.Errorf("%w: OnOutcome has refused what was observed of it, and is notified again", ErrNotAllowed)

// PayAgain stores another payment of an order instead of one that is not_found: a person or a policy
// has decided that it will not come any more. by and note are as in [Decision]. Look-ups for the
// replaced payment go on. If it is found after all and both are approved, that is
// [StateDoubleCharged]. A follow-up that is not_found is decided, and stored under a new id. Errors
// as for Pay, and [ErrNotAllowed].
func (e *Engine[TTx]) PayAgain(ctx context.Context, tx TTx, w NewWrite, replaces, by, note string, params quickstream.TransactionParams, opts ...quickstream.CallOption) (payment Payment, created bool, err error) {
	r, created, err := e.payAgain(ctx, e.typed.Join(tx), w, replaces, by, note, params, opts)
	return paymentOf(r), created, err
}

func (e *engine) payAgain(ctx context.Context, tx tx, w NewWrite, replaces, by, note string, params quickstream.TransactionParams, opts []quickstream.CallOption) (*row, bool, error) {
	r, err := e.planPayment(ctx, w, params, opts)
	if err != nil {
		return nil, false, err
	}
	if same, err := e.one(ctx, tx, "id = $1", w.ID); same != nil || err != nil { // the same step again
		return e.store(ctx, tx, r)
	}
	absent, err := e.read(ctx, tx, replaces)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("durable: %w", err)
	case absent == nil || absent.Order != w.Order:
		return nil, false, ErrNoWrite
	case w.Version != 0 && w.Version != absent.Version:
		return nil, false, ErrStale
	case w.Version != 0 && !e.justLookedUp(absent):
		return nil, false, ErrLookUpFirst
	case !e.ends(absent).IsZero():
		return nil, false, &StillSendingError{e.ends(absent)}
	case !absent.isPayment():
		return nil, false, fmt.Errorf("%w: it is no payment", ErrNotAllowed)
	case absent.State != StateNotFound || absent.ReplacedBy != "":
		return nil, false, fmt.Errorf("%w: it is %s", ErrNotAllowed, absent.Text())
	case len(absent.pending) > 0:
		return nil, false, errPending
	}
	if err := checkPerson(by, note); err != nil {
		return nil, false, err
	}
	replaced := *absent
	replaced.ReplacedBy, replaced.Problem = w.ID, "paid again"
	if err := e.save(ctx, tx, absent, &replaced); err != nil {
		return nil, false, err
	}
	stored, created, err := e.store(ctx, tx, r)
	if err != nil || !created { // an earlier payment was found meanwhile
		return stored, false, errors.Join(err, e.save(ctx, tx, &replaced, absent))
	}
	return stored, true, e.record(ctx, tx, &replaced, Event{Kind: EventReplaced, By: by, Note: note})
}
