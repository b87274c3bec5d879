package quickstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PayParams describes a payment.
type PayParams struct {
	// SupplierBusinessCode is one of the merchant's businesses. Required, here or by
	// [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the account to take the payment from. Required.
	Source AccountSource
	// PrincipalAmount is the amount before surcharge, with at most two decimals.
	// Required.
	PrincipalAmount decimal.Decimal
	// Currency is required.
	Currency Currency
	// ECI is required for cards.
	ECI ECI
	// IPAddress is the customer's public address: required with a single-use token,
	// and with account details and [ECIInternet]. Give it only when the customer
	// ordered over the Internet, and never the merchant's own.
	IPAddress netip.Addr
	// StoredCredential is required for cards.
	StoredCredential *StoredCredentialData
	// ThreeDS2 is true when the card behind a single-use token was authenticated
	// with 3D Secure.
	ThreeDS2 *bool
	// DebtRepayment marks the repayment of a debt.
	DebtRepayment *bool
	// CustomerReferenceNumber has up to 100 ASCII characters. Equal to a customer
	// number, it puts the transaction into that customer's history.
	CustomerReferenceNumber string
	// PaymentReferenceNumber has up to 100 ASCII characters. It is what a lost
	// payment is found by, so it has to be unique; a unique one is made when it is
	// empty. Store it before the call.
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
	// MPGSData is the data that Mastercard Payment Gateway configurations need
	// for recurring payments and instalments. Its members are not published.
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

type payToDataJSON struct {
	AgreementToken         string             `json:"agreementToken,omitempty"`
	EndToEndID             string             `json:"endToEndId,omitempty"`
	RemittanceInformation1 string             `json:"remittanceInformation1,omitempty"`
	FinalPayment           *bool              `json:"finalPayment,omitempty"`
	PayToAgreement         *newPayToAgreement `json:"payToAgreement,omitempty"`
}

// Pay takes a payment.
//
// POST /transactions (PAYMENT). A decline is not an error here:
// [Transaction.Outcome] says how the payment ended, with an error while it has not.
// Errors of Pay are a [ValidationError] for a request that cannot be right, an
// [APIError] for one that was refused, a [NetworkError] when nothing was sent, and
// an [UnknownOutcomeError] when the payment may have been taken: then give its
// [Intent] to Resume or to package resolve, and do not pay again. A call with a new
// reference is a new payment: nothing can tell it from one that the customer wants.
//
// Not approved does not mean not paid: what is unknown, pending or suspended may still
// take the money. Only when [Transaction.Outcome] returns declined or rejected with a nil error may
// another card be tried.
//
// Where the process may crash, store the intent first: with [WithBeforeSend], after which
// a crash in between ends as absent two days later, or with Plan and Submit, which send
// at the next start what nobody has claimed.
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
	switch {
	case s.payTo != nil:
		p := s.payTo
		b.PayToData = &payToDataJSON{p.AgreementToken, unique(p.EndToEndID), p.RemittanceInformation1, p.FinalPayment, nil}
	case s.newPayTo != nil:
		p := s.newPayTo
		b.PayToData = &payToDataJSON{"", unique(p.EndToEndID), p.RemittanceInformation1, nil, p.wire()}
	}
}

// setBusiness fills in the default business. A transaction that follows another is made
// in that one's, and an agreement is for the business of its payment.
func (b *transactionBody) setBusiness(code string) {
	if code == "" || b.OriginalReceiptNumber != "" {
		return
	}
	b.SupplierBusinessCode = cmp.Or(b.SupplierBusinessCode, code)
	if b.PayToData != nil && b.PayToData.PayToAgreement != nil {
		agreement := b.PayToData.PayToAgreement
		agreement.SupplierBusinessCode = cmp.Or(agreement.SupplierBusinessCode, b.SupplierBusinessCode)
	}
}

// unique returns the reference, or a new one that nothing else has.
func unique(reference string) string {
	if reference == "" {
		return rand.Text()
	}
	return reference
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().String()
}
