package quickstream

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// The kinds of update. The last one has no contents.
const (
	updateRecall          = "RECALL_PAYTO_AGREEMENT"
	updateStatus          = "STATUS_AMENDMENT"
	updateUnilateral      = "UNILATERAL_AMENDMENT"
	updateBilateral       = "BILATERAL_AMENDMENT"
	updateRecallAmendment = "RECALL_BILATERAL_AMENDMENT"
)

// patchJSON is the body of every change of an agreement. It can be decoded again, for stands to
// check whether the change was made.
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
	return wire.Graft(known, received, reflect.TypeFor[plain]())
}

// UnmarshalJSON keeps the unknown members, for MarshalJSON.
func (a *bilateralAmendmentJSON) UnmarshalJSON(data []byte) error {
	type plain bilateralAmendmentJSON
	var read plain
	if err := wire.Decode(data, &read); err != nil {
		return err
	}
	*a = bilateralAmendmentJSON(read)
	a.agreement = bytes.Clone(data)
	return nil
}

func (p patchJSON) kept() (patchJSON, bool) { return p, true }

// operation names the method that sends a change; "" for what none sends.
func (p patchJSON) operation() Operation {
	switch {
	case p.UpdateType == updateRecall && p.Recall != nil:
		return OperationRecallAgreement
	case p.UpdateType == updateStatus && p.StatusAmendment != nil:
		switch p.StatusAmendment.StatusCode {
		case AgreementStatusSuspended:
			return OperationSuspendAgreement
		case AgreementStatusActive:
			return OperationReactivateAgreement
		case AgreementStatusCancelled:
			return OperationCancelAgreement
		default:
			return ""
		}
	case p.UpdateType == updateUnilateral && p.UnilateralAmendment != nil:
		return OperationAmendUnilaterally
	case p.UpdateType == updateBilateral && p.BilateralAmendment != nil:
		return OperationAmendBilaterally
	case p.UpdateType == updateRecallAmendment:
		return OperationRecallAmendment
	}
	return ""
}

func (s *PayToService) change(ctx context.Context, name Operation, change AgreementChange, opts []CallOption) error {
	call := s.begin(name, change, opts)
	return call.sendChange(ctx, call.reference)
}

// begin checks a change of an agreement. Without a name, the change determines its method.
func (s *PayToService) begin(name Operation, change AgreementChange, opts []CallOption) *call {
	var patch agreementChange
	err := fmt.Errorf("quickstream: PayTo.Plan: %w: the change is nil", ErrNotSent)
	if change != nil {
		patch, err = change.patch(cmp.Or(name, "PayTo.Plan"))
	}
	if name = cmp.Or(name, patch.body.operation()); name == "" {
		opts = named("PayTo.Plan").with(opts)
	}
	call := s.patch(name, patch.agreementToken, opts)
	if err != nil {
		call.ended = err
		return call
	}
	call.check(patch.body.check)
	request, err := wire.Encode(patch.body)
	if err == nil {
		_, err = requested[patchJSON](Intent{Request: request}) // the agreement's unknown members can have one twice
	}
	call.refuse(err)
	call.changes(patch.agreementToken, request)
	return call
}

func (s *PayToService) patch(name Operation, agreementToken string, opts []CallOption) *call {
	return s.client.begin(cmp.Or(name, submitChange), opts, agreementToken)
}

// changes sets the JSON of the change. An intent keeps it as it is, because it can hold unknown
// members.
func (c *call) changes(agreementToken string, request json.RawMessage) {
	c.reference, c.body = agreementToken, request
	c.intent = &Intent{Target: agreementToken, Reference: agreementToken, Request: request, Complete: true}
}

func (c *call) sendChange(ctx context.Context, agreementToken string) error {
	return c.do(ctx, func(status int, body []byte) error { return c.accepted(agreementToken, status, body) })
}

var errNotChanged = errors.New("the answer does not say that the agreement was changed")

// accepted returns an error unless the agreement was changed: 204, or 200 without a body or with the
// agreement, which has the requested status. Other successes, such as a gateway's page, prove nothing.
func (c *call) accepted(agreementToken string, status int, body []byte) error {
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
	wanted, err := c.intent.change()
	if changed.AgreementToken != agreementToken || err != nil || changed.Status != "" && wanted.changesStatus() && !wanted.stands(&changed) {
		return errNotChanged
	}
	return nil
}

// changesStatus reports whether the agreement has the requested status at once.
func (p patchJSON) changesStatus() bool { return p.Recall != nil || p.StatusAmendment != nil }

// stands reports whether an agreement is as the change requested: by value, without unknown
// members. A bilateral amendment counts once the payer has agreed.
func (p patchJSON) stands(a *Agreement) bool {
	switch {
	case p.Recall != nil:
		return sameText(string(a.Status), string(p.Recall.StatusCode))
	case p.StatusAmendment != nil:
		return sameText(string(a.Status), string(p.StatusAmendment.StatusCode))
	case p.UnilateralAmendment != nil:
		details, err := a.Details()
		if err != nil {
			return false
		}
		now, asked := details.wire(), p.UnilateralAmendment
		if now.Description != asked.Description {
			a.differences = []string{"paymentDetails.description"}
		}
		return folded(now.Description) == folded(asked.Description) && sameWords(now.PayeeReference, asked.PayeeReference) &&
			sameText(now.SupplierBusinessCode, asked.SupplierBusinessCode)
	case p.BilateralAmendment != nil:
		terms, err := a.Terms()
		if err != nil {
			return false
		}
		now, asked := *terms.wire(), *p.BilateralAmendment
		if now.PaymentDetails.AdditionalInformation != asked.PaymentDetails.AdditionalInformation {
			a.differences = []string{"paymentDetails.additionalInformation"}
		}
		return now.sameTerms(asked)
	default:
		return p.UpdateType == updateRecallAmendment && a.saysNoneIsPending()
	}
}

// saysNoneIsPending reports whether the agreement says that no amendment is pending. An omitted
// member says nothing.
func (a *Agreement) saysNoneIsPending() bool {
	var said struct {
		Pending *bool `json:"hasPendingBilateralAmendment"`
	}
	return !a.HasPendingBilateralAmendment && json.Unmarshal(a.Raw(), &said) == nil && said.Pending != nil
}

func (a bilateralAmendmentJSON) sameTerms(b bilateralAmendmentJSON) bool {
	for _, details := range []*agreementPaymentJSON{&a.PaymentDetails, &b.PaymentDetails} {
		details.AdditionalInformation = folded(details.AdditionalInformation)
	}
	ours, err := wire.Marshal([...]any{a.PaymentDetails, a.PaymentTerms})
	if err != nil {
		return false // an amount that no amendment can have
	}
	theirs, err := wire.Marshal([...]any{b.PaymentDetails, b.PaymentTerms})
	return err == nil && bytes.Equal(ours, theirs)
}
