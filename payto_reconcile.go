package quickstream

import (
	"context"

	"github.com/shopspring/decimal"
)

// ReconcileState is what looking for an agreement came to.
type ReconcileState string

// The states. There is none for "failed".
const (
	ReconcileFound       ReconcileState = "found"
	ReconcileNotFoundYet ReconcileState = "not found yet"
	ReconcileAmbiguous   ReconcileState = "ambiguous"
)

// AgreementReconciliation is what looking for an agreement came to.
type AgreementReconciliation struct {
	State ReconcileState
	// Agreement is what was found; nil in every other state.
	Agreement *Agreement
	// Candidates are the agreements that match when the state is
	// ReconcileAmbiguous.
	Candidates []*Agreement
}

// ReconcileCreate looks for the agreement of a Create whose answer was lost: the
// customer's agreement with the same payee reference, business, purpose, dates
// and terms. The payee reference is required, and has to be one that no earlier
// agreement with the same terms carries, because agreements do not tell when they
// were made.
//
// GET /customers/{customerId}/payto-agreements with the secret key. It never says
// "failed": an agreement that is not found may be found later.
func (s *PayToService) ReconcileCreate(ctx context.Context, customerID string, params AgreementCreateParams, opts ...CallOption) (*AgreementReconciliation, error) {
	if params.PayeeReference == "" {
		return nil, &ValidationError{Operation: "PayTo.ReconcileCreate", Findings: []Finding{{
			Rule: "reconcile.payeeReference.required", Path: "payeeReference", Message: "is required to tell agreements apart",
		}}}
	}
	var matches []*Agreement
	for agreement, err := range s.List(customerID, AgreementListParams{}, opts...).All(ctx) {
		if err != nil {
			return nil, err
		}
		if params.matches(agreement) {
			matches = append(matches, agreement)
		}
	}
	switch len(matches) {
	case 0:
		return &AgreementReconciliation{State: ReconcileNotFoundYet}, nil
	case 1:
		return &AgreementReconciliation{State: ReconcileFound, Agreement: matches[0]}, nil
	default:
		return &AgreementReconciliation{State: ReconcileAmbiguous, Candidates: matches}, nil
	}
}

// matches compares what was asked for with an agreement as it stands.
func (p AgreementCreateParams) matches(a *Agreement) bool {
	d, t := a.PaymentDetails, a.PaymentTerms
	if a.PayeeReference != p.PayeeReference || d == nil || t == nil {
		return false
	}
	if payee := a.PayeeDetails; payee != nil && payee.SupplierBusinessCode != "" && payee.SupplierBusinessCode != p.SupplierBusinessCode {
		return false
	}
	return d.Purpose == p.Payment.Purpose && d.Description == p.Payment.Description &&
		d.StartDate == p.Payment.StartDate && d.EndDate == p.Payment.EndDate && d.AutomaticRenewal == p.Payment.AutomaticRenewal &&
		t.Frequency == p.Terms.Frequency && t.Type == p.Terms.Type &&
		sameAmount(t.FirstPaymentAmount, p.Terms.FirstPaymentAmount) && sameAmount(t.LastPaymentAmount, p.Terms.LastPaymentAmount) &&
		sameAmount(t.PaymentAmount, p.Terms.PaymentAmount) && sameAmount(t.MaximumPaymentAmount, p.Terms.MaximumPaymentAmount) &&
		t.FirstPaymentDue == p.Terms.FirstPaymentDue && t.LastPaymentDue == p.Terms.LastPaymentDue
}

func sameAmount(answered *Amount, asked *decimal.Decimal) bool {
	if answered == nil || asked == nil {
		return answered == nil && asked == nil
	}
	return answered.Amount.Equal(*asked)
}

// AgreementState says whether an agreement is as an amendment wanted it. That is
// all that can be known after a lost answer: not whose call made it so.
type AgreementState struct {
	// Desired is true when the agreement is as wanted now.
	Desired bool
	// Agreement is the agreement as it stands.
	// HasPendingBilateralAmendment tells that a bilateral amendment waits for the
	// payer.
	Agreement *Agreement
}

// ReconcileStatus tells whether an agreement has the status that a Recall,
// Suspend, Reactivate or Cancel whose answer was lost wanted.
//
// GET /payto-agreements/{agreementToken} with the secret key.
func (s *PayToService) ReconcileStatus(ctx context.Context, agreementToken string, wanted AgreementStatus, opts ...CallOption) (*AgreementState, error) {
	return s.reconcile(ctx, agreementToken, patchJSON{StatusAmendment: &statusAmendmentJSON{StatusCode: wanted}}, opts)
}

// ReconcileUnilateral tells whether an agreement is as an AmendUnilaterally whose
// answer was lost wanted it. It takes what that call was given.
//
// GET /payto-agreements/{agreementToken} with the secret key.
func (s *PayToService) ReconcileUnilateral(ctx context.Context, details *UnilateralDetails, opts ...CallOption) (*AgreementState, error) {
	if details == nil || details.agreement == nil {
		return nil, missingAgreement("PayTo.ReconcileUnilateral")
	}
	return s.reconcile(ctx, details.agreement.AgreementToken, patchJSON{UnilateralAmendment: details.wire()}, opts)
}

// ReconcileBilateral tells whether an agreement has the terms that an
// AmendBilaterally whose answer was lost wanted. It takes what that call was
// given. While the payer has not answered the terms are the old ones, and the
// agreement's HasPendingBilateralAmendment is true: somebody's amendment has
// arrived.
//
// GET /payto-agreements/{agreementToken} with the secret key.
func (s *PayToService) ReconcileBilateral(ctx context.Context, terms *BilateralTerms, opts ...CallOption) (*AgreementState, error) {
	if terms == nil || terms.agreement == nil {
		return nil, missingAgreement("PayTo.ReconcileBilateral")
	}
	return s.reconcile(ctx, terms.agreement.AgreementToken, patchJSON{BilateralAmendment: terms.wire()}, opts)
}

func (s *PayToService) reconcile(ctx context.Context, agreementToken string, wanted patchJSON, opts []CallOption) (*AgreementState, error) {
	now, err := s.Get(ctx, agreementToken, opts...)
	if err != nil {
		return nil, err
	}
	return &AgreementState{Desired: wanted.stands(now), Agreement: now}, nil
}
