package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// giveBack is the operation of a follow-up that is to be a void or a refund.
const giveBack quickstream.Operation = "GiveBack"

func giveBackIntent(receiptNumber string, now time.Time) quickstream.Intent {
	return quickstream.Intent{Version: quickstream.IntentVersion, Operation: giveBack, Target: receiptNumber, NotBefore: now}
}

// GiveBack writes a follow-up that gives money of an approved payment back, as Pay does:
// by a void where the transaction can be voided and all of it is given back, and by a
// refund otherwise, as its voidable and refundable say when it is sent. A void that is
// refused, or has not come by the time the payment is settled, becomes a refund.
//
// While another follow-up of the payment is open, of the same amount too, it returns the id
// of that one and [ErrFollowUpOpen]. Do not repeat a job on that error: the open follow-up
// may be the one that the job has written, and after it money would be given back again.
// The receipt of another order's payment is [ErrNotAllowed].
func (e *Engine[TTx]) GiveBack(ctx context.Context, tx TTx, orderID, receiptNumber string, amount decimal.Decimal, currency quickstream.Currency) (string, error) {
	if receiptNumber == "" || !amount.IsPositive() {
		return "", errors.New("durable: a receipt number and an amount above zero are required")
	}
	r := e.rowOf(orderID, giveBackIntent(receiptNumber, e.opts.Clock()))
	r.ReceiptOf, r.Amount, r.Currency = receiptNumber, amount, currency
	if e.opts.Carrier != nil {
		r.intent.Carrier = e.opts.Carrier(ctx)
	}
	return e.write(ctx, tx, r)
}

// refunds reports whether a follow-up gives money back in parts, so that two of the same
// amount may both be meant.
func (r *row) refunds() bool {
	return r.Operation == quickstream.OperationRefund || r.Operation == giveBack
}

// checkOrder refuses a follow-up of another order's payment or refund, or in another currency.
func (e *Engine[TTx]) checkOrder(ctx context.Context, tx TTx, r *row) error {
	payment, err := e.followed(ctx, tx, r)
	switch {
	case err != nil || payment == nil:
		return err
	case payment.OrderID != r.OrderID:
		return fmt.Errorf("%w: the receipt is that of another order", ErrNotAllowed)
	case r.Currency != "" && payment.Currency != "" && r.Currency != payment.Currency:
		return fmt.Errorf("%w: the payment is in another currency", ErrNotAllowed)
	}
	return nil
}

// followed returns the payment that a follow-up is about, or nil where it is not known here.
// An agreement may serve many orders: its changes follow none.
func (e *Engine[TTx]) followed(ctx context.Context, tx TTx, r *row) (*row, error) {
	if r.ReceiptOf == "" || !r.Operation.IsTransaction() && r.Operation != giveBack {
		return nil, nil //nolint:nilnil // there is none
	}
	payment, err := e.byReceipt(ctx, tx, r.ReceiptOf)
	if err != nil {
		return nil, fmt.Errorf("durable: %w", err)
	}
	return payment, nil
}

// checkRefund refuses a refund that would exceed its payment, or follows what has come back
// already, and a void beside a refund, as far as the payment is known here. Refunds whose
// outcome is not known count.
func (e *Engine[TTx]) checkRefund(ctx context.Context, tx TTx, r *row) error {
	voids := r.Operation == quickstream.OperationVoid
	if !r.refunds() && !voids {
		return nil
	}
	payment, err := e.followed(ctx, tx, r)
	if err != nil || payment == nil {
		return err
	}
	// A snapshot that does not hold the latest refunds fails here, at any isolation. Nobody
	// changes the payment any more: what was read before may have been voided since.
	if err := execute(ctx, e.db, tx, "UPDATE quickstream.payment SET version = version + 1 WHERE id = $1", payment.ID); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if payment, err = e.followed(ctx, tx, r); err != nil || payment == nil {
		return err
	}
	if !voids && (payment.State == StateVoided || payment.State == StateReturned) {
		return fmt.Errorf("%w: it is %s", ErrTooMuch, payment.State)
	}
	wanted := *r
	if voids {
		wanted.Amount = payment.Amount // all of it
	}
	return e.refundable(ctx, tx, &wanted, payment.Amount, payment.total)
}

// mostRefunded is how much of a payment may be refunded: its principal, or its total if the
// facility refunds the surcharge.
func (e *Engine[TTx]) mostRefunded(principal, total decimal.Decimal) decimal.Decimal {
	if e.opts.RefundTotal {
		return decimal.Max(principal, total)
	}
	return principal
}

// refundable refuses a refund that exceeds what is left of a payment.
func (e *Engine[TTx]) refundable(ctx context.Context, tx TTx, r *row, principal, total decimal.Decimal) error {
	limit, sum := e.mostRefunded(principal, total), r.Amount
	err := query(ctx, e.db, tx, func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		amount, err := decimalIn(text)
		sum = sum.Add(amount)
		return err
	}, `SELECT amount FROM quickstream.payment WHERE receipt_of <> '' AND receipt_of = $1 AND id <> $2 AND operation IN ('Transactions.Refund', 'GiveBack')
		AND state NOT IN ('declined', 'refused', 'not sent', 'voided', 'returned')`, r.ReceiptOf, r.ID)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if sum.GreaterThan(limit) {
		return fmt.Errorf("%w: %s of %s", ErrTooMuch, sum, limit)
	}
	return nil
}

// sendBack chooses between void and refund by the transaction as it is now, stores the
// choice, and sends it. The void or refund is planned here, and its intent carries the
// trace of the job on.
func (e *Engine[TTx]) sendBack(ctx context.Context, r *row) error {
	t, err := e.client.Transactions.Get(ctx, r.ReceiptOf)
	if err != nil {
		return e.later(ctx, r.ID, "the transaction could not be read: "+err.Error())
	}
	intent, err := e.choose(ctx, r, t)
	var cannot *quickstream.ValidationError
	switch {
	case errors.Is(err, errNeither) && r.age > giveBackWithin: // it was claimed once, and is not given up
		return e.observe(ctx, r.ID, observed{Kind: sawConflict, At: e.opts.Clock(), Problem: err.Error()})
	case errors.Is(err, errNeither):
		return e.later(ctx, r.ID, err.Error())
	case errors.Is(err, ErrTooMuch) || errors.As(err, &cannot):
		return e.observe(ctx, r.ID, observed{Kind: sawRefusal, At: e.opts.Clock(), Problem: err.Error()})
	case err != nil:
		return e.later(ctx, r.ID, err.Error())
	}
	chosen := *r
	chosen.intent, chosen.Reference = intent, intent.Reference
	e.step("before the choice")
	err = within(ctx, e.db, func(tx TTx) error { return e.save(ctx, tx, r, &chosen) })
	e.step("after the choice")
	if err != nil {
		return err
	}
	return e.submit(ctx, &chosen)
}

var errNeither = errors.New("the transaction can neither be voided nor refunded now")

// choose plans the void or the refund.
func (e *Engine[TTx]) choose(ctx context.Context, r *row, t *quickstream.Transaction) (quickstream.Intent, error) {
	var principal, total decimal.Decimal
	if t.PrincipalAmount != nil {
		principal = t.PrincipalAmount.Amount
	}
	if t.TotalAmount != nil {
		total = t.TotalAmount.Amount
	}
	err := within(ctx, e.db, func(tx TTx) error {
		if t.PrincipalAmount == nil { // as some answers leave it out
			payment, err := e.byReceipt(ctx, tx, r.ReceiptOf)
			if err != nil || payment == nil {
				return errors.Join(err, errors.New("the transaction was read without its amount"))
			}
			principal = payment.Amount
		}
		return e.refundable(ctx, tx, r, principal, total)
	})
	if err != nil {
		return quickstream.Intent{}, err
	}
	switch {
	case t.Voidable && (r.Amount.Equal(principal) || r.Amount.Equal(total)):
		return e.client.Transactions.PlanVoid(ctx, r.ReceiptOf)
	case t.Refundable:
		return e.client.Transactions.Plan(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: r.ReceiptOf, PrincipalAmount: r.Amount, Currency: r.Currency,
		})
	default:
		return quickstream.Intent{}, errNeither
	}
}
