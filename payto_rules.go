package quickstream

import (
	"slices"

	"github.com/shopspring/decimal"
)

const (
	maxRespondByMinutes = 7200
	maxPayeeReference   = 35
	maxDescription      = 140
	maxNumberOfPayments = 999_999_999_999_999_999 // 18 digits
)

// agreementCreateRules are the rules of POST
// /customers/{customerId}/payto-agreements.
//
//nolint:gochecknoglobals // an immutable table
var agreementCreateRules = slices.Concat(
	[]rule[AgreementCreateParams]{
		{
			"agreement.supplierBusinessCode.required", local, "supplierBusinessCode", "is required",
			func(p AgreementCreateParams) bool { return p.SupplierBusinessCode == "" },
		},
		{
			"agreement.respondByTimeMinutes.range", local, "respondByTimeMinutes", "must be from 1 to 7200",
			func(p AgreementCreateParams) bool { return !within7200(p.RespondByTimeMinutes) },
		},
		{
			"agreement.payeeReference.length", local, "payeeReference", "must not be longer than 35 characters",
			func(p AgreementCreateParams) bool { return lengthOutside(p.PayeeReference, 0, maxPayeeReference) },
		},
		{
			"agreement.payeeReference.migrated", local, "payeeReference", "is required for MIGRATED_DDR: the lodgement reference of the direct debit",
			func(p AgreementCreateParams) bool {
				return p.CreationType == AgreementCreationMigratedDDR && p.PayeeReference == ""
			},
		},
		{
			"agreement.additionalInformation.migrated", local, "paymentDetails.additionalInformation", "must be the 6-digit APCA number of the direct debit for MIGRATED_DDR",
			func(p AgreementCreateParams) bool {
				info := p.Payment.AdditionalInformation
				return p.CreationType == AgreementCreationMigratedDDR && (len(info) != 6 || !isDigits(info))
			},
		},
		{"agreement.creationType.active", service, "agreementCreationType", "MIGRATED_DDR must be active on the facility", nil},
		{"agreement.payId.limit", service, "payerDetails.payId", "the daily limit of attempts with invalid PayIDs must not be exceeded", nil},
	},
	within("paymentDetails", agreementPaymentRules, func(p AgreementCreateParams) (AgreementPaymentParams, bool) { return p.Payment, true }),
	within("paymentDetails", agreementEndRules, func(p AgreementCreateParams) (AgreementPaymentParams, bool) { return p.Payment, true }),
	within("paymentTerms", agreementTermsRules, func(p AgreementCreateParams) (AgreementTermsParams, bool) { return p.Terms, true }),
	within("payerDetails", payToPayerRules, func(p AgreementCreateParams) (PayToPayerParams, bool) { return p.Payer, true }),
)

//nolint:gochecknoglobals // an immutable table
var agreementPaymentRules = []rule[AgreementPaymentParams]{
	{
		"agreement.purpose.required", local, "purpose", "is required",
		func(p AgreementPaymentParams) bool { return p.Purpose == "" },
	},
	{
		"agreement.description.required", local, "description", "is required",
		func(p AgreementPaymentParams) bool { return p.Description == "" },
	},
	{
		"agreement.description.length", local, "description", "must not be longer than 140 characters",
		func(p AgreementPaymentParams) bool { return lengthOutside(p.Description, 0, maxDescription) },
	},
	{
		"agreement.startDate.required", local, "startDate", "is required and must be a date of the calendar",
		func(p AgreementPaymentParams) bool { return !p.StartDate.IsValid() },
	},
}

// agreementEndRules hold for new agreements and for bilateral amendments.
//
//nolint:gochecknoglobals // an immutable table
var agreementEndRules = []rule[AgreementPaymentParams]{
	{
		"agreement.endDate.required", local, "endDate", "is required when automaticRenewal is false",
		func(p AgreementPaymentParams) bool { return !p.AutomaticRenewal && p.EndDate.IsZero() },
	},
	{
		"agreement.endDate.renewal", local, "endDate", "must be absent when automaticRenewal is true",
		func(p AgreementPaymentParams) bool { return p.AutomaticRenewal && !p.EndDate.IsZero() },
	},
	{
		"agreement.endDate.valid", local, "endDate", "must be a date of the calendar, not before startDate",
		func(p AgreementPaymentParams) bool {
			return !p.EndDate.IsZero() && (!p.EndDate.IsValid() || p.EndDate.Compare(p.StartDate) < 0)
		},
	},
	{
		"agreement.additionalInformation.length", local, "additionalInformation", "must not be longer than 140 characters",
		func(p AgreementPaymentParams) bool { return lengthOutside(p.AdditionalInformation, 0, maxDescription) },
	},
}

// agreementTermsRules hold for new agreements and for bilateral amendments.
//
//nolint:gochecknoglobals // an immutable table
var agreementTermsRules = []rule[AgreementTermsParams]{
	{
		"agreement.frequency.required", local, "frequency", "is required",
		func(p AgreementTermsParams) bool { return p.Frequency == "" },
	},
	{
		"agreement.agreementType.required", local, "agreementType", "is required",
		func(p AgreementTermsParams) bool { return p.Type == "" },
	},
	{
		"agreement.numberOfPaymentsPermitted.required", local, "numberOfPaymentsPermitted", "is required for ADHO",
		func(p AgreementTermsParams) bool {
			return p.Frequency == PayToFrequencyAdhoc && p.NumberOfPaymentsPermitted == nil
		},
	},
	{
		"agreement.numberOfPaymentsPermitted.range", local, "numberOfPaymentsPermitted", "must be positive and have at most 18 digits",
		func(p AgreementTermsParams) bool {
			n := p.NumberOfPaymentsPermitted
			return n != nil && (*n < 1 || *n > maxNumberOfPayments)
		},
	},
	{
		"agreement.pointInTime.range", local, "pointInTime", "must lie in the range of the frequency: 1-24 DAIL, 1-7 WEEK, 1-14 FRTN, 1-31 MNTH, 1-3 QURT, 1-6 MIAN, 1-12 YEAR, two digits for any other",
		func(p AgreementTermsParams) bool {
			last, has := lastPointInTime(p.Frequency)
			return p.PointInTime != nil && has && (*p.PointInTime < 1 || *p.PointInTime > last)
		},
	},
	{
		"agreement.pointInTime.adhoc", local, "pointInTime", "must be absent for ADHO",
		func(p AgreementTermsParams) bool { return p.PointInTime != nil && p.Frequency == PayToFrequencyAdhoc },
	},
	{
		"agreement.lastPaymentAmount.required", local, "lastPaymentAmount", "is required for BALN",
		func(p AgreementTermsParams) bool {
			return p.Type == PayToAgreementTypeBalloon && p.LastPaymentAmount == nil
		},
	},
	{
		"agreement.paymentAmount.required", local, "paymentAmount", "is required for FIXE: the amount of every payment",
		func(p AgreementTermsParams) bool { return p.Type == PayToAgreementTypeFixed && p.PaymentAmount == nil },
	},
	{
		"agreement.firstPaymentAmount.money", local, "firstPaymentAmount", amountMessage,
		func(p AgreementTermsParams) bool { return badAmount(p.FirstPaymentAmount) },
	},
	{
		"agreement.lastPaymentAmount.money", local, "lastPaymentAmount", amountMessage,
		func(p AgreementTermsParams) bool { return badAmount(p.LastPaymentAmount) },
	},
	{
		"agreement.paymentAmount.money", local, "paymentAmount", amountMessage,
		func(p AgreementTermsParams) bool { return badAmount(p.PaymentAmount) },
	},
	{
		"agreement.maximumPaymentAmount.money", local, "maximumPaymentAmount", amountMessage,
		func(p AgreementTermsParams) bool { return badAmount(p.MaximumPaymentAmount) },
	},
	{
		"agreement.currency.aud", local, "currency", "must be AUD",
		func(p AgreementTermsParams) bool { return p.Currency != "" && p.Currency != CurrencyAUD },
	},
	{
		"agreement.firstPaymentDue.valid", local, "firstPaymentDue", "must be a date of the calendar",
		func(p AgreementTermsParams) bool { return !p.FirstPaymentDue.IsZero() && !p.FirstPaymentDue.IsValid() },
	},
	{
		"agreement.lastPaymentDue.valid", local, "lastPaymentDue", "must be a date of the calendar",
		func(p AgreementTermsParams) bool { return !p.LastPaymentDue.IsZero() && !p.LastPaymentDue.IsValid() },
	},
}

const amountMessage = "must not be negative or have more than two decimals"

//nolint:gochecknoglobals // an immutable table
var payToPayerRules = []rule[PayToPayerParams]{
	{
		"payer.payerType.required", local, "payerType", "is required",
		func(p PayToPayerParams) bool { return p.Type == "" },
	},
	{
		"payer.payerId.required", local, "payerId", "is required",
		func(p PayToPayerParams) bool { return p.ID == "" },
	},
	{
		"payer.payerName.required", local, "payerName", "is required",
		func(p PayToPayerParams) bool { return p.Name == "" },
	},
	{
		"payer.account.pair", local, "bsb", "and accountNumber must be given together",
		func(p PayToPayerParams) bool { return (p.BSB == "") != p.AccountNumber.IsZero() },
	},
	{
		"payer.bsb.digits", local, "bsb", "must have 6 digits",
		func(p PayToPayerParams) bool { return p.BSB != "" && (len(p.BSB) != 6 || !isDigits(p.BSB)) },
	},
	{
		"payer.accountNumber.digits", local, "accountNumber", "must have 6 to 9 digits",
		func(p PayToPayerParams) bool {
			text := p.AccountNumber.text()
			return text != "" && (!isDigits(text) || lengthOutside(text, 6, 9))
		},
	},
	{
		"payer.payId.pair", local, "payId", "and payIdType must be given together",
		func(p PayToPayerParams) bool { return (p.PayIDType == "") != p.PayID.IsZero() },
	},
}

//nolint:gochecknoglobals // an immutable table
var newPayToPaymentRules = slices.Concat(
	[]rule[NewPayToPayment]{
		{
			"payToAgreement.supplierBusinessCode.required", local, "supplierBusinessCode", "is required",
			func(p NewPayToPayment) bool { return p.SupplierBusinessCode == "" },
		},
		{
			"payToAgreement.purpose.required", local, "paymentDetails.purpose", "is required",
			func(p NewPayToPayment) bool { return p.Purpose == "" },
		},
		{
			"payToAgreement.description.required", local, "paymentDetails.description", "is required",
			func(p NewPayToPayment) bool { return p.Description == "" },
		},
		{
			"payToAgreement.description.length", local, "paymentDetails.description", "must not be longer than 140 characters",
			func(p NewPayToPayment) bool { return lengthOutside(p.Description, 0, maxDescription) },
		},
	},
	within("payerDetails", payToPayerRules, func(p NewPayToPayment) (PayToPayerParams, bool) { return p.Payer, true }),
)

// lastPointInTime returns the end of a frequency's range, and false for ADHO,
// which has none. Frequencies that this package does not know have two digits.
func lastPointInTime(f PayToFrequency) (int64, bool) {
	switch f {
	case PayToFrequencyDaily:
		return 24, true
	case PayToFrequencyWeekly:
		return 7, true
	case PayToFrequencyFortnightly:
		return 14, true
	case PayToFrequencyMonthly:
		return 31, true
	case PayToFrequencyQuarterly:
		return 3, true
	case PayToFrequencySemiAnnually:
		return 6, true
	case PayToFrequencyYearly:
		return 12, true
	case PayToFrequencyAdhoc:
		return 0, false
	default:
		return 99, true
	}
}

func within7200(minutes *int64) bool {
	return minutes == nil || *minutes >= 1 && *minutes <= maxRespondByMinutes
}

func badAmount(d *decimal.Decimal) bool { return d != nil && (d.IsNegative() || notMoney(*d)) }
