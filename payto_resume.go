package quickstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// intent describes the creation of an agreement, without the payer's account and PayID.
func (b agreementJSON) intent(customerID string) (kept agreementJSON, intent *Intent) {
	kept = b
	kept.PayerDetails.AccountNumber, kept.PayerDetails.PayID = "", ""
	return kept, &Intent{
		Target: customerID, Reference: b.PayeeReference, OwnReference: b.PayeeReference != "",
		Complete: b.PayerDetails.AccountNumber == "" && b.PayerDetails.PayID == "",
	}
}

// Resume looks up the agreement of a Create whose answer was lost: the customer's agreement with
// the same payee reference (case ignored) and the requested business, payer, purpose, description,
// dates and terms. No earlier agreement with these terms may have the reference, because agreements
// do not say when they were made. Any result but one agreement is an [UnknownOutcomeError]; nothing
// found means "not found yet".
//
// GET /customers/{customerId}/payto-agreements.
func (s *PayToService) Resume(ctx context.Context, intent Intent, opts ...CallOption) (*Agreement, error) {
	const name Operation = "PayTo.Resume"
	var wanted agreementJSON
	open := func(cause error, candidates ...Candidate) (*Agreement, error) {
		return nil, intent.open(name.info(), cause, candidates)
	}
	ctx, opts, err := s.client.looksFor(ctx, intent, name, opts)
	if err = cmp.Or(err, intent.of(OperationCreateAgreement)); err != nil {
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	if err := json.Unmarshal(intent.Request, &wanted); err != nil || wanted.PayeeReference == "" || wanted.PayeeReference != intent.Reference {
		err := errors.New("the intent has no payee reference, without which agreements cannot be distinguished")
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	var matches, others []Candidate
	read := func() (tokens []string, whole bool, err error) {
		matches, others = nil, nil
		pages := new(pagesRead)
		for agreement, unread := range s.List(intent.Target, ListAgreementsParams{}, opts...).noting(pages).All(ctx) {
			if unread != nil {
				err = cmp.Or(err, unread)
				continue
			}
			tokens = append(tokens, agreement.AgreementToken)
			reasons := wanted.differs(agreement, intent.Target)
			switch {
			case len(reasons) == 0 && agreement.PayeeReference != "":
				matches = append(matches, Candidate{Agreement: agreement, Matches: true, Reasons: []string{"it is not the only one"}})
			case len(reasons) == 0:
				others = append(others, Candidate{Agreement: agreement, Reasons: []string{"it carries no payee reference"}})
			case sameText(agreement.PayeeReference, wanted.PayeeReference):
				others = append(others, Candidate{Agreement: agreement, Reasons: reasons})
			}
		}
		slices.Sort(tokens)
		return tokens, pages.count <= 1, err
	}
	if err := readWhole(read); err != nil && !errors.Is(err, ErrNotFound) {
		return open(err, append(matches, others...)...)
	}
	if len(matches) == 1 {
		return matches[0].Agreement, nil
	}
	return open(nil, append(matches, others...)...)
}

// differs returns how an agreement differs from the requested one. Terms that were not requested or
// not answered do not count: the service may fill them in.
func (b agreementJSON) differs(a *Agreement, customerID string) []string {
	var reasons []string
	differ := func(what string, differs bool) {
		if differs {
			reasons = append(reasons, "its "+what+" is another")
		}
	}
	text := func(what, answered, sent string) {
		differ(what, answered != "" && sent != "" && !sameText(answered, sent))
	}
	date := func(what string, answered, sent Date) {
		differ(what, !answered.IsZero() && !sent.IsZero() && answered != sent)
	}
	amount := func(what string, answered *Amount, sent *wire.Text) {
		differ(what, answered != nil && sent != nil && !answered.Amount.Equal(sent.Decimal()))
	}
	count := func(what string, answered, sent *int64) {
		differ(what, answered != nil && sent != nil && *answered != *sent)
	}
	text("payee reference", a.PayeeReference, b.PayeeReference)
	if a.PayeeDetails != nil {
		text("business", a.PayeeDetails.SupplierBusinessCode, b.SupplierBusinessCode)
	}
	if d, asked := a.PaymentDetails, b.PaymentDetails; d != nil {
		text("purpose", string(d.Purpose), string(asked.Purpose))
		text("description", d.Description, asked.Description)
		text("additional information", d.AdditionalInformation, asked.AdditionalInformation)
		date("start", d.StartDate, asked.StartDate)
		date("end", d.EndDate, asked.EndDate)
		renews := asked.AutomaticRenewal != nil && *asked.AutomaticRenewal
		differ("end", d.AutomaticRenewal && !renews || renews && !d.AutomaticRenewal && !d.EndDate.IsZero())
	}
	if t, asked := a.PaymentTerms, b.PaymentTerms; t != nil {
		text("frequency", string(t.Frequency), string(asked.Frequency))
		text("type", string(t.Type), string(asked.AgreementType))
		amount("first amount", t.FirstPaymentAmount, asked.FirstPaymentAmount)
		amount("last amount", t.LastPaymentAmount, asked.LastPaymentAmount)
		amount("amount", t.PaymentAmount, asked.PaymentAmount)
		amount("maximum", t.MaximumPaymentAmount, asked.MaximumPaymentAmount)
		date("first payment", t.FirstPaymentDue, asked.FirstPaymentDue)
		date("last payment", t.LastPaymentDue, asked.LastPaymentDue)
		count("number of payments", t.NumberOfPaymentsPermitted, asked.NumberOfPaymentsPermitted)
		count("point in time", t.PointInTime, asked.PointInTime)
	}
	if p, asked := a.PayerDetails, b.PayerDetails; p != nil {
		text("customer", p.CustomerID, customerID)
		text("payer", p.ID, asked.PayerID)
		text("payer's name", p.Name, asked.PayerName)
		text("payer's reference", p.Reference, asked.PayerReference)
	}
	return reasons
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
	if err = cmp.Or(err, intent.known(), unread); err != nil {
		return nil, s.client.refusedLookUp(ctx, name, intent, err)
	}
	agreement, err := s.Get(ctx, intent.Target, opts...)
	if err != nil {
		return nil, intent.open(name.info(), err, nil)
	}
	return &AgreementState{AsAsked: wanted.stands(agreement), Agreement: agreement}, nil
}

func (i Intent) change() (patchJSON, error) {
	var body patchJSON
	if err := json.Unmarshal(i.Request, &body); err != nil {
		return body, fmt.Errorf("the intent's request cannot be read: %w", err)
	}
	if body.operation() != i.Operation {
		return body, errIntentForeign
	}
	return body, nil
}
