package quickstream

import (
	"cmp"
	"context"
	"errors"
	"net/netip"

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
	// CreationType is agreementCreationType: [AgreementCreationTypeAuthorised] if empty.
	CreationType AgreementCreationType
	// Payment is paymentDetails, Terms is paymentTerms, and Payer is payerDetails. They are required.
	Payment AgreementPaymentDetails
	Terms   AgreementTermsParams
	Payer   AgreementPayerParams
}

// AgreementPaymentDetails is the paymentDetails of an agreement, in requests and in answers: its
// purpose and how long it lasts. Whether Purpose, Description and StartDate are required, and
// whether StartDate may be in the past, is not published.
type AgreementPaymentDetails struct {
	Purpose AgreementPurpose `json:"purpose,omitempty"`
	// Description has up to 140 characters.
	Description string `json:"description,omitempty"`
	// StartDate is the first day for payments.
	StartDate Date `json:"startDate,omitzero"`
	// EndDate is required without AutomaticRenewal, and absent with it. An EndDate before StartDate
	// is sent: the contract does not refuse it.
	EndDate Date `json:"endDate,omitzero"`
	// AutomaticRenewal is true for an agreement without an end.
	AutomaticRenewal bool `json:"automaticRenewal"`
	// AdditionalInformation has up to 140 characters. Optional. With
	// [AgreementCreationTypeMigratedDDR] it is the direct debit's 6-digit APCA number, and
	// required.
	AdditionalInformation string `json:"additionalInformation,omitempty"`
}

// AgreementTermsParams says how much may be taken and how often. Amounts have at most two decimals
// and are in Australian dollars.
type AgreementTermsParams struct {
	// Frequency is how often payments are made. Whether it is required is not published.
	Frequency AgreementFrequency
	// NumberOfPaymentsPermitted has at most 18 digits. With [AgreementFrequencyAdhoc] it is
	// required; only [PayToService.Create] checks that, because an agreement that is amended may show none. A public client
	// creates such agreements without it, which [WithoutRule] of
	// "agreement.numberOfPaymentsPermitted.required" allows; unconfirmed.
	NumberOfPaymentsPermitted *int64
	// PointInTime says when in the period payments are made. Its range depends on the frequency; its unit is not published.
	// Optional; absent with [AgreementFrequencyAdhoc].
	PointInTime *int64
	// Type is agreementType: how the amounts are set. Whether it is required is not published.
	Type AgreementType
	// LastPaymentAmount is required with [AgreementTypeBalloon], and the first is optional.
	FirstPaymentAmount *decimal.Decimal
	LastPaymentAmount  *decimal.Decimal
	// PaymentAmount is the amount with [AgreementTypeFixed], and the least amount otherwise.
	// Whether it is required is not published: fixed terms without it are sent.
	PaymentAmount *decimal.Decimal
	// MaximumPaymentAmount is the largest amount of one payment. Optional.
	MaximumPaymentAmount *decimal.Decimal
	// Currency is [CurrencyAUD], also if empty. The due dates are optional.
	Currency        Currency
	FirstPaymentDue Date
	LastPaymentDue  Date
}

// AgreementPayerParams identifies the payer: by BSB and account number, or by PayID and its type.
type AgreementPayerParams struct {
	// Type is payerType. Whether it, ID and Name are required is not published.
	Type PayerType
	// ID is payerId, the merchant's unique identifier of the payer.
	ID string
	// Name is payerName. UltimateName is ultimatePayerName: Name if empty.
	Name         string
	UltimateName string
	// Reference is payerReference, the merchant's reference for the payer. Optional.
	Reference string
	// BSB has 6 digits, AccountNumber 6 to 9.
	BSB           string
	AccountNumber Secret
	PayIDType     PayIDType
	PayID         Secret
}

type agreementJSON struct {
	RespondByTimeMinutes  *int64                  `json:"respondByTimeMinutes,omitempty"`
	PayeeReference        string                  `json:"payeeReference,omitempty"`
	SupplierBusinessCode  string                  `json:"supplierBusinessCode"`
	AgreementCreationType AgreementCreationType   `json:"agreementCreationType,omitempty"`
	PaymentDetails        AgreementPaymentDetails `json:"paymentDetails"`
	PaymentTerms          agreementTermsJSON      `json:"paymentTerms"`
	PayerDetails          payToPayerJSON          `json:"payerDetails"`
}

// agreementTermsJSON is paymentTerms. An amendment takes no deciding member from the agreement's JSON.
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

func (p AgreementTermsParams) wire() agreementTermsJSON {
	return agreementTermsJSON{
		p.Frequency, p.NumberOfPaymentsPermitted, p.PointInTime, p.Type,
		wire.OptionalText(p.FirstPaymentAmount), wire.OptionalText(p.LastPaymentAmount),
		wire.OptionalText(p.PaymentAmount), wire.OptionalText(p.MaximumPaymentAmount),
		cmp.Or(p.Currency, CurrencyAUD), p.FirstPaymentDue, p.LastPaymentDue,
	}
}

func (p AgreementPayerParams) wire() payToPayerJSON {
	return payToPayerJSON{p.Type, p.ID, p.Name, p.UltimateName, p.Reference, p.BSB, p.AccountNumber.text(), p.PayIDType, p.PayID.text()}
}

// withoutSecrets leaves out the payer's account and PayID.
func (b agreementJSON) withoutSecrets() (stored agreementJSON, complete bool) {
	stored = b
	stored.PayerDetails.AccountNumber, stored.PayerDetails.PayID = "", ""
	return stored, stored.PayerDetails == b.PayerDetails
}

// Agreement is a PayTo agreement.
type Agreement struct {
	// AgreementToken identifies the agreement for payments. Store it.
	AgreementToken string          `json:"agreementToken,omitempty" wire:"identifies"`
	Status         AgreementStatus `json:"status,omitempty" wire:"decides"`
	Priority       string          `json:"priority,omitempty"` // UNAT is known
	// RespondByTime is the end of the time in which the payer can answer.
	RespondByTime  Timestamp `json:"respondByTime,omitzero"`
	PayeeReference string    `json:"payeeReference,omitempty" wire:"decides"`
	// HasPendingBilateralAmendment is true until the payer answers a bilateral amendment.
	HasPendingBilateralAmendment bool `json:"hasPendingBilateralAmendment" wire:"decides"`
	// RejectionReason is set with [AgreementStatusRejected].
	RejectionReason string                   `json:"rejectionReason,omitempty"`
	PaymentDetails  *AgreementPaymentDetails `json:"paymentDetails,omitempty" wire:"decides"`
	PaymentTerms    *AgreementTerms          `json:"paymentTerms,omitempty" wire:"decides"`
	PayerDetails    *AgreementPayer          `json:"payerDetails,omitempty" wire:"decides"`
	PayeeDetails    *AgreementPayee          `json:"payeeDetails,omitempty"`
	Links           []Link                   `json:"links,omitempty"`

	envelope
}

// UnmarshalJSON reads an agreement.
func (a *Agreement) UnmarshalJSON(data []byte) error { return decode(data, a) }

// MarshalJSON writes the agreement with its unknown members.
func (a Agreement) MarshalJSON() ([]byte, error) {
	type plain Agreement
	return encode(plain(a), a.envelope)
}

func (a *Agreement) identifier() string { return a.AgreementToken }

// AgreementTerms is the paymentTerms of an agreement: how much may be taken and how often. An amount
// without a number is nil, because 0.00 would be a different term. Type is agreementType.
type AgreementTerms struct {
	Frequency                 AgreementFrequency `json:"frequency,omitempty" wire:"decides"`
	NumberOfPaymentsPermitted *int64             `json:"numberOfPaymentsPermitted,omitempty"`
	PointInTime               *int64             `json:"pointInTime,omitempty"`
	Type                      AgreementType      `json:"agreementType,omitempty" wire:"decides"`
	FirstPaymentAmount        *Amount            `json:"firstPaymentAmount,omitempty" wire:"decides"`
	LastPaymentAmount         *Amount            `json:"lastPaymentAmount,omitempty" wire:"decides"`
	PaymentAmount             *Amount            `json:"paymentAmount,omitempty" wire:"decides"`
	MaximumPaymentAmount      *Amount            `json:"maximumPaymentAmount,omitempty" wire:"decides"`
	FirstPaymentDue           Date               `json:"firstPaymentDue,omitzero"`
	LastPaymentDue            Date               `json:"lastPaymentDue,omitzero"`
}

// AgreementPayer is the payerDetails of an agreement, masked. Type, ID, Name and UltimateName are
// payerType, payerId, payerName and ultimatePayerName; ID is the merchant's.
type AgreementPayer struct {
	// CustomerID is the service's identifier of the customer.
	CustomerID   string    `json:"customerId,omitempty" wire:"identifies"`
	Type         PayerType `json:"payerType,omitempty"`
	ID           string    `json:"payerId,omitempty"`
	Name         string    `json:"payerName,omitempty"`
	UltimateName string    `json:"ultimatePayerName,omitempty"`
	// Reference is paymentReference, which requests call payerReference.
	Reference           string    `json:"paymentReference,omitempty"`
	MaskedAccountNumber string    `json:"maskedAccountNumber,omitempty"`
	PayIDType           PayIDType `json:"payIdType,omitempty"`
	MaskedPayID         string    `json:"maskedPayId,omitempty"`
}

// AgreementPayee is the payeeDetails of an agreement: the merchant's side. Name, UltimateName and ABN
// are payeeName, ultimatePayeeName and payeeAbn.
type AgreementPayee struct {
	SupplierBusinessCode string `json:"supplierBusinessCode,omitempty"`
	Name                 string `json:"payeeName,omitempty"`
	UltimateName         string `json:"ultimatePayeeName,omitempty"`
	ABN                  string `json:"payeeAbn,omitempty"`
	MaskedAccountNumber  string `json:"maskedAccountNumber,omitempty"`
	InitiatorName        string `json:"initiatorName,omitempty"`
	InitiatorLegalName   string `json:"initiatorLegalName,omitempty"`
	InitiatorABN         string `json:"initiatorAbn,omitempty"`
}

// Create asks a payer to agree to payments, in their banking app. The answer usually has
// [AgreementStatusPending]; payments are possible with [AgreementStatusActive].
//
// POST /customers/{customerId}/payto-agreements. Invalid data, and too many attempts with invalid
// PayIDs on one day, match [ErrInvalid]. After an [UnknownOutcomeError] give its [Intent] to
// Resume, which needs a unique payee reference.
func (s *PayToService) Create(ctx context.Context, customerID string, params CreateAgreementParams, opts ...CallOption) (*Agreement, error) {
	call := s.client.begin(OperationCreateAgreement, opts, customerID)
	body := agreementJSON{
		params.RespondByTimeMinutes, params.PayeeReference, cmp.Or(params.SupplierBusinessCode, call.config.business), params.CreationType,
		params.Payment, params.Terms.wire(), params.Payer.wire(),
	}
	call.check(body.check)
	stored, complete := body.withoutSecrets()
	call.reference, call.body, call.stored = params.PayeeReference, body, stored
	call.intent = &Intent{Target: customerID, Reference: body.PayeeReference, OwnReference: body.PayeeReference != "", Complete: complete}

	return sendChecked(ctx, call, func(a *Agreement) error {
		if len(body.compare(a, customerID).facts) > 0 {
			return errNotAsked
		}
		return nil
	})
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
	return s.all(customerID, params, opts).ofParent(customerID, func(a *Agreement) string {
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

// Resume looks up the agreement of a Create whose answer was lost. It returns the customer's only
// agreement that has the intent's payee reference and contradicts nothing in the request. Names do
// not count, nor do terms that only the agreement or only the request has. Agreements do not show
// when they were made, so no other agreement that differs only in these may have the reference. Any
// other result is an [UnknownOutcomeError]; nothing found means "not found yet".
//
// GET /customers/{customerId}/payto-agreements.
func (s *PayToService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Agreement, error) {
	const name Operation = "PayTo.Resume"
	ctx, opts, err := s.client.beginLookUp(ctx, intent, name, opts)
	if err = cmp.Or(err, intent.checkFor(s.client)); err == nil && intent.Operation != OperationCreateAgreement {
		err = errIntentForeign
	}
	if err != nil {
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	wanted, err := requested[agreementJSON](intent)
	if err != nil || wanted.PayeeReference == "" || wanted.PayeeReference != intent.Reference {
		err := errors.New("the intent has no payee reference, without which agreements cannot be distinguished")
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	agreements, err := s.all(intent.Target, ListAgreementsParams{}, opts).ReadAll(ctx)
	if err != nil && !isAbsent(err) {
		return nil, intent.open(name.info(), err, nil)
	}
	var matches, others []Candidate
	for _, agreement := range agreements {
		found := wanted.compare(agreement, intent.Target)
		reasons := reasonsFor(append(found.facts, found.others...))
		switch {
		case len(reasons) == 0 && agreement.PayeeReference != "":
			matches = append(matches, Candidate{Agreement: agreement, Matches: true, Reasons: []string{"it is not the only one"}})
		case len(reasons) == 0:
			others = append(others, Candidate{Agreement: agreement, Reasons: []string{"it carries no payee reference"}})
		case sameText(agreement.PayeeReference, wanted.PayeeReference):
			others = append(others, Candidate{Agreement: agreement, Reasons: reasons})
		}
	}
	if len(matches) == 1 {
		return matches[0].Agreement, nil
	}
	return nil, intent.open(name.info(), nil, append(matches, others...))
}

// CollectParams describes a PayTo payment.
type CollectParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// AgreementToken is the token of an active agreement. Required without NewAgreement.
	AgreementToken string
	// NewAgreement is payToAgreement: an e-commerce or once-off agreement that is created together with
	// the payment. The payer then confirms both.
	NewAgreement *NewAgreementParams
	// EndToEndID is endToEndId, the merchant's identifier of the payment. If empty, a unique one is made.
	EndToEndID string
	// RemittanceInformation1 is a text for the payer. Optional.
	RemittanceInformation1 string
	// FinalPayment is true for the last payment of the agreement. Optional.
	FinalPayment *bool
	// PrincipalAmount is as in [PayParams].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// IPAddress is the customer's public address, for fraud screening, if the customer is paying now over the
	// Internet. Optional.
	IPAddress netip.Addr
	// DebtRepayment is true if the payment repays a debt. Optional.
	DebtRepayment *bool
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// NewAgreementParams describes the agreement that is created with a payment.
type NewAgreementParams struct {
	// SupplierBusinessCode is the payment's if it is empty. Optional.
	SupplierBusinessCode string
	// Purpose and Description, which has up to 140 characters, are those of paymentDetails. Whether
	// Purpose is required is not published; Description is optional.
	Purpose     AgreementPurpose
	Description string
	// Payer is payerDetails: the payer, who is asked to confirm. Required.
	Payer AgreementPayerParams
}

type payToDataJSON struct {
	AgreementToken         string            `json:"agreementToken,omitempty"`
	EndToEndID             string            `json:"endToEndId,omitempty"`
	RemittanceInformation1 string            `json:"remittanceInformation1,omitempty"`
	FinalPayment           *bool             `json:"finalPayment,omitempty"`
	PayToAgreement         *newAgreementJSON `json:"payToAgreement,omitempty"`
}

type newAgreementJSON struct {
	SupplierBusinessCode string `json:"supplierBusinessCode,omitempty"`
	PaymentDetails       struct {
		Purpose     AgreementPurpose `json:"purpose,omitempty"`
		Description string           `json:"description,omitempty"`
	} `json:"paymentDetails"`
	PayerDetails payToPayerJSON `json:"payerDetails"`
}

// Collect takes a PayTo payment. A nil error means that the service accepted it, not that it is
// paid: [Transaction.Outcome] is approved, or usually pending. Wait for its event, or give the
// results to After of package resolve, which says when to look it up.
//
// POST /transactions (PAYMENT). Errors as for Transactions.Pay, such as [DeclinedError],
// [UnknownOutcomeError], [ErrInvalid] and [ErrUnavailable]; a pending payment is no error.
func (s *PayToService) Collect(ctx context.Context, params CollectParams, opts ...CallOption) (*Transaction, error) {
	return s.client.Transactions.send(ctx, params, opts)
}

func (p CollectParams) body() transactionBody {
	data := &payToDataJSON{p.AgreementToken, p.EndToEndID, p.RemittanceInformation1, p.FinalPayment, nil}
	if n := p.NewAgreement; n != nil {
		data.PayToAgreement = &newAgreementJSON{SupplierBusinessCode: n.SupplierBusinessCode, PayerDetails: n.Payer.wire()}
		data.PayToAgreement.PaymentDetails.Purpose, data.PayToAgreement.PaymentDetails.Description = n.Purpose, n.Description
	}
	details := FollowUpDetails{p.SupplierBusinessCode, p.CustomerReferenceNumber, p.PaymentReferenceNumber, p.Comment, p.Metadata}
	body := details.of(TransactionTypePayment, "", p.PrincipalAmount, p.Currency)
	body.IPAddress, body.DebtRepayment, body.PayToData = address(p.IPAddress), p.DebtRepayment, data
	return body
}
