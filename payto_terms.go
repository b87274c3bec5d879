package quickstream

import "github.com/shopspring/decimal"

// UnilateralDetails holds what PayTo.AmendUnilaterally can change: an editable
// copy of what stands, from [Agreement.Details]. An empty text is taken out of the
// agreement.
type UnilateralDetails struct {
	// Description has up to 140 characters.
	Description string
	// PayeeReference has up to 35 characters.
	PayeeReference string

	agreement *Agreement // that the copy is of
}

// BilateralTerms holds what PayTo.AmendBilaterally can change: an editable copy of
// what stands, from [Agreement.Terms]. A nil pointer, a zero Date and an empty text
// take a field out of the agreement.
type BilateralTerms struct {
	// RespondByTimeMinutes is how long the payer has to answer: at most 7200,
	// which is what nil means.
	RespondByTimeMinutes *int64
	// EndDate is required when AutomaticRenewal is false.
	EndDate Date
	// AutomaticRenewal is true for an agreement without an end.
	AutomaticRenewal bool
	// AdditionalInformation has up to 140 characters.
	AdditionalInformation string
	// AgreementTermsParams says how much may be taken and how often.
	AgreementTermsParams

	agreement *Agreement // that the copy is of
}

// Details returns a copy of what can be changed without the payer, to be edited
// and given to PayTo.AmendUnilaterally. The service removes what an amendment
// leaves out, so that an agreement without payment details, supplier business code
// or token is a [ValidationError].
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

// Terms returns a copy of what can be changed if the payer agrees, to be edited
// and given to PayTo.AmendBilaterally. Members of the payment details and terms
// that this package does not model are sent along as they are. The service removes
// what an amendment leaves out, so that an agreement without payment details,
// payment terms or token is a [ValidationError].
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

// checkComplete finds what an amendment needs and the agreement lacks.
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
