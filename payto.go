package quickstream

import (
	"cmp"
	"context"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PayToService holds the operations on PayTo agreements.
type PayToService struct{ client *Client }

// CreateAgreementParams describes a new PayTo agreement.
type CreateAgreementParams struct {
	// SupplierBusinessCode identifies the merchant's business and account.
	// Required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// RespondByTimeMinutes is how long the payer has to answer, from creation: at
	// most 7200, which is 5 days and what nil means. The service recalls the
	// agreement by itself after that. What governs is RespondByTime in the answer.
	RespondByTimeMinutes *int64
	// PayeeReference is the merchant's reference of up to 35 characters. An
	// agreement whose answer was lost is found by it. With
	// [AgreementCreationTypeMigratedDDR] it is required and has to be the lodgement
	// reference of an existing direct debit with this customer.
	PayeeReference string
	// CreationType is [AgreementCreationTypeAuthorised] when empty.
	CreationType AgreementCreationType
	// Payment, Terms and Payer are required.
	Payment AgreementPaymentParams
	Terms   AgreementTermsParams
	Payer   PayToPayerParams
}

// AgreementPaymentParams says what an agreement is for and how long it lasts.
type AgreementPaymentParams struct {
	// Purpose is required.
	Purpose PayToPurpose
	// Description has up to 140 characters. Whether there has to be one only the
	// service knows.
	Description string
	// StartDate is the first day on which payments may be made. Whether it can be
	// left out or lie in the past only the service knows.
	StartDate Date
	// EndDate is required when AutomaticRenewal is false, and absent otherwise.
	EndDate Date
	// AutomaticRenewal is true for an agreement without an end.
	AutomaticRenewal bool
	// AdditionalInformation has up to 140 characters. With
	// [AgreementCreationTypeMigratedDDR] it is required and holds the 6-digit APCA
	// number of an existing direct debit.
	AdditionalInformation string
}

// AgreementTermsParams says how much may be taken and how often. Amounts have at
// most two decimals and are in Australian dollars.
type AgreementTermsParams struct {
	Frequency PayToFrequency
	// NumberOfPaymentsPermitted is required with [PayToFrequencyAdhoc]; at most 18
	// digits.
	NumberOfPaymentsPermitted *int64
	// PointInTime is the day within the period on which payments are made. Its
	// range depends on the frequency, and [PayToFrequencyAdhoc] has none.
	PointInTime *int64
	Type        PayToAgreementType
	// FirstPaymentAmount is optional.
	FirstPaymentAmount *decimal.Decimal
	// LastPaymentAmount is required with [PayToAgreementTypeBalloon].
	LastPaymentAmount *decimal.Decimal
	// PaymentAmount is the amount with [PayToAgreementTypeFixed], and the least
	// amount with the other types. Whether it is required only the service knows.
	PaymentAmount *decimal.Decimal
	// MaximumPaymentAmount is the most that one payment may take. Optional.
	MaximumPaymentAmount *decimal.Decimal
	// Currency is [CurrencyAUD] when empty; there is no other.
	Currency        Currency
	FirstPaymentDue Date
	LastPaymentDue  Date
}

// PayToPayerParams says who is asked to agree. Give a BSB and account number, or
// a PayID and its type.
type PayToPayerParams struct {
	// Type is required.
	Type PayerType
	// ID is the merchant's unique identifier of the payer, and Name the payer's.
	// Whether they can be left out only the service knows.
	ID   string
	Name string
	// UltimateName is Name when empty.
	UltimateName string
	// Reference is the merchant's reference for the payer. Optional.
	Reference string
	// BSB has 6 digits, with or without a hyphen in the middle, without which it is
	// sent. AccountNumber has 6 to 9.
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
	Purpose               PayToPurpose `json:"purpose,omitempty"`
	Description           string       `json:"description,omitempty"`
	StartDate             Date         `json:"startDate,omitzero"`
	EndDate               Date         `json:"endDate,omitzero"`
	AutomaticRenewal      *bool        `json:"automaticRenewal,omitempty"`
	AdditionalInformation string       `json:"additionalInformation,omitempty"`
}

type agreementTermsJSON struct {
	Frequency                 PayToFrequency     `json:"frequency,omitempty"`
	NumberOfPaymentsPermitted *int64             `json:"numberOfPaymentsPermitted,omitempty"`
	PointInTime               *int64             `json:"pointInTime,omitempty"`
	AgreementType             PayToAgreementType `json:"agreementType,omitempty"`
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

func (p PayToPayerParams) wire() payToPayerJSON {
	return payToPayerJSON{p.Type, p.ID, p.Name, p.UltimateName, p.Reference, unhyphenated(p.BSB), p.AccountNumber.text(), p.PayIDType, p.PayID.text()}
}

// newPayToAgreement is the agreement that a payment brings along.
type newPayToAgreement struct {
	SupplierBusinessCode string               `json:"supplierBusinessCode"`
	PaymentDetails       agreementPaymentJSON `json:"paymentDetails"`
	PayerDetails         payToPayerJSON       `json:"payerDetails"`
}

// Create asks a payer to agree to payments. The agreement is sent to the payer's
// banking app, and payments are possible once its status is
// [AgreementStatusActive]: the answer's status is most often
// [AgreementStatusPending].
//
// POST /customers/{customerId}/payto-agreements. Invalid data, or too many attempts
// with invalid PayIDs on one day, are an [APIError] that matches [ErrInvalid]. When
// the answer is lost the error is an [UnknownOutcomeError]: give its [Intent] to
// Resume, for which the agreement needs a unique payee reference, and do not create
// another before that.
func (s *PayToService) Create(ctx context.Context, customerID string, params CreateAgreementParams, opts ...CallOption) (*Agreement, error) {
	call := s.client.begin(OperationCreateAgreement, opts, customerID)
	params.SupplierBusinessCode = cmp.Or(params.SupplierBusinessCode, call.config.business)
	call.check(params.check)
	body := agreementJSON{
		params.RespondByTimeMinutes, params.PayeeReference, params.SupplierBusinessCode, params.CreationType,
		params.Payment.wire(), params.Terms.wire(), params.Payer.wire(),
	}
	call.reference, call.body = params.PayeeReference, body
	call.kept, call.intent = body.intent(customerID)
	return sendAbout(ctx, call, func(answered *Agreement) error {
		if len(body.differs(answered, customerID)) > 0 {
			return errNotAsked
		}
		return nil
	})
}

// Get returns an agreement.
//
// GET /payto-agreements/{agreementToken}. An unknown token is an [APIError] that
// matches [ErrNotFound].
func (s *PayToService) Get(ctx context.Context, agreementToken string, opts ...CallOption) (*Agreement, error) {
	return get[Agreement](ctx, s.client, "PayTo.Get", opts, agreementToken)
}

// ListAgreementsParams narrows a list of agreements; the zero value lists all.
type ListAgreementsParams struct {
	SupplierBusinessCode string          `url:"supplierBusinessCode,omitempty"`
	Status               AgreementStatus `url:"status,omitempty"`
}

// List returns the agreements of a customer.
//
// GET /customers/{customerId}/payto-agreements.
func (s *PayToService) List(customerID string, params ListAgreementsParams, opts ...CallOption) List[Agreement] {
	return list[Agreement](s.client, "PayTo.List", params, nil, opts, customerID)
}
