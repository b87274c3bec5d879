package durable

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	// tokenLife is how long a single-use token is good for.
	tokenLife = 10 * time.Minute
	// reverseWithin is how long a refund or a reversal may wait.
	reverseWithin = 7 * 24 * time.Hour
)

// workWrite does what a write's state asks for.
func (e *engine) workWrite(ctx context.Context, job writeJob) error {
	r, err := e.peek(ctx, "id = $1", job.ID)
	if version := (*VersionError)(nil); errors.As(err, &version) {
		e.logger.ErrorContext(ctx, "quickstream: a write is left to another version of the program", "error", err)
	}
	if err != nil || r == nil || r.Due.IsZero() {
		return err // done by another job
	}
	// What is new is due, also if it was stored by a clock that is ahead of this one.
	if fresh := r.State == StateQueued && r.Failures == 0 && r.claim == ""; !fresh && r.Due.After(e.clock()) {
		return e.early(ctx, "write", "id = $1", r.ID)
	}
	if e.resume != nil && r.intent.Carrier != "" {
		ctx = e.resume(ctx, r.intent.Carrier)
	}
	if len(r.pending) > 0 { // OnOutcome is notified again of what it has refused
		return e.observe(ctx, r.ID, observed{})
	}
	if r.State == StateQueued {
		return e.send(ctx, r)
	}
	ctx, ended, ok := e.begins(ctx, e.time.passed(r.Written))
	if !ok {
		return nil // it is enqueued again
	}
	defer ended()
	return e.lookUp(ctx, r)
}

// early has what a job came for before its time, or in vain, enqueued when it is time and not at the end
// of the job's lease.
func (e *engine) early(ctx context.Context, table, which string, key ...any) error {
	return within(ctx, e.db, func(tx tx) error {
		return execute(ctx, tx, "UPDATE quickstream."+table+" SET due_at = next_at WHERE "+which+" AND due_at > next_at", key...)
	})
}

// send sends a queued write, unless it is too old, or another process may have sent it in a lost
// history of the database, or its last answer asks for a pause or a look-up first.
func (e *engine) send(ctx context.Context, r *row) error {
	if err := e.confirm(ctx); err != nil {
		return e.later(ctx, r.ID, problemOf(err))
	}
	h, err := e.ready(ctx)
	switch {
	case errors.Is(err, errPaused):
		return nil // it is enqueued again
	case err != nil || h.stops(): // it is another process's, or comes after the pause
		return err
	}
	now := e.clock()
	r.past = h
	if pause := h.waits(r, e.time); pause > 0 {
		return e.postpone(ctx, r, now.Add(pause))
	}
	late := ""
	if r.Written.Before(e.time.leaped()) { // as old as it surely is
		r.age = min(r.age, e.time.passed(r.Written))
	}
	if !e.time.doubted() {
		late = r.tooLate(e.sendWithin)
	}
	timed := *r
	if r.keySent.Before(e.time.leaped()) { // nobody knows how long ago it was
		timed.keySent = time.Time{}
	}
	next := timed.nextSend(e.time.passed, late != "")
	if next.wait > 0 {
		return e.postpone(ctx, r, now.Add(next.wait))
	}
	looks := next.lookUp || h.before(r) || h.mayLack(r, e.time)
	if looks || late == "" {
		underWay, ended, ok := e.begins(ctx, e.time.passed(r.Written))
		if !ok {
			return nil // it is enqueued again
		}
		defer ended()
		ctx = underWay
	}
	if looks {
		if settled, err := e.lookBefore(ctx, r, h.lostBefore(r)); settled || err != nil {
			return err
		}
	}
	switch {
	case late != "":
		return e.giveUp(ctx, r, late)
	case next.newKey:
		r.keyNumber, r.keySent = r.keyNumber+1, time.Time{}
	}
	switch r.intent.Operation {
	case OperationReverse:
		return e.sendReverse(ctx, r)
	case quickstream.OperationRefund:
		return e.sendRefund(ctx, r)
	default:
		return e.submit(ctx, r)
	}
}

// ready returns the history by which a claim may be made now, after a change of it was recognised.
func (e *engine) ready(ctx context.Context) (h history, err error) {
	look := func(tx tx) error {
		b, _, err := readBreaker(ctx, tx)
		if err == nil && b.stops() {
			return errPaused
		}
		change, err := e.db.History(ctx, tx)
		if err == nil && change != database.Same {
			return database.ErrChanged
		}
		if err == nil {
			h, err = readHistory(ctx, tx)
		}
		return err
	}
	err = within(ctx, e.db, look)
	if errors.Is(err, database.ErrChanged) {
		if err = e.recognise(ctx); err == nil {
			err = within(ctx, e.db, look)
		}
	}
	return h, err
}

// giveUp ends a write that is not sent any more. One that may have been sent, here or in a lost history, was looked up
// right before: it waits until that look-up counts.
func (e *engine) giveUp(ctx context.Context, r *row, why string) error {
	var wait time.Duration
	if r.Sends > 0 {
		wait = lookupLag - e.time.passed(r.lastSent)
	}
	if r.past.recent(e.time) {
		wait = max(wait, lookupLag-e.time.passed(r.past.Adopted))
	}
	if wait > 0 {
		return e.postpone(ctx, r, e.clock().Add(wait))
	}
	return e.observe(ctx, r.ID, observed{Kind: sawTooLate, At: e.clock(), Sends: r.Sends, Problem: why})
}

// tooLate says why a write is not to be sent any more, or "", by the age that the database gives:
// the clocks of two machines may differ.
func (r *row) tooLate(within time.Duration) string {
	if r.refunds() { // it may have to wait until the payment is settled
		within = reverseWithin
	}
	switch {
	case r.age > tokenLife && r.token != "":
		return "its single-use token is older than ten minutes"
	case r.age > within:
		return "it could not be sent in time"
	default:
		return ""
	}
}

// lookBefore looks up a write before it is sent. settled means that it is not to be sent. lost means that
// it may have been sent in a history of the database that was lost.
func (e *engine) lookBefore(ctx context.Context, r *row, lost bool) (settled bool, err error) {
	intent := r.sentIntent()
	switch {
	case r.Operation == OperationReverse && r.intent.Operation == OperationReverse: // a lost history may have chosen a refund
		if intent, err = e.reversingRefund(ctx, r); err != nil {
			return true, e.later(ctx, r.ID, problemOf(err))
		}
	case !r.intent.Operation.IsTransaction():
		return e.lookBeforeOther(ctx, r, lost)
	}
	at := e.clock()
	seen := e.policy.LookUp(ctx, lookupService{e, r.ID}, resolve.Case{Intent: intent})
	switch {
	case seen.Result == resolve.LookupFailed:
		return true, e.later(ctx, r.ID, "the look-up before sending failed")
	case seen.Result == resolve.LookupNone && len(seen.Candidates) == 0:
		return false, nil
	case r.intent.Operation == OperationReverse: // the look-ups to come are for this refund
		chosen := *r
		if err := e.storeChoice(ctx, r, &chosen, intent); err != nil {
			return true, err
		}
		fallthrough
	default:
		return true, e.observe(ctx, r.ID, observed{Kind: sawTransaction, At: at, Sends: r.Sends, Seen: seen, Receipt: seen.ReceiptNumber})
	}
}

// sentIntent is the intent as it was first sent, under the key of the next send.
func (r *row) sentIntent() quickstream.Intent {
	i := r.intent
	if !r.firstSent.IsZero() {
		i.NotBefore = r.firstSent
	}
	i.Attempts = r.Sends
	return i
}

// later tries a queued write again, with a pause that grows.
func (e *engine) later(ctx context.Context, id, problem string) error {
	return e.requeue(ctx, id, func(r *row) {
		r.Failures++
		r.Problem, r.Due = problem, e.clock().Add(pause(time.Second, r.Failures))
	})
}

func (e *engine) postpone(ctx context.Context, r *row, until time.Time) error {
	return e.requeue(ctx, r.ID, func(r *row) { r.Due = until })
}

func (e *engine) requeue(ctx context.Context, id string, change func(r *row)) error {
	return within(ctx, e.db, func(tx tx) error {
		r, err := e.read(ctx, tx, id)
		if err != nil || r == nil || r.State != StateQueued {
			return err
		}
		before := *r
		change(r)
		return e.save(ctx, tx, &before, r)
	})
}

// pause is how long to wait after so many failures in a row.
func pause(first time.Duration, failures int) time.Duration {
	return min(first<<min(max(failures, 1)-1, 12), max(first, time.Hour))
}

// submit sends the intent of a write under a claim, and stores its outcome, also if the job is
// cancelled.
func (e *engine) submit(ctx context.Context, r *row) error {
	c := claim{text: rand.Text()}
	e.step("before the claim")
	if r.intent.IdempotencyKey != "" {
		r.intent.IdempotencyKey = e.key(r.ID, r.keyNumber)
	}
	sent, sendErr := e.sending(ctx, r.intent, func(ctx context.Context) error {
		c.err = e.claim(ctx, r, &c)
		e.step("after the claim")
		return c.err
	})
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobMargin)
	defer cancel()
	switch {
	case errors.Is(c.err, errClaimed):
		return nil
	case errors.Is(c.err, errPaused):
		return nil // it is enqueued again
	case errors.Is(c.err, errLine):
		return e.waitInLine(stored, r)
	case errors.Is(c.err, errPaid), errors.Is(c.err, errBack):
		return e.giveUp(stored, r, problemOf(c.err))
	case errors.Is(c.err, database.ErrChanged):
		return errors.Join(e.recognise(stored), e.early(stored, "write", "id = $1", r.ID))
	case errors.Is(c.err, errTooSlow):
		return e.early(stored, "write", "id = $1", r.ID)
	case !c.committed:
		if errors.Is(c.err, errFacility) {
			e.logger.ErrorContext(ctx, "quickstream: nothing is sent", "error", c.err)
		}
		if c.err == nil { // the client refused it before the claim
			c.err = sendErr
		}
		return e.later(stored, r.ID, "it could not be claimed: "+problemOf(c.err))
	case c.err != nil: // claimed by this process, which has sent nothing
		sent = observed{Kind: sawPermit, At: e.clock(), Permit: permitNotExecuted, Problem: problemOf(c.err)}
	}
	if sent.Kind == sawRefusal && c.lost {
		// The key may be that of a send which is not known here, and is refused with another request.
		sent = observed{Kind: sawPermit, At: sent.At, Permit: permitRefused, Problem: sent.Problem}
	}
	answered(ctx, sendErr, sent.Resent)
	e.heed(stored, &c, sendErr)
	e.step("after the answer")
	sent.Claim, sent.Sends = c.text, c.sends
	err := e.observe(stored, r.ID, sent)
	e.step("after the outcome")
	return err
}

// waitInLine has a follow-up wait for those before it, unless they have ended meanwhile. A reversal is
// chosen again then, because what is left depends on them.
func (e *engine) waitInLine(ctx context.Context, r *row) error {
	return within(ctx, e.db, func(tx tx) error {
		if _, err := e.lock(ctx, tx, r); err != nil { // who ends now wakes those that wait
			return err
		}
		before, err := e.read(ctx, tx, r.ID)
		if err != nil || before == nil || before.State != StateQueued {
			return err
		}
		next := *before
		switch err := e.inLine(ctx, tx, before); {
		case errors.Is(err, errLine):
			next.Due = e.clock().Add(linePause)
		case err != nil:
			return err
		default:
			next.Due = e.clock()
		}
		if receipt := requestOf(next.intent).OriginalReceiptNumber; next.Operation == OperationReverse && next.claim == "" {
			next.intent = reverseIntent(cmp.Or(receipt, next.intent.Target), e.clock())
		}
		return e.save(ctx, tx, before, &next)
	})
}

// linePause is how long a follow-up waits for those before it, unless the end of one wakes it.
const linePause = 30 * time.Second

// claim is one process's permission to send a write.
type claim struct {
	text      string
	sends     int  // with this one
	alone     bool // while the breaker tries one write
	lost      bool // an earlier send may not be known here
	committed bool
	err       error
}

var (
	// errClaimed means that a write is not this process's to send.
	errClaimed  = errors.New("another process has claimed it, or it has changed")
	errBack     = errors.New("the money of what it follows is back")
	errPaid     = errors.New("another payment of the order was found")
	errStopping = errors.New("the process ends")
	errLost     = errors.New("the history of the database has changed, and a look-up may not show yet whether this was sent before: try again in a quarter of an hour")
	errOutdated = errors.New("the tables are those of a newer program, and this one may not send: update it")
	errLine     = errors.New("another follow-up of the same payment comes first")
	errTooSlow  = errors.New("what was looked up does not count any more")
)

// claim moves a write from queued to sending, in a transaction of its own. The process that commits
// that may send it, and no other until its answer permits it. If the commit is not confirmed the row
// tells whether it has to be queued again.
func (e *engine) claim(ctx context.Context, r *row, c *claim) error {
	marked := func() error { return nil }
	err := within(ctx, e.db, func(tx tx) (err error) {
		if e.stopping.Load() {
			return errStopping
		}
		if _, err := e.lock(ctx, tx, r); err != nil {
			return err
		}
		if marked, err = e.mayClaim(ctx, tx, c); err != nil {
			return err
		}
		if err := e.itsTurn(ctx, tx, r); err != nil {
			return err
		}
		now, err := e.readTime(ctx, tx)
		if err != nil {
			return err
		}
		next := *r
		next.Standing, next.claim, next.Sends = standing(StateSending), c.text, r.Sends+1
		h, err := readHistory(ctx, tx)
		switch {
		case err != nil || h.stops():
			return cmp.Or(err, errPaused)
		case !h.Adopted.Equal(r.past.Adopted), r.keyMayBeForgotten(e.time.passed):
			return errTooSlow
		}
		if c.lost = h.lostBefore(r) || h.lost() && h.recent(e.time); h.lostBefore(r) && r.lastSent.Before(h.Lost) {
			next.Sends++ // the one that is not known here: a decline of this one does not speak for it
		}
		c.sends, next.lastSent, next.Due = next.Sends, now, now.Add(e.jobTimeout()+jobMargin)
		if next.firstSent.IsZero() {
			next.firstSent = time.Now() // by this machine's clock, as all intents
		}
		if next.keySent.IsZero() {
			next.keySent = now
		}
		if e.carrier != nil {
			next.intent.Carrier = cmp.Or(e.carrier(ctx), next.intent.Carrier) // of the call, if there was none before
		}
		if err := e.save(ctx, tx, r, &next); errors.Is(err, ErrChanged) {
			return errClaimed
		} else if err != nil {
			return err
		}
		err = e.record(ctx, tx, &next, Event{Kind: EventClaimed})
		e.step("before the claim's commit")
		return err
	})
	e.step("after the claim's commit")
	if err == nil {
		c.committed = true
		return marked()
	}
	// A commit that did not come back cleanly may be undone by a promotion: nothing is sent under it.
	c.committed = e.holds(ctx, r.ID, c.text)
	return err
}

// itsTurn refuses a write whose turn has passed, or has not come.
func (e *engine) itsTurn(ctx context.Context, tx tx, r *row) error {
	if err := e.stillTaken(ctx, tx, r); err != nil {
		return err
	}
	return e.inLine(ctx, tx, r)
}

// mayClaim refuses a claim that must not be made now, in its transaction. What it returns is
// called after the commit.
func (e *engine) mayClaim(ctx context.Context, tx tx, c *claim) (marked func() error, err error) {
	if err := e.isFacility(ctx, tx); err != nil {
		return nil, err
	}
	if marked, err = e.db.Claim(ctx, tx); err != nil {
		return nil, err
	}
	if c.alone, err = e.passBreaker(ctx, tx, c.text); err != nil {
		return nil, err
	}
	return marked, e.stampClaim(ctx, tx)
}

// inLine refuses a payment beside another one of its order that was or may have been sent, and a
// follow-up whose turn it is not: they are sent one after the other, and one of unknown outcome holds
// all but refunds of another amount. A reversal of all that is left waits for every other.
func (e *engine) inLine(ctx context.Context, tx tx, r *row) error {
	switch {
	case r.isPayment():
		other, err := e.one(ctx, tx, "order_id = $1 AND id <> $2 AND kind = 'payment' AND ("+sqlPaid()+" OR "+sqlIn("state", StateSending, StateResolving)+
			") ORDER BY CASE WHEN "+sqlPaid()+" THEN 0 ELSE 1 END LIMIT 1", r.Order, r.ID)
		switch {
		case err != nil || other == nil:
			return err
		case other.Paid():
			return errPaid
		default:
			return errClaimed
		}
	case r.follows == "":
		return nil
	}
	var first error
	var earlier []*row
	held := map[string]bool{} // amounts of refunds of unknown outcome, whose equals wait for them
	apart := func(other *row) bool {
		return r.Operation == quickstream.OperationRefund && other.Operation == quickstream.OperationRefund && !r.Amount.Equal(other.Amount)
	}
	err := e.each(ctx, tx, func(other *row, unreadable error) {
		switch {
		case unreadable != nil || other.State == StateSending || other.State != StateQueued && !apart(other):
			first = errLine
		case other.State != StateQueued:
			held[other.Amount.StringFixed(2)] = true
		case other.Written.Before(r.Written) || other.Written.Equal(r.Written) && other.ID < r.ID:
			earlier = append(earlier, other)
		}
	}, "follows <> '' AND follows = $1 AND id <> $2 AND "+sqlIn("state", append(unknown(), StateQueued)...), r.follows, r.ID)
	for _, other := range earlier { // a refund that was sent goes first: an earlier one may wait for it, see mayExceed
		if !apart(other) || r.claim == "" && other.claim == "" && !held[other.Amount.StringFixed(2)] {
			first = errLine
		}
	}
	if err == nil && first == nil && r.refunds() {
		first = e.mayExceed(ctx, tx, r)
	}
	return errors.Join(err, first)
}

// holds reports whether a claim was committed after all. It waits for a commit that is
// still on its way, and asks more than once: a claim that was committed and is not known
// to be would have to be looked up for days.
func (e *engine) holds(ctx context.Context, id, claim string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobMargin)
	defer cancel()
	for try := 1; ; try++ {
		now, err := e.peek(ctx, "id = $1"+e.dialect.ForUpdate, id)
		if err == nil {
			return now != nil && now.State == StateSending && now.claim == claim
		}
		if try == 5 || !wait(ctx, pause(time.Second, try)/10) {
			return false
		}
	}
}
