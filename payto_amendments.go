package quickstream

import (
	"context"

	"github.com/shopspring/decimal"
)

// UnilateralDetails is an editable copy, from [Agreement.Details], of what AmendUnilaterally can
// change. An empty text removes the field from the agreement.
type UnilateralDetails struct {
	// Description has up to 140 characters. Optional.
	Description string
	// PayeeReference has up to 35 characters.
	PayeeReference string

	agreement *Agreement // that the copy is of
}

// BilateralTerms is an editable copy, from [Agreement.Terms], of what AmendBilaterally can change.
// A nil pointer, a zero Date or an empty text removes the field from the agreement.
type BilateralTerms struct {
	// RespondByTimeMinutes is how long the payer has to answer: at most 7200 (5 days), the default.
	RespondByTimeMinutes *int64
	// EndDate is required without AutomaticRenewal.
	EndDate Date
	// AutomaticRenewal is true for an agreement without an end.
	AutomaticRenewal bool
	// AdditionalInformation has up to 140 characters. Optional.
	AdditionalInformation string
	// AgreementTermsParams says how much may be taken and how often.
	AgreementTermsParams

	agreement *Agreement // that the copy is of
}

// Details returns a copy of what AmendUnilaterally can change. An agreement without payment
// details, supplier business code or token is a [ValidationError], because the service removes what
// an amendment omits.
func (a *Agreement) Details() (*UnilateralDetails, error) {
	if err := a.checkComplete("Agreement.Details", func(f *findings) {
		f.require(a.PayeeDetails != nil && a.PayeeDetails.SupplierBusinessCode != "", "unilateralAmendment.supplierBusinessCode",
			"unilateralAmendment.supplierBusinessCode", "must be the agreement's; read the agreement with PayTo.Get")
	}); err != nil {
		return nil, err
	}
	now := *a
	return &UnilateralDetails{Description: a.PaymentDetails.Description, PayeeReference: a.PayeeReference, agreement: &now}, nil
}

// Terms returns a copy of what AmendBilaterally can change; unknown members of payment details and
// terms are sent unchanged. An agreement without payment details, payment terms or token is a
// [ValidationError], as in Details.
func (a *Agreement) Terms() (*BilateralTerms, error) {
	if err := a.checkComplete("Agreement.Terms", func(f *findings) {
		f.require(a.PaymentTerms != nil,
			"amendment.paymentTerms.required", "paymentTerms", "is required: the amendment would remove what it holds")
	}); err != nil {
		return nil, err
	}
	now, details, terms := *a, a.PaymentDetails, a.PaymentTerms
	return &BilateralTerms{
		EndDate: details.EndDate, AutomaticRenewal: details.AutomaticRenewal, AdditionalInformation: details.AdditionalInformation,
		AgreementTermsParams: AgreementTermsParams{
			Frequency: terms.Frequency, Type: terms.Type,
			NumberOfPaymentsPermitted: copied(terms.NumberOfPaymentsPermitted), PointInTime: copied(terms.PointInTime),
			FirstPaymentAmount: valueOf(terms.FirstPaymentAmount), LastPaymentAmount: valueOf(terms.LastPaymentAmount),
			PaymentAmount: valueOf(terms.PaymentAmount), MaximumPaymentAmount: valueOf(terms.MaximumPaymentAmount),
			FirstPaymentDue: terms.FirstPaymentDue, LastPaymentDue: terms.LastPaymentDue,
		},
		agreement: &now,
	}, nil
}

func (a *Agreement) checkComplete(operation Operation, checks func(*findings)) error {
	if a == nil || a.AgreementToken == "" {
		return missingAgreement(operation)
	}
	var f findings
	f.require(a.PaymentDetails != nil,
		"amendment.paymentDetails.required", "paymentDetails", "is required: the amendment would remove what it holds")
	checks(&f)
	if f.list == nil {
		return nil
	}
	return &ValidationError{Operation: operation, Findings: f.list}
}

func missingAgreement(operation Operation) error {
	return &ValidationError{Operation: operation, Findings: []Finding{{
		Rule: "amendment.agreement.required", Path: "agreementToken", Message: "the agreement as it stands is required",
	}}}
}

func copied(n *int64) *int64 {
	if n == nil {
		return nil
	}
	return new(*n)
}

func valueOf(a *Amount) *decimal.Decimal {
	if a == nil {
		return nil
	}
	return new(a.Amount)
}

func (d *UnilateralDetails) wire() *unilateralAmendmentJSON {
	return &unilateralAmendmentJSON{d.Description, d.PayeeReference, d.agreement.PayeeDetails.SupplierBusinessCode}
}

func (t *BilateralTerms) wire() *bilateralAmendmentJSON {
	return &bilateralAmendmentJSON{
		RespondByTimeMinutes: t.RespondByTimeMinutes,
		PaymentDetails: agreementPaymentJSON{
			EndDate: t.EndDate, AutomaticRenewal: &t.AutomaticRenewal, AdditionalInformation: t.AdditionalInformation,
		},
		PaymentTerms: t.AgreementTermsParams.wire(),
		agreement:    t.agreement.Raw(),
	}
}

// AgreementReasonCode is the reason for a change of an agreement's status.
type AgreementReasonCode string

// The reason codes. Payments have another code set: a closed account is AC04 here and AC05 there.
const (
	AgreementReasonClosedAccount     AgreementReasonCode = "AC04" // suspend, cancel
	AgreementReasonInitiatingParty   AgreementReasonCode = "MD17" // requested by the merchant; any change
	AgreementReasonAgreementExpired  AgreementReasonCode = "MD20" // suspend, cancel
	AgreementReasonContractAmended   AgreementReasonCode = "CTAM" // any change
	AgreementReasonContractCancelled AgreementReasonCode = "CTCA" // by the payer; suspend, cancel
	AgreementReasonContractExpired   AgreementReasonCode = "CTEX" // suspend, cancel
	AgreementReasonFinalCollection   AgreementReasonCode = "MCFC" // suspend
	AgreementReasonOnceOffCollection AgreementReasonCode = "MCOC" // suspend
	AgreementReasonUnsuccessful      AgreementReasonCode = "MSUC" // 7 consecutive unsuccessful collections; suspend
	AgreementReasonNoAnswer          AgreementReasonCode = "NOAS" // from the customer; any change
)

// AgreementReason is the reason for a change of an agreement's status.
type AgreementReason struct {
	// Code is required to suspend and to cancel, and optional to reactivate.
	Code AgreementReasonCode
	// Description has up to 256 characters. Optional.
	Description string
}

// AgreementChange is a change of an agreement, for Plan: edited [UnilateralDetails] or
// [BilateralTerms], or the result of a Changing function.
type AgreementChange interface {
	patch(operation Operation) (agreementChange, error)
}

type agreementChange struct {
	agreementToken string
	body           patchJSON
}

func (c agreementChange) patch(Operation) (agreementChange, error) { return c, nil }

// MarshalJSON returns an error, like that of an AccountSource.
func (agreementChange) MarshalJSON() ([]byte, error) { return nil, errSealed }

// ChangingRecall is the change of Recall.
func ChangingRecall(agreementToken string) AgreementChange {
	return agreementChange{agreementToken: agreementToken, body: patchJSON{UpdateType: updateRecall, Recall: &statusCodeJSON{AgreementStatusCancelled}}}
}

// ChangingStatus is the change of Suspend, Reactivate and Cancel: to [AgreementStatusSuspended],
// [AgreementStatusActive] or [AgreementStatusCancelled].
func ChangingStatus(agreementToken string, to AgreementStatus, reason AgreementReason) AgreementChange {
	amendment := &statusAmendmentJSON{to, reason.Code, reason.Description}
	return agreementChange{agreementToken: agreementToken, body: patchJSON{UpdateType: updateStatus, StatusAmendment: amendment}}
}

// ChangingRecallAmendment is the change of RecallAmendment.
func ChangingRecallAmendment(agreementToken string) AgreementChange {
	return agreementChange{agreementToken: agreementToken, body: patchJSON{UpdateType: updateRecallAmendment}}
}

func (d *UnilateralDetails) patch(operation Operation) (agreementChange, error) {
	if d == nil || d.agreement == nil {
		return agreementChange{}, missingAgreement(operation)
	}
	return agreementChange{d.agreement.AgreementToken, patchJSON{UpdateType: updateUnilateral, UnilateralAmendment: d.wire()}}, nil
}

func (t *BilateralTerms) patch(operation Operation) (agreementChange, error) {
	if t == nil || t.agreement == nil {
		return agreementChange{}, missingAgreement(operation)
	}
	return agreementChange{t.agreement.AgreementToken, patchJSON{UpdateType: updateBilateral, BilateralAmendment: t.wire()}}, nil
}

// Recall withdraws an agreement that the payer has not answered.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_PAYTO_AGREEMENT). An agreement that is not
// pending matches [ErrInvalid], an unknown one [ErrNotFound]. After an [UnknownOutcomeError] use
// ResumeChange.
func (s *PayToService) Recall(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.change(ctx, OperationRecallAgreement, ChangingRecall(agreementToken), opts)
}

// Suspend stops payments on an active agreement until Reactivate.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT). An agreement that is neither active
// nor suspended matches [ErrInvalid], an unknown one [ErrNotFound]. After an [UnknownOutcomeError]
// use ResumeChange.
func (s *PayToService) Suspend(ctx context.Context, agreementToken string, reason AgreementReason, opts ...CallOption) error {
	return s.change(ctx, OperationSuspendAgreement, ChangingStatus(agreementToken, AgreementStatusSuspended, reason), opts)
}

// Reactivate allows payments on a suspended agreement again. The reason is optional.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT). Errors as for Suspend.
func (s *PayToService) Reactivate(ctx context.Context, agreementToken string, reason AgreementReason, opts ...CallOption) error {
	return s.change(ctx, OperationReactivateAgreement, ChangingStatus(agreementToken, AgreementStatusActive, reason), opts)
}

// Cancel ends an active or suspended agreement for good. Use Recall before the payer has answered.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT). Errors as for Suspend.
func (s *PayToService) Cancel(ctx context.Context, agreementToken string, reason AgreementReason, opts ...CallOption) error {
	return s.change(ctx, OperationCancelAgreement, ChangingStatus(agreementToken, AgreementStatusCancelled, reason), opts)
}

// AmendUnilaterally changes an agreement at once. Details is an edited copy from
// [Agreement.Details]; read the agreement just before, because later changes by others are undone.
// Details made without an agreement are a [ValidationError].
//
// PATCH /payto-agreements/{agreementToken} (UNILATERAL_AMENDMENT). Errors as for Suspend.
func (s *PayToService) AmendUnilaterally(ctx context.Context, details *UnilateralDetails, opts ...CallOption) error {
	return s.change(ctx, OperationAmendUnilaterally, details, opts)
}

// AmendBilaterally asks the payer to agree to new terms, an edited copy from [Agreement.Terms];
// read the agreement just before. HasPendingBilateralAmendment is true until the payer answers,
// RecallAmendment withdraws the amendment, or the time to respond has passed. Terms made without an
// agreement are a [ValidationError].
//
// PATCH /payto-agreements/{agreementToken} (BILATERAL_AMENDMENT). Errors as for Suspend.
func (s *PayToService) AmendBilaterally(ctx context.Context, terms *BilateralTerms, opts ...CallOption) error {
	return s.change(ctx, OperationAmendBilaterally, terms, opts)
}

// RecallAmendment withdraws a bilateral amendment that the payer has not answered.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_BILATERAL_AMENDMENT). Errors as for Suspend. No
// pending amendment matches [ErrInvalid].
func (s *PayToService) RecallAmendment(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.change(ctx, OperationRecallAmendment, ChangingRecallAmendment(agreementToken), opts)
}

// Plan plans a change of an agreement, for Submit. It sends nothing.
func (s *PayToService) Plan(ctx context.Context, change AgreementChange, opts ...CallOption) (Intent, error) {
	return s.begin("", change, opts).plan(ctx)
}

// Submit sends a planned change once: see [TransactionsService.Submit].
//
// PATCH /payto-agreements/{agreementToken}. Before the claim the error is an [UnknownOutcomeError],
// and then as for the intent's method.
func (s *PayToService) Submit(ctx context.Context, intent Intent, claim Claim, opts ...CallOption) error {
	body, err := intent.change()
	call := s.patch(body.operation(), intent.Target, opts)
	call.refuse(err)
	call.changes(intent.Target, intent.Request)
	ctx = call.submits(ctx, intent, claim, intent.Operation)
	call.check(body.check)
	return call.sendChange(ctx, intent.Target)
}
