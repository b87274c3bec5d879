package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// lookUpPace is the pause between the look-ups that a person asks for.
const lookUpPace = 100 * time.Millisecond

// LookUp looks up writes now, before they are due, one after the other, and returns them as they are after it.
// A person calls it before a [Decision]. by and note are as there. A look-up that fails is in the evidence as
// one that failed. The error matches [ErrNotAllowed] if a write was never sent, and is a
// [TooEarlyError] while a process may be sending it.
func (e *Engine[TTx]) LookUp(ctx context.Context, by, note string, ids ...string) (list []Write, err error) {
	if err := checkPerson(by, note); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if i > 0 && !wait(ctx, lookUpPace) {
			return list, ctx.Err()
		}
		if err := e.lookUpNow(ctx, id, Event{By: by, Note: note}); err != nil {
			return list, err
		}
		w, err := e.Get(ctx, id)
		if err != nil {
			return list, err
		}
		list = append(list, w)
	}
	return list, nil
}

func (e *engine) lookUpNow(ctx context.Context, id string, person Event) error {
	r, err := e.one(ctx, e.db, "id = $1", id)
	if err != nil || r == nil {
		return named(cmp.Or(err, ErrNoWrite))
	}
	switch until := e.sentUntil(r); {
	case r.State == StateSending && until.After(r.now):
		return &TooEarlyError{until}
	case r.State == StateNotSent || r.State == StateDeclined && r.Reason == ReasonRefused || r.State == StateQueued && !r.maySent():
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, r.Text())
	}
	return named(e.lookUp(ctx, r, &person))
}

// CheckReceipt asks the service whether the transaction of a receipt can be the write that a person is about to decide as
// approved: it must be approved, and have the write's type, amount, currency and original. If not, the error matches
// [ErrNotAllowed].
func (e *Engine[TTx]) CheckReceipt(ctx context.Context, id, receipt string) error {
	r, err := e.one(ctx, e.db, "id = $1", id)
	if err != nil || r == nil {
		return named(cmp.Or(err, ErrNoWrite))
	}
	t, err := e.client.Transactions.Get(ctx, receipt)
	if err != nil {
		return fmt.Errorf("durable: the transaction of the receipt: %w", err)
	}
	intent := r.sentIntent()
	intent.ReceiptNumber, intent.Answered = t.ReceiptNumber, true
	if seen := resolve.Observe(intent.Match(t)); seen.Result != resolve.LookupSettled || seen.Outcome != quickstream.OutcomeApproved {
		return fmt.Errorf("%w: the transaction of that receipt was not approved, or has another amount, type or original", ErrNotAllowed)
	}
	return nil
}

// NotifyAgain notifies OnOutcome of a write now, even if it was notified before: for a hook that has lost what it got.
// by and note are as in [Decision]. Errors and panics of the hook are returned as types and places. The error
// matches [ErrInProgress] if the outcome of the write is not known yet.
func (e *Engine[TTx]) NotifyAgain(ctx context.Context, id, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	err := e.asked(ctx, id, Event{Kind: EventAsked, By: by, Note: note}, func(tx tx, r *row) error {
		if r.State.InProgress() {
			return ErrInProgress
		}
		return e.runHook(ctx, tx, r)
	})
	e.waiting.wake(id)
	return err
}

// asked records that a person has asked for something about a write, and does it in the same transaction, with the
// write locked.
func (e *engine) asked(ctx context.Context, id string, event Event, act func(tx tx, r *row) error) error {
	of, err := e.one(ctx, e.db, "id = $1", id)
	if err == nil {
		err = within(ctx, e.db, func(tx tx) error {
			r, err := e.locked(ctx, tx, of)
			if err != nil {
				return err
			}
			if err := act(tx, r); err != nil {
				return err
			}
			now, err := e.one(ctx, tx, "id = $1", id)
			if err != nil {
				return err
			}
			return e.record(ctx, tx, now, event)
		})
	}
	return named(err)
}

// Pause stops the claims of all processes of the installation until [Engine.Unpause]. Nothing more is
// sent, sends under way go on to their end, and payments are accepted and look-ups made as always. A write
// that waits for longer than Options.SendWithin ends not_sent. by and note are as in [Decision].
func (e *Engine[TTx]) Pause(ctx context.Context, by, note string) error {
	return e.decides(ctx, pauseName, Event{Kind: EventPaused, By: by, Note: note}, func(tx tx, g *gates) (any, error) {
		return personsPause{Since: g.now, By: by, Note: note}, e.queue.Pause(ctx, tx, sendQueue)
	})
}

// Unpause ends an [Engine.Pause]. by and note are as in [Decision].
func (e *Engine[TTx]) Unpause(ctx context.Context, by, note string) error {
	return e.decides(ctx, pauseName, Event{Kind: EventUnpaused, By: by, Note: note}, func(tx tx, g *gates) (any, error) {
		if g.breaker.Since.IsZero() {
			return personsPause{Ended: g.now}, e.queue.Resume(ctx, tx, sendQueue)
		}
		return personsPause{Ended: g.now}, nil
	})
}

// Import stores a payment that was not made through the engine, such as one of the portal, so that
// it can be refunded. It reads the transaction first. The error is that of
// [quickstream.TransactionsService.Get], or matches those of Pay.
func (e *Engine[TTx]) Import(ctx context.Context, w NewWrite, receiptNumber string) (payment Write, created bool, err error) {
	if err := w.check(true); err != nil {
		return Write{}, false, err
	}
	begun, err := e.gates(ctx, e.db)
	if err != nil {
		return Write{}, false, named(err)
	}
	t, err := e.client.Transactions.Get(ctx, receiptNumber)
	switch {
	case err != nil:
		return Write{}, false, err
	case !mayPay(t):
		return Write{}, false, fmt.Errorf("%w: the transaction is no payment", ErrNotAllowed)
	}
	r := e.lostRow(w, t, begun.now)
	r.Problem = ""
	err = within(ctx, e.db, func(tx tx) error {
		if err := setMeta(ctx, tx, "lock of taking in", w.ID); err != nil { // one at a time: two calls may import one receipt
			return err
		}
		if known, err := e.about(ctx, tx, t); known != nil || err != nil {
			if err == nil && known.ID != w.ID {
				err = &IDReusedError{known.shown(), []string{"id"}}
			}
			return err
		}
		_, created, err = e.storeFor(ctx, tx, w, r) // its job finds that nothing is to be sent
		return err
	})
	if err != nil {
		return Write{}, false, named(err)
	}
	if created {
		err = e.observe(ctx, r, ofTransaction(t, begun.now))
	}
	stored, readErr := e.Get(ctx, w.ID)
	return stored, created, errors.Join(err, readErr)
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

// Decision is a person's decision about a write, after technical support has answered or a transaction was seen.
type Decision struct {
	Verdict Verdict
	// ReceiptNumber is required for VerdictApproved if the write has none and is no void.
	ReceiptNumber string
	// By and Note say who decided and why: one line each, of up to 200 printable bytes. Required.
	By, Note string
	// Version is the Version of the write that the person saw: if it has changed since, the error matches [ErrStale].
	// Required.
	Version int64
}

// Decide closes a write that is pending, unknown or needs a person. It needs the version that the person saw, and a look-up
// that succeeded within the last minute: otherwise the error matches [ErrStale] or [ErrLookUpFirst], and nothing was stored.
// OnOutcome is still notified of what an event or a comparison shows later. Everything is stored in tx.
func (e *Engine[TTx]) Decide(ctx context.Context, tx TTx, id string, d Decision) error {
	return named(e.decide(ctx, e.typed.Join(tx), id, d))
}

func (e *engine) decide(ctx context.Context, tx tx, id string, d Decision) error {
	r, err := e.decidable(ctx, tx, id, d.Version, d.By, d.Note)
	switch {
	case err != nil:
		return err
	case !slices.Contains([]Verdict{VerdictApproved, VerdictDeclined, VerdictNotSent, VerdictVoided, VerdictReturned}, d.Verdict):
		return fmt.Errorf("durable: %q is no verdict", d.Verdict)
	case d.Verdict == VerdictApproved && d.ReceiptNumber == "" && r.ReceiptNumber == "" && !r.isVoid():
		return errors.New("durable: what is approved has a receipt number")
	}
	if err := e.checkReceipt(ctx, tx, id, d.ReceiptNumber); err != nil {
		return err
	}
	return e.apply(ctx, tx, r, observed{kind: EventDecided, receipt: d.ReceiptNumber, decided: standing(State(d.Verdict)), person: &Event{By: d.By, Note: d.Note}})
}

// decidable locks a write, and checks that a person can decide about it and saw its current version.
func (e *engine) decidable(ctx context.Context, tx tx, id string, version int64, by, note string) (*row, error) {
	of, err := e.one(ctx, tx, "id = $1", id)
	if err != nil {
		return nil, err
	}
	r, err := e.locked(ctx, tx, of)
	switch {
	case err != nil:
		return nil, err
	case version == 0 || version != r.Version:
		return nil, ErrStale
	}
	return r, cmp.Or(e.notDecidable(r), checkPerson(by, note))
}

// notDecidable returns why a person cannot decide about a write now; nil if they can.
func (e *engine) notDecidable(r *row) error {
	until := e.sentUntil(r)
	if shown := r.lastSent.Add(e.lag); r.State == StateUnknown && !r.mayBeFound() && shown.After(until) {
		until = shown // look-ups that find nothing do not count before
	}
	switch {
	case r.State.isUnknown() && until.After(r.now):
		return &TooEarlyError{until}
	case r.State != StateUnknown && r.State != StatePending && r.State != StateNeedsPerson || r.Reason == ReasonDoubleCharged:
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, r.Text())
	case !r.justLookedUp():
		return ErrLookUpFirst
	default:
		return nil
	}
}

// sentUntil returns until when a process may still be sending a write; a past time if none can.
func (e *engine) sentUntil(r *row) time.Time {
	if r.claim == "" {
		return time.Time{}
	}
	return r.lastSent.Add(quickstream.ClaimLifetime + e.longestPay + jobMargin)
}

// justLookedUp reports whether the last look-up has succeeded and is recent enough for a decision.
func (r *row) justLookedUp() bool {
	looked := r.lookups.Lookups
	failed := len(looked) > 0 && looked[len(looked)-1].Result == resolve.LookupFailed
	age := r.now.Sub(r.LookedUp)
	return !failed && !r.LookedUp.IsZero() && age >= 0 && age <= time.Minute
}

// checkReceipt refuses a receipt number that the client refuses, and that of another write.
func (e *engine) checkReceipt(ctx context.Context, tx tx, id, receipt string) error {
	if receipt == "" {
		return nil
	}
	if _, err := e.client.Transactions.PlanVoid(ctx, receipt); err != nil {
		return fmt.Errorf("durable: the receipt number: %w", err)
	}
	other, err := e.isOther(ctx, tx, id, receipt)
	if err == nil && other {
		err = fmt.Errorf("%w: the receipt is that of another write", ErrNotAllowed)
	}
	return err
}

// PayAgain stores another payment of an order in place of one that is not_found, after a person decided that the first
// will not appear any more. of is the id of the first. w needs its Version, By and Note: they and the last look-up are as
// for [Engine.Decide]. Look-ups for the replaced payment go on. If it is found after all and both are approved, that is
// [ReasonDoubleCharged]. For a follow-up that is not_found call Decide, and store it under a new id. Errors are as for Pay
// and Decide, and [ErrNotAllowed].
func (e *Engine[TTx]) PayAgain(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.TransactionParams, opts ...quickstream.CallOption) (payment Write, created bool, err error) {
	r, err := e.planPayment(ctx, w, params, opts)
	if err != nil {
		return Write{}, false, err
	}
	return shown(e.payAgain(ctx, e.typed.Join(tx), w, of, r))
}

func (e *engine) payAgain(ctx context.Context, tx tx, w NewWrite, of string, r *row) (*row, bool, error) {
	if same, err := e.one(ctx, tx, "id = $1", r.ID); same != nil || err != nil { // the same step again
		return e.store(ctx, tx, r)
	}
	absent, err := e.decidable(ctx, tx, of, w.Version, w.By, w.Note)
	switch {
	case err != nil:
		return nil, false, err
	case absent.Order != r.Order || !absent.IsPayment():
		return nil, false, ErrNoWrite
	case absent.Reason != ReasonNotFound || absent.ReplacedBy != "":
		return nil, false, fmt.Errorf("%w: it is %s", ErrNotAllowed, absent.Text())
	}
	replaced := *absent
	replaced.ReplacedBy, replaced.Problem = r.ID, "paid again"
	replaced.changes, replaced.Changed = absent.changes+1, absent.now // OnOutcome is notified that it does not hold its order any more
	if err := e.save(ctx, tx, absent, &replaced); err != nil {
		return nil, false, err
	}
	stored, created, err := e.store(ctx, tx, r)
	if err != nil || !created { // an earlier payment was found meanwhile
		undone := replaced
		undone.ReplacedBy, undone.Problem, undone.changes, undone.Changed = absent.ReplacedBy, absent.Problem, absent.changes, absent.Changed
		return stored, false, errors.Join(err, e.save(ctx, tx, &replaced, &undone))
	}
	if err := e.jobsAfter(ctx, tx, absent, &replaced); err != nil {
		return nil, false, err
	}
	return stored, true, e.record(ctx, tx, &replaced, Event{Kind: EventReplaced, By: w.By, Note: w.Note})
}
