package quickstream

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PayParams describes a payment.
type PayParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the account that pays. Required. For PayTo see [PayToService.Collect].
	Source AccountSource
	// PrincipalAmount is the amount before surcharge in dollars, with at most two decimals. Required.
	// 0.00 is sent, and the service judges it, except for a refund and a capture.
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// ECI says how the customer ordered. Required for cards.
	ECI ECI
	// IPAddress is the customer's public address, never the merchant's. Required with a single-use
	// token, and for account details with [ECIInternet]. Omit it if the order did not come over the
	// Internet.
	IPAddress netip.Addr
	// StoredCredential is required for cards. If empty it is [EntryModeManual] for a card's details,
	// and for a single-use token that is not said to be a bank account's, if the customer ordered:
	// with [ECIInternet], [ECIPhone], [ECIMail], [ECI5], [ECI6] and [ECI7].
	StoredCredential *StoredCredentialData
	// ThreeDS2 is true if the token's card was authenticated with 3D Secure. Optional.
	ThreeDS2 *bool
	// DebtRepayment is true if the payment repays a debt. Optional.
	DebtRepayment *bool
	// CustomerReferenceNumber has up to 100 ASCII characters. If it is a customer number,
	// the customer's history shows the transaction. Optional.
	CustomerReferenceNumber string
	// PaymentReferenceNumber has up to 100 ASCII characters. A lost payment is found by
	// it: make it unique and store it first. If empty, a unique one is made.
	PaymentReferenceNumber string
	// Comment is free text. Optional.
	Comment string
	// Metadata are the merchant's texts by name, which the service returns. Optional.
	Metadata map[string]string
	// MPGSData is for recurring payments and instalments with the Mastercard Payment Gateway. Its
	// members are not published; the service makes it if it is empty.
	MPGSData map[string]any
}

type transactionJSON struct {
	TransactionType         TransactionType       `json:"transactionType"`
	AuthorisationType       AuthorisationType     `json:"authorisationType,omitempty"`
	CancellationType        CancellationType      `json:"cancellationType,omitempty"`
	OriginalReceiptNumber   string                `json:"originalReceiptNumber,omitempty"`
	SupplierBusinessCode    string                `json:"supplierBusinessCode,omitempty"`
	PrincipalAmount         *wire.Number          `json:"principalAmount,omitempty"`
	Currency                Currency              `json:"currency,omitempty"`
	ECI                     ECI                   `json:"eci,omitempty"`
	IPAddress               string                `json:"ipAddress,omitempty"`
	CustomerReferenceNumber string                `json:"customerReferenceNumber,omitempty"`
	PaymentReferenceNumber  string                `json:"paymentReferenceNumber,omitempty"`
	Comment                 string                `json:"comment,omitempty"`
	Metadata                map[string]string     `json:"metadata,omitempty"`
	StoredCredentialData    *StoredCredentialData `json:"storedCredentialData,omitempty"`
	MPGSData                map[string]any        `json:"mpgsData,omitempty"`
	ThreeDS2                *bool                 `json:"threeDS2,omitempty"`
	DebtRepayment           *bool                 `json:"debtRepayment,omitempty"`
	Cryptogram              string                `json:"cryptogram,omitempty"`

	SingleUseTokenID string             `json:"singleUseTokenId,omitempty"`
	CustomerID       string             `json:"customerId,omitempty"`
	AccountToken     string             `json:"accountToken,omitempty"`
	CreditCard       *cardJSON          `json:"creditCard,omitempty"`
	BankAccount      *bankAccountJSON   `json:"bankAccount,omitempty"`
	NZBankAccount    *nzBankAccountJSON `json:"nzBankAccount,omitempty"`
	PayToData        *payToDataJSON     `json:"payToData,omitempty"`
}

// Pay takes a payment. The error is nil if and only if it is approved. Every call is a new payment.
//
// POST /transactions (PAYMENT). After a [DeclinedError] nothing was paid. After a [PendingError] or an
// [UnknownOutcomeError] the payment may be taken: do not pay again, but give the error to After of
// package resolve. A [ValidationError], [NetworkError] or [APIError] means that this call took
// nothing; the last one can match [ErrInvalid], [ErrUnauthorized] or [ErrUnavailable].
func (s *TransactionsService) Pay(ctx context.Context, params PayParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p PayParams) body() transactionBody {
	body := transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePayment, SupplierBusinessCode: p.SupplierBusinessCode,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		ECI: p.ECI, IPAddress: address(p.IPAddress), StoredCredentialData: p.StoredCredential,
		ThreeDS2: p.ThreeDS2, DebtRepayment: p.DebtRepayment, MPGSData: p.MPGSData,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
	body.setSource(p.Source)
	return body
}

func (b *transactionBody) setSource(from AccountSource) {
	s := sourceOf(from)
	b.kind = s.kind
	b.SingleUseTokenID, b.CustomerID, b.AccountToken = s.token, s.customerID, s.accountToken
	b.CreditCard, b.BankAccount, b.NZBankAccount = s.card.wire(), s.bank.wire(), s.nzBank.wire()
	if s.card != nil {
		b.Cryptogram = s.card.Cryptogram.text()
	}
}

// setDefaults fills in the business, the currency and the stored credential. A transaction that
// follows another is made in that one's business, and an agreement is for the business of its payment.
func (b *transactionBody) setDefaults(c *callConfig) {
	if b.OriginalReceiptNumber == "" {
		b.SupplierBusinessCode = cmp.Or(b.SupplierBusinessCode, c.business)
	}
	if b.original != nil && b.original.PrincipalAmount != nil {
		b.Currency = cmp.Or(b.Currency, b.original.PrincipalAmount.Currency)
	}
	b.Currency = cmp.Or(b.Currency, c.currency)
	if b.TransactionType == TransactionTypeAccountVerification {
		b.Currency = cmp.Or(b.Currency, CurrencyAUD)
	}
	if b.StoredCredentialData == nil && b.isManual() {
		b.StoredCredentialData = &StoredCredentialData{EntryMode: EntryModeManual}
	}
	if b.PayToData != nil && b.PayToData.PayToAgreement != nil {
		agreement := b.PayToData.PayToAgreement
		agreement.SupplierBusinessCode = cmp.Or(agreement.SupplierBusinessCode, b.SupplierBusinessCode)
	}
}

// isManual reports whether the customer gives a card's details for this transaction.
func (b *transactionBody) isManual() bool {
	switch b.ECI {
	case ECIInternet, ECIPhone, ECIMail, ECI5, ECI6, ECI7:
		return b.CreditCard != nil || b.SingleUseTokenID != "" && (b.kind == "" || b.kind.isCard())
	default:
		return false
	}
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().String()
}
