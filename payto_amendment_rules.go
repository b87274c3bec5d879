package quickstream

import "slices"

const maxReasonDescription = 256

// statusAmendmentRules are the rules of a STATUS_AMENDMENT.
//
//nolint:gochecknoglobals // an immutable table
var statusAmendmentRules = []rule[statusAmendment]{
	{
		"statusAmendment.reasonCode.required", local, "statusAmendment.reasonCode", "is required to suspend and to cancel",
		func(a statusAmendment) bool { return a.to != AgreementStatusActive && a.reason.Code == "" },
	},
	{
		"statusAmendment.reasonCode.status", local, "statusAmendment.reasonCode", "cannot be used for this change: AC04, MD20, CTCA and CTEX suspend or cancel, MCFC, MCOC and MSUC suspend",
		func(a statusAmendment) bool { return !a.reason.Code.fits(a.to) },
	},
	{
		"statusAmendment.reasonDescription.length", local, "statusAmendment.reasonDescription", "must not be longer than 256 characters",
		func(a statusAmendment) bool { return lengthOutside(a.reason.Description, 0, maxReasonDescription) },
	},
	{"statusAmendment.status", service, "agreementToken", "the agreement must be active or suspended", nil},
}

// fits reports whether the code may be used for a change to a status. Codes that
// this package does not know are left to the service.
func (c ReasonCode) fits(to AgreementStatus) bool {
	switch c {
	case ReasonClosedAccount, ReasonAgreementExpired, ReasonContractCancelled, ReasonContractExpired:
		return to == AgreementStatusCancelled || to == AgreementStatusSuspended
	case ReasonFinalCollection, ReasonOnceOffCollection, ReasonUnsuccessfulCollected:
		return to == AgreementStatusSuspended
	default:
		return true
	}
}

// unilateralAmendmentRules are the rules of a UNILATERAL_AMENDMENT.
//
//nolint:gochecknoglobals // an immutable table
var unilateralAmendmentRules = []rule[unilateralAmendment]{
	{
		"amendment.status", given, "agreementToken", "the agreement must be active or suspended",
		func(a unilateralAmendment) bool { return !a.current.amendable() },
	},
	{
		"unilateralAmendment.supplierBusinessCode", given, "unilateralAmendment.supplierBusinessCode", "must be the agreement's; read the agreement with PayTo.Get",
		func(a unilateralAmendment) bool { return a.body.SupplierBusinessCode == "" },
	},
	{
		"unilateralAmendment.description.length", local, "unilateralAmendment.description", "must not be longer than 140 characters",
		func(a unilateralAmendment) bool { return lengthOutside(a.body.Description, 0, maxDescription) },
	},
	{
		"unilateralAmendment.payeeReference.length", local, "unilateralAmendment.payeeReference", "must not be longer than 35 characters",
		func(a unilateralAmendment) bool { return lengthOutside(a.body.PayeeReference, 0, maxPayeeReference) },
	},
}

// bilateralAmendmentRules are the rules of a BILATERAL_AMENDMENT. They are
// judged on the agreement as it would be.
//
//nolint:gochecknoglobals // an immutable table
var bilateralAmendmentRules = slices.Concat(
	[]rule[bilateralAmendment]{
		{
			"amendment.status", given, "agreementToken", "the agreement must be active or suspended",
			func(a bilateralAmendment) bool { return !a.current.amendable() },
		},
		{
			"bilateralAmendment.respondByTimeMinutes.range", local, "bilateralAmendment.respondByTimeMinutes", "must be from 1 to 7200",
			func(a bilateralAmendment) bool { return !within7200(a.respondByTimeMinutes) },
		},
	},
	within("bilateralAmendment.paymentDetails", agreementEndRules, func(a bilateralAmendment) (AgreementPaymentParams, bool) { return a.payment, true }),
	within("bilateralAmendment.paymentTerms", agreementTermsRules, func(a bilateralAmendment) (AgreementTermsParams, bool) { return a.terms, true }),
)

// amendable reports whether an agreement can be amended. A status that this
// package does not know is left to the service.
func (a *Agreement) amendable() bool {
	switch a.Status {
	case AgreementStatusCreated, AgreementStatusRejected, AgreementStatusPending, AgreementStatusCancelled:
		return false
	default:
		return true
	}
}
