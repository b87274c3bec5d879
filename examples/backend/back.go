package main

import (
	"context"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// GiveBack gives an order's money back: by a void while the payment is not settled
// yet, and by a refund after that.
func (s *Shop) GiveBack(ctx context.Context, order string) (Row, error) {
	for _, paid := range s.Store.Rows() {
		if paid.Order == order && paid.Kind == quickstream.TransactionTypePayment && paid.Status() == Done {
			return s.giveBack(ctx, paid)
		}
	}
	return Row{}, ErrNoRow
}

func (s *Shop) giveBack(ctx context.Context, paid Row) (Row, error) {
	payment, err := s.Client.Transactions.Get(ctx, paid.State.Seen.ReceiptNumber)
	if err != nil {
		return Row{}, err
	}
	row := Row{Order: paid.Order, Cents: paid.Cents}
	var intent quickstream.Intent
	if payment.Voidable {
		row.Kind = KindVoid
		intent, err = s.Client.Transactions.PlanVoid(ctx, payment.ReceiptNumber)
	} else {
		row.Kind = quickstream.TransactionTypeRefund
		intent, err = s.Client.Transactions.Plan(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: payment.ReceiptNumber, Original: payment,
			PrincipalAmount: decimal.New(paid.Cents, -2), Currency: quickstream.CurrencyAUD,
			CustomerReferenceNumber: paid.Order,
		})
	}
	if err != nil {
		return row, err
	}
	if row, err = s.insert(row, intent); err != nil {
		return row, err
	}
	return s.send(ctx, row)
}
