package quickstream

import (
	"context"

	"github.com/shopspring/decimal"
)

// RefundParams describes a refund.
type RefundParams struct {
	// OriginalReceiptNumber is that of the payment. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is above zero, and otherwise as in [PayParams]. The service refuses more than
	// the payment, and for PayTo less too. Whether it takes several refunds of one payment is unconfirmed.
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// CardExpiry is the new expiry of a card that has expired since the payment, in creditCard. Optional.
	CardExpiry YearMonth

	FollowUpDetails
}

// Refund refunds a payment, or a part of it, if its Refundable is true. Before settlement, Void may
// be possible.
//
// POST /transactions (REFUND). Errors as for Pay. A refund of more than the payment, or of a
// refunded payment, matches [ErrInvalid]. Do not refund again before an [UnknownOutcomeError] is
// settled.
func (s *TransactionsService) Refund(ctx context.Context, params RefundParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p RefundParams) body() transactionBody {
	body := p.of(TransactionTypeRefund, p.OriginalReceiptNumber, p.PrincipalAmount, p.Currency)
	if !p.CardExpiry.IsZero() {
		month, year := expiry(p.CardExpiry)
		body.CreditCard = &cardJSON{ExpiryDateMonth: month, ExpiryDateYear: year}
	}
	return body
}
