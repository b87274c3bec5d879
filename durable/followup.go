package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Refund stores a refund of a part or all of an approved payment, as Pay does. of is the id of the
// payment or capture, and its receipt is put into params. Several refunds can wait. They are sent one
// after the other, and one of unknown outcome holds up the others. Before one is sent, refunds made
// elsewhere are read. A refund of a payment that is not settled waits until it is, for up to a week,
// and until the day after that if the service does not allow it yet.
//
// The error matches [ErrTooMuch] if refunds would exceed the payment, and [ErrNotAllowed] if it is
// not approved. For a payment that the engine does not have, see Import.
func (e *Engine[TTx]) Refund(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.RefundParams) (write Write, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		params.OriginalReceiptNumber = payment.ReceiptNumber
		return e.plan(ctx, w, params, nil)
	})
}

// Capture stores the capture of a pre-authorisation, as Refund does.
func (e *Engine[TTx]) Capture(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.CaptureParams) (write Write, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		params.OriginalReceiptNumber = payment.ReceiptNumber
		return e.plan(ctx, w, params, nil)
	})
}

// CancelPreauthorisation stores the cancellation of a pre-authorisation, as Refund does.
func (e *Engine[TTx]) CancelPreauthorisation(ctx context.Context, tx TTx, w NewWrite, of string, params quickstream.CancelPreauthorisationParams) (write Write, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		params.OriginalReceiptNumber = payment.ReceiptNumber
		return e.plan(ctx, w, params, nil)
	})
}

// Void stores the void of a payment, as Refund does.
func (e *Engine[TTx]) Void(ctx context.Context, tx TTx, w NewWrite, of string) (write Write, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		intent, err := e.client.Transactions.PlanVoid(ctx, payment.ReceiptNumber, quickstream.WithIdempotencyKey(e.key(w.ID, 1)))
		return e.rowOf(w, intent), err
	})
}

func (e *engine) follow(ctx context.Context, tx tx, w NewWrite, of string, plan func(w NewWrite, payment *row) (*row, error)) (Write, bool, error) {
	if err := w.check(false); err != nil {
		return Write{}, false, err
	}
	payment, err := e.one(ctx, tx, "id = $1", of)
	switch {
	case err != nil:
		return Write{}, false, named(err)
	case payment == nil:
		return Write{}, false, ErrNoWrite
	case w.Order != "" && w.Order != payment.Order:
		return Write{}, false, fmt.Errorf("%w: %q belongs to another order", ErrNotAllowed, of)
	case payment.ReceiptNumber == "":
		return Write{}, false, fmt.Errorf("%w: %q is %s and has no receipt", ErrNotAllowed, of, payment.Text())
	}
	w.Order = payment.Order
	r, err := plan(w, payment)
	if err != nil {
		return Write{}, false, err
	}
	r.Follows, r.seen, r.customer = of, w.Version, cmp.Or(r.customer, payment.customer)
	return shown(e.storeFor(ctx, tx, w, r))
}

// admitFollowUp refuses a follow-up of a write that is not approved or in another currency, a refund or
// a void of money that has come back, a refund of a refund, refunds that would exceed the payment, and a
// void beside a refund. Refunds of unknown outcome count.
func (e *engine) admitFollowUp(ctx context.Context, tx tx, r *row) error {
	// A snapshot that does not hold the latest follow-ups fails here, at any isolation.
	if err := execute(ctx, tx, "UPDATE quickstream.write SET version = version + 1 WHERE id = $1", r.Follows); err != nil {
		return err
	}
	payment, err := e.one(ctx, tx, "id = $1", r.Follows)
	reverses := r.refunds() || r.Operation == quickstream.OperationVoid
	switch {
	case err != nil:
		return err
	case payment == nil:
		return ErrNoWrite
	case r.seen != 0 && r.seen != payment.Version-1:
		return ErrStale
	case r.refunds() && payment.refunds():
		return fmt.Errorf("%w: %q is a refund", ErrNotAllowed, payment.ID)
	case reverses && payment.moneyBack():
		return fmt.Errorf("%w: it is %s", ErrTooMuch, payment.Text())
	case !payment.approved():
		return fmt.Errorf("%w: %q is %s", ErrNotAllowed, payment.ID, payment.Text())
	case r.Currency != "" && payment.Currency != "" && r.Currency != payment.Currency:
		return fmt.Errorf("%w: the payment is in another currency", ErrNotAllowed)
	case !reverses:
		return nil
	}
	if r.Operation != quickstream.OperationRefund {
		captured, err := e.captured(ctx, tx, payment)
		if err != nil {
			return err
		}
		if captured {
			return fmt.Errorf("%w: %q was captured: reverse the capture", ErrNotAllowed, payment.ID)
		}
	}
	if payment.IsPayment() { // a person may be about to give back the other payment of a double charge
		err := execute(ctx, tx, "UPDATE quickstream.write SET version = version + 1 WHERE order_id = $1 AND follows = '' AND id <> $2 AND "+sqlApproved(), r.Order, payment.ID)
		if err != nil {
			return err
		}
	}
	limit := payment.Amount // the principal: the service decides whether a surcharge is given back
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

// captured reports whether a pre-authorisation has a capture that was done or may be.
func (e *engine) captured(ctx context.Context, from reader, r *row) (bool, error) {
	if r.Operation != quickstream.OperationPreauthorise {
		return false, nil
	}
	n, err := count(ctx, from, "SELECT count(*) FROM quickstream.write WHERE follows <> '' AND follows = $1 AND operation = '"+string(quickstream.OperationCapture)+"' AND "+sqlBlocks(), r.ID)
	return n > 0, err
}

// moneyBack reports whether a payment was approved and its money has come back.
func (r *row) moneyBack() bool { return r.State == StateVoided || r.State == StateReturned }

// gaveUp means that a write is not sent any more.
type gaveUp struct {
	reason Reason
	why    string
}

func (e *gaveUp) Error() string { return e.why }

var (
	errPaid = &gaveUp{ReasonOtherPaid, "another payment of the order was found"}
	errBack = &gaveUp{ReasonMoneyBack, "the money of what it follows is back"}
	errLine = errors.New("another follow-up of the same payment comes first")
	errMade = errors.New("the service's list of refunds has it already")
)

// refunded returns the sum of the payment's other refunds, including those that wait or whose outcome
// is unknown. A void counts as all of the payment.
func (e *engine) refunded(ctx context.Context, from reader, r *row, all decimal.Decimal) (sum decimal.Decimal, err error) {
	err = e.each(ctx, from, func(other *row) {
		switch {
		case other.Operation == quickstream.OperationVoid:
			sum = sum.Add(all)
		case other.refunds():
			sum = sum.Add(other.Amount)
		}
	}, "follows <> '' AND follows = $1 AND id <> $2 AND "+sqlBlocks(), r.Follows, r.ID)
	return sum, err
}

// inLine refuses a payment if another one of its order is approved or may be, and a follow-up whose turn has
// not come. Follow-ups are sent one after the other. One that may have been sent and has no outcome, or may have been
// executed twice, holds up all others.
func (e *engine) inLine(ctx context.Context, from reader, r *row) error {
	if r.IsPayment() {
		other, err := e.one(ctx, from, "order_id = $1 AND id <> $2 AND follows = '' AND ("+sqlApproved()+" OR "+sqlIn("state", StateSending, StatePending, StateUnknown)+
			" OR state = '"+string(StateNeedsPerson)+"' AND reason <> '"+string(ReasonNotFound)+"') ORDER BY CASE WHEN "+sqlApproved()+" THEN 0 ELSE 1 END LIMIT 1", r.Order, r.ID)
		switch {
		case err != nil || other == nil:
			return err
		case other.Paid():
			return errPaid
		default:
			return errLine
		}
	}
	payment, err := e.one(ctx, from, "id = $1", r.Follows)
	if err == nil && payment != nil && payment.moneyBack() {
		return errBack
	}
	if err != nil {
		return err
	}
	unsent := 1
	if r.maySent() {
		unsent = 0
	}
	first, err := texts(ctx, from, "SELECT id FROM quickstream.write WHERE follows <> '' AND follows = $1 AND id <> $2 AND ("+sqlUnknown()+
		" AND reason <> '"+string(ReasonDoubleCharged)+"' OR state = 'approved' AND sends > 1 AND next_at IS NOT NULL OR state = 'queued' AND "+
		"(CASE WHEN claim <> '' OR sends > 0 OR suspect <> 0 THEN 0 ELSE 1 END, written_at, id) < ($3, $4, $2)) LIMIT 1", r.Follows, r.ID, unsent, r.Written)
	if err == nil && len(first) > 0 {
		err = errLine
	}
	return err
}

// elsewhere returns the sum of a receipt's approved refunds that the engine's refunds do not account for: those
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
		ours, err := e.about(ctx, e.db, refund)
		switch {
		case err != nil:
			return sum, err
		case ours != nil && ours.ID == r.ID:
			return sum, errMade
		case ours != nil && ours.State.Blocks() && !counted[ours.ID]:
			counted[ours.ID] = true
		default:
			sum = sum.Add(refund.PrincipalAmount.Amount)
		}
	}
	return sum, nil
}

// checkLeft reads the refunds made elsewhere before a refund is sent. left is the most that it may
// refund.
func (e *engine) checkLeft(ctx context.Context, r *row) (left decimal.Decimal, err error) {
	payment, err := e.one(ctx, e.db, "id = $1", r.Follows)
	switch {
	case err != nil || payment == nil:
		return left, cmp.Or(err, ErrNoWrite)
	case payment.moneyBack():
		return left, errBack
	}
	ours, err := e.refunded(ctx, e.db, r, payment.Amount)
	if err != nil {
		return left, err
	}
	theirs, err := e.elsewhere(ctx, r, payment.ReceiptNumber)
	return payment.Amount.Sub(ours).Sub(theirs), err
}
