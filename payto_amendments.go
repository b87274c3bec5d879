package quickstream

import (
	"context"
	"net/http"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// ReasonCode says why the status of an agreement is changed.
type ReasonCode string

// The reason codes. Payments have a code set of their own: a closed account is
// AC04 here and AC05 there.
const (
	ReasonClosedAccount         ReasonCode = "AC04" // suspend, cancel
	ReasonInitiatingParty       ReasonCode = "MD17" // requested by the merchant; any change
	ReasonAgreementExpired      ReasonCode = "MD20" // suspend, cancel
	ReasonContractAmended       ReasonCode = "CTAM" // any change
	ReasonContractCancelled     ReasonCode = "CTCA" // by the payer; suspend, cancel
	ReasonContractExpired       ReasonCode = "CTEX" // suspend, cancel
	ReasonFinalCollection       ReasonCode = "MCFC" // suspend
	ReasonOnceOffCollection     ReasonCode = "MCOC" // suspend
	ReasonUnsuccessfulCollected ReasonCode = "MSUC" // 7 consecutive unsuccessful collections; suspend
	ReasonNoAnswer              ReasonCode = "NOAS" // from the customer; any change
)

// StatusReason says why the status of an agreement is changed.
type StatusReason struct {
	// Code is required to suspend and to cancel, and optional to reactivate.
	Code ReasonCode
	// Description has up to 256 characters. Optional.
	Description string
}

// Change says what an amendment does to an optional field: the zero Change keeps
// it, Set replaces it, Remove takes it out of the agreement.
type Change[T any] struct {
	to     *T
	remove bool
}

// Set returns the change that gives a field a value.
func Set[T any](value T) Change[T] { return Change[T]{to: &value} }

// Remove returns the change that takes a field out of the agreement.
func Remove[T any]() Change[T] { return Change[T]{remove: true} }

// apply returns the field after the change.
func (c Change[T]) apply(current *T) *T {
	switch {
	case c.remove:
		return nil
	case c.to != nil:
		return c.to
	}
	return current
}

func (c Change[T]) applyValue(current T) T {
	if field := c.apply(&current); field != nil {
		return *field
	}
	var none T
	return none
}

type patchJSON struct {
	UpdateType          string                   `json:"updateType"`
	Recall              *statusCodeJSON          `json:"recallPayToAgreement,omitempty"`
	StatusAmendment     *statusAmendmentJSON     `json:"statusAmendment,omitempty"`
	UnilateralAmendment *unilateralAmendmentJSON `json:"unilateralAmendment,omitempty"`
	BilateralAmendment  *bilateralAmendmentJSON  `json:"bilateralAmendment,omitempty"`
}

type statusCodeJSON struct {
	StatusCode AgreementStatus `json:"statusCode"`
}

type statusAmendmentJSON struct {
	StatusCode        AgreementStatus `json:"statusCode"`
	ReasonCode        ReasonCode      `json:"reasonCode,omitempty"`
	ReasonDescription string          `json:"reasonDescription,omitempty"`
}

type unilateralAmendmentJSON struct {
	Description          string `json:"description,omitempty"`
	PayeeReference       string `json:"payeeReference,omitempty"`
	SupplierBusinessCode string `json:"supplierBusinessCode,omitempty"`
}

type bilateralAmendmentJSON struct {
	RespondByTimeMinutes *int64               `json:"respondByTimeMinutes,omitempty"`
	PaymentDetails       agreementPaymentJSON `json:"paymentDetails"`
	PaymentTerms         agreementTermsJSON   `json:"paymentTerms"`
}

// patch makes a PATCH /payto-agreements/{agreementToken}, whose success has no
// body. There may be nothing to check.
func (s *PayToService) patch(ctx context.Context, name, agreementToken string, body patchJSON, checks func(*findings), opts []CallOption) error {
	call, err := s.client.begin(operation{
		name: name, method: http.MethodPatch, route: "/payto-agreements/{agreementToken}", class: transport.Change,
		findOut: "read the agreement with PayTo.Get, PayTo.ReconcileStatus, PayTo.ReconcileUnilateral or PayTo.ReconcileBilateral: it is as desired now or not, whoever made it so",
	}, opts, agreementToken)
	if err != nil {
		return err
	}
	if checks != nil {
		if err := call.check(checks); err != nil {
			return err
		}
	}
	call.body = body
	return call.do(ctx, func(int, []byte) error { return nil })
}

// Recall takes back an agreement that the payer has not answered yet.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_PAYTO_AGREEMENT) with the
// secret key. An agreement that is not pending is an APIError that matches
// ErrInvalid, an unknown one matches ErrNotFound. When the answer is lost the
// error is an UnknownOutcomeError: Get shows whether the agreement is cancelled.
func (s *PayToService) Recall(ctx context.Context, agreementToken string, opts ...CallOption) error {
	body := patchJSON{UpdateType: "RECALL_PAYTO_AGREEMENT", Recall: &statusCodeJSON{AgreementStatusCancelled}}
	return s.patch(ctx, "PayTo.Recall", agreementToken, body, nil, opts)
}

// Suspend stops payments against an active agreement until Reactivate.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT) with the secret
// key. An agreement that is neither active nor suspended is an APIError that
// matches ErrInvalid. When the answer is lost the error is an
// UnknownOutcomeError: Get shows the status.
func (s *PayToService) Suspend(ctx context.Context, agreementToken string, reason StatusReason, opts ...CallOption) error {
	return s.amendStatus(ctx, "PayTo.Suspend", agreementToken, AgreementStatusSuspended, reason, opts)
}

// Reactivate allows payments against a suspended agreement again. The reason is
// optional.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT) with the secret
// key, and errors as for Suspend.
func (s *PayToService) Reactivate(ctx context.Context, agreementToken string, reason StatusReason, opts ...CallOption) error {
	return s.amendStatus(ctx, "PayTo.Reactivate", agreementToken, AgreementStatusActive, reason, opts)
}

// Cancel ends an active or suspended agreement for good.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT) with the secret
// key, and errors as for Suspend. An agreement that the payer has not answered is
// taken back with Recall instead.
func (s *PayToService) Cancel(ctx context.Context, agreementToken string, reason StatusReason, opts ...CallOption) error {
	return s.amendStatus(ctx, "PayTo.Cancel", agreementToken, AgreementStatusCancelled, reason, opts)
}

func (s *PayToService) amendStatus(ctx context.Context, name, agreementToken string, to AgreementStatus, reason StatusReason, opts []CallOption) error {
	amendment := &statusAmendmentJSON{to, reason.Code, reason.Description}
	return s.patch(ctx, name, agreementToken, patchJSON{UpdateType: "STATUS_AMENDMENT", StatusAmendment: amendment}, func(f *findings) {
		f.within("statusAmendment", amendment.check)
	}, opts)
}

// UnilateralAmendmentParams holds the changes that need no consent of the payer.
type UnilateralAmendmentParams struct {
	// Description has up to 140 characters.
	Description Change[string]
	// PayeeReference has up to 35 characters.
	PayeeReference Change[string]
}

// AmendUnilaterally changes an agreement at once. The service removes every
// optional field that an amendment leaves out, which is why the agreement as it
// stands is needed: read it with Get just before.
//
// PATCH /payto-agreements/{agreementToken} (UNILATERAL_AMENDMENT) with the secret
// key, and errors as for Suspend.
func (s *PayToService) AmendUnilaterally(ctx context.Context, current *Agreement, changes UnilateralAmendmentParams, opts ...CallOption) error {
	if current == nil {
		return missingAgreement("PayTo.AmendUnilaterally")
	}
	amendment := changes.wire(current)
	body := patchJSON{UpdateType: "UNILATERAL_AMENDMENT", UnilateralAmendment: &amendment}
	return s.patch(ctx, "PayTo.AmendUnilaterally", current.AgreementToken, body, func(f *findings) {
		current.checkAmendable(f)
		f.within("unilateralAmendment", amendment.check)
	}, opts)
}

func (c UnilateralAmendmentParams) wire(now *Agreement) unilateralAmendmentJSON {
	body := unilateralAmendmentJSON{PayeeReference: c.PayeeReference.applyValue(now.PayeeReference)}
	if now.PaymentDetails != nil {
		body.Description = now.PaymentDetails.Description
	}
	body.Description = c.Description.applyValue(body.Description)
	if now.PayeeDetails != nil {
		body.SupplierBusinessCode = now.PayeeDetails.SupplierBusinessCode
	}
	return body
}

// BilateralAmendmentParams holds the changes that the payer has to agree to.
type BilateralAmendmentParams struct {
	// RespondByTimeMinutes is how long the payer has to answer: at most 7200,
	// which is what nil means.
	RespondByTimeMinutes *int64
	// AutomaticRenewal, Frequency and Type are kept when nil: an agreement always
	// has them.
	AutomaticRenewal          *bool
	EndDate                   Change[Date]
	AdditionalInformation     Change[string]
	Frequency                 *PayToFrequency
	Type                      *PayToAgreementType
	NumberOfPaymentsPermitted Change[int64]
	PointInTime               Change[int64]
	FirstPaymentAmount        Change[decimal.Decimal]
	LastPaymentAmount         Change[decimal.Decimal]
	PaymentAmount             Change[decimal.Decimal]
	MaximumPaymentAmount      Change[decimal.Decimal]
	FirstPaymentDue           Change[Date]
	LastPaymentDue            Change[Date]
}

// AmendBilaterally asks the payer to agree to changed terms. Until the payer has
// answered, HasPendingBilateralAmendment is true and RecallAmendment takes the
// amendment back; the service does so itself when the time to respond is over.
// As with AmendUnilaterally, fields that are left out would be removed, so that
// the agreement as it stands is needed.
//
// PATCH /payto-agreements/{agreementToken} (BILATERAL_AMENDMENT) with the secret
// key, and errors as for Suspend.
func (s *PayToService) AmendBilaterally(ctx context.Context, current *Agreement, changes BilateralAmendmentParams, opts ...CallOption) error {
	if current == nil {
		return missingAgreement("PayTo.AmendBilaterally")
	}
	amendment := changes.apply(current)
	body := patchJSON{UpdateType: "BILATERAL_AMENDMENT", BilateralAmendment: amendment.wire()}
	return s.patch(ctx, "PayTo.AmendBilaterally", current.AgreementToken, body, func(f *findings) {
		current.checkAmendable(f)
		f.within("bilateralAmendment", amendment.check)
	}, opts)
}

// bilateralAmendment holds what a bilateral amendment can change, as it would be.
type bilateralAmendment struct {
	respondByTimeMinutes *int64
	payment              AgreementPaymentParams
	terms                AgreementTermsParams
}

func (a bilateralAmendment) wire() *bilateralAmendmentJSON {
	details := a.payment.wire()
	return &bilateralAmendmentJSON{
		RespondByTimeMinutes: a.respondByTimeMinutes,
		PaymentDetails: agreementPaymentJSON{
			EndDate: details.EndDate, AutomaticRenewal: details.AutomaticRenewal, AdditionalInformation: details.AdditionalInformation,
		},
		PaymentTerms: a.terms.wire(),
	}
}

func (c BilateralAmendmentParams) apply(now *Agreement) bilateralAmendment {
	return bilateralAmendment{
		respondByTimeMinutes: c.RespondByTimeMinutes, payment: c.payment(now.PaymentDetails), terms: c.terms(now.PaymentTerms),
	}
}

func (c BilateralAmendmentParams) payment(now *AgreementPayment) AgreementPaymentParams {
	if now == nil {
		now = &AgreementPayment{}
	}
	p := AgreementPaymentParams{
		StartDate: now.StartDate, AutomaticRenewal: now.AutomaticRenewal, EndDate: c.EndDate.applyValue(now.EndDate),
		AdditionalInformation: c.AdditionalInformation.applyValue(now.AdditionalInformation),
	}
	if c.AutomaticRenewal != nil {
		p.AutomaticRenewal = *c.AutomaticRenewal
	}
	return p
}

func (c BilateralAmendmentParams) terms(now *AgreementTerms) AgreementTermsParams {
	if now == nil {
		now = &AgreementTerms{}
	}
	t := AgreementTermsParams{
		Frequency: now.Frequency, Type: now.Type,
		NumberOfPaymentsPermitted: c.NumberOfPaymentsPermitted.apply(now.NumberOfPaymentsPermitted),
		PointInTime:               c.PointInTime.apply(now.PointInTime),
		FirstPaymentAmount:        c.FirstPaymentAmount.apply(valueOf(now.FirstPaymentAmount)),
		LastPaymentAmount:         c.LastPaymentAmount.apply(valueOf(now.LastPaymentAmount)),
		PaymentAmount:             c.PaymentAmount.apply(valueOf(now.PaymentAmount)),
		MaximumPaymentAmount:      c.MaximumPaymentAmount.apply(valueOf(now.MaximumPaymentAmount)),
		FirstPaymentDue:           c.FirstPaymentDue.applyValue(now.FirstPaymentDue),
		LastPaymentDue:            c.LastPaymentDue.applyValue(now.LastPaymentDue),
	}
	if c.Frequency != nil {
		t.Frequency = *c.Frequency
	}
	if c.Type != nil {
		t.Type = *c.Type
	}
	return t
}

func valueOf(a *Amount) *decimal.Decimal {
	if a == nil {
		return nil
	}
	return &a.Amount
}

// RecallAmendment takes back a bilateral amendment that the payer has not
// answered yet.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_BILATERAL_AMENDMENT) with the
// secret key. When no amendment is pending the error is an APIError that matches
// ErrInvalid.
func (s *PayToService) RecallAmendment(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.patch(ctx, "PayTo.RecallAmendment", agreementToken, patchJSON{UpdateType: "RECALL_BILATERAL_AMENDMENT"}, nil, opts)
}

func missingAgreement(operation string) error {
	return &ValidationError{Operation: operation, Findings: []Finding{{
		Rule: "amendment.agreement.required", Path: "agreementToken", Message: "the agreement as it stands is required",
	}}}
}
