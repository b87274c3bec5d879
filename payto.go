package quickstream

import (
	"cmp"
	"context"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PayToService has the operations on PayTo agreements.
type PayToService struct{ client *Client }

// CreateAgreementParams describes a new PayTo agreement.
type CreateAgreementParams struct {
	// SupplierBusinessCode is the merchant's business and account. Required, here or by
	// [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// RespondByTimeMinutes is how long the payer has to answer; at most and by default 7200 (5
	// days). Then the service recalls the agreement. RespondByTime in the answer is authoritative.
	RespondByTimeMinutes *int64
	// PayeeReference has up to 35 characters; Resume needs it. Optional. With
	// [AgreementCreationTypeMigratedDDR] it is the lodgement reference of the direct debit, and
	// required.
	PayeeReference string
	// CreationType is [AgreementCreationTypeAuthorised] if empty.
	CreationType AgreementCreationType
	// Payment, Terms and Payer are required.
	Payment AgreementPaymentParams
	Terms   AgreementTermsParams
	Payer   AgreementPayerParams
}

// AgreementPaymentParams says what an agreement is for and how long it lasts.
type AgreementPaymentParams struct {
	// Purpose is a code. Whether it is required is not published.
	Purpose AgreementPurpose
	// Description has up to 140 characters. Whether it is required is not published.
	Description string
	// StartDate is the first day for payments. Whether it is required or may be past is not
	// published.
	StartDate Date
	// EndDate is required without AutomaticRenewal, and absent with it. One before StartDate is sent:
	// the contract does not refuse it.
	EndDate Date
	// AutomaticRenewal is true for an agreement without an end.
	AutomaticRenewal bool
	// AdditionalInformation has up to 140 characters. Optional. With
	// [AgreementCreationTypeMigratedDDR] it is the direct debit's 6-digit APCA number, and
	// required.
	AdditionalInformation string
}

// AgreementTermsParams says how much may be taken and how often. Amounts have at most two decimals
// and are in Australian dollars.
type AgreementTermsParams struct {
	// Frequency is how often payments are made. Whether it is required is not published.
	Frequency AgreementFrequency
	// NumberOfPaymentsPermitted has at most 18 digits. Required with [AgreementFrequencyAdhoc] for a new
	// agreement; one that shows none is amended without. A public client creates such agreements
	// without it: [WithoutRule] of "agreement.numberOfPaymentsPermitted.required" does too, which is
	// unconfirmed.
	NumberOfPaymentsPermitted *int64
	// PointInTime is the day of payments within the period. Its range depends on the frequency.
	// Optional; absent with [AgreementFrequencyAdhoc].
	PointInTime *int64
	// Type says how the amounts are set. Whether it is required is not published.
	Type AgreementType
	// FirstPaymentAmount is optional.
	FirstPaymentAmount *decimal.Decimal
	// LastPaymentAmount is required with [AgreementTypeBalloon].
	LastPaymentAmount *decimal.Decimal
	// PaymentAmount is the amount with [AgreementTypeFixed], and the least amount otherwise.
	// Whether it is required is not published: a fixed amount without it is sent.
	PaymentAmount *decimal.Decimal
	// MaximumPaymentAmount is the most that one payment may take. Optional.
	MaximumPaymentAmount *decimal.Decimal
	// Currency is [CurrencyAUD], also if empty. The due dates are optional.
	Currency        Currency
	FirstPaymentDue Date
	LastPaymentDue  Date
}

// AgreementPayerParams says who is asked to agree: by BSB and account number, or by PayID and its type.
type AgreementPayerParams struct {
	// Type is a code. Whether it is required is not published.
	Type PayerType
	// ID is the merchant's unique identifier of the payer, Name the payer's name. Whether they are
	// required is not published.
	ID   string
	Name string
	// UltimateName is Name if empty.
	UltimateName string
	// Reference is the merchant's reference for the payer. Optional.
	Reference string
	// BSB has 6 digits, AccountNumber 6 to 9.
	BSB           string
	AccountNumber Secret
	PayIDType     PayIDType
	PayID         Secret
}

type agreementJSON struct {
	RespondByTimeMinutes  *int64                `json:"respondByTimeMinutes,omitempty"`
	PayeeReference        string                `json:"payeeReference,omitempty"`
	SupplierBusinessCode  string                `json:"supplierBusinessCode"`
	AgreementCreationType AgreementCreationType `json:"agreementCreationType,omitempty"`
	PaymentDetails        agreementPaymentJSON  `json:"paymentDetails"`
	PaymentTerms          agreementTermsJSON    `json:"paymentTerms"`
	PayerDetails          payToPayerJSON        `json:"payerDetails"`
}

type agreementPaymentJSON struct {
	Purpose               AgreementPurpose `json:"purpose,omitempty"`
	Description           string           `json:"description,omitempty"`
	StartDate             Date             `json:"startDate,omitzero"`
	EndDate               Date             `json:"endDate,omitzero"`
	AutomaticRenewal      *bool            `json:"automaticRenewal,omitempty"`
	AdditionalInformation string           `json:"additionalInformation,omitempty"`
}

type agreementTermsJSON struct {
	Frequency                 AgreementFrequency `json:"frequency,omitempty" wire:"decides"`
	NumberOfPaymentsPermitted *int64             `json:"numberOfPaymentsPermitted,omitempty"`
	PointInTime               *int64             `json:"pointInTime,omitempty"`
	AgreementType             AgreementType      `json:"agreementType,omitempty" wire:"decides"`
	FirstPaymentAmount        *wire.Text         `json:"firstPaymentAmount,omitempty" wire:"decides"`
	LastPaymentAmount         *wire.Text         `json:"lastPaymentAmount,omitempty" wire:"decides"`
	PaymentAmount             *wire.Text         `json:"paymentAmount,omitempty" wire:"decides"`
	MaximumPaymentAmount      *wire.Text         `json:"maximumPaymentAmount,omitempty" wire:"decides"`
	Currency                  Currency           `json:"currency,omitempty"`
	FirstPaymentDue           Date               `json:"firstPaymentDue,omitzero"`
	LastPaymentDue            Date               `json:"lastPaymentDue,omitzero"`
}

type payToPayerJSON struct {
	PayerType         PayerType `json:"payerType,omitempty"`
	PayerID           string    `json:"payerId,omitempty"`
	PayerName         string    `json:"payerName,omitempty"`
	UltimatePayerName string    `json:"ultimatePayerName,omitempty"`
	PayerReference    string    `json:"payerReference,omitempty"`
	BSB               string    `json:"bsb,omitempty"`
	AccountNumber     string    `json:"accountNumber,omitempty"`
	PayIDType         PayIDType `json:"payIdType,omitempty"`
	PayID             string    `json:"payId,omitempty"`
}

func (p AgreementPaymentParams) wire() agreementPaymentJSON {
	return agreementPaymentJSON{p.Purpose, p.Description, p.StartDate, p.EndDate, &p.AutomaticRenewal, p.AdditionalInformation}
}

func (p AgreementTermsParams) wire() agreementTermsJSON {
	currency := p.Currency
	if currency == "" {
		currency = CurrencyAUD
	}
	return agreementTermsJSON{
		p.Frequency, p.NumberOfPaymentsPermitted, p.PointInTime, p.Type,
		wire.OptionalText(p.FirstPaymentAmount), wire.OptionalText(p.LastPaymentAmount),
		wire.OptionalText(p.PaymentAmount), wire.OptionalText(p.MaximumPaymentAmount),
		currency, p.FirstPaymentDue, p.LastPaymentDue,
	}
}

func (p AgreementPayerParams) wire() payToPayerJSON {
	return payToPayerJSON{p.Type, p.ID, p.Name, p.UltimateName, p.Reference, p.BSB, p.AccountNumber.text(), p.PayIDType, p.PayID.text()}
}

// newPayToAgreement is the agreement that is created with a payment.
type newPayToAgreement struct {
	SupplierBusinessCode string               `json:"supplierBusinessCode,omitempty"`
	PaymentDetails       agreementPaymentJSON `json:"paymentDetails"`
	PayerDetails         payToPayerJSON       `json:"payerDetails"`
}

// Create asks a payer to agree to payments, in their banking app. The answer usually has
// [AgreementStatusPending]; payments are possible with [AgreementStatusActive].
//
// POST /customers/{customerId}/payto-agreements. Invalid data, and too many attempts with invalid
// PayIDs on one day, match [ErrInvalid]. After an [UnknownOutcomeError] give its [Intent] to
// Resume, which needs a unique payee reference. An agreement in an answer that is about another one
// is among the error's Candidates.
func (s *PayToService) Create(ctx context.Context, customerID string, params CreateAgreementParams, opts ...CallOption) (*Agreement, error) {
	call := s.client.begin(OperationCreateAgreement, opts, customerID)
	params.SupplierBusinessCode = cmp.Or(params.SupplierBusinessCode, call.config.business)
	body := agreementJSON{
		params.RespondByTimeMinutes, params.PayeeReference, params.SupplierBusinessCode, params.CreationType,
		params.Payment.wire(), params.Terms.wire(), params.Payer.wire(),
	}
	call.check(body.check)
	call.reference, call.body = params.PayeeReference, body
	call.kept, call.intent = body.intent(customerID)
	return call.create(ctx, body, customerID)
}

// Get returns an agreement.
//
// GET /payto-agreements/{agreementToken}. An unknown token matches [ErrNotFound].
func (s *PayToService) Get(ctx context.Context, agreementToken string, opts ...CallOption) (*Agreement, error) {
	return get[Agreement](ctx, s.client, "PayTo.Get", opts, agreementToken)
}

// ListAgreementsParams filters agreements; the zero value lists all.
type ListAgreementsParams struct {
	SupplierBusinessCode string          `url:"supplierBusinessCode,omitempty"`
	Status               AgreementStatus `url:"status,omitempty"`
}

// List returns the agreements of a customer. One that shows another customer matches
// [ErrUnreadableItem].
//
// GET /customers/{customerId}/payto-agreements. A wrong key matches [ErrUnauthorized].
func (s *PayToService) List(customerID string, params ListAgreementsParams, opts ...CallOption) List[Agreement] {
	return s.all(customerID, params, opts).of(customerID, func(a *Agreement) string {
		if a.PayerDetails == nil {
			return ""
		}
		return a.PayerDetails.CustomerID
	})
}

// all also lists agreements of other customers, which a look-up has to see.
func (s *PayToService) all(customerID string, params ListAgreementsParams, opts []CallOption) List[Agreement] {
	return list[Agreement](s.client, "PayTo.List", params, nil, opts, customerID)
}
