package quickstream

import (
	"context"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// CollectParams describes a PayTo payment.
type CollectParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the agreement. Required.
	Source PayToSource
	// PrincipalAmount is as in [PayParams].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// DebtRepayment is true if the payment repays a debt. Optional.
	DebtRepayment *bool
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// PayToSource is a PayTo agreement to collect from, made by FromPayTo or FromPayToWithAgreement.
type PayToSource interface{ payToData() *payToDataJSON }

// FromPayTo collects against an active PayTo agreement.
func FromPayTo(payment PayToPayment) PayToSource { return payToSource(payment.wire) }

// FromPayToWithAgreement creates an e-commerce or once-off agreement together with the
// payment. The payer then confirms both.
func FromPayToWithAgreement(payment PayToPaymentWithAgreement) PayToSource {
	return payToSource(payment.wire)
}

// payToSource is a function, so that printing shows nothing of the payer.
type payToSource func() *payToDataJSON

func (s payToSource) payToData() *payToDataJSON { return s() }

// MarshalJSON returns an error: parameters that are read back would have no source.
func (payToSource) MarshalJSON() ([]byte, error) { return nil, errSealed }

// PayToPayment is a payment against an agreement.
type PayToPayment struct {
	// AgreementToken is the token of an active agreement. Required.
	AgreementToken string
	// EndToEndID is the merchant's identifier of the payment. If empty, a unique one is made.
	EndToEndID string
	// RemittanceInformation1 is a text for the payer. Optional.
	RemittanceInformation1 string
	// FinalPayment is true for the last payment of the agreement. Optional.
	FinalPayment *bool
}

// PayToPaymentWithAgreement is a payment that creates its agreement.
type PayToPaymentWithAgreement struct {
	// SupplierBusinessCode is the payment's if it is empty. Optional.
	SupplierBusinessCode string
	// Purpose is what the payment is for. Whether it is required is not published.
	Purpose AgreementPurpose
	// Description is a text for the payer, of up to 140 characters. Optional.
	Description string
	// Payer is who is asked to confirm. Required.
	Payer AgreementPayerParams
	// Optional, as in [PayToPayment]:
	EndToEndID             string
	RemittanceInformation1 string
	FinalPayment           *bool
}

type payToDataJSON struct {
	AgreementToken         string             `json:"agreementToken,omitempty"`
	EndToEndID             string             `json:"endToEndId,omitempty"`
	RemittanceInformation1 string             `json:"remittanceInformation1,omitempty"`
	FinalPayment           *bool              `json:"finalPayment,omitempty"`
	PayToAgreement         *newPayToAgreement `json:"payToAgreement,omitempty"`
}

// Collect takes a PayTo payment. The error is nil if the service accepted it, which is not paid yet:
// [Transaction.Outcome] is approved, or usually pending. Its event ends it, or After of package
// resolve, which says how to look it up.
//
// POST /transactions (PAYMENT). Errors as those of Transactions.Pay, such as [DeclinedError],
// [UnknownOutcomeError], [ErrInvalid] and [ErrUnavailable]; a pending payment is none.
func (s *PayToService) Collect(ctx context.Context, params CollectParams, opts ...CallOption) (*Transaction, error) {
	return s.client.Transactions.send(ctx, params, opts)
}

func (p CollectParams) body() transactionBody {
	body := transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePayment, SupplierBusinessCode: p.SupplierBusinessCode,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency, DebtRepayment: p.DebtRepayment,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata, PayToData: new(payToDataJSON),
	}}
	if p.Source != nil {
		body.PayToData = p.Source.payToData()
	}
	return body
}

func (p PayToPayment) wire() *payToDataJSON {
	return &payToDataJSON{p.AgreementToken, p.EndToEndID, p.RemittanceInformation1, p.FinalPayment, nil}
}

func (p PayToPaymentWithAgreement) wire() *payToDataJSON {
	return &payToDataJSON{"", p.EndToEndID, p.RemittanceInformation1, p.FinalPayment, &newPayToAgreement{
		p.SupplierBusinessCode, agreementPaymentJSON{Purpose: p.Purpose, Description: p.Description}, p.Payer.wire(),
	}}
}

// check judges a payment against an agreement, or one that brings its agreement along.
func (p *payToDataJSON) check(f *findings) {
	agreement := p.PayToAgreement
	f.require(agreement != nil || p.AgreementToken != "", "payToData.agreementToken.required", "agreementToken", "is required")
	if agreement != nil {
		f.within("payToAgreement", agreement.check)
	}
}

func (a *newPayToAgreement) check(f *findings) {
	description := a.PaymentDetails.Description
	f.require(lengthWithin(description, 0, maxDescription),
		"payToAgreement.description.length", "paymentDetails.description", "must not be longer than 140 characters")
	f.within("payerDetails", a.PayerDetails.check)
}
