package quickstream

import "context"

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

// AmendUnilaterally changes an agreement at once to what the details say. They
// are an edited copy from Agreement.Details, best of an agreement that was read
// just before: what somebody else has changed since is changed back.
//
// PATCH /payto-agreements/{agreementToken} (UNILATERAL_AMENDMENT) with the secret
// key, and errors as for Suspend. Details that are not from an agreement are a
// ValidationError.
func (s *PayToService) AmendUnilaterally(ctx context.Context, details *UnilateralDetails, opts ...CallOption) error {
	const name = "PayTo.AmendUnilaterally"
	if details == nil || details.agreement == nil {
		return missingAgreement(name)
	}
	body := patchJSON{UpdateType: "UNILATERAL_AMENDMENT", UnilateralAmendment: details.wire()}
	return s.patch(ctx, name, details.agreement.AgreementToken, body, details.check, opts)
}

// AmendBilaterally asks the payer to agree to the terms, which are an edited copy
// from Agreement.Terms, best of an agreement that was read just before. Until the
// payer has answered, HasPendingBilateralAmendment is true and RecallAmendment
// takes the amendment back; the service does so itself when the time to respond is
// over.
//
// PATCH /payto-agreements/{agreementToken} (BILATERAL_AMENDMENT) with the secret
// key, and errors as for Suspend. Terms that are not from an agreement are a
// ValidationError.
func (s *PayToService) AmendBilaterally(ctx context.Context, terms *BilateralTerms, opts ...CallOption) error {
	const name = "PayTo.AmendBilaterally"
	if terms == nil || terms.agreement == nil {
		return missingAgreement(name)
	}
	body := patchJSON{UpdateType: "BILATERAL_AMENDMENT", BilateralAmendment: terms.wire()}
	return s.patch(ctx, name, terms.agreement.AgreementToken, body, terms.check, opts)
}

// RecallAmendment takes back a bilateral amendment that the payer has not
// answered yet.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_BILATERAL_AMENDMENT) with the
// secret key. When no amendment is pending the error is an APIError that matches
// ErrInvalid.
func (s *PayToService) RecallAmendment(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.patch(ctx, "PayTo.RecallAmendment", agreementToken, patchJSON{UpdateType: updateRecallAmendment}, nil, opts)
}
