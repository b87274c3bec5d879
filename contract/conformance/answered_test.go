package conformance

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// shared is the path of a member without the list that it may stand in, since an
// object has the same members in a list as by itself.
func shared(path string) string { return strings.TrimPrefix(path, "data[].") }

// answeredMembers returns the kinds of member that the successes of the sandbox's
// operations had a value for, and those that are documented.
func (s *stage) answeredMembers() (answered, documented map[string]bool) {
	answered, documented = map[string]bool{}, map[string]bool{}
	for where := range s.members {
		answered[shared(where[strings.LastIndex(where, " ")+1:])] = true
	}
	for _, op := range s.doc.Operations() {
		for status := range s.statuses[op.ID] {
			if status >= http.StatusMultipleChoices {
				continue
			}
			for _, m := range op.ResponseMembers(status) {
				documented[shared(m.Path)] = true
			}
		}
	}
	for path := range answered {
		if !documented[path] {
			delete(answered, path)
		}
	}
	return answered, documented
}

// everyMemberIsAnswered demands a value for every kind of member in some answer.
func (s *stage) everyMemberIsAnswered() {
	answered, documented := s.answeredMembers()
	for _, path := range slices.Sorted(maps.Keys(documented)) {
		if _, excepted := neverAnswered[path]; answered[path] == excepted {
			s.Errorf("%s: has a value is %t; a member that never has one has to be listed in neverAnswered, and no other", path, answered[path])
		}
	}
}

// neverAnswered are documented members that the sandbox has no value for, and why.
var neverAnswered = map[string]string{
	"abn":                       nameOnly,
	"contactName":               nameOnly,
	"contactEmail":              nameOnly,
	"contactPhone":              nameOnly,
	"customerNotificationEmail": nameOnly,
	"businessAddress.street1":   nameOnly,
	"businessAddress.street2":   nameOnly,
	"businessAddress.street3":   nameOnly,
	"businessAddress.city":      nameOnly,
	"businessAddress.state":     nameOnly,
	"businessAddress.postcode":  nameOnly,

	"merchantName":          noAggregator,
	"merchantStreetAddress": noAggregator,
	"merchantLocation":      noAggregator,
	"merchantState":         noAggregator,
	"merchantCountry":       noAggregator,
	"merchantPostCode":      noAggregator,
	"subMerchantId":         noAggregator,

	"merchantAccount.settlementSurchargeBsb":           "surcharges settle into the one account",
	"merchantAccount.settlementSurchargeAccountNumber": "surcharges settle into the one account",

	"creditCard.links[].rel":              noLinks,
	"creditCard.links[].href":             noLinks,
	"creditCard.links[].requestMethod":    noLinks,
	"bankAccount.links[].rel":             noLinks,
	"bankAccount.links[].href":            noLinks,
	"bankAccount.links[].requestMethod":   noLinks,
	"nzBankAccount.links[].rel":           noLinks,
	"nzBankAccount.links[].href":          noLinks,
	"nzBankAccount.links[].requestMethod": noLinks,

	"payToData.remittanceInformation2": "requests have the first one only",
	"fraudGuardResult.*":               "a text, as public client code reads it",
	"authorisationTraceId":             "deprecated",
	"merchantAdviceCode":               "its values are not public",
	"user":                             "its meaning is not public",
}

const (
	nameOnly     = "businesses of the sandbox have a code and a name"
	noAggregator = "the sandbox is no aggregator's"
	noLinks      = "accounts inside transactions have no links of their own"
)
