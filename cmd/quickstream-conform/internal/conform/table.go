package conform

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
)

// probe is a row of the table: the questions that it answers, and how.
type probe struct {
	names []string
	calls int    // about how many requests it makes
	how   string // what it does, in the report and before the start
	needs string // what has to be accepted before; a refusal says nothing without it
	// ask returns a result for each name, and the last one is for all that follow. A result without
	// an answer is asked for again.
	ask func(*session) []result
	// later is why a question has no answer yet, if ask did not say it.
	later string
}

const (
	notRead   = "reads do not find the transactions yet; needs a -wait that is longer than LookupLag"
	needsDays = "needs days"
)

// table is all probes but the onsets, which wait for one change each.
func table() []probe { return slices.Concat(immediate(), reads(), timed()) }

// row returns the row of a question.
func row(name string) probe {
	rows := table()
	return rows[slices.IndexFunc(rows, func(p probe) bool { return slices.Contains(p.names, name) })]
}

// immediate are the probes that need nothing but an answer.
func immediate() []probe {
	return []probe{
		choice("BareKeys", "true", "false", "the key as credentials without a colon", "", (*session).bareKey),
		choice("IgnoreUnknownQuery", "true", "false", "an unknown parameter in a search for a customer that does not exist", "", (*session).unknownQuery),
		question("NothingFound", 2, "the transactions of a day in 1990", "", (*session).nothingFound),
		{names: []string{"ErrorForm", "ErrorStatusAsString", "NullErrorList"}, calls: 4, how: "a payment without its members, and a receipt that does not exist", ask: (*session).errorForms},
		{names: []string{"KeyForm", "TextMembers", "Location", "TransactionAnswers", "UnknownEnumValues"}, calls: 2, how: "an account verification, with an idempotency key that is no UUID", ask: (*session).firstVerification},
		question("KeyMismatch", 2, "the same idempotency key for another verification", "verification", (*session).keyMismatch),
		question("UsageRequired", 4, "verifications with STORED_CREDENTIAL without a usage", "verification", (*session).usageRequired),
		question("StoredCredentialUsages", 4, "verifications with usages that are not shown in public", "verification", (*session).usages),
		{names: []string{"InternationalPhones", "OtherAnswers"}, calls: 4, how: "a customer of its own, with a local phone number", ask: (*session).newCustomer},
		question("NullInPut", 2, "null for the email address of that customer", "customer", (*session).nullInPut),
		question("DisabledCustomers", 6, "a verification and a registration while that customer is disabled", "customer", (*session).disabledCustomer),
		question("BSBForm", 4, "tokens for a bank account, with and without a dash in the BSB", "", (*session).bsbForm),
		question("PayerAddress", 6, "verifications of tokens by mail order, with and without the payer's address", "", (*session).payerAddress),
		question("BillingAddressMembers", 8, "3D Secure for tokens with parts of a billing address", "", (*session).billingAddress),
		{names: []string{"AgreementTexts", "AgreementTerms"}, calls: 2, how: "a PayTo agreement that is recalled", needs: "customer", ask: (*session).firstAgreement},
		terms("PastStartRefused", "an agreement that began two days ago", func(s *session, a object) { a["paymentDetails"].(object)["startDate"] = s.today(-2) }),
		terms("AdhocNumberRequired", "an agreement ADHO without a number of payments", func(_ *session, a object) { a["paymentTerms"].(object)["frequency"] = "ADHO" }),
		terms("PayerRouteRequired", "an agreement without an account or PayID", func(_ *session, a object) { without(a, "payerDetails", "bsb", "accountNumber") }),
		question("OnePayerRoute", 2, "an agreement with an account and a PayID, if one is given", "agreement", (*session).onePayerRoute),
		question("AgreementCodesRequired", 8, "agreements without one of the four codes", "agreement", (*session).agreementCodes),
		question("FileReports", 3, "a payment file that cannot be processed, if allowed", "", (*session).fileReports),
		question("LatestKey", 2, "newer API keys, if allowed", "", (*session).latestKey),
	}
}

// reads are the probes that read what was made, when reads find it.
func reads() []probe {
	return []probe{
		{names: []string{"PageSize", "Paging", "ListOrder", "NextLinks"}, calls: 30, how: "two lists of account verifications, read twice", ask: (*session).lists, later: notRead},
		{names: []string{"TimeForm", "DateForm", "StatusForm", "MemberOrder", "OptionalMembers", "InapplicableMembers", "EmptyLists", "UnknownEnumValues", "TextMembers"}, calls: 1, how: "an account verification that is read", ask: (*session).members, later: notRead},
		{names: []string{"ClockSkew", "DateHeaderRight"}, how: "the times of all answers and transactions", ask: (*session).clocks, later: notRead},
		{names: []string{"AgreementTerms"}, how: "a PayTo agreement that is recalled", ask: (*session).offsetOfAgreements, later: notRead},
		{names: []string{"EchoedReferences", "StoredReferences", "ReferenceSearch"}, calls: 8, how: "a card payment with a reference in both cases and with a blank", ask: (*session).references, later: notRead},
		{names: []string{"AmountForm", "Metadata", "TransactionTimes"}, calls: 1, how: "a card payment that is voided", ask: (*session).payment, later: notRead},
		{names: []string{"ReusedReferences"}, calls: 1, how: "a look-up by a reference that was never used", ask: (*session).reused, later: notRead},
		{names: []string{"RepeatedReceipts"}, calls: 3, how: "a look-up of a payment that was voided", ask: (*session).repeated, later: notRead},
		{names: []string{"RefundReferences"}, calls: 4, how: "look-ups of a bank account payment and its refund", ask: (*session).refundReferences, later: notRead},
		{names: []string{"FollowUpReferences", "FollowUpAmounts"}, calls: 4, how: "look-ups of a pre-authorisation and its top-up", ask: (*session).followUps, later: notRead},
		{names: []string{"PendingSummaryCode"}, calls: 1, how: "a PayTo payment whose payer does not answer", ask: (*session).pending, later: notRead},
		{names: []string{"UnknownMembers"}, how: "the members of all answers", ask: (*session).unknownMembers, later: notRead},
	}
}

// timed are the probes that are asked when their time has come. Those without ask are answered on
// the way.
func timed() []probe {
	return []probe{
		{names: []string{"EndToEndIDLength"}, calls: 3, how: "PayTo payments with end-to-end ids of 201, 36 and 35 characters", later: "no PayTo payment was made"},
		{names: []string{"PayToSynchronous"}, calls: 3, how: "a PayTo payment against an agreement whose payer has confirmed", later: "the payment was not found"},
		{names: []string{"CutOffHour", "LateSettlementDate", "SettlementDays"}, calls: 13, how: "verifications around the hours of a weekday and at noon of the days that follow", ask: (*session).settlement, later: needsDays},
		{names: []string{"SoftDeclineCodes", "RetriesOf", "RetrySchedule"}, calls: 10, how: "declined card payments, and their retries after three days", ask: (*session).retries, later: needsDays},
		{names: []string{"Events", "UnknownEvents", "RedeliverySignedAnew", "RedeliveredBody", "SignatureHeader"}, calls: 6, how: "notifications about two PayTo agreements, with -listen", ask: (*session).events},
	}
}

// question is a probe with one name.
func question(name string, calls int, how, needs string, ask func(*session) result) probe {
	return probe{names: []string{name}, calls: calls, how: how, needs: needs, ask: func(s *session) []result { return []result{ask(s)} }}
}

// choice is a question that a request answers by being accepted or refused.
func choice(name, accepted, refused, how, needs string, try func(*session) answer) probe {
	return question(name, 2, how, needs, func(s *session) result {
		v, _ := judge(func() answer { return try(s) })
		return v.choose(accepted, refused)
	})
}

// terms is a choice about an agreement, which is recalled if it was made.
func terms(name, how string, edit func(*session, object)) probe {
	return choice(name, "false", "true", how, "agreement", func(s *session) answer { return s.tryAgreement(func(a object) { edit(s, a) }) })
}

func (s *session) bareKey() answer {
	return s.get("/", nil, func(r *http.Request) {
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(s.cfg.Keys.Secret)))
	})
}

func (s *session) unknownQuery() answer {
	return s.get("/customers", url.Values{"customerNumber": {s.digest("stranger", 0)}, "conformUnknown": {"1"}})
}

// ask asks the probes without an answer.
func (s *session) ask(probes ...probe) {
	for _, p := range probes {
		if s.err != nil || !s.missing(p) {
			continue
		}
		if s.has(p.needs) {
			s.note(p, p.ask(s)...)
		} else {
			s.note(p, open("no "+p.needs+" was accepted"))
		}
		s.keep()
	}
}

// has reports whether something that probes need was accepted.
func (s *session) has(what string) bool {
	return what == "" || what == "customer" && s.ours() != "" || s.Notes[what] == string(accepts)
}

// note notes the results of a probe, for those of its questions without an answer.
func (s *session) note(p probe, results ...result) {
	for i, name := range p.names {
		if s.Findings[name].Name == "" {
			s.answered(name, p.how, results[min(i, len(results)-1)])
		}
	}
}

// missing reports whether one of the probes has no answer.
func (s *session) missing(probes ...probe) bool {
	return slices.ContainsFunc(probes, func(p probe) bool {
		return slices.ContainsFunc(p.names, func(name string) bool { return s.Findings[name].Name == "" })
	})
}
