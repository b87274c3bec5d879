package store

import (
	"context"

	"github.com/shopspring/decimal"
)

// receipt is what was paid for an order, as the service says. Without its answer the fields are empty.
type receipt struct {
	Method, Time     string
	Surcharge, Total string
}

// receiptOf reads the receipt of a payment that was taken.
func (s *server) receiptOf(ctx context.Context, number string) receipt {
	limited, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	t, err := s.client.Transactions.Get(limited, number)
	if err != nil {
		s.logger.InfoContext(ctx, "a receipt was not read", "error", err)
		return receipt{} // it can be seen a moment after it was taken
	}
	var paid receipt
	if c := t.CreditCard; c != nil {
		paid.Method = card{Scheme: string(c.CardScheme), Digits: lastDigits(c.CardNumber)}.Name()
	} else if t.PayToData != nil {
		paid.Method = "PayTo, from your bank account"
	}
	if !t.TransactionTime.IsZero() {
		paid.Time = t.TransactionTime.In(s.sydney).Format("2 January 2006, 15:04 MST")
	}
	if t.TotalAmount != nil {
		paid.Total = dollars(t.TotalAmount.Amount)
	}
	if t.SurchargeAmount != nil && !t.SurchargeAmount.Amount.IsZero() {
		paid.Surcharge = dollars(t.SurchargeAmount.Amount)
	}
	return paid
}

func dollars(amount decimal.Decimal) string { return "$" + amount.StringFixed(2) }
