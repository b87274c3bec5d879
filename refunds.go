package quickstream

import (
	"context"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// RefundParams describes a refund.
type RefundParams struct {
	// OriginalReceiptNumber is that of the payment. Required without Original.
	OriginalReceiptNumber string
	// Original is the payment, to compare amounts and currency before sending. The service judges
	// whether it is refundable now. Optional.
	Original *Transaction
	// PrincipalAmount is above zero, and otherwise as in [PayParams]. At most the payment less its earlier refunds; for PayTo
	// the whole payment. The service checks earlier refunds and surcharges: up to the total is
	// sent.
	PrincipalAmount decimal.Decimal
	// Currency is required without an Original that shows it, here or by [WithCurrency].
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
	body := p.of(TransactionTypeRefund, receiptOf(p.OriginalReceiptNumber, p.Original), p.PrincipalAmount, p.Currency)
	body.original = p.Original
	if !p.CardExpiry.IsZero() {
		month, year := expiry(p.CardExpiry)
		body.CreditCard = &cardJSON{ExpiryDateMonth: month, ExpiryDateYear: year}
	}
	return body
}

// checkRefund compares a refund with the payment that it was given.
func (b *transactionBody) checkRefund(f *findings) {
	paid, amount := b.original, b.amount()
	f.require(b.CreditCard == nil || b.CreditCard.hasExpiry(),
		"refund.cardExpiry.valid", "creditCard.expiryDateMonth", "must be a month of a four-digit year")
	if !wire.IsSmall(amount) {
		return // checkAmount has said so
	}
	principal, known := principalOf(paid)
	f.require(withinTotal(amount, paid),
		"refund.principalAmount.payment", "principalAmount", "must not be more than the payment with its surcharge")
	f.require(!known || paid.PayToData == nil || amount.GreaterThanOrEqual(principal),
		"refund.principalAmount.payTo", "principalAmount", "must be all of the payment for PayTo")
}

// receiptOf returns the receipt number, or that of the transaction that was given in its
// place.
func receiptOf(receiptNumber string, original *Transaction) string {
	if receiptNumber == "" && original != nil {
		return original.ReceiptNumber
	}
	return receiptNumber
}

func principalOf(t *Transaction) (amount decimal.Decimal, known bool) {
	if t == nil || t.PrincipalAmount == nil {
		return decimal.Decimal{}, false
	}
	return t.PrincipalAmount.Amount, true
}

// withinTotal lets an amount pass if the payment does not show its total.
func withinTotal(amount decimal.Decimal, paid *Transaction) bool {
	switch principal, known := principalOf(paid); {
	case known && paid.SurchargeAmount != nil:
		return amount.LessThanOrEqual(principal.Add(paid.SurchargeAmount.Amount))
	case paid != nil && paid.TotalAmount != nil:
		return amount.LessThanOrEqual(paid.TotalAmount.Amount)
	default:
		return true
	}
}
