package quickstream

import (
	"context"
	"net/netip"

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
	// CardExpiry is the new expiry of a card that has expired since the payment.
	// Optional.
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

// VerifyAccountParams describes a verification of an account.
type VerifyAccountParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the account, not only a card. Required.
	Source CardSource
	// Currency is that of [WithCurrency], or [CurrencyAUD], if it is empty.
	Currency Currency
	// ECI is required for cards, and is not 5, 6 or 7.
	ECI ECI
	// IPAddress is as in [PayParams].
	IPAddress netip.Addr
	// StoredCredential is as in [PayParams].
	StoredCredential *StoredCredentialData
	// ThreeDS2 is optional, as in [PayParams].
	ThreeDS2 *bool
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// VerifyAccount checks that an account can be used. It takes no money.
//
// POST /transactions (ACCOUNT_VERIFICATION). Errors as for Pay.
func (s *TransactionsService) VerifyAccount(ctx context.Context, params VerifyAccountParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p VerifyAccountParams) body() transactionBody {
	body := transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypeAccountVerification, SupplierBusinessCode: p.SupplierBusinessCode, Currency: p.Currency,
		ECI: p.ECI, IPAddress: address(p.IPAddress), StoredCredentialData: p.StoredCredential, ThreeDS2: p.ThreeDS2,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
	body.setSource(p.Source)
	return body
}

// Void cancels a transaction before it is settled, if its Voidable is true. Neither the customer's
// statement nor the settlement shows it then.
//
// POST /transactions/{receiptNumber}/void. Errors as for Pay. An unknown receipt number matches
// [ErrNotFound]. An answer that does not show this transaction as [OutcomeVoided] is an
// [UnknownOutcomeError]. Do not refund before that is settled: both could happen.
func (s *TransactionsService) Void(ctx context.Context, receiptNumber string, opts ...CallOption) (*Transaction, error) {
	return s.sendVoid(ctx, s.void(receiptNumber, opts), receiptNumber)
}

func (s *TransactionsService) sendVoid(ctx context.Context, call *call, receiptNumber string) (*Transaction, error) {
	call.answer = new(Transaction)
	if err := call.do(ctx, about(call, call.answer, identifiedBy[Transaction](receiptNumber))); err != nil {
		return nil, err
	}
	return call.answer, nil
}

func (s *TransactionsService) void(receiptNumber string, opts []CallOption) *call {
	call := s.client.begin(OperationVoid, opts, receiptNumber)
	call.reference = receiptNumber
	call.intent = &Intent{Target: receiptNumber, Complete: true}
	return call
}
