package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// OperationReverse is the operation of a write that [Engine.Reverse] has stored. Once it is approved
// its ReceiptNumber is that of the refund, and empty if it was a void.
const OperationReverse quickstream.Operation = "Reverse"

// Reverse stores a follow-up that reverses all that is left of an approved payment, as Refund does: no more than is left now,
// nor than is left when it is sent. It is sent as a void if the transaction can be voided and nothing of it was refunded, and otherwise
// as a refund: the transaction's voidable and refundable are read just before each send. For a pre-authorisation
// that can neither be voided nor refunded it ends not_sent: cancel that, or reverse its capture.
func (e *Engine[TTx]) Reverse(ctx context.Context, tx TTx, w NewWrite, of string) (write Write, created bool, err error) {
	return e.follow(ctx, e.typed.Join(tx), w, of, func(w NewWrite, payment *row) (*row, error) {
		r := e.rowOf(w, quickstream.Intent{Version: quickstream.IntentVersion, Operation: OperationReverse, Target: payment.ReceiptNumber, MadeAt: payment.now})
		r.Currency = payment.Currency
		return r, nil
	})
}

// prepareFollowUp reads the payment of a refund or a reversal before it is sent: refunds made elsewhere, and whether
// the service takes it now. A reversal is planned as a void or a refund, and stored so.
func (e *engine) prepareFollowUp(ctx context.Context, r *row) error {
	reverses := r.Operation == OperationReverse && r.intent.Operation != quickstream.OperationRefund // a void may have to become a refund
	if !r.refunds() || r.Operation == OperationReverse && !reverses {
		return nil
	}
	if reverses {
		if err := e.inLine(ctx, e.db, r); err != nil {
			return err
		}
	}
	left, err := e.checkLeft(ctx, r)
	if reverses {
		left = decimal.Min(left, r.Amount) // a refund that was not made has left more than a person has confirmed
	}
	switch {
	case err != nil:
		return fmt.Errorf("the refunds of the payment could not be read: %w", err)
	case !reverses && left.LessThan(r.Amount), !left.IsPositive():
		return &gaveUp{ReasonNothingLeft, fmt.Sprintf("refunds made elsewhere leave %s of the payment", left)}
	}
	receipt := requestOf(r.intent).OriginalReceiptNumber
	if reverses {
		receipt = r.intent.Target
	}
	t, err := e.client.Transactions.Get(ctx, receipt)
	switch {
	case err != nil:
		return fmt.Errorf("the transaction could not be read: %w", err)
	case t.TransactionType == quickstream.TransactionTypePreauth && !t.Refundable && (!reverses || !t.Voidable): // no waiting makes it refundable
		return &gaveUp{ReasonImpossible, "a pre-authorisation is not refunded: cancel it, or refund its capture"}
	case t.Outcome().Final() && !approved(t):
		return errBack
	case !reverses && !t.Refundable && (t.Voidable || !e.hasSettled(t, r.now)):
		return errors.New("the payment cannot be refunded yet")
	case !reverses:
		return nil
	}
	chosen := *r
	chosen.Amount = left
	all := t.PrincipalAmount != nil && left.Equal(t.PrincipalAmount.Amount) || t.TotalAmount != nil && left.Equal(t.TotalAmount.Amount)
	if r.Sends > 0 { // the key was that of a void
		chosen.keyNumber, chosen.keySent = r.keyNumber+1, time.Time{}
	}
	switch {
	case t.Voidable && all && r.isVoid():
		return nil
	case t.Voidable && all:
		chosen.intent, err = e.client.Transactions.PlanVoid(ctx, r.intent.Target, quickstream.WithIdempotencyKey(e.key(r.ID, chosen.keyNumber)))
	case t.Refundable && r.Sends > 0 && r.now.Before(r.lastSent.Add(e.lag)):
		return errors.New("look-ups may still miss its void")
	case t.Refundable:
		chosen.intent, err = e.client.Transactions.Plan(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: r.intent.Target, PrincipalAmount: left, Currency: r.Currency,
		}, quickstream.WithIdempotencyKey(e.key(r.ID, chosen.keyNumber)), quickstream.WithUniqueReference(e.reference(r.ID)))
	default:
		return errors.New("the transaction can neither be voided nor refunded now")
	}
	if err != nil {
		return &gaveUp{ReasonImpossible, problemOf(err)}
	}
	chosen.Reference = chosen.intent.Reference
	if err = within(ctx, e.db, func(tx tx) error { return e.save(ctx, tx, r, &chosen) }); err == nil {
		*r = chosen
	}
	return err
}

// hasSettled reports whether the day after a transaction's settlement date has ended, or it shows no date.
func (e *engine) hasSettled(t *quickstream.Transaction, now time.Time) bool {
	return quickstream.DateOf(now.In(e.sydney)).Compare(t.SettlementDate.AddDays(1)) > 0
}
