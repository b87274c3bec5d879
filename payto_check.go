package quickstream

import "github.com/quickstream-go/quickstream/internal/wire"

const (
	maxRespondByMinutes = 7200
	maxPayeeReference   = 35
	maxDescription      = 140
	maxNumberOfPayments = 999_999_999_999_999_999 // 18 digits
)

func (b agreementJSON) check(f *findings) {
	migrated, apca := b.AgreementCreationType == AgreementCreationTypeMigratedDDR, b.PaymentDetails.AdditionalInformation
	f.require(b.SupplierBusinessCode != "", "agreement.supplierBusinessCode.required", "supplierBusinessCode", "is required")
	f.require(inRange(b.RespondByTimeMinutes, 0, maxRespondByMinutes),
		"agreement.respondByTimeMinutes.range", "respondByTimeMinutes", "must be from 0 to 7200")
	f.require(lengthWithin(b.PayeeReference, 0, maxPayeeReference),
		"agreement.payeeReference.length", "payeeReference", "must not be longer than 35 characters")
	f.require(!migrated || b.PayeeReference != "",
		"agreement.payeeReference.migrated", "payeeReference", "is required for MIGRATED_DDR: the lodgement reference of the direct debit")
	f.require(!migrated || len(apca) == 6 && isDigits(apca), "agreement.additionalInformation.migrated",
		"paymentDetails.additionalInformation", "must be the 6-digit APCA number of the direct debit for MIGRATED_DDR")
	f.within("paymentDetails", b.PaymentDetails.check)
	f.within("paymentTerms", func(f *findings) {
		f.require(b.PaymentTerms.Frequency != AgreementFrequencyAdhoc || b.PaymentTerms.NumberOfPaymentsPermitted != nil,
			"agreement.numberOfPaymentsPermitted.required", "numberOfPaymentsPermitted", "is required for ADHO")
		b.PaymentTerms.check(f)
	})
	f.within("payerDetails", b.PayerDetails.check)
}

func (p agreementPaymentJSON) check(f *findings) {
	f.require(lengthWithin(p.Description, 0, maxDescription),
		"agreement.description.length", "description", "must not be longer than 140 characters")
	f.require(p.StartDate.IsZero() || p.StartDate.IsValid(), "agreement.startDate.valid", "startDate", "must be a date of the calendar")
	p.checkChangeable(f)
}

// checkChangeable checks what a bilateral amendment can change.
func (p agreementPaymentJSON) checkChangeable(f *findings) {
	ends, renews := !p.EndDate.IsZero(), p.AutomaticRenewal != nil && *p.AutomaticRenewal
	f.require(ends || renews, "agreement.endDate.required", "endDate", "is required when automaticRenewal is false")
	f.require(!ends || !renews, "agreement.endDate.renewal", "endDate", "must be absent when automaticRenewal is true")
	f.require(!ends || p.EndDate.IsValid(), "agreement.endDate.valid", "endDate", "must be a date of the calendar")
	f.require(lengthWithin(p.AdditionalInformation, 0, maxDescription),
		"agreement.additionalInformation.length", "additionalInformation", "must not be longer than 140 characters")
}

func (t agreementTermsJSON) check(f *findings) {
	adhoc := t.Frequency == AgreementFrequencyAdhoc
	f.require(inRange(t.NumberOfPaymentsPermitted, 0, maxNumberOfPayments),
		"agreement.numberOfPaymentsPermitted.range", "numberOfPaymentsPermitted", "must have at most 18 digits and no sign")
	f.require(adhoc || inRange(t.PointInTime, 1, lastPointInTime(t.Frequency)), "agreement.pointInTime.range", "pointInTime",
		"must lie in the range of the frequency: 1-24 DAIL, 1-7 WEEK, 1-14 FRTN, 1-31 MNTH, 1-3 QURT, 1-6 MIAN, 1-12 YEAR, two digits for any other")
	f.require(!adhoc || t.PointInTime == nil, "agreement.pointInTime.adhoc", "pointInTime", "must be absent for ADHO")
	t.checkAmounts(f)
	f.require(t.FirstPaymentDue.IsZero() || t.FirstPaymentDue.IsValid(),
		"agreement.firstPaymentDue.valid", "firstPaymentDue", "must be a date of the calendar")
	f.require(t.LastPaymentDue.IsZero() || t.LastPaymentDue.IsValid(),
		"agreement.lastPaymentDue.valid", "lastPaymentDue", "must be a date of the calendar")
}

func (t agreementTermsJSON) checkAmounts(f *findings) {
	const money = "must not be negative or have more than two decimals or 32 digits"
	f.require(t.AgreementType != AgreementTypeBalloon || t.LastPaymentAmount != nil,
		"agreement.lastPaymentAmount.required", "lastPaymentAmount", "is required for BALN")
	f.require(isAmount(t.FirstPaymentAmount), "agreement.firstPaymentAmount.money", "firstPaymentAmount", money)
	f.require(isAmount(t.LastPaymentAmount), "agreement.lastPaymentAmount.money", "lastPaymentAmount", money)
	f.require(isAmount(t.PaymentAmount), "agreement.paymentAmount.money", "paymentAmount", money)
	f.require(isAmount(t.MaximumPaymentAmount), "agreement.maximumPaymentAmount.money", "maximumPaymentAmount", money)
	f.require(t.Currency == "" || t.Currency == CurrencyAUD, "agreement.currency.aud", "currency", "must be AUD")
}

// isAmount accepts an absent amount.
func isAmount(t *wire.Text) bool {
	return t == nil || !t.Decimal().IsNegative() && wire.HasTwoDecimals(t.Decimal())
}

// lastPointInTime returns the end of a frequency's range; 99 for unknown frequencies.
func lastPointInTime(f AgreementFrequency) int64 {
	switch f {
	case AgreementFrequencyDaily:
		return 24
	case AgreementFrequencyWeekly:
		return 7
	case AgreementFrequencyFortnightly:
		return 14
	case AgreementFrequencyMonthly:
		return 31
	case AgreementFrequencyQuarterly:
		return 3
	case AgreementFrequencySemiAnnually:
		return 6
	case AgreementFrequencyYearly:
		return 12
	default:
		return 99
	}
}

func (p *payToPayerJSON) check(f *findings) {
	bsb, number := p.BSB, p.AccountNumber
	f.require((bsb == "") == (number == ""), "payer.account.pair", "bsb", "and accountNumber must be given together")
	f.require(bsb == "" || len(bsb) == 6 && isDigits(bsb), "payer.bsb.digits", "bsb", "must have 6 digits")
	f.require(number == "" || isDigits(number) && lengthWithin(number, 6, 9), "payer.accountNumber.digits", "accountNumber", "must have 6 to 9 digits")
	f.require((p.PayIDType == "") == (p.PayID == ""), "payer.payId.pair", "payId", "and payIdType must be given together")
}

func (a statusAmendmentJSON) check(f *findings) {
	const longest = 256
	f.require(a.StatusCode == AgreementStatusActive || a.ReasonCode != "",
		"statusAmendment.reasonCode.required", "reasonCode", "is required to suspend and to cancel")
	f.require(a.ReasonCode.fits(a.StatusCode), "statusAmendment.reasonCode.status", "reasonCode",
		"cannot be used for this change: AC04, MD20, CTCA and CTEX suspend or cancel, MCFC, MCOC and MSUC suspend")
	f.require(lengthWithin(a.ReasonDescription, 0, longest),
		"statusAmendment.reasonDescription.length", "reasonDescription", "must not be longer than 256 characters")
}

// fits reports whether the code may be used for a change to a status. The service judges unknown
// codes.
func (c AgreementReasonCode) fits(to AgreementStatus) bool {
	switch c {
	case AgreementReasonClosedAccount, AgreementReasonAgreementExpired, AgreementReasonContractCancelled, AgreementReasonContractExpired:
		return to == AgreementStatusCancelled || to == AgreementStatusSuspended
	case AgreementReasonFinalCollection, AgreementReasonOnceOffCollection, AgreementReasonUnsuccessful:
		return to == AgreementStatusSuspended
	default:
		return true
	}
}

// check holds a change to its rules, whether it was just made or stored.
func (p patchJSON) check(f *findings) {
	if p.StatusAmendment != nil {
		f.within("statusAmendment", p.StatusAmendment.check)
	}
	if p.UnilateralAmendment != nil {
		f.within("unilateralAmendment", p.UnilateralAmendment.check)
	}
	if p.BilateralAmendment != nil {
		f.within("bilateralAmendment", p.BilateralAmendment.check)
	}
}

func (a unilateralAmendmentJSON) check(f *findings) {
	f.require(lengthWithin(a.Description, 0, maxDescription),
		"unilateralAmendment.description.length", "description", "must not be longer than 140 characters")
	f.require(lengthWithin(a.PayeeReference, 0, maxPayeeReference),
		"unilateralAmendment.payeeReference.length", "payeeReference", "must not be longer than 35 characters")
}

func (a bilateralAmendmentJSON) check(f *findings) {
	f.require(inRange(a.RespondByTimeMinutes, 0, maxRespondByMinutes),
		"bilateralAmendment.respondByTimeMinutes.range", "respondByTimeMinutes", "must be from 0 to 7200")
	f.within("paymentDetails", a.PaymentDetails.checkChangeable)
	f.within("paymentTerms", a.PaymentTerms.check)
}
