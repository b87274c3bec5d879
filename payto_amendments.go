package quickstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// UnilateralDetails is an editable copy, from [Agreement.Details], of the members that
// AmendUnilaterally can change. An empty text removes the field from the agreement.
type UnilateralDetails struct {
	// Description has up to 140 characters, and PayeeReference up to 35.
	Description    string
	PayeeReference string

	agreement *Agreement // that the copy is of
}

// BilateralTerms is an editable copy, from [Agreement.Terms], of the members that AmendBilaterally
// can change. A nil pointer, a zero Date or an empty text removes the field from the agreement.
type BilateralTerms struct {
	// RespondByTimeMinutes is how long the payer has to answer: at most 7200 (5 days), the default.
	RespondByTimeMinutes *int64
	// EndDate, AutomaticRenewal and AdditionalInformation are as in [AgreementPaymentDetails].
	EndDate               Date
	AutomaticRenewal      bool
	AdditionalInformation string
	// AgreementTermsParams says how much may be taken and how often.
	AgreementTermsParams

	agreement *Agreement // that the copy is of
}

// Details returns a copy of the members that AmendUnilaterally can change. An agreement without
// payment details, supplier business code or token is a [ValidationError], because the service
// removes the members that an amendment omits.
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

// Terms returns a copy of the members that AmendBilaterally can change; unknown members of payment
// details and terms are sent unchanged. An agreement without payment details, payment terms or
// token is a [ValidationError], as in Details.
func (a *Agreement) Terms() (*BilateralTerms, error) {
	if err := a.checkComplete("Agreement.Terms", func(f *findings) {
		f.require(a.PaymentTerms != nil,
			"amendment.paymentTerms.required", "paymentTerms", "is required: the amendment would remove what it holds")
	}); err != nil {
		return nil, err
	}
	amount := func(a *Amount) *decimal.Decimal {
		if a == nil {
			return nil
		}
		return new(a.Amount)
	}
	number := func(n *int64) *int64 {
		if n == nil {
			return nil
		}
		return new(*n)
	}
	now, details, terms := *a, a.PaymentDetails, a.PaymentTerms
	return &BilateralTerms{
		EndDate: details.EndDate, AutomaticRenewal: details.AutomaticRenewal, AdditionalInformation: details.AdditionalInformation,
		AgreementTermsParams: AgreementTermsParams{
			Frequency: terms.Frequency, Type: terms.Type,
			NumberOfPaymentsPermitted: number(terms.NumberOfPaymentsPermitted), PointInTime: number(terms.PointInTime),
			FirstPaymentAmount: amount(terms.FirstPaymentAmount), LastPaymentAmount: amount(terms.LastPaymentAmount),
			PaymentAmount: amount(terms.PaymentAmount), MaximumPaymentAmount: amount(terms.MaximumPaymentAmount),
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

// AgreementReason is the reason for a change of an agreement's status.
type AgreementReason struct {
	// Code is reasonCode. It is required to suspend and to cancel, and optional to reactivate.
	Code AgreementReasonCode `json:"reasonCode,omitempty"`
	// Description is reasonDescription, and has up to 256 characters. Optional.
	Description string `json:"reasonDescription,omitempty"`
}

// Recall withdraws an agreement that the payer has not answered.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_PAYTO_AGREEMENT). An agreement that is not
// pending matches [ErrInvalid], an unknown one [ErrNotFound]. After an [UnknownOutcomeError] use
// ResumeChange.
func (s *PayToService) Recall(ctx context.Context, agreementToken string, opts ...CallOption) error {
	body := patchJSON{UpdateType: "RECALL_PAYTO_AGREEMENT", Recall: &statusCodeJSON{AgreementStatusCancelled}}
	return s.change(ctx, OperationRecallAgreement, agreementToken, body, opts)
}

// Suspend stops payments on an active agreement until Reactivate.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT). An agreement that is neither active
// nor suspended matches [ErrInvalid], an unknown one [ErrNotFound]. After an [UnknownOutcomeError]
// use ResumeChange.
func (s *PayToService) Suspend(ctx context.Context, agreementToken string, reason AgreementReason, opts ...CallOption) error {
	return s.changeStatus(ctx, OperationSuspendAgreement, agreementToken, AgreementStatusSuspended, reason, opts)
}

// Reactivate allows payments on a suspended agreement again. The reason is optional.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT). Errors as for Suspend.
func (s *PayToService) Reactivate(ctx context.Context, agreementToken string, reason AgreementReason, opts ...CallOption) error {
	return s.changeStatus(ctx, OperationReactivateAgreement, agreementToken, AgreementStatusActive, reason, opts)
}

// Cancel ends an active or suspended agreement for good. Use Recall before the payer has answered.
//
// PATCH /payto-agreements/{agreementToken} (STATUS_AMENDMENT). Errors as for Suspend.
func (s *PayToService) Cancel(ctx context.Context, agreementToken string, reason AgreementReason, opts ...CallOption) error {
	return s.changeStatus(ctx, OperationCancelAgreement, agreementToken, AgreementStatusCancelled, reason, opts)
}

// AmendUnilaterally changes an agreement at once. Details is an edited copy from
// [Agreement.Details]; read the agreement just before, because the amendment undoes later changes
// by others. Details made without an agreement are a [ValidationError].
//
// PATCH /payto-agreements/{agreementToken} (UNILATERAL_AMENDMENT). Errors as for Suspend.
func (s *PayToService) AmendUnilaterally(ctx context.Context, details *UnilateralDetails, opts ...CallOption) error {
	if details == nil || details.agreement == nil {
		details = &UnilateralDetails{agreement: &Agreement{PayeeDetails: new(AgreementPayee)}} // which has no token
	}
	of := details.agreement
	amendment := &unilateralAmendmentJSON{details.Description, details.PayeeReference, of.PayeeDetails.SupplierBusinessCode}
	return s.change(ctx, OperationAmendUnilaterally, of.AgreementToken, patchJSON{UpdateType: "UNILATERAL_AMENDMENT", UnilateralAmendment: amendment}, opts)
}

// AmendBilaterally asks the payer to agree to new terms, an edited copy from [Agreement.Terms];
// read the agreement just before. HasPendingBilateralAmendment is true until the payer answers,
// RecallAmendment withdraws the amendment, or the time to respond has passed. Terms made without an
// agreement are a [ValidationError].
//
// PATCH /payto-agreements/{agreementToken} (BILATERAL_AMENDMENT). Errors as for Suspend.
func (s *PayToService) AmendBilaterally(ctx context.Context, terms *BilateralTerms, opts ...CallOption) error {
	if terms == nil || terms.agreement == nil {
		terms = &BilateralTerms{agreement: new(Agreement)} // which has no token
	}
	of := terms.agreement
	amendment := &bilateralAmendmentJSON{terms.RespondByTimeMinutes, AgreementPaymentDetails{
		EndDate: terms.EndDate, AutomaticRenewal: terms.AutomaticRenewal, AdditionalInformation: terms.AdditionalInformation,
	}, terms.wire(), of.Raw()}
	return s.change(ctx, OperationAmendBilaterally, of.AgreementToken, patchJSON{UpdateType: "BILATERAL_AMENDMENT", BilateralAmendment: amendment}, opts)
}

// RecallAmendment withdraws a bilateral amendment that the payer has not answered.
//
// PATCH /payto-agreements/{agreementToken} (RECALL_BILATERAL_AMENDMENT). Errors as for Suspend. No
// pending amendment matches [ErrInvalid].
func (s *PayToService) RecallAmendment(ctx context.Context, agreementToken string, opts ...CallOption) error {
	return s.change(ctx, OperationRecallAmendment, agreementToken, patchJSON{UpdateType: updateRecallAmendment}, opts)
}

// AgreementChange says whether an agreement is as a change requested. It does not say which call
// made it so.
type AgreementChange struct {
	// AsRequested is true if the agreement is now as requested; for a bilateral amendment only after
	// the payer has agreed. It is false if the agreement shows a requested text in another form.
	AsRequested bool
	// Agreement is the current agreement. HasPendingBilateralAmendment means that an amendment
	// waits for the payer.
	Agreement *Agreement
}

// ResumeChange reads the agreement of a change whose answer was lost, and says whether it is as
// requested. A failed look-up is an [UnknownOutcomeError].
//
// GET /payto-agreements/{agreementToken}.
func (s *PayToService) ResumeChange(ctx context.Context, intent Intent, opts ...CallOption) (*AgreementChange, error) {
	const name Operation = "PayTo.ResumeChange"
	ctx, opts, err := s.client.beginLookUp(ctx, intent, name, opts)
	var wanted patchJSON
	if json.Unmarshal(intent.Request, &wanted) != nil || intent.Operation.row().findOut != resumeChange {
		err = cmp.Or(err, errIntentForeign)
	}
	if err = cmp.Or(err, intent.checkFor(s.client)); err != nil {
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	agreement, err := s.Get(ctx, intent.Target, opts...)
	if err != nil {
		return nil, intent.open(name.info(), err, nil)
	}
	return &AgreementChange{AsRequested: wanted.isMadeIn(agreement), Agreement: agreement}, nil
}

// patchJSON is the body of every change of an agreement. The recall of an amendment has no other member.
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
	StatusCode AgreementStatus `json:"statusCode"`
	AgreementReason
}

type unilateralAmendmentJSON struct {
	Description          string `json:"description,omitempty"`
	PayeeReference       string `json:"payeeReference,omitempty"`
	SupplierBusinessCode string `json:"supplierBusinessCode,omitempty"`
}

type bilateralAmendmentJSON struct {
	RespondByTimeMinutes *int64                  `json:"respondByTimeMinutes,omitempty"`
	PaymentDetails       AgreementPaymentDetails `json:"paymentDetails"`
	PaymentTerms         agreementTermsJSON      `json:"paymentTerms"`

	agreement json.RawMessage
}

// MarshalJSON adds the unknown members of the agreement's paymentDetails and paymentTerms: the
// service would remove them.
func (a bilateralAmendmentJSON) MarshalJSON() ([]byte, error) {
	type plain bilateralAmendmentJSON
	known, err := wire.Encode(plain(a))
	if err != nil || a.agreement == nil {
		return known, err
	}
	var replaced struct {
		PaymentDetails json.RawMessage `json:"paymentDetails,omitempty"`
		PaymentTerms   json.RawMessage `json:"paymentTerms,omitempty"`
	}
	if err := json.Unmarshal(a.agreement, &replaced); err != nil {
		return nil, err
	}
	received, err := wire.Marshal(replaced)
	if err != nil {
		return nil, err
	}
	return wire.AddUnknown(known, received, reflect.TypeFor[plain]())
}

const updateRecallAmendment = "RECALL_BILATERAL_AMENDMENT"

// status returns the status that a change asks for; "" for an amendment of something else.
func (p patchJSON) status() AgreementStatus {
	switch {
	case p.Recall != nil:
		return p.Recall.StatusCode
	case p.StatusAmendment != nil:
		return p.StatusAmendment.StatusCode
	default:
		return ""
	}
}

func (s *PayToService) changeStatus(ctx context.Context, operation Operation, agreementToken string, to AgreementStatus, reason AgreementReason, opts []CallOption) error {
	body := patchJSON{UpdateType: "STATUS_AMENDMENT", StatusAmendment: &statusAmendmentJSON{to, reason}}
	return s.change(ctx, operation, agreementToken, body, opts)
}

// change checks and sends a change of an agreement. Its intent keeps the JSON that is sent, because
// it can hold unknown members.
func (s *PayToService) change(ctx context.Context, operation Operation, agreementToken string, body patchJSON, opts []CallOption) error {
	call := s.client.begin(operation, opts, agreementToken)
	if agreementToken == "" && (body.UnilateralAmendment != nil || body.BilateralAmendment != nil) {
		call.ended = missingAgreement(operation)
	}
	call.check(body.check)
	request, err := wire.Encode(body)
	call.refuse(cmp.Or(err, wire.Unambiguous(request))) // the agreement's unknown members can have a duplicate
	call.reference, call.body = agreementToken, body
	call.intent = &Intent{Target: agreementToken, Reference: agreementToken, Request: request}
	return call.sendChange(ctx, body.status())
}

var errNotChanged = errors.New("the answer does not say that the agreement was changed")

// sendChange sends a change. Only a 204, or a 200 without a body or with the agreement in the
// requested status, proves that it was made. Any other success, such as a gateway's page, is an
// error.
func (c *call) sendChange(ctx context.Context, to AgreementStatus) error {
	return c.do(ctx, func(status int, body []byte) error {
		switch {
		case status == http.StatusNoContent, status == http.StatusOK && len(body) == 0:
			return nil
		case status != http.StatusOK:
			return errNotChanged
		}
		var changed Agreement
		if err := changed.UnmarshalJSON(body); err != nil {
			return err
		}
		if changed.AgreementToken != c.reference || to != "" && changed.Status != "" && !sameText(string(changed.Status), string(to)) {
			return errNotChanged
		}
		return nil
	})
}
