package quickstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream/internal/wire"
)

const agreementCreateOperation = "PayTo.Create"

// intent describes the creation of an agreement, without the payer's account and
// PayID.
func (b agreementJSON) intent(customerID string) Intent {
	kept := b
	kept.PayerDetails.AccountNumber, kept.PayerDetails.PayID = "", ""
	return Intent{
		Target: customerID, Reference: b.PayeeReference, OwnReference: b.PayeeReference != "",
		Request: requestOf(kept), Complete: b.PayerDetails.AccountNumber == "" && b.PayerDetails.PayID == "",
	}
}

// Resume looks for the agreement of a Create whose answer was lost: the customer's
// agreement with the same payee reference, business, purpose, dates and terms. The
// payee reference is required, and has to be one that no earlier agreement with the
// same terms carries, because agreements do not tell when they were made. Everything
// but one agreement is an UnknownOutcomeError: nothing found is "not found yet".
//
// GET /customers/{customerId}/payto-agreements with the secret key.
func (s *PayToService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Agreement, error) {
	const name, route = "PayTo.Resume", "/customers/{customerId}/payto-agreements"
	var wanted agreementJSON
	open := func(cause error, candidates ...Candidate) (*Agreement, error) {
		return nil, intent.open(name, route, cause, candidates)
	}
	ctx, opts, err := s.client.looksFor(ctx, intent, name, opts)
	if err = cmp.Or(err, intent.of(agreementCreateOperation)); err != nil {
		return nil, intent.refused(ctx, s.client, name, route, err)
	}
	if err := json.Unmarshal(intent.Request, &wanted); err != nil || wanted.PayeeReference == "" || wanted.PayeeReference != intent.Reference {
		err := errors.New("the intent has no payee reference, without which agreements cannot be told apart")
		return nil, intent.refused(ctx, s.client, name, route, err)
	}
	var matches []*Agreement
	for agreement, err := range s.List(intent.Target, ListAgreementsParams{}, opts...).All(ctx) {
		if err != nil {
			return open(err)
		}
		if wanted.matches(agreement) {
			matches = append(matches, agreement)
		}
	}
	if len(matches) == 1 {
		return matches[0], nil
	}
	var candidates []Candidate
	for _, agreement := range matches {
		candidates = append(candidates, Candidate{Agreement: agreement, Matches: true, Reasons: []string{"it is not the only one"}})
	}
	return open(nil, candidates...)
}

// matches compares what was asked for with an agreement as it stands.
func (b agreementJSON) matches(a *Agreement) bool {
	d, t, asked, terms := a.PaymentDetails, a.PaymentTerms, b.PaymentDetails, b.PaymentTerms
	if a.PayeeReference != b.PayeeReference || d == nil || t == nil {
		return false
	}
	if payee := a.PayeeDetails; payee != nil && payee.SupplierBusinessCode != "" && payee.SupplierBusinessCode != b.SupplierBusinessCode {
		return false
	}
	return d.Purpose == asked.Purpose && d.Description == asked.Description &&
		d.StartDate == asked.StartDate && d.EndDate == asked.EndDate && asked.AutomaticRenewal != nil && d.AutomaticRenewal == *asked.AutomaticRenewal &&
		t.Frequency == terms.Frequency && t.Type == terms.AgreementType &&
		sameAmount(t.FirstPaymentAmount, terms.FirstPaymentAmount) && sameAmount(t.LastPaymentAmount, terms.LastPaymentAmount) &&
		sameAmount(t.PaymentAmount, terms.PaymentAmount) && sameAmount(t.MaximumPaymentAmount, terms.MaximumPaymentAmount) &&
		t.FirstPaymentDue == terms.FirstPaymentDue && t.LastPaymentDue == terms.LastPaymentDue
}

func sameAmount(answered *Amount, asked *wire.Text) bool {
	if answered == nil || asked == nil {
		return answered == nil && asked == nil
	}
	return answered.Amount.Equal(asked.Decimal())
}

// AgreementState says whether an agreement is as a change wanted it. That is all that
// can be known after a lost answer: not whose call made it so.
type AgreementState struct {
	// AsAsked is true when the agreement is as the change wanted it now. It is false
	// for a bilateral amendment while the payer has not answered.
	AsAsked bool
	// Agreement is the agreement as it stands.
	// HasPendingBilateralAmendment tells that a bilateral amendment waits for the
	// payer.
	Agreement *Agreement
}

// ResumeChange reads the agreement of a change whose answer was lost, and tells
// whether it is as asked now. A look-up that fails is an UnknownOutcomeError.
//
// GET /payto-agreements/{agreementToken} with the secret key.
func (s *PayToService) ResumeChange(ctx context.Context, intent Intent, opts ...CallOption) (*AgreementState, error) {
	const name, route = "PayTo.ResumeChange", "/payto-agreements/{agreementToken}"
	ctx, opts, err := s.client.looksFor(ctx, intent, name, opts)
	wanted, unread := intent.change()
	if err = cmp.Or(err, intent.known(), unread); err != nil {
		return nil, intent.refused(ctx, s.client, name, route, err)
	}
	agreement, err := s.Get(ctx, intent.Target, opts...)
	if err != nil {
		return nil, intent.open(name, route, err, nil)
	}
	return &AgreementState{AsAsked: wanted.stands(agreement), Agreement: agreement}, nil
}

// change reads back what was to be changed.
func (i Intent) change() (patchJSON, error) {
	var body patchJSON
	if err := json.Unmarshal(i.Request, &body); err != nil {
		return body, fmt.Errorf("the intent's request cannot be read: %w", err)
	}
	if body.method() != i.Operation {
		return body, errIntentForeign
	}
	return body, nil
}
