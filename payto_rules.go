package quickstream

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// AgreementStatus is the status of a PayTo agreement.
type AgreementStatus string

// The statuses of an agreement.
const (
	AgreementStatusCreated   AgreementStatus = "CREATED"
	AgreementStatusRejected  AgreementStatus = "REJECTED"  // see RejectionReason
	AgreementStatusPending   AgreementStatus = "PENDING"   // waits for the payer
	AgreementStatusActive    AgreementStatus = "ACTIVE"    // payments and amendments are possible
	AgreementStatusSuspended AgreementStatus = "SUSPENDED" // amendments are possible
	AgreementStatusCancelled AgreementStatus = "CANCELLED" // nothing is possible
)

// AgreementCreationType is the origin of an agreement.
type AgreementCreationType string

// The creation types.
const (
	AgreementCreationTypeAuthorised AgreementCreationType = "AUTHORISED"
	// AgreementCreationTypeMigratedDDR replaces a direct debit. It has to be enabled for the
	// facility.
	AgreementCreationTypeMigratedDDR AgreementCreationType = "MIGRATED_DDR"
)

// AgreementPurpose is the purpose of an agreement.
type AgreementPurpose string

// The purposes.
const (
	AgreementPurposeMortgage         AgreementPurpose = "MORT"
	AgreementPurposeUtility          AgreementPurpose = "UTIL"
	AgreementPurposeLoan             AgreementPurpose = "LOAN" // other than a mortgage
	AgreementPurposeDependentSupport AgreementPurpose = "DEPD"
	AgreementPurposeGambling         AgreementPurpose = "GAMP"
	AgreementPurposeRetail           AgreementPurpose = "RETL" // electronic commerce included
	AgreementPurposeSalary           AgreementPurpose = "SALA"
	AgreementPurposePersonal         AgreementPurpose = "PERS"
	AgreementPurposeGovernment       AgreementPurpose = "GOVT"
	AgreementPurposePension          AgreementPurpose = "PENS"
	AgreementPurposeTax              AgreementPurpose = "TAXS"
	AgreementPurposeOther            AgreementPurpose = "OTHR"
)

// AgreementFrequency is how often payments are made.
type AgreementFrequency string

// The frequencies, with the range of AgreementTermsParams.PointInTime.
const (
	AgreementFrequencyAdhoc        AgreementFrequency = "ADHO" // none
	AgreementFrequencyDaily        AgreementFrequency = "DAIL" // 1 to 24
	AgreementFrequencyWeekly       AgreementFrequency = "WEEK" // 1 to 7
	AgreementFrequencyFortnightly  AgreementFrequency = "FRTN" // 1 to 14
	AgreementFrequencyMonthly      AgreementFrequency = "MNTH" // 1 to 31
	AgreementFrequencyQuarterly    AgreementFrequency = "QURT" // 1 to 3
	AgreementFrequencySemiAnnually AgreementFrequency = "MIAN" // 1 to 6
	AgreementFrequencyYearly       AgreementFrequency = "YEAR" // 1 to 12
)

// AgreementType says how the amounts of an agreement are set.
type AgreementType string

// The agreement types.
const (
	AgreementTypeBalloon  AgreementType = "BALN" // fixed, with a large last payment
	AgreementTypeFixed    AgreementType = "FIXE"
	AgreementTypeUsage    AgreementType = "USGB" // by usage
	AgreementTypeVariable AgreementType = "VARI" // not by usage
)

// PayerType says whether a payer is a person or an organisation.
type PayerType string

// The payer types.
const (
	PayerTypeOrganisation PayerType = "ORGN"
	PayerTypePerson       PayerType = "PERS"
)

// PayIDType is the type of a PayID.
type PayIDType string

// The PayID types.
const (
	PayIDTypeEmail        PayIDType = "EMAL"
	PayIDTypePhone        PayIDType = "TELI"
	PayIDTypeABN          PayIDType = "AUBN"
	PayIDTypeOrganisation PayIDType = "ORGN"
)

// AgreementReasonCode is the reason for a change of an agreement's status.
type AgreementReasonCode string

// The reason codes. Payments have another code set: a closed account is AC04 here and AC05 there.
const (
	AgreementReasonClosedAccount     AgreementReasonCode = "AC04" // suspend, cancel
	AgreementReasonInitiatingParty   AgreementReasonCode = "MD17" // requested by the merchant; any change
	AgreementReasonAgreementExpired  AgreementReasonCode = "MD20" // suspend, cancel
	AgreementReasonContractAmended   AgreementReasonCode = "CTAM" // any change
	AgreementReasonContractCancelled AgreementReasonCode = "CTCA" // by the payer; suspend, cancel
	AgreementReasonContractExpired   AgreementReasonCode = "CTEX" // suspend, cancel
	AgreementReasonFinalCollection   AgreementReasonCode = "MCFC" // suspend
	AgreementReasonOnceOffCollection AgreementReasonCode = "MCOC" // suspend
	AgreementReasonUnsuccessful      AgreementReasonCode = "MSUC" // 7 consecutive unsuccessful collections; suspend
	AgreementReasonNoAnswer          AgreementReasonCode = "NOAS" // from the customer; any change
)

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

func (p AgreementPaymentDetails) check(f *findings) {
	f.require(lengthWithin(p.Description, 0, maxDescription),
		"agreement.description.length", "description", "must not be longer than 140 characters")
	f.require(p.StartDate.IsZero() || p.StartDate.IsValid(), "agreement.startDate.valid", "startDate", "must be a date of the calendar")
	p.checkChangeable(f)
}

// checkChangeable checks the members that a bilateral amendment can change.
func (p AgreementPaymentDetails) checkChangeable(f *findings) {
	ends, renews := !p.EndDate.IsZero(), p.AutomaticRenewal
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
	last := map[AgreementFrequency]int64{
		AgreementFrequencyDaily: 24, AgreementFrequencyWeekly: 7, AgreementFrequencyFortnightly: 14, AgreementFrequencyMonthly: 31,
		AgreementFrequencyQuarterly: 3, AgreementFrequencySemiAnnually: 6, AgreementFrequencyYearly: 12,
	}
	return cmp.Or(last[f], 99)
}

func (p payToPayerJSON) check(f *findings) {
	bsb, number := p.BSB, p.AccountNumber
	f.require((bsb == "") == (number == ""), "payer.account.pair", "bsb", "and accountNumber must be given together")
	f.require(bsb == "" || len(bsb) == 6 && isDigits(bsb), "payer.bsb.digits", "bsb", "must have 6 digits")
	f.require(number == "" || isDigits(number) && lengthWithin(number, 6, 9), "payer.accountNumber.digits", "accountNumber", "must have 6 to 9 digits")
	f.require((p.PayIDType == "") == (p.PayID == ""), "payer.payId.pair", "payId", "and payIdType must be given together")
}

func (a statusAmendmentJSON) check(f *findings) {
	const longest = 256
	f.require(a.StatusCode == AgreementStatusActive || a.Code != "",
		"statusAmendment.reasonCode.required", "reasonCode", "is required to suspend and to cancel")
	f.require(a.Code.fits(a.StatusCode), "statusAmendment.reasonCode.status", "reasonCode",
		"cannot be used for this change: AC04, MD20, CTCA and CTEX suspend or cancel, MCFC, MCOC and MSUC suspend")
	f.require(lengthWithin(a.Description, 0, longest),
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

// check applies the rules of a change.
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

// check applies the rules to a payment under an agreement, or together with a new one.
func (p *payToDataJSON) check(f *findings) {
	agreement := p.PayToAgreement
	f.require((agreement != nil) != (p.AgreementToken != ""), "payToData.agreementToken.required", "agreementToken", "or payToAgreement is required, and not both")
	if agreement != nil {
		f.require(lengthWithin(agreement.PaymentDetails.Description, 0, maxDescription),
			"payToAgreement.description.length", "payToAgreement.paymentDetails.description", "must not be longer than 140 characters")
		f.within("payToAgreement.payerDetails", agreement.PayerDetails.check)
	}
}

// comparison names the members that differ between an answer and its request.
type comparison struct {
	facts  []string // whose money it is and how much: the answer is about something else
	others []string // members that the service may show in another form
	exact  bool     // no member differs or is on one side only; only for a comparison that begins as true
}

func (c *comparison) fact(member, shown, sent string) {
	if c.exact = c.exact && shown == sent; isAnother(shown, sent) {
		c.facts = append(c.facts, member)
	}
}

func (c *comparison) member(member, shown, sent string) {
	if c.exact = c.exact && shown == sent; isAnother(shown, sent) {
		c.others = append(c.others, member)
	}
}

func isAnother(shown, sent string) bool { return shown != "" && sent != "" && !sameText(shown, sent) }

func (b agreementJSON) compare(a *Agreement, customerID string) (c comparison) {
	c.member("payeeReference", a.PayeeReference, b.PayeeReference)
	if p := a.PayeeDetails; p != nil {
		c.member("payeeDetails.supplierBusinessCode", p.SupplierBusinessCode, b.SupplierBusinessCode)
	}
	if d, sent := a.PaymentDetails, b.PaymentDetails; d != nil {
		c.member("paymentDetails.purpose", string(d.Purpose), string(sent.Purpose))
		c.member("paymentDetails.description", d.Description, sent.Description)
		c.member("paymentDetails.startDate", d.StartDate.String(), sent.StartDate.String())
		c.changeable(*d, sent)
	}
	if a.PaymentTerms != nil {
		c.terms(*a.PaymentTerms, b.PaymentTerms)
	}
	if p, sent := a.PayerDetails, b.PayerDetails; p != nil {
		c.fact("payerDetails.customerId", p.CustomerID, customerID)
		c.member("payerDetails.payerId", p.ID, sent.PayerID)
		c.member("payerDetails.paymentReference", p.Reference, sent.PayerReference)
	}
	return c
}

// changeable compares the members that a bilateral amendment can change.
func (c *comparison) changeable(d, sent AgreementPaymentDetails) {
	c.member("paymentDetails.additionalInformation", d.AdditionalInformation, sent.AdditionalInformation)
	c.member("paymentDetails.endDate", d.EndDate.String(), sent.EndDate.String())
	c.member("paymentDetails.automaticRenewal", strconv.FormatBool(d.AutomaticRenewal), strconv.FormatBool(sent.AutomaticRenewal))
}

func (c *comparison) terms(t AgreementTerms, sent agreementTermsJSON) {
	c.member("paymentTerms.frequency", string(t.Frequency), string(sent.Frequency))
	c.fact("paymentTerms.agreementType", string(t.Type), string(sent.AgreementType))
	c.amount("paymentTerms.firstPaymentAmount", t.FirstPaymentAmount, sent.FirstPaymentAmount)
	c.amount("paymentTerms.lastPaymentAmount", t.LastPaymentAmount, sent.LastPaymentAmount)
	c.amount("paymentTerms.paymentAmount", t.PaymentAmount, sent.PaymentAmount)
	c.amount("paymentTerms.maximumPaymentAmount", t.MaximumPaymentAmount, sent.MaximumPaymentAmount)
	c.member("paymentTerms.firstPaymentDue", t.FirstPaymentDue.String(), sent.FirstPaymentDue.String())
	c.member("paymentTerms.lastPaymentDue", t.LastPaymentDue.String(), sent.LastPaymentDue.String())
	c.member("paymentTerms.numberOfPaymentsPermitted", number(t.NumberOfPaymentsPermitted), number(sent.NumberOfPaymentsPermitted))
	c.member("paymentTerms.pointInTime", number(t.PointInTime), number(sent.PointInTime))
}

func (c *comparison) amount(member string, shown *Amount, sent *wire.Text) {
	var has, wants string
	if shown != nil {
		has = shown.Amount.String()
	}
	if sent != nil {
		wants = sent.Decimal().String()
	}
	c.fact(member, has, wants)
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// isMadeIn reports whether an agreement is as the change requested, without unknown members. A
// bilateral amendment counts once the payer has agreed.
func (p patchJSON) isMadeIn(a *Agreement) bool {
	found := comparison{exact: true}
	switch d := a.PaymentDetails; {
	case p.status() != "":
		return sameText(string(a.Status), string(p.status()))
	case p.UnilateralAmendment != nil && d != nil && a.PayeeDetails != nil:
		sent := p.UnilateralAmendment
		found.member("paymentDetails.description", d.Description, sent.Description)
		found.member("payeeReference", a.PayeeReference, sent.PayeeReference)
		found.member("payeeDetails.supplierBusinessCode", a.PayeeDetails.SupplierBusinessCode, sent.SupplierBusinessCode)
	case p.BilateralAmendment != nil && d != nil && a.PaymentTerms != nil:
		found.changeable(*d, p.BilateralAmendment.PaymentDetails)
		found.terms(*a.PaymentTerms, p.BilateralAmendment.PaymentTerms)
	default: // an omitted member says nothing
		var shown struct {
			Pending *bool `json:"hasPendingBilateralAmendment"`
		}
		return p.UpdateType == updateRecallAmendment && !a.HasPendingBilateralAmendment && json.Unmarshal(a.Raw(), &shown) == nil && shown.Pending != nil
	}
	return found.exact
}

func reasonsFor(members []string) []string {
	var reasons []string
	for _, member := range members {
		reasons = append(reasons, "its "+member+" is another")
	}
	return reasons
}
