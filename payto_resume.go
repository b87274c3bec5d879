package quickstream

import (
	"cmp"
	"context"
	"errors"
)

// kept leaves out the payer's account and PayID.
func (b agreementJSON) kept() (kept agreementJSON, complete bool) {
	kept = b
	kept.PayerDetails.AccountNumber, kept.PayerDetails.PayID = "", ""
	return kept, kept.PayerDetails == b.PayerDetails
}

// intent describes the creation of an agreement.
func (b agreementJSON) intent(customerID string) (kept agreementJSON, intent *Intent) {
	kept, complete := b.kept()
	return kept, &Intent{Target: customerID, Reference: b.PayeeReference, OwnReference: b.PayeeReference != "", Complete: complete}
}

// Resume looks up the agreement of a Create whose answer was lost: the customer's agreement with
// the same payee reference and the requested business, payer, purpose, description, dates and
// terms. Case and blanks of texts are ignored, and names and some optional terms: see Differences.
// Agreements do not say when they were made, so no other one that differs only in these may have the
// reference. Any result but one agreement is an [UnknownOutcomeError]; nothing found means "not
// found yet".
//
// GET /customers/{customerId}/payto-agreements.
func (s *PayToService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Agreement, error) {
	const name Operation = "PayTo.Resume"
	open := func(cause error, candidates ...Candidate) (*Agreement, error) {
		return nil, intent.open(name.info(), cause, candidates)
	}
	ctx, opts, err := s.client.looksFor(ctx, intent, name, opts)
	if err = cmp.Or(err, intent.of(OperationCreateAgreement), intent.from(s.client)); err != nil {
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	wanted, err := requested[agreementJSON](intent)
	if err != nil || wanted.PayeeReference == "" || wanted.PayeeReference != intent.Reference {
		err := errors.New("the intent has no payee reference, without which agreements cannot be distinguished")
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	agreements, err := s.all(intent.Target, ListAgreementsParams{}, opts).ReadAll(ctx)
	if err != nil && !isAbsent(err) {
		return open(err)
	}
	var matches, others []Candidate
	for _, agreement := range agreements {
		found := wanted.compare(agreement, intent.Target)
		agreement.differences = found.changed
		reasons := reasonsFor(append(found.another, found.unlike...))
		switch {
		case len(reasons) == 0 && agreement.PayeeReference != "":
			matches = append(matches, Candidate{Agreement: agreement, Matches: true, Reasons: []string{"it is not the only one"}})
		case len(reasons) == 0:
			others = append(others, Candidate{Agreement: agreement, Reasons: []string{"it carries no payee reference"}})
		case sameWords(agreement.PayeeReference, wanted.PayeeReference):
			others = append(others, Candidate{Agreement: agreement, Reasons: reasons})
		}
	}
	if len(matches) == 1 {
		return matches[0].Agreement, nil
	}
	return open(nil, append(matches, others...)...)
}

// AgreementState says whether an agreement is as a change requested. It does not say whose call
// made it so.
type AgreementState struct {
	// AsAsked is true if the agreement is now as requested; for a bilateral amendment only after
	// the payer has agreed.
	AsAsked bool
	// Agreement is the current agreement. HasPendingBilateralAmendment means that an amendment
	// waits for the payer.
	Agreement *Agreement
}

// ResumeChange reads the agreement of a change whose answer was lost, and says whether it is as
// requested. A failed look-up is an [UnknownOutcomeError].
//
// GET /payto-agreements/{agreementToken}.
func (s *PayToService) ResumeChange(ctx context.Context, intent Intent, opts ...CallOption) (*AgreementState, error) {
	const name Operation = "PayTo.ResumeChange"
	ctx, opts, err := s.client.looksFor(ctx, intent, name, opts)
	wanted, unread := intent.change()
	if err = cmp.Or(err, intent.known(), intent.from(s.client), unread); err != nil {
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	agreement, err := s.Get(ctx, intent.Target, opts...)
	if err != nil {
		return nil, intent.open(name.info(), err, nil)
	}
	return &AgreementState{AsAsked: wanted.stands(agreement), Agreement: agreement}, nil
}

func (i Intent) change() (patchJSON, error) {
	body, err := requested[patchJSON](i)
	if err != nil {
		return body, err
	}
	if body.operation() != i.Operation {
		return body, errIntentForeign
	}
	return body, nil
}
