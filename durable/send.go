package durable

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	// tokenLife is how long a single-use token is good for.
	tokenLife = 10 * time.Minute
	// reverseWithin is how long a refund or a reversal may wait.
	reverseWithin = 7 * 24 * time.Hour
	// linePause is the longest pause of a follow-up that waits for earlier ones.
	linePause = 20 * time.Second
	// longestSnooze is the longest that a job sleeps, because its clock is not the database's.
	longestSnooze = 6 * time.Hour
	// backlogAge is the age from which a write gives way to newer ones, and backlogPause is about how long it waits then.
	backlogAge, backlogPause = time.Minute, 4 * time.Second
)

func snooze(until, now time.Time) time.Duration {
	return min(max(until.Sub(now), 10*time.Millisecond), longestSnooze)
}

// workSend sends a queued write, unless it is not due yet or another process may have sent it. It returns after how long
// the job runs again; zero for never. alone is the turn of a trial, in which one write is sent to end a pause; else "".
func (e *engine) workSend(ctx context.Context, id, alone string) (time.Duration, error) {
	r, err := e.one(ctx, e.db, "id = $1", id)
	switch {
	case err != nil:
		return 0, err
	case r != nil && r.State == StateSending:
		return e.abandoned(ctx, r)
	case r == nil || r.State != StateQueued:
		return 0, nil
	}
	newer := false
	now, err := e.gates(ctx, e.db)
	if err == nil && r.age() > backlogAge && alone == "" {
		newer, err = e.newerWait(ctx)
	}
	switch {
	case err != nil:
		return 0, err
	case r.Due.After(r.now) && r.giveUp == ReasonNone:
		return snooze(r.Due, r.now), nil
	case now.err(e, alone) != nil:
		return pausedPause, nil //nolint:nilerr // nothing is claimed at present
	case newer && rand.IntN(5) > 0: //nolint:gosec // a fifth of the turns is the backlog's
		return backlogPause/2 + rand.N(backlogPause), nil //nolint:gosec // not secret
	}
	if wait := now.restoring.waits(r, e.lag); wait > 0 {
		return wait, nil
	}
	if e.isAltered(r) {
		e.logger.ErrorContext(ctx, "quickstream: a write is not sent, because its row and its request say different things", "id", r.ID)
		return 0, e.observe(ctx, r, observed{kind: EventHeld, reason: ReasonAltered, problem: "its row and its request say different things"})
	}
	again, err := e.sendQueued(ctx, r, now, alone)
	if err == nil && r.changes > r.notified {
		_ = e.workNotify(ctx, r.ID) // if it fails its own job calls OnOutcome again
	}
	return again, err
}

// isAltered reports whether a row and its stored request differ, as after a change by hand.
func (e *engine) isAltered(r *row) bool {
	asked := requestOf(r.intent)
	if r.isVoid() || r.intent.Operation == OperationReverse {
		return false
	}
	return !asked.PrincipalAmount.Equal(r.Amount) || asked.Currency != r.Currency || !r.intent.OwnReference && r.intent.Reference != e.reference(r.ID) ||
		r.intent.Operation != r.Operation && r.Operation != OperationReverse
}

// pausedPause is how long a job sleeps while nothing is claimed.
const pausedPause = 2 * time.Second

// newerWait reports whether newer payments wait for a worker.
func (e *engine) newerWait(ctx context.Context) (bool, error) {
	n, err := count(ctx, e.db, "SELECT count(*) FROM (SELECT 1 FROM "+e.dialect.Jobs+" WHERE state = 'available' AND queue = '"+sendQueue+"' AND scheduled_at <= "+e.dialect.JobTime+" LIMIT 1) AS waiting")
	return n > 0, err
}

// abandoned has a write looked up whose sending process has ended. It waits as long as that process may be at work.
func (e *engine) abandoned(ctx context.Context, r *row) (time.Duration, error) {
	if until := r.lastSent.Add(e.longestPay + jobMargin); until.After(r.now) {
		return snooze(until, r.now), nil
	}
	return 0, e.observe(ctx, r, observed{kind: EventLost, sends: r.Sends})
}

// sendQueued makes the checks that come before a send, and sends.
func (e *engine) sendQueued(ctx context.Context, r *row, now gates, alone string) (time.Duration, error) {
	reason, why := r.late(e.sendWithin)
	next := r.nextSend(e.lag, reason != ReasonNone)
	if next.wait > 0 {
		return e.postpone(ctx, r, next.wait)
	}
	if reason != ReasonNone && now.restoring.lags(r.now, e.lag) {
		return linePause, nil // a look-up may still miss a send under its id in a lost history
	}
	release, admitted := e.gate.enter(ctx)
	if !admitted {
		return time.Second, nil
	}
	defer release()
	if next.lookUp || now.restoring.on() {
		settled, again, err := e.lookBefore(ctx, r, now)
		if settled || err != nil {
			return again, err
		}
	}
	if reason != ReasonNone {
		kind := EventExpired
		if reason == ReasonCancelled {
			kind = EventCancelled
		}
		return 0, e.observe(ctx, r, observed{kind: kind, sends: r.Sends, reason: reason, problem: why})
	}
	if next.newKey {
		r.keyNumber, r.keySent = r.keyNumber+1, time.Time{}
	}
	if err := e.prepareFollowUp(ctx, r); err != nil {
		return e.unsent(ctx, r, now, err)
	}
	return e.submit(ctx, r, now, alone, release)
}

// unsent handles an error that came before a claim was committed: nothing was sent.
func (e *engine) unsent(ctx context.Context, r *row, now gates, err error) (time.Duration, error) {
	given, gives := errors.AsType[*gaveUp](err)
	switch {
	case gives: // after a look-up that counts, if it may have been sent
		return e.requeue(ctx, r, func(r *row) { r.giveUp, r.Problem, r.Due = given.reason, given.why, r.now })
	case errors.Is(err, errLine):
		return e.postpone(ctx, r, min(max(r.age()/4, time.Second), linePause)) // short at first
	case errors.Is(err, errClaimed):
		return time.Second, nil // the job reads it again
	case errors.Is(err, errHistory):
		return pausedPause, e.recognise(ctx)
	case errors.Is(err, errGate), errors.Is(err, errStopping):
		return pausedPause, nil
	case errors.Is(err, errMade):
		if settled, again, err := e.lookBefore(ctx, r, now); settled || err != nil {
			return again, err
		}
	}
	return e.requeue(ctx, r, func(r *row) { r.fails(problemOf(err)) })
}

// late returns why a write must not be sent any more, by the database's clock; ReasonNone if it may be.
func (r *row) late(within time.Duration) (Reason, string) {
	if r.refunds() { // it may have to wait until the payment is settled
		within = reverseWithin
	}
	switch {
	case r.giveUp != ReasonNone:
		return r.giveUp, r.Problem
	case r.age() > tokenLife && r.token != "":
		return ReasonTooLate, "its single-use token is older than ten minutes"
	case r.age() > within:
		return ReasonTooLate, "it could not be sent in time"
	default:
		return ReasonNone, ""
	}
}

// lookBefore looks up a write before it is sent. settled means that it must not be sent now. A reversal that is not planned
// as a void or a refund yet cannot be looked up: prepareFollowUp reads the refunds of its payment.
func (e *engine) lookBefore(ctx context.Context, r *row, now gates) (settled bool, again time.Duration, err error) {
	seen := resolve.Observation{Result: resolve.LookupNone}
	if r.intent.Operation != OperationReverse {
		seen = e.policy.LookUp(ctx, lookupService{e, r.ID}, resolve.Case{Intent: r.sentIntent()})
	}
	if r.refunds() && !r.maySent() && !now.restoring.on() {
		seen.Candidates = nil // refunds made elsewhere: prepareFollowUp counts them
	}
	switch {
	case ctx.Err() != nil && seen.Result == resolve.LookupFailed:
		return true, 0, ctx.Err()
	case seen.Result == resolve.LookupFailed:
		again, err = e.requeue(ctx, r, func(r *row) {
			r.fails("the look-up before sending failed")
			if r.suspect == suspectBefore && now.restoring.on() {
				r.suspect = suspectFailed // a person decides
			}
		})
		return true, again, err
	case nothing(seen) && r.suspect == suspectFailed && r.intent.Operation != OperationReverse:
		return true, 0, e.observe(ctx, r, observed{kind: EventHeld, reason: ReasonRestored, problem: "it may have been sent before the restore: a list or a look-up has failed since"})
	case nothing(seen):
		return false, 0, nil
	default:
		return true, 0, e.observe(ctx, r, observed{kind: EventLookedUp, at: r.now, sends: r.Sends, seen: seen})
	}
}

// sentIntent returns the intent as it was sent, for look-ups.
func (r *row) sentIntent() quickstream.Intent {
	i := r.intent
	if !r.firstSent.IsZero() {
		i.MadeAt = r.firstSent
	}
	if i.Attempts = 0; r.hasNoRequest() {
		i.ReceiptNumber = r.ReceiptNumber
	}
	return i
}

// fails notes that a queued write could not be sent, with a pause that grows.
func (r *row) fails(problem string) {
	r.Failures++
	r.Problem, r.Due = problem, r.now.Add(pause(time.Second, r.Failures))
}

func (e *engine) postpone(ctx context.Context, r *row, d time.Duration) (time.Duration, error) {
	return e.requeue(ctx, r, func(r *row) { r.Due = r.now.Add(d) })
}

// requeue changes a queued write that is not sent now, and returns after how long its job runs again.
func (e *engine) requeue(ctx context.Context, of *row, change func(r *row)) (again time.Duration, err error) {
	err = within(ctx, e.db, func(tx tx) error {
		r, err := e.read(ctx, tx, of.ID)
		if err != nil || r == nil || r.State != StateQueued {
			return err
		}
		before := *r
		change(r)
		again = snooze(r.Due, r.now)
		return e.save(ctx, tx, &before, r)
	})
	return again, err
}

// submit sends the intent of a write under a claim, and stores the answer even if the job is
// cancelled.
func (e *engine) submit(ctx context.Context, r *row, now gates, alone string, release func()) (time.Duration, error) {
	c := &claim{text: cryptorand.Text(), now: now, alone: alone}
	if r.intent.IdempotencyKey != "" {
		r.intent.IdempotencyKey = e.key(r.ID, r.keyNumber)
	}
	answer, note := e.dated()
	t, sendErr := e.client.Transactions.Submit(ctx, r.intent, func(ctx context.Context) error {
		c.err = e.claim(ctx, r, c)
		return c.err
	}, append(resends(r.intent.Operation), answer)...)
	release() // OnOutcome may take longer than a call
	note(ctx)
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.longestPay/4+jobMargin)
	defer cancel()
	if !c.claimed {
		return e.unsent(stored, r, now, cmp.Or(c.err, sendErr))
	}
	sent := ofAnswer(t, sendErr)
	if c.err != nil { // this process has sent nothing
		sent = observed{kind: EventNotExecuted, permit: permitNotExecuted, problem: problemOf(c.err)}
	}
	e.afterSend(stored, c, sendErr)
	sent.claim, sent.sends = c.text, c.sends
	err := e.observeAnswer(ctx, r, sent)
	switch {
	case err != nil || r.State != StateQueued:
		return 0, err
	case r.claim != c.text: // it was not claimed after all
		return e.unsent(stored, r, now, c.err)
	}
	return snooze(r.Due, r.now), nil // it was queued again
}

// resends returns the options of a send. Only a payment is sent again within its claim: a service that keeps the keys of
// payments only would execute a refund twice, and the next refund would be sent before that is seen.
func resends(o quickstream.Operation) []quickstream.CallOption {
	if takesMoney(o) {
		return nil
	}
	return []quickstream.CallOption{quickstream.WithoutResend()}
}
