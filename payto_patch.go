package quickstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// updateRecallAmendment is the update that has no contents.
const updateRecallAmendment = "RECALL_BILATERAL_AMENDMENT"

// patchJSON is what every change of an agreement is sent as. It can be read again
// from its own JSON, after which stands tells whether the change was made.
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

	// agreement is the JSON of the agreement that is amended.
	agreement json.RawMessage
}

// MarshalJSON adds the members of the agreement's paymentDetails and paymentTerms
// that this package does not model: the service would remove them.
func (a bilateralAmendmentJSON) MarshalJSON() ([]byte, error) {
	type plain bilateralAmendmentJSON
	known, err := wire.Marshal(plain(a))
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

// patch makes a PATCH /payto-agreements/{agreementToken}. There may be nothing to
// check.
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
	return call.do(ctx, func(status int, body []byte) error { return accepted(agreementToken, status, body) })
}

var errNotChanged = errors.New("the answer does not say that the agreement was changed")

// accepted is an error unless an answer says that the agreement was changed: with
// 204, or with 200 and the agreement or nothing. Any other success, such as a page
// from a gateway, is nothing that the service is known to say.
func accepted(agreementToken string, status int, body []byte) error {
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
	if changed.AgreementToken != agreementToken {
		return errNotChanged
	}
	return nil
}

// stands reports whether an agreement is as the change wanted it: amounts and
// dates by their value, and members that this package does not model left aside.
// A bilateral amendment stands once the payer has agreed.
func (p patchJSON) stands(a *Agreement) bool {
	switch {
	case p.Recall != nil:
		return a.Status == p.Recall.StatusCode
	case p.StatusAmendment != nil:
		return a.Status == p.StatusAmendment.StatusCode
	case p.UnilateralAmendment != nil:
		details, err := a.Details()
		return err == nil && *details.wire() == *p.UnilateralAmendment
	case p.BilateralAmendment != nil:
		terms, err := a.Terms()
		return err == nil && terms.wire().sameTerms(p.BilateralAmendment)
	default:
		return p.UpdateType == updateRecallAmendment && !a.HasPendingBilateralAmendment
	}
}

// sameTerms compares what the two would have the agreement say.
func (a *bilateralAmendmentJSON) sameTerms(b *bilateralAmendmentJSON) bool {
	ours, err := wire.Marshal([...]any{a.PaymentDetails, a.PaymentTerms})
	if err != nil {
		return false // an amount that no amendment can have
	}
	theirs, err := wire.Marshal([...]any{b.PaymentDetails, b.PaymentTerms})
	return err == nil && bytes.Equal(ours, theirs)
}
