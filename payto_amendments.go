package quickstream

import (
	"context"
)

// ReasonCode says why the status of an agreement is changed.
type ReasonCode string

// The reason codes. Payments have a code set of their own: a closed account is
// AC04 here and AC05 there.
const (
	ReasonCodeClosedAccount     ReasonCode = "AC04" // suspend, cancel
	ReasonCodeInitiatingParty   ReasonCode = "MD17" // requested by the merchant; any change
	ReasonCodeAgreementExpired  ReasonCode = "MD20" // suspend, cancel
	ReasonCodeContractAmended   ReasonCode = "CTAM" // any change
	ReasonCodeContractCancelled ReasonCode = "CTCA" // by the payer; suspend, cancel
	ReasonCodeContractExpired   ReasonCode = "CTEX" // suspend, cancel
	ReasonCodeFinalCollection   ReasonCode = "MCFC" // suspend
	ReasonCodeOnceOffCollection ReasonCode = "MCOC" // suspend
	ReasonCodeUnsuccessful      ReasonCode = "MSUC" // 7 consecutive unsuccessful collections; suspend
	ReasonCodeNoAnswer          ReasonCode = "NOAS" // from the customer; any change
)

// StatusReason says why the status of an agreement is changed.
type StatusReason struct {
	// Code is required to suspend and to cancel, and optional to reactivate.
	Code ReasonCode
	// Description has up to 256 characters. Optional.
	Description string
}

// AgreementChange is a change of an agreement that Plan takes: an edited
// [UnilateralDetails] or [BilateralTerms], or what one of the functions returns that
// begin with Changing.
type AgreementChange interface {
	patch(operation Operation) (agreementChange, error)
}

// agreementChange is a change that is about to be sent.
type agreementChange struct {
	agreementToken string
	body           patchJSON
	check          func(*findings) // nil for nothing
}

func (c agreementChange) patch(Operation) (agreementChange, error) { return c, nil }

// MarshalJSON returns an error, as that of an AccountSource does.
func (agreementChange) MarshalJSON() ([]byte, error) { return nil, errSealed }

// ChangingRecall is the change that Recall makes.
func ChangingRecall(agreementToken string) AgreementChange {
	return agreementChange{agreementToken: agreementToken, body: patchJSON{UpdateType: updateRecall, Recall: &statusCodeJSON{AgreementStatusCancelled}}}
}

// ChangingStatus is the change that Suspend, Reactivate and Cancel make: to
// [AgreementStatusSuspended], [AgreementStatusActive] or [AgreementStatusCancelled].
func ChangingStatus(agreementToken string, to AgreementStatus, reason StatusReason) AgreementChange {
	amendment := &statusAmendmentJSON{to, reason.Code, reason.Description}
	return agreementChange{agreementToken, patchJSON{UpdateType: updateStatus, StatusAmendment: amendment}, func(f *findings) {
		f.within("statusAmendment", amendment.check)
	}}
}

// ChangingRecallAmendment is the change that RecallAmendment makes.
func ChangingRecallAmendment(agreementToken string) AgreementChange {
	return agreementChange{agreementToken: agreementToken, body: patchJSON{UpdateType: updateRecallAmendment}}
}

func (d *UnilateralDetails) patch(operation Operation) (agreementChange, error) {
	if d == nil || d.agreement == nil {
		return agreementChange{}, missingAgreement(operation)
	}
	return agreementChange{d.agreement.AgreementToken, patchJSON{UpdateType: updateUnilateral, UnilateralAmendment: d.wire()}, d.check}, nil
}

func (t *BilateralTerms) patch(operation Operation) (agreementChange, error) {
	if t == nil || t.agreement == nil {
		return agreementChange{}, missingAgreement(operation)
	}
	return agreementChange{t.agreement.AgreementToken, patchJSON{UpdateType: updateBilateral, BilateralAmendment: t.wire()}, t.check}, nil
}

// Recall takes back an agreement that the payer has not answered yet.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_PAYTO_AGREEMENT). An agreement that
// is not pending is an [APIError] that matches
// [ErrInvalid], an unknown one matches [ErrNotFound]. When the answer is lost the
// error is an [UnknownOutcomeError]: ResumeChange shows whether the agreement is
// cancelled.
func (s *PayToService) Recall(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.change(ctx, OperationRecallAgreement, ChangingRecall(agreementToken), opts)
}

// Suspend stops payments against an active agreement until Reactivate.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT) with the secret
// key. An agreement that is neither active nor suspended is an [APIError] that
// matches [ErrInvalid]. When the answer is lost the error is an
// [UnknownOutcomeError]: ResumeChange shows the status.
func (s *PayToService) Suspend(ctx context.Context, agreementToken string, reason StatusReason, opts ...CallOption) error {
	return s.change(ctx, OperationSuspendAgreement, ChangingStatus(agreementToken, AgreementStatusSuspended, reason), opts)
}

// Reactivate allows payments against a suspended agreement again. The reason is
// optional.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT) with the secret
// key, and errors as for Suspend.
func (s *PayToService) Reactivate(ctx context.Context, agreementToken string, reason StatusReason, opts ...CallOption) error {
	return s.change(ctx, OperationReactivateAgreement, ChangingStatus(agreementToken, AgreementStatusActive, reason), opts)
}

// Cancel ends an active or suspended agreement for good.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT) with the secret
// key, and errors as for Suspend. An agreement that the payer has not answered is
// taken back with Recall instead.
func (s *PayToService) Cancel(ctx context.Context, agreementToken string, reason StatusReason, opts ...CallOption) error {
	return s.change(ctx, OperationCancelAgreement, ChangingStatus(agreementToken, AgreementStatusCancelled, reason), opts)
}

// AmendUnilaterally changes an agreement at once to what the details say. They
// are an edited copy from [Agreement.Details], best of an agreement that was read
// just before: what somebody else has changed since is changed back.
//
// PATCH /payto-agreements/{agreementToken} (UNILATERAL_AMENDMENT) with the secret
// key, and errors as for Suspend. Details that are not from an agreement are a
// [ValidationError].
func (s *PayToService) AmendUnilaterally(ctx context.Context, details *UnilateralDetails, opts ...CallOption) error {
	return s.change(ctx, OperationAmendUnilaterally, details, opts)
}

// AmendBilaterally asks the payer to agree to the terms, which are an edited copy
// from [Agreement.Terms], best of an agreement that was read just before. Until the
// payer has answered, HasPendingBilateralAmendment is true and RecallAmendment
// takes the amendment back; the service does so itself when the time to respond is
// over.
//
// PATCH /payto-agreements/{agreementToken} (BILATERAL_AMENDMENT) with the secret
// key, and errors as for Suspend. Terms that are not from an agreement are a
// [ValidationError].
func (s *PayToService) AmendBilaterally(ctx context.Context, terms *BilateralTerms, opts ...CallOption) error {
	return s.change(ctx, OperationAmendBilaterally, terms, opts)
}

// RecallAmendment takes back a bilateral amendment that the payer has not
// answered yet.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_BILATERAL_AMENDMENT). When no
// amendment is pending the error is an [APIError] that matches
// [ErrInvalid].
func (s *PayToService) RecallAmendment(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.change(ctx, OperationRecallAmendment, ChangingRecallAmendment(agreementToken), opts)
}

// Plan plans a change of an agreement, for Submit. It sends nothing.
func (s *PayToService) Plan(ctx context.Context, change AgreementChange, opts ...CallOption) (Intent, error) {
	return s.begin("", change, opts).plan(ctx)
}

// Submit sends a change that Plan has made, once: see [TransactionsService.Submit].
//
// PATCH /payto-agreements/{agreementToken}, and errors as for the method that the
// intent names.
func (s *PayToService) Submit(ctx context.Context, intent Intent, claim Claim, opts ...CallOption) error {
	body, err := intent.change()
	call := s.patch(body.operation(), intent.Target, opts)
	call.refuse(err)
	call.changes(intent.Target, intent.Request)
	return call.sendChange(call.submits(ctx, intent, claim, intent.Operation), intent.Target)
}
