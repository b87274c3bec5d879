package second

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// world is what a service does in the places that its contract leaves open.
type world struct {
	bareKeys, refuseUnknownQuery, phones, codesRequired, adhocNumber, routeRequired, oneRoute, pastRefused bool
	wrongDate, payToSynchronous, weekdays, repeatedReceipts, signAnew, voidsInWords, cardsWithoutLinks     bool
	keyForm, keyMismatch, disabled, nullInPut, bsbForm, otherAnswers, payerAddress, followUpAmounts        string
	followUpReferences, refundReferences, listOrder, pageQuery, transactionTimes, pendingSummary, voided   string
	unknownMember                                                                                          string
	usageRequired, refusedUsages, billing, retried                                                         []string
	skew, keyLifetime, lookupLag, agreementLag, payToDelay, returnAfter                                    time.Duration
	retryAfter                                                                                             []time.Duration
	confirmAfter                                                                                           time.Duration
	recallEvent                                                                                            string
	nothingFound, pageSize, surcharge, endToEndLength, cutOff                                              int
	emptyList, optional, inapplicable                                                                      any

	refusal                                  func(status int, field, message string) answer
	time                                     func(time.Time) any
	date                                     func(iso string) any
	amount                                   func(cents int) any
	code                                     func(string) any
	status, agreementText, store, searchForm func(string) string
	agreementCode                            func(string) any
	decline                                  func(code string) string
	metadata                                 func(map[string]any) any
	location                                 func(path string) string
	transactionAnswer                        func(object) object
	memberOrder                              func([]string) []string
	next                                     func(*http.Request, url.Values) string
}

func same(v string) string { return v }

func money(amount any) object {
	return object{{"currency", "AUD"}, {"amount", amount}, {"displayAmount", "$"}}
}

// plain is the world in which everything is as simple as the contract allows.
func plain() world {
	return world{
		keyForm: "text", keyMismatch: "422", nullInPut: "remove", bsbForm: "either", refundReferences: "own", followUpReferences: "own",
		followUpAmounts: "sent", pageQuery: "page", transactionTimes: "made", pendingSummary: "2", voided: "Voided",
		keyLifetime: 24 * time.Hour, payToDelay: 20 * time.Second, returnAfter: 10 * time.Minute,
		confirmAfter: time.Second, nothingFound: 404, pageSize: 10, surcharge: 10, cutOff: 18, weekdays: true, recallEvent: "payto.agreement.recalled",
		emptyList: list{}, retried: []string{"51"}, retryAfter: []time.Duration{72 * time.Hour},
		refusal: func(status int, field, message string) answer {
			return answer{status: status, body: object{{"status", status}, {"errors", list{object{{"fieldName", field}, {"message", message}}}}}}
		},
		time:   func(t time.Time) any { return t.Format("2006-01-02T15:04:05-0700") },
		date:   func(iso string) any { return iso },
		amount: func(cents int) any { return money(float64(cents) / 100) },
		code:   func(code string) any { return code },
		status: same, agreementText: same, store: same, searchForm: strings.ToLower,
		agreementCode: func(code string) any { return code },
		decline:       same,
		metadata:      func(m map[string]any) any { return m },
		memberOrder:   func(names []string) []string { return names },
		next:          func(r *http.Request, q url.Values) string { return "http://" + r.Host + r.URL.Path + "?" + q.Encode() },
	}
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
