package second

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// elsewhere begins an answer that no listed value describes; the rest is part of its form.
	elsewhere = "something else: "
	untold    = "cannot be told"
)

// option is one deviation from the plain world, and what it changes in the answers.
type option struct {
	what string
	set  func(*world)
	want map[string]string
}

func one(name, value string, set func(*world)) option {
	return option{name + " " + value, set, map[string]string{name: value}}
}

func times(layout string, zone *time.Location) func(*world) {
	return func(w *world) {
		w.time = func(t time.Time) any {
			if zone != nil {
				t = t.In(zone)
			}
			return t.Format(layout)
		}
	}
}

func amounts(form func(cents int) any) func(*world) { return func(w *world) { w.amount = form } }

func dates(layout string) func(*world) {
	return func(w *world) {
		w.date = func(iso string) any {
			day, err := time.Parse(time.DateOnly, iso)
			if err != nil {
				return iso
			}
			return day.Format(layout)
		}
	}
}

// plainAnswers are the answers of the plain world. A world in which only an open answer is right
// has the answer untold.
func plainAnswers() map[string]string {
	return map[string]string{
		"LookupLag": "0s", "AgreementLookupLag": "0s", "ReferenceSearch": "anyCase", "ReusedReferences": "none", "StoredReferences": "sent",
		"RefundReferences": "own", "FollowUpReferences": "own", "RepeatedReceipts": "none", "NothingFound": "404", "PageSize": "10",
		"Paging": "stable", "ListOrder": "newest", "NextLinks": untold, "EchoedReferences": "sent", "ClockSkew": "0s", "DateHeaderRight": "true",
		"TimeForm": "+1100", "TransactionTimes": "made", "DateForm": "iso", "TextMembers": "text", "AmountForm": "object", "FollowUpAmounts": "sent",
		"OptionalMembers": "null", "InapplicableMembers": elsewhere + "absent and null", "EmptyLists": "list", "MemberOrder": "declared",
		"UnknownMembers": "none", "UnknownEnumValues": "false", "TransactionAnswers": "full", "StatusForm": "listed", "Location": "none",
		"OtherAnswers": "full", "Metadata": "echoed", "ErrorForm": elsewhere + "object with", "ErrorStatusAsString": "false", "NullErrorList": "false",
		"KeyForm": "text", "KeyLifetime": "24h", "KeyMismatch": "422", "IgnoreUnknownQuery": "true", "BareKeys": "false", "BSBForm": "either",
		"NullInPut": "removes", "InternationalPhones": "false", "UsageRequired": "none", "StoredCredentialUsages": "none", "DisabledCustomers": untold,
		"PayerAddress": "internet", "BillingAddressMembers": "none", "LatestKey": untold, "CutOffHour": "18", "SettlementDays": untold,
		"LateSettlementDate": "false", "SoftDeclineCodes": elsewhere + "51", "RetriesOf": "first", "RetrySchedule": elsewhere + "72h",
		"BankReturnAfter": "10m", "FileReports": untold, "PastStartRefused": "false", "OnePayerRoute": "false", "AgreementCodesRequired": "false",
		"AdhocNumberRequired": "false", "PayerRouteRequired": "false", "EndToEndIDLength": "0", "AgreementTerms": "sent", "AgreementTexts": "sent",
		"PayToSynchronous": "false", "PendingSummaryCode": "2", "PayToApprovedAfter": "20s", "Events": "after", "UnknownEvents": "false",
		"RedeliverySignedAnew": "false", "RedeliveredBody": "same", "SignatureHeader": "plain",
	}
}

func options() []option {
	return []option{
		one("LookupLag", "2s", func(w *world) { w.lookupLag = 2 * time.Second }),
		one("LookupLag", "30s", func(w *world) { w.lookupLag = 30 * time.Second }),
		one("AgreementLookupLag", "2s", func(w *world) { w.agreementLag = 2 * time.Second }),
		one("ReferenceSearch", "exact", func(w *world) { w.searchForm = same }),
		{"references in lower case", func(w *world) { w.store = strings.ToLower }, map[string]string{"StoredReferences": "lower", "EchoedReferences": "lower"}},
		{"references in upper case", func(w *world) { w.store = strings.ToUpper }, map[string]string{"StoredReferences": "upper", "EchoedReferences": "upper"}},
		{"references trimmed", func(w *world) { w.store = strings.TrimSpace }, map[string]string{"StoredReferences": "trimmed", "EchoedReferences": "trimmed"}},
		one("RefundReferences", "original", func(w *world) { w.refundReferences = "original" }),
		one("RefundReferences", "none", func(w *world) { w.refundReferences = "none" }),
		one("FollowUpReferences", "original", func(w *world) { w.followUpReferences = "original" }),
		one("FollowUpReferences", "none", func(w *world) { w.followUpReferences = "none" }),
		one("RepeatedReceipts", "voided", func(w *world) { w.repeatedReceipts = true }),
		one("NothingFound", "empty", func(w *world) { w.nothingFound = 200 }),
		one("NothingFound", elsewhere, func(w *world) { w.nothingFound = 410 }),
		one("PageSize", "3", func(w *world) { w.pageSize = 3 }),
		one("PageSize", "7", func(w *world) { w.pageSize = 7 }),
		one("ListOrder", "oldest", func(w *world) { w.listOrder = "oldest" }),
		one("ClockSkew", "5s", func(w *world) { w.skew = 5 * time.Second }),
		one("ClockSkew", "90s", func(w *world) { w.skew = 90 * time.Second }),
		{"wrong Date", func(w *world) { w.skew, w.wrongDate = 5*time.Minute, true }, map[string]string{"DateHeaderRight": "false", "ClockSkew": "5m"}},
		one("TimeForm", "Z", times("2006-01-02T15:04:05Z07:00", time.UTC)),
		one("TimeForm", "+11:00", times("2006-01-02T15:04:05-07:00", nil)),
		one("TimeForm", elsewhere+"text", times("02 Jan 2006 15:04:05 MST", nil)),
		one("TimeForm", elsewhere, times("2006-01-02 15:04:05", nil)),
		one("TransactionTimes", "changed", func(w *world) { w.transactionTimes = "changed" }),
		one("DateForm", elsewhere, dates("02/01/2006")),
		one("DateForm", elsewhere, dates("20060102")),
		one("AmountForm", "number", amounts(func(c int) any { return float64(c) / 100 })),
		{"decimal comma", amounts(func(c int) any { return money(fmt.Sprintf("%d,%02d", c/100, c%100)) }), map[string]string{
			"AmountForm": elsewhere, "AgreementTerms": elsewhere,
		}},
		{"cents", amounts(func(c int) any { return money(c) }), map[string]string{
			"AmountForm": elsewhere, "FollowUpAmounts": elsewhere, "AgreementTerms": elsewhere,
		}},
		one("FollowUpAmounts", "newTotal", func(w *world) { w.followUpAmounts = "total" }),
		one("OptionalMembers", "absent", func(w *world) { w.optional = absent{} }),
		one("OptionalMembers", "empty", func(w *world) { w.optional = "" }),
		one("OptionalMembers", elsewhere, func(w *world) { w.optional = "-" }),
		one("InapplicableMembers", "absent", func(w *world) { w.inapplicable = absent{} }),
		one("EmptyLists", "null", func(w *world) { w.emptyList = nil }),
		one("MemberOrder", elsewhere, func(w *world) { w.memberOrder = sorted }),
		one("MemberOrder", "reversed", func(w *world) {
			w.memberOrder = func(names []string) []string { n := slices.Clone(names); slices.Reverse(n); return n }
		}),
		one("UnknownMembers", "new", func(w *world) { w.unknownMember = "channelHint" }),
		one("StatusForm", "otherCase", func(w *world) { w.status = strings.ToUpper }),
		one("TransactionAnswers", "receipt", func(w *world) { w.transactionAnswer = func(o object) object { return o[:2] } }),
		one("Location", "created", func(w *world) { w.location = same }),
		one("Location", "created", func(w *world) { w.location = func(p string) string { return "http://127.0.0.1" + p } }),
		one("Metadata", "dropped", func(w *world) { w.metadata = func(map[string]any) any { return absent{} } }),
		one("ErrorForm", elsewhere+"object with", func(w *world) {
			w.refusal = func(status int, _, message string) answer {
				return answer{status: status, body: object{{"errorCount", 1}, {"errors", list{message}}}}
			}
		}),
		one("ErrorForm", "html", func(w *world) {
			w.refusal = func(status int, _, message string) answer {
				return answer{status: status, body: []byte("<p>" + message + "</p>"), header: map[string]string{"Content-Type": "text/html"}}
			}
		}),
		one("ErrorForm", elsewhere, func(w *world) {
			w.refusal = func(status int, _, message string) answer {
				return answer{status: status, body: object{{"type", "about:blank"}, {"title", message}, {"status", status}}, header: map[string]string{"Content-Type": "application/problem+json"}}
			}
		}),
		one("KeyForm", "uuid", func(w *world) { w.keyForm = "uuid" }),
		one("KeyLifetime", "5m", func(w *world) { w.keyLifetime = 5 * time.Minute }),
		one("KeyLifetime", "90m", func(w *world) { w.keyLifetime = 90 * time.Minute }),
		one("KeyMismatch", "replay", func(w *world) { w.keyMismatch = "replay" }),
		one("KeyMismatch", "409", func(w *world) { w.keyMismatch = "409" }),
		one("KeyMismatch", untold, func(w *world) { w.keyMismatch = "execute" }),
		one("KeyMismatch", elsewhere+"status 428", func(w *world) { w.keyMismatch = "428" }),
		one("IgnoreUnknownQuery", "false", func(w *world) { w.refuseUnknownQuery = true }),
		one("BareKeys", "true", func(w *world) { w.bareKeys = true }),
		one("BSBForm", "dash", func(w *world) { w.bsbForm = "dash" }),
		one("BSBForm", "digits", func(w *world) { w.bsbForm = "digits" }),
		one("NullInPut", "ignored", func(w *world) { w.nullInPut = "keep" }),
		one("NullInPut", "refused", func(w *world) { w.nullInPut = "refuse" }),
		one("InternationalPhones", "true", func(w *world) { w.phones = true }),
		one("UsageRequired", elsewhere+"RECURRING", func(w *world) { w.usageRequired = []string{"RECURRING"} }),
		one("UsageRequired", elsewhere+"MAIL", func(w *world) { w.usageRequired = []string{"MAIL"} }),
		one("StoredCredentialUsages", "RECURRING,STANDING_ORDER,UNSCHEDULED_MIT", func(w *world) { w.refusedUsages = []string{"UNSCHEDULED_CIT"} }),
		one("PayerAddress", "always", func(w *world) { w.payerAddress = "tokens" }),
		one("PayerAddress", "only", func(w *world) { w.payerAddress = "onlyInternet" }),
		one("BillingAddressMembers", elsewhere+"billAddrCity", func(w *world) { w.billing = []string{"billAddrCity"} }),
		one("CutOffHour", "21", func(w *world) { w.cutOff = 21 }),
		one("SoftDeclineCodes", "01", func(w *world) { w.retried = []string{"01"} }),
		one("SoftDeclineCodes", elsewhere+"01,05", func(w *world) { w.retried = []string{"01", "05"} }),
		one("SoftDeclineCodes", elsewhere+"57 of", func(w *world) {
			w.decline = func(code string) string { return strings.Replace(code, "01", "57", 1) }
			w.retried = []string{"57"}
		}),
		one("RetrySchedule", elsewhere+"24h", func(w *world) { w.retryAfter = []time.Duration{24 * time.Hour} }),
		one("RetrySchedule", elsewhere+"24h,24h", func(w *world) { w.retryAfter = []time.Duration{24 * time.Hour, 48 * time.Hour} }),
		one("PastStartRefused", "true", func(w *world) { w.pastRefused = true }),
		one("OnePayerRoute", "true", func(w *world) { w.oneRoute = true }),
		one("AgreementCodesRequired", "true", func(w *world) { w.codesRequired = true }),
		one("AdhocNumberRequired", "true", func(w *world) { w.adhocNumber = true }),
		one("PayerRouteRequired", "true", func(w *world) { w.routeRequired = true }),
		one("EndToEndIDLength", "35", func(w *world) { w.endToEndLength = 35 }),
		one("EndToEndIDLength", "100", func(w *world) { w.endToEndLength = 100 }),
		one("AgreementTexts", elsewhere+"description", func(w *world) { w.agreementText = strings.ToUpper }),
		one("AgreementTexts", "folded", func(w *world) {
			w.agreementText = func(s string) string { return strings.Join(strings.Fields(s), " ") }
		}),
		one("AgreementTerms", elsewhere+"other codes", func(w *world) { w.agreementCode = func(c string) any { return c + "-" } }),
		one("PayToSynchronous", "true", func(w *world) { w.payToSynchronous = true }),
		one("PendingSummaryCode", "0", func(w *world) { w.pendingSummary = "0" }),
		one("PendingSummaryCode", elsewhere+"7", func(w *world) { w.pendingSummary = "7" }),
		one("RedeliverySignedAnew", "true", func(w *world) { w.signAnew = true }),
		{"pending in another word", func(w *world) {
			w.status = func(v string) string { return strings.Replace(v, "Pending", "Processing", 1) }
		}, map[string]string{
			"StatusForm": elsewhere + "Processing", "UnknownEnumValues": elsewhere + "Processing", "PayToSynchronous": untold, "PendingSummaryCode": untold,
		}},
		one("AmountForm", elsewhere+"text", amounts(func(c int) any { return money(fmt.Sprintf("%d.%02d", c/100, c%100)) })),
		one("TextMembers", elsewhere+"responseCode", func(w *world) {
			w.code = func(code string) any {
				if n, err := strconv.Atoi(code); err == nil {
					return n
				}
				return code
			}
		}),
		one("OtherAnswers", elsewhere+"links, customerId", func(w *world) { w.otherAnswers = "identifier" }),
		one("EmptyLists", "list", func(w *world) { w.cardsWithoutLinks = true }),
		one("EmptyLists", "null", func(w *world) { w.cardsWithoutLinks, w.emptyList = true, nil }),
		{"cancelled event", func(w *world) { w.recallEvent = "payto.agreement.cancelled" }, map[string]string{
			"Events": elsewhere + "payto.agreement.cancelled", "UnknownEvents": "true",
		}},
		one("Events", elsewhere+"no notification of a recall", func(w *world) { w.recallEvent = "" }),
	}
}
