package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// OperationReverse is the operation of a [FollowUp] that [Engine.Reverse] has stored. Once it is approved
// its ReceiptNumber is that of the refund, and empty if it was a void.
const OperationReverse quickstream.Operation = "Reverse"

func reverseIntent(receipt string, now time.Time) quickstream.Intent {
	return quickstream.Intent{Version: quickstream.IntentVersion, Operation: OperationReverse, Target: receipt, NotBefore: now}
}

// Refund stores a refund of a part or all of an approved payment, as Pay does. of is the id of the
// payment or capture, whose receipt the params get. Several refunds can wait. They are sent one
// after the other. One of unknown outcome holds those of the same amount, a reversal, and those that would exceed
// the payment if each of its sends was executed. Refunds made
// elsewhere are read before one is sent. A refund of a payment that is not settled waits until it is,
// for up to a week, and ends not_sent if the payment is voided or returned meanwhile.
//
// The error matches [ErrTooMuch] if refunds would exceed the payment, and [ErrNotAllowed] if it is
// not approved. For a payment that the engine does not have, see TakeIn.
func (e *Engine[TTx]) Refund(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.RefundParams) (write FollowUp, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(receipt string) quickstream.TransactionParams {
		params.OriginalReceiptNumber = receipt
		return params
	})
}

// Capture stores the capture of a pre-authorisation, as Refund does.
func (e *Engine[TTx]) Capture(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.CaptureParams) (write FollowUp, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(receipt string) quickstream.TransactionParams {
		params.OriginalReceiptNumber = receipt
		return params
	})
}

// TopUp stores an increase of a pre-authorisation, as Refund does.
func (e *Engine[TTx]) TopUp(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.TopUpParams) (write FollowUp, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(receipt string) quickstream.TransactionParams {
		params.OriginalReceiptNumber = receipt
		return params
	})
}

// Reauthorise stores the renewal of an expired pre-authorisation, as Refund does.
func (e *Engine[TTx]) Reauthorise(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.ReauthoriseParams) (write FollowUp, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(receipt string) quickstream.TransactionParams {
		params.OriginalReceiptNumber = receipt
		return params
	})
}

// Extend stores the extension of a pre-authorisation, as Refund does.
func (e *Engine[TTx]) Extend(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.ExtendParams) (write FollowUp, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(receipt string) quickstream.TransactionParams {
		params.OriginalReceiptNumber = receipt
		return params
	})
}

// CancelPreauthorisation stores the cancellation of a pre-authorisation, as Refund does.
func (e *Engine[TTx]) CancelPreauthorisation(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.CancelPreauthorisationParams) (write FollowUp, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(receipt string) quickstream.TransactionParams {
		params.OriginalReceiptNumber = receipt
		return params
	})
}

// follow stores a transaction that follows another write.
func (e *engine) follow(ctx context.Context, tx tx, w NewWrite, of string, params func(receipt string) quickstream.TransactionParams) (FollowUp, bool, error) {
	return e.followBy(ctx, tx, w, of, func(w NewWrite, payment *row) (*row, error) {
		return e.plan(ctx, w, params(payment.ReceiptNumber), nil)
	})
}

// Void stores the void of a payment, as Refund does. Errors as for Refund.
func (e *Engine[TTx]) Void(ctx context.Context, tx TTx, w NewWrite, of string) (write FollowUp, created bool, err error) {
	return e.followBy(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		intent, err := e.client.Transactions.PlanVoid(ctx, payment.ReceiptNumber, quickstream.WithIdempotencyKey(e.key(w.ID, 1)))
		return e.rowOf(w, intent), err
	})
}

// Reverse stores a follow-up that reverses all that is left of an approved payment, as Refund does:
// a void if the transaction can be voided and nothing of it was refunded, and a refund otherwise,
// as its voidable and refundable say when it is sent. A void that is refused becomes a refund. Of a
// pre-authorisation that can neither be voided nor refunded it ends not_sent: cancel that, or reverse its capture.
func (e *Engine[TTx]) Reverse(ctx context.Context, tx TTx, w NewWrite, of string) (write FollowUp, created bool, err error) {
	return e.followBy(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		r := e.rowOf(w, reverseIntent(payment.ReceiptNumber, e.clock()))
		r.Currency = payment.Currency
		if e.carrier != nil {
			r.intent.Carrier = e.carrier(ctx)
		}
		return r, nil
	})
}

func (e *engine) followBy(ctx context.Context, tx tx, w NewWrite, of string, plan func(w NewWrite, payment *row) (*row, error)) (FollowUp, bool, error) {
	if err := w.check(false); err != nil {
		return FollowUp{}, false, err
	}
	payment, err := e.one(ctx, tx, "id = $1", of)
	switch {
	case err != nil:
		return FollowUp{}, false, fmt.Errorf("durable: %w", err)
	case payment == nil:
		return FollowUp{}, false, ErrNoWrite
	case w.Order != "" && w.Order != payment.Order:
		return FollowUp{}, false, fmt.Errorf("%w: %q belongs to another order", ErrNotAllowed, of)
	case payment.ReceiptNumber == "" || payment.kind == kindOther:
		return FollowUp{}, false, fmt.Errorf("%w: %q is %s and has no receipt", ErrNotAllowed, of, payment.Text())
	}
	if w.By != "" || w.Note != "" {
		if err := checkPerson(w.By, w.Note); err != nil {
			return FollowUp{}, false, err
		}
	}
	w.Order = payment.Order
	r, err := plan(w, payment)
	if err != nil {
		return FollowUp{}, false, err
	}
	r.follows, r.seen = of, w.Version
	r, created, err := e.store(ctx, tx, r)
	if r == nil {
		return FollowUp{}, false, err
	}
	if created && w.By != "" {
		if err = e.record(ctx, tx, r, Event{Kind: EventAsked, By: w.By, Note: w.Note}); err != nil {
			err = fmt.Errorf("durable: %w", err)
		}
	}
	return FollowUp{r.Record, r.follows}, created, err
}

// admitFollowUp refuses a follow-up of what is not approved or in another currency, a refund that
// would exceed its payment or follows what has come back, and a void beside a refund. Refunds of
// unknown outcome count.
func (e *engine) admitFollowUp(ctx context.Context, tx tx, r *row) error {
	if r.kind != kindFollowUp {
		return nil
	}
	reverses := r.refunds() || r.Operation == quickstream.OperationVoid
	// A snapshot that does not hold the latest follow-ups fails here, at any isolation.
	if err := execute(ctx, tx, "UPDATE quickstream.write SET version = version + 1 WHERE id = $1", r.follows); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	payment, err := e.one(ctx, tx, "id = $1", r.follows)
	switch {
	case err != nil:
		return fmt.Errorf("durable: %w", err)
	case payment == nil:
		return ErrNoWrite
	case r.seen != 0 && r.seen != payment.Version-1:
		return ErrStale
	case r.refunds() && payment.refunds():
		return fmt.Errorf("%w: %q is a refund", ErrNotAllowed, payment.ID)
	case reverses && payment.Reversal != ReversalNone:
		return fmt.Errorf("%w: it is %s", ErrTooMuch, payment.Text())
	case !payment.Approved():
		return fmt.Errorf("%w: %q is %s", ErrNotAllowed, payment.ID, payment.Text())
	case r.Currency != "" && payment.Currency != "" && r.Currency != payment.Currency:
		return fmt.Errorf("%w: the payment is in another currency", ErrNotAllowed)
	case !reverses:
		return nil
	}
	limit := e.mostRefunded(payment.Amount, payment.total)
	refunded, err := e.refunded(ctx, tx, r, limit)
	if err != nil {
		return err
	}
	switch r.Operation {
	case OperationReverse:
		r.Amount = limit.Sub(refunded)
		if !r.Amount.IsPositive() {
			return fmt.Errorf("%w: nothing is left of %s", ErrTooMuch, limit)
		}
	case quickstream.OperationVoid:
		if refunded.IsPositive() {
			return fmt.Errorf("%w: %s of it is refunded", ErrTooMuch, refunded)
		}
	default:
		if sum := refunded.Add(r.Amount); sum.GreaterThan(limit) {
			return fmt.Errorf("%w: %s of %s", ErrTooMuch, sum, limit)
		}
	}
	return nil
}

// stillTaken refuses a follow-up after the engine has learned that the money of what it follows is back.
func (e *engine) stillTaken(ctx context.Context, tx tx, r *row) error {
	if r.kind != kindFollowUp {
		return nil
	}
	payment, err := e.one(ctx, tx, "id = $1", r.follows)
	if err != nil || payment == nil || payment.Reversal == ReversalNone {
		return err
	}
	return fmt.Errorf("%w: it is %s", errBack, payment.Text())
}

// mostRefunded is how much of a payment may be refunded: its principal, or its total if the
// facility refunds the surcharge.
func (e *engine) mostRefunded(principal, total decimal.Decimal) decimal.Decimal {
	if e.refundTotal {
		return decimal.Max(principal, total)
	}
	return principal
}

// refunded is the sum of the other refunds of the payment that a refund follows, those that wait or
// whose outcome is unknown too. A void counts as all of the payment.
func (e *engine) refunded(ctx context.Context, tx tx, r *row, all decimal.Decimal) (sum decimal.Decimal, err error) {
	err = e.each(ctx, tx, func(other *row, _ error) {
		switch {
		case other.Operation == quickstream.OperationVoid:
			sum = sum.Add(all)
		case other.refunds():
			sum = sum.Add(other.Amount)
		}
	}, "follows <> '' AND follows = $1 AND id <> $2 AND "+sqlBlocks(), r.follows, r.ID)
	if err != nil {
		return sum, fmt.Errorf("durable: %w", err)
	}
	return sum, nil
}

// mayExceed holds a refund as long as the refunds would exceed the payment if each send of those whose outcome is not
// final was executed.
func (e *engine) mayExceed(ctx context.Context, tx tx, r *row) error {
	payment, err := e.one(ctx, tx, "id = $1", r.follows)
	if err != nil || payment == nil {
		return err
	}
	sum := r.Amount
	err = e.each(ctx, tx, func(other *row, _ error) {
		if other.refunds() {
			sum = sum.Add(other.Amount.Mul(decimal.NewFromInt(int64(other.mayHaveRun()))))
		}
	}, "follows <> '' AND follows = $1 AND id <> $2 AND "+sqlBlocks(), r.follows, r.ID)
	if err == nil && sum.GreaterThan(e.mostRefunded(payment.Amount, payment.total)) {
		err = errLine
	}
	return err
}

// mayHaveRun is how often the service may have executed a write that blocks, as far as it is known.
func (r *row) mayHaveRun() int {
	switch {
	case r.State == StateQueued:
		return r.Sends
	case slices.Contains(unknown(), r.State):
		return max(r.Sends, 1)
	case r.lookups.Intent.Resent && !r.lookups.NextLook.IsZero(): // approved, and looked up once more
		return max(r.Sends, 2)
	default:
		return 1
	}
}

// elsewhere is the sum of the approved refunds of a receipt that the refunds of the engine do not account for: those
// made elsewhere, and the second one of a refund that was executed twice. Its error is errMade if r is among them.
func (e *engine) elsewhere(ctx context.Context, r *row, receipt string) (sum decimal.Decimal, err error) {
	counted := map[string]bool{}
	for refund, err := range e.client.Transactions.Refunds(receipt).All(ctx) {
		switch {
		case isNone(err):
			return sum, nil
		case err != nil:
			return sum, err
		case refund.PrincipalAmount == nil || !approved(refund):
			continue
		}
		var ours *row
		err := within(ctx, e.db, func(tx tx) (err error) {
			ours, err = e.about(ctx, tx, refund)
			return err
		})
		switch {
		case err != nil:
			return sum, err
		case ours != nil && ours.ID == r.ID:
			return sum, errMade
		case ours != nil && ours.Blocks() && !counted[ours.ID]:
			counted[ours.ID] = true
		default:
			sum = sum.Add(refund.PrincipalAmount.Amount)
		}
	}
	return sum, nil
}

// errMade means that the refund which is about to be sent is in the service's list.
var errMade = errors.New("the service's list of refunds has it already")

// checkLeft reads what was refunded elsewhere before a refund is sent. left is what may be refunded
// by it.
func (e *engine) checkLeft(ctx context.Context, r *row) (left decimal.Decimal, err error) {
	receipt := ""
	err = within(ctx, e.db, func(tx tx) error {
		payment, err := e.one(ctx, tx, "id = $1", r.follows)
		if err != nil || payment == nil {
			return errors.Join(err, ErrNoWrite)
		}
		if err := e.stillTaken(ctx, tx, r); err != nil {
			return err
		}
		receipt, left = payment.ReceiptNumber, e.mostRefunded(payment.Amount, payment.total)
		ours, err := e.refunded(ctx, tx, r, left)
		left = left.Sub(ours)
		return err
	})
	if err != nil {
		return left, err
	}
	theirs, err := e.elsewhere(ctx, r, receipt)
	return left.Sub(theirs), err
}

// sendRefund sends a refund unless refunds made elsewhere leave too little. One of a payment that is
// not settled waits.
func (e *engine) sendRefund(ctx context.Context, r *row) error {
	left, err := e.checkLeft(ctx, r)
	switch {
	case errors.Is(err, errBack):
		return e.giveUp(ctx, r, problemOf(err))
	case errors.Is(err, errMade):
		if settled, err := e.lookBefore(ctx, r, true); settled || err != nil {
			return err
		}
		return e.later(ctx, r.ID, problemOf(errMade))
	case err != nil:
		return e.later(ctx, r.ID, "the refunds of the payment could not be read: "+problemOf(err))
	case left.LessThan(r.Amount):
		return e.giveUp(ctx, r, fmt.Sprintf("refunds made elsewhere leave %s of the payment", left))
	}
	t, err := e.client.Transactions.Get(ctx, requestOf(r.intent).OriginalReceiptNumber)
	switch {
	case err != nil:
		return e.later(ctx, r.ID, "the transaction could not be read: "+problemOf(err))
	case onlyHeld(t):
		return e.giveUp(ctx, r, errHeld.Error())
	case t.Voidable && !t.Refundable:
		return e.later(ctx, r.ID, "the payment is not settled, and can only be voided now")
	default:
		return e.submit(ctx, r)
	}
}

// sendReverse chooses between void and refund by the transaction as it is now, stores the
// choice, and sends it. The void or refund is planned here, and its intent continues the trace.
func (e *engine) sendReverse(ctx context.Context, r *row) error {
	if err := within(ctx, e.db, func(tx tx) error { return e.inLine(ctx, tx, r) }); errors.Is(err, errLine) {
		return e.waitInLine(ctx, r)
	} else if err != nil {
		return err
	}
	left, err := e.checkLeft(ctx, r)
	switch {
	case errors.Is(err, errBack):
		return e.giveUp(ctx, r, problemOf(err))
	case err != nil:
		return e.later(ctx, r.ID, "the refunds of the payment could not be read: "+problemOf(err))
	}
	t, err := e.client.Transactions.Get(ctx, r.intent.Target)
	if err != nil {
		return e.later(ctx, r.ID, "the transaction could not be read: "+problemOf(err))
	}
	chosen := *r
	chosen.Amount = left
	intent, err := e.choose(ctx, &chosen, t)
	var cannot *quickstream.ValidationError
	switch {
	case errors.Is(err, errNeither):
		return e.later(ctx, r.ID, err.Error())
	case errors.Is(err, ErrTooMuch) || errors.Is(err, errHeld) || errors.As(err, &cannot):
		return e.giveUp(ctx, r, problemOf(err))
	case err != nil:
		return e.later(ctx, r.ID, problemOf(err))
	}
	if err := e.storeChoice(ctx, r, &chosen, intent); err != nil {
		return err
	}
	return e.submit(ctx, &chosen)
}

// storeChoice stores what a reversal is sent as.
func (e *engine) storeChoice(ctx context.Context, r, chosen *row, intent quickstream.Intent) error {
	chosen.intent, chosen.Reference = intent, intent.Reference
	e.step("before the choice")
	err := within(ctx, e.db, func(tx tx) error { return e.save(ctx, tx, r, chosen) })
	e.step("after the choice")
	return err
}

var (
	errNeither = errors.New("the transaction can neither be voided nor refunded now")
	errHeld    = errors.New("a pre-authorisation is not refunded: cancel it, or refund its capture")
)

// onlyHeld reports whether a transaction is a pre-authorisation, which no waiting makes refundable.
func onlyHeld(t *quickstream.Transaction) bool {
	return t.TransactionType == quickstream.TransactionTypePreauth && !t.Refundable
}

// choose plans the void or the refund.
func (e *engine) choose(ctx context.Context, r *row, t *quickstream.Transaction) (quickstream.Intent, error) {
	all := t.PrincipalAmount != nil && r.Amount.Equal(t.PrincipalAmount.Amount) || t.TotalAmount != nil && r.Amount.Equal(t.TotalAmount.Amount)
	key := quickstream.WithIdempotencyKey(e.key(r.ID, r.keyNumber))
	switch {
	case !r.Amount.IsPositive():
		return quickstream.Intent{}, fmt.Errorf("%w: nothing is left", ErrTooMuch)
	case t.Voidable && all:
		return e.client.Transactions.PlanVoid(ctx, r.intent.Target, key)
	case t.Refundable:
		return e.reversingRefund(ctx, r)
	case onlyHeld(t):
		return quickstream.Intent{}, errHeld
	default:
		return quickstream.Intent{}, errNeither
	}
}

// reversingRefund plans the refund of a reversal, under the reference that follows from its id.
func (e *engine) reversingRefund(ctx context.Context, r *row) (quickstream.Intent, error) {
	return e.client.Transactions.Plan(ctx, quickstream.RefundParams{
		OriginalReceiptNumber: r.intent.Target, PrincipalAmount: r.Amount, Currency: r.Currency,
	}, quickstream.WithIdempotencyKey(e.key(r.ID, r.keyNumber)), quickstream.WithReference(e.reference(r.ID)))
}

// takingIn is the name whose row each TakeIn locks.
const takingIn = "taking in"

// TakeIn stores a payment that was not made through the engine, such as one of the portal, so that
// it can be refunded. It reads the transaction first. The error is that of
// [quickstream.TransactionsService.Get], or matches those of Pay.
func (e *Engine[TTx]) TakeIn(ctx context.Context, w NewWrite, receiptNumber string) (payment Payment, created bool, err error) {
	if err := w.check(true); err != nil {
		return Payment{}, false, err
	}
	at := e.clock()
	t, err := e.client.Transactions.Get(ctx, receiptNumber)
	switch {
	case err != nil:
		return Payment{}, false, err
	case !mayPay(t):
		return Payment{}, false, fmt.Errorf("%w: the transaction is no payment", ErrNotAllowed)
	}
	r := e.lost(w, t, at)
	r.Problem = ""
	var current *row
	err = within(ctx, e.db, func(tx tx) error {
		if err := setMeta(ctx, tx, takingIn, w.ID); err != nil { // one at a time: two may take in one receipt
			return err
		}
		if known, err := e.about(ctx, tx, t); known != nil || err != nil {
			if err == nil && known.ID != w.ID {
				err = &IDReusedError{known.write(), []string{"id"}}
			}
			current = known
			return err
		}
		if _, err := e.lock(ctx, tx, r); err != nil {
			return err
		}
		if current, err = e.admit(ctx, tx, r); current != nil || err != nil {
			return err
		}
		created, err = e.insert(ctx, tx, r)
		if err == nil && !created {
			err = ErrChanged
		}
		return err
	})
	if err != nil {
		return paymentOf(current), false, err
	}
	if created {
		err = e.observe(ctx, w.ID, ofTransaction(t, at))
	}
	stored, readErr := e.Write(ctx, w.ID)
	if readErr != nil {
		return Payment{}, created, errors.Join(err, readErr)
	}
	return Payment{stored.Common()}, created, err
}
