package quickstream

import "github.com/shopspring/decimal"

const (
	maxRespondByMinutes = 7200
	maxPayeeReference   = 35
	maxDescription      = 140
	maxNumberOfPayments = 999_999_999_999_999_999 // 18 digits
)

func (p CreateAgreementParams) check(f *findings) {
	migrated, apca := p.CreationType == AgreementCreationTypeMigratedDDR, p.Payment.AdditionalInformation
	f.require(p.SupplierBusinessCode != "", "agreement.supplierBusinessCode.required", "supplierBusinessCode", "is required")
	f.require(inRange(p.RespondByTimeMinutes, 0, maxRespondByMinutes),
		"agreement.respondByTimeMinutes.range", "respondByTimeMinutes", "must be from 0 to 7200")
	f.require(lengthWithin(p.PayeeReference, 0, maxPayeeReference),
		"agreement.payeeReference.length", "payeeReference", "must not be longer than 35 characters")
	f.require(!migrated || p.PayeeReference != "",
		"agreement.payeeReference.migrated", "payeeReference", "is required for MIGRATED_DDR: the lodgement reference of the direct debit")
	f.require(!migrated || len(apca) == 6 && isDigits(apca), "agreement.additionalInformation.migrated",
		"paymentDetails.additionalInformation", "must be the 6-digit APCA number of the direct debit for MIGRATED_DDR")
	f.within("paymentDetails", p.Payment.check)
	f.within("paymentTerms", p.Terms.check)
	payer := p.Payer.wire()
	f.within("payerDetails", payer.check)
}

func (p AgreementPaymentParams) check(f *findings) {
	f.require(p.Purpose != "", "agreement.purpose.required", "purpose", "is required")
	f.require(lengthWithin(p.Description, 0, maxDescription),
		"agreement.description.length", "description", "must not be longer than 140 characters")
	f.require(p.StartDate.IsZero() || p.StartDate.IsValid(), "agreement.startDate.valid", "startDate", "must be a date of the calendar")
	p.checkChangeable(f)
}

// checkChangeable checks what a bilateral amendment can change.
func (p AgreementPaymentParams) checkChangeable(f *findings) {
	ends := !p.EndDate.IsZero()
	f.require(ends || p.AutomaticRenewal, "agreement.endDate.required", "endDate", "is required when automaticRenewal is false")
	f.require(!ends || !p.AutomaticRenewal, "agreement.endDate.renewal", "endDate", "must be absent when automaticRenewal is true")
	f.require(!ends || p.EndDate.IsValid(), "agreement.endDate.valid", "endDate", "must be a date of the calendar")
	f.require(lengthWithin(p.AdditionalInformation, 0, maxDescription),
		"agreement.additionalInformation.length", "additionalInformation", "must not be longer than 140 characters")
}

func (p AgreementTermsParams) check(f *findings) {
	adhoc := p.Frequency == PayToFrequencyAdhoc
	f.require(p.Frequency != "", "agreement.frequency.required", "frequency", "is required")
	f.require(p.Type != "", "agreement.agreementType.required", "agreementType", "is required")
	f.require(!adhoc || p.NumberOfPaymentsPermitted != nil,
		"agreement.numberOfPaymentsPermitted.required", "numberOfPaymentsPermitted", "is required for ADHO")
	f.require(inRange(p.NumberOfPaymentsPermitted, 0, maxNumberOfPayments),
		"agreement.numberOfPaymentsPermitted.range", "numberOfPaymentsPermitted", "must have at most 18 digits and no sign")
	f.require(adhoc || inRange(p.PointInTime, 1, lastPointInTime(p.Frequency)), "agreement.pointInTime.range", "pointInTime",
		"must lie in the range of the frequency: 1-24 DAIL, 1-7 WEEK, 1-14 FRTN, 1-31 MNTH, 1-3 QURT, 1-6 MIAN, 1-12 YEAR, two digits for any other")
	f.require(!adhoc || p.PointInTime == nil, "agreement.pointInTime.adhoc", "pointInTime", "must be absent for ADHO")
	p.checkAmounts(f)
	f.require(p.FirstPaymentDue.IsZero() || p.FirstPaymentDue.IsValid(),
		"agreement.firstPaymentDue.valid", "firstPaymentDue", "must be a date of the calendar")
	f.require(p.LastPaymentDue.IsZero() || p.LastPaymentDue.IsValid(),
		"agreement.lastPaymentDue.valid", "lastPaymentDue", "must be a date of the calendar")
}

func (p AgreementTermsParams) checkAmounts(f *findings) {
	const money = "must not be negative or have more than two decimals or 32 digits"
	f.require(p.Type != PayToAgreementTypeBalloon || p.LastPaymentAmount != nil,
		"agreement.lastPaymentAmount.required", "lastPaymentAmount", "is required for BALN")
	f.require(isAmount(p.FirstPaymentAmount), "agreement.firstPaymentAmount.money", "firstPaymentAmount", money)
	f.require(isAmount(p.LastPaymentAmount), "agreement.lastPaymentAmount.money", "lastPaymentAmount", money)
	f.require(isAmount(p.PaymentAmount), "agreement.paymentAmount.money", "paymentAmount", money)
	f.require(isAmount(p.MaximumPaymentAmount), "agreement.maximumPaymentAmount.money", "maximumPaymentAmount", money)
	f.require(p.Currency == "" || p.Currency == CurrencyAUD, "agreement.currency.aud", "currency", "must be AUD")
}

// isAmount accepts an absent amount.
func isAmount(d *decimal.Decimal) bool { return d == nil || !d.IsNegative() && isMoney(*d) }

// lastPointInTime returns the end of a frequency's range; 99 for unknown frequencies.
func lastPointInTime(f PayToFrequency) int64 {
	switch f {
	case PayToFrequencyDaily:
		return 24
	case PayToFrequencyWeekly:
		return 7
	case PayToFrequencyFortnightly:
		return 14
	case PayToFrequencyMonthly:
		return 31
	case PayToFrequencyQuarterly:
		return 3
	case PayToFrequencySemiAnnually:
		return 6
	case PayToFrequencyYearly:
		return 12
	default:
		return 99
	}
}

func (p *payToPayerJSON) check(f *findings) {
	bsb, number := p.BSB, p.AccountNumber
	f.require(p.PayerType != "", "payer.payerType.required", "payerType", "is required")
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
func (c ReasonCode) fits(to AgreementStatus) bool {
	switch c {
	case ReasonCodeClosedAccount, ReasonCodeAgreementExpired, ReasonCodeContractCancelled, ReasonCodeContractExpired:
		return to == AgreementStatusCancelled || to == AgreementStatusSuspended
	case ReasonCodeFinalCollection, ReasonCodeOnceOffCollection, ReasonCodeUnsuccessful:
		return to == AgreementStatusSuspended
	default:
		return true
	}
}

// checkAmendable leaves unknown statuses to the service.
func (a *Agreement) checkAmendable(f *findings) {
	amendable := true
	switch a.Status {
	case AgreementStatusCreated, AgreementStatusRejected, AgreementStatusPending, AgreementStatusCancelled:
		amendable = false
	default:
	}
	f.require(amendable, "amendment.status", "agreementToken", "the agreement must be active or suspended")
}

func (d *UnilateralDetails) check(f *findings) {
	d.agreement.checkAmendable(f)
	f.within("unilateralAmendment", func(f *findings) {
		f.require(lengthWithin(d.Description, 0, maxDescription),
			"unilateralAmendment.description.length", "description", "must not be longer than 140 characters")
		f.require(lengthWithin(d.PayeeReference, 0, maxPayeeReference),
			"unilateralAmendment.payeeReference.length", "payeeReference", "must not be longer than 35 characters")
	})
}

func (t *BilateralTerms) check(f *findings) {
	t.agreement.checkAmendable(f)
	f.within("bilateralAmendment", func(f *findings) {
		f.require(inRange(t.RespondByTimeMinutes, 0, maxRespondByMinutes),
			"bilateralAmendment.respondByTimeMinutes.range", "respondByTimeMinutes", "must be from 0 to 7200")
		f.within("paymentDetails", AgreementPaymentParams{
			EndDate: t.EndDate, AutomaticRenewal: t.AutomaticRenewal, AdditionalInformation: t.AdditionalInformation,
		}.checkChangeable)
		f.within("paymentTerms", t.AgreementTermsParams.check)
	})
}
