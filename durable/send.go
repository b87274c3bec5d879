package durable

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	// tokenLife is how long a single-use token is good for.
	tokenLife = 10 * time.Minute
	// lookFirst is the age from which a payment is looked up before it is sent.
	lookFirst = 15 * time.Minute
	// giveBackWithin is how long what is to be given back may wait.
	giveBackWithin = 7 * 24 * time.Hour
)

// workPayment does what a payment's state asks for.
func (e *Engine[TTx]) workPayment(ctx context.Context, job paymentJob) error {
	r, err := e.peek(ctx, "id = $1", job.ID)
	var version *VersionError
	if errors.As(err, &version) {
		e.opts.Logger.ErrorContext(ctx, "quickstream: a payment is left to another version of the program", "error", err)
	}
	if err != nil || r == nil || r.Due.IsZero() {
		return err // done by another job
	}
	// What is new is due, also where it was written by a clock that is ahead of this one.
	if fresh := r.State == StatePrepared && r.Failures == 0; !fresh && r.Due.After(e.opts.Clock()) {
		return e.early(ctx, "payment", "id = $1", r.ID)
	}
	if e.opts.Continue != nil && r.intent.Carrier != "" {
		ctx = e.opts.Continue(ctx, r.intent.Carrier)
	}
	if len(r.pending) > 0 { // OnOutcome is told again what it has refused
		return e.observe(ctx, r.ID, observed{})
	}
	if r.State == StatePrepared {
		return e.send(ctx, r)
	}
	return e.look(ctx, r)
}

// early has what a job came for before its time handed out when it is time, and not at the
// end of the job's lease: whoever handed it out has a clock that is ahead of this one.
func (e *Engine[TTx]) early(ctx context.Context, table, which string, key ...any) error {
	return within(ctx, e.db, func(tx TTx) error {
		return execute(ctx, e.db, tx, "UPDATE quickstream."+table+" SET due_at = next_at WHERE "+which+" AND due_at > next_at", key...)
	})
}

// send sends a payment that nobody has claimed, unless it is too old, or somebody may
// have sent it in a history of the database that is lost.
func (e *Engine[TTx]) send(ctx context.Context, r *row) error {
	now := e.opts.Clock()
	if r.suspect {
		return e.look(ctx, r)
	}
	restored := false
	err := within(ctx, e.db, func(tx TTx) (err error) {
		restored, err = e.db.Restored(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if restored { // what is written of the payment is old, how late it is too
		return e.recognise(ctx)
	}
	if late := r.tooLate(e.opts.SendWithin); late != "" {
		return e.observe(ctx, r.ID, observed{Kind: sawTooLate, At: now, Problem: late})
	}
	if e.paused.Load() != nil {
		return nil // it is enqueued again
	}
	if r.age > lookFirst {
		if settled, err := e.lookBefore(ctx, r); settled || err != nil {
			return err
		}
	}
	if r.intent.Operation == giveBack {
		return e.sendBack(ctx, r)
	}
	return e.submit(ctx, r)
}

// tooLate says why a payment is not to be sent any more, or "". It asks for the age that the
// database gives: the clocks of two machines may differ. What was claimed once may have been
// sent, and is never too late.
func (r *row) tooLate(within time.Duration) string {
	if r.Operation == giveBack { // it may have to wait until the payment is settled
		within = giveBackWithin
	}
	switch {
	case r.claim != "":
		return ""
	case r.age > tokenLife && singleUse(r.intent):
		return "its single-use token is older than ten minutes"
	case r.age > within:
		return "it could not be sent in time"
	default:
		return ""
	}
}

// lookBefore looks for a payment that has waited for long, in case that somebody has
// sent it whom this database does not know of.
func (e *Engine[TTx]) lookBefore(ctx context.Context, r *row) (settled bool, err error) {
	if !r.intent.Operation.IsTransaction() {
		return false, nil
	}
	at := e.opts.Clock()
	seen := e.policy.LookUp(ctx, lookService[TTx]{e, r.ID}, resolve.Case{Intent: r.intent})
	switch seen.Result {
	case resolve.LookupNone:
		return false, nil
	case resolve.LookupFailed:
		return true, e.later(ctx, r.ID, "the look before sending failed")
	default:
		return true, e.observe(ctx, r.ID, observed{Kind: sawTransaction, At: at, Of: r.intent.IdempotencyKey, Seen: seen, Receipt: seen.ReceiptNumber})
	}
}

// later tries a payment again, with a pause that grows.
func (e *Engine[TTx]) later(ctx context.Context, id, problem string) error {
	return within(ctx, e.db, func(tx TTx) error {
		r, err := e.read(ctx, tx, id)
		if err != nil || r == nil || r.State != StatePrepared {
			return err
		}
		before := *r
		r.Failures++
		r.Problem, r.Due = problem, e.opts.Clock().Add(pause(r.Failures))
		return e.save(ctx, tx, &before, r)
	})
}

// submit sends the intent of a payment under a claim, and stores what came of it. What
// was claimed is stored even when the job is cancelled.
func (e *Engine[TTx]) submit(ctx context.Context, r *row) error {
	c := claim{text: rand.Text()}
	e.step("before the claim")
	sent := e.sending(ctx, r.intent, func(ctx context.Context) error {
		c.err = e.claim(ctx, r, &c)
		e.step("after the claim")
		return c.err
	})
	stored, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobMargin)
	defer cancel()
	switch {
	case errors.Is(c.err, errClaimed), errors.Is(c.err, errPaused):
		return nil
	case errors.Is(c.err, errPaid):
		return e.observe(stored, r.ID, observed{Kind: sawTooLate, At: e.opts.Clock(), Problem: errPaid.Error()})
	case errors.Is(c.err, database.ErrRestored):
		return e.recognise(stored)
	case !c.committed:
		return e.later(stored, r.ID, fmt.Sprintf("it could not be claimed: %v %s", c.err, sent.Problem))
	case c.err != nil: // claimed by this process, which has sent nothing
		sent = observed{Kind: sawNotDone, At: e.opts.Clock(), Problem: c.err.Error()}
	}
	e.step("after the answer")
	sent.Claim, sent.Of = c.text, r.intent.IdempotencyKey
	err := e.observe(stored, r.ID, sent)
	e.step("after the outcome")
	return err
}

// claim is one process's permission to send a payment.
type claim struct {
	text      string
	committed bool
	err       error
}

var (
	// errClaimed means that a payment is not this process's to send.
	errClaimed  = errors.New("somebody else has claimed it, or it has changed")
	errPaid     = errors.New("another payment of the order was found")
	errStopping = errors.New("the process ends")
	errLost     = errors.New("payments that a restored backup does not know are being looked for")
)

// claim moves a payment from prepared to sending, in a transaction of its own: who
// commits that may send it, and nobody else ever again. When the commit is not
// confirmed the row tells.
func (e *Engine[TTx]) claim(ctx context.Context, r *row, c *claim) error {
	marked := func() error { return nil }
	err := within(ctx, e.db, func(tx TTx) (err error) {
		if e.stopping.Load() {
			return errStopping
		}
		if marked, err = e.mayClaim(ctx, tx); err != nil {
			return err
		}
		now, intent := e.opts.Clock(), r.intent
		intent.NotBefore = time.Now() // by this machine's clock, as all intents
		if e.opts.Carrier != nil {
			intent.Carrier = cmp.Or(e.opts.Carrier(ctx), intent.Carrier) // of the call, where nothing was current before it
		}
		text, err := json.Marshal(intent)
		if err != nil {
			return err
		}
		if err := e.lockOrder(ctx, tx, r); err != nil {
			return err
		}
		n, err := e.db.Exec(ctx, tx, `UPDATE quickstream.payment SET state = 'sending', claim = $1, version = version + 1, changed_at = $2, next_at = $3, due_at = $3,
			intent = $4 WHERE id = $5 AND state = 'prepared' AND version = $6 AND suspect = 0
			AND (receipt_of <> '' OR NOT EXISTS (SELECT 1 FROM quickstream.payment o WHERE o.order_id = quickstream.payment.order_id
				AND o.receipt_of = '' AND o.state IN ('sending', 'unknown', 'approved', 'charged twice')))`,
			c.text, micros(now), micros(now.Add(e.opts.jobTimeout()+jobMargin)), string(text), r.ID, r.version)
		if err == nil && n != 1 {
			err = e.whyNot(ctx, tx, r)
		}
		e.step("before the claim's commit")
		return err
	})
	e.step("after the claim's commit")
	if c.committed = err == nil || e.holds(ctx, r.ID, c.text); !c.committed {
		return err
	}
	return marked()
}

// mayClaim refuses a claim that must not be made now, in its transaction. What it returns is
// called after the commit.
func (e *Engine[TTx]) mayClaim(ctx context.Context, tx TTx) (marked func() error, err error) {
	if e.paused.Load() != nil {
		return nil, errPaused
	}
	if marked, err = e.db.Claim(ctx, tx); err != nil {
		return nil, err
	}
	if open, err := e.search(ctx, tx); err != nil || open != nil {
		return nil, errors.Join(err, errLost)
	}
	return marked, e.stampClaim(ctx, tx)
}

// whyNot is why a payment could not be claimed.
func (e *Engine[TTx]) whyNot(ctx context.Context, tx TTx, r *row) error {
	if r.ReceiptOf != "" {
		return errClaimed
	}
	paid, err := e.one(ctx, tx, "order_id = $1 AND id <> $2 AND receipt_of = '' AND state IN ('approved', 'charged twice') LIMIT 1", r.OrderID, r.ID)
	if err == nil && paid == nil {
		return errClaimed
	}
	return cmp.Or(err, errPaid)
}

// holds reports whether a claim was committed after all. It waits for a commit that is
// still on its way, and asks more than once: a claim that was committed and is not known
// to be would have to be looked up for days.
func (e *Engine[TTx]) holds(ctx context.Context, id, claim string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobMargin)
	defer cancel()
	for try := 1; ; try++ {
		now, err := e.peek(ctx, "id = $1"+e.db.Words().ForUpdate, id)
		if err == nil {
			return now != nil && now.State == StateSending && now.claim == claim
		}
		if try == 5 || !wait(ctx, pause(try)/10) {
			return false
		}
	}
}

// singleUse reports whether an intent pays by a single-use token.
func singleUse(i quickstream.Intent) bool { return requestOf(i).SingleUseTokenID != "" }
