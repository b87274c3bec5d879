package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/contract"
)

// ofModel returns the members of the object that a body is about: of the items,
// when it is a list. The name is the same for all bodies with the same members.
func ofModel(members []contract.Member) (name string, paths []string) {
	isList := slices.ContainsFunc(members, func(m contract.Member) bool { return m.Path == "data" })
	for _, m := range members {
		path, inside := strings.CutPrefix(m.Path, "data[].")
		if !isList || inside {
			paths = append(paths, path)
		}
	}
	return strings.Join(paths, " "), paths
}

// answeredMembers returns the documented members of the sandbox's successes, each
// under its model, and whether some answer had a value for it.
func (s *stage) answeredMembers() map[string]map[string]bool {
	models := map[string]map[string]bool{}
	for _, op := range s.doc.Operations() {
		for status := range s.statuses[op.ID] {
			if status >= http.StatusMultipleChoices {
				continue
			}
			name, paths := ofModel(op.ResponseMembers(status))
			if models[name] == nil {
				models[name] = map[string]bool{}
			}
			for _, path := range paths {
				answered := s.members[fmt.Sprint(op.ID, " ", status, " ", path)] || s.members[fmt.Sprint(op.ID, " ", status, " data[].", path)]
				models[name][path] = models[name][path] || answered
			}
		}
	}
	return models
}

// everyMemberIsAnswered demands a value for every member of every model in some
// answer.
func (s *stage) everyMemberIsAnswered() {
	unanswered := map[string]bool{}
	for _, members := range s.answeredMembers() {
		for path, answered := range members {
			if answered {
				continue
			}
			name := exception(path, members)
			unanswered[name] = true
			if neverAnswered[name] == "" {
				s.Errorf("%s never has a value and is not in neverAnswered; it stands beside %v", name, slices.Sorted(maps.Keys(members)))
			}
		}
	}
	for path := range neverAnswered {
		if !unanswered[path] {
			s.Errorf("%s is in neverAnswered and has a value", path)
		}
	}
	for value := range ownValues {
		if !s.own[value] {
			s.Errorf("%s is in ownValues and is never answered", value)
		}
	}
}

// exception is what a member is called in neverAnswered: its path, and for links,
// which most models have, the model's other members.
func exception(path string, members map[string]bool) string {
	if !strings.HasPrefix(path, "links[].") {
		return path
	}
	var others []string
	for _, other := range slices.Sorted(maps.Keys(members)) {
		if !strings.HasPrefix(other, "links") {
			others = append(others, other)
		}
	}
	return "links[] of " + strings.Join(others, " ")
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

	"links[] of expiryDate key keyName":                  notLinked,
	"links[] of cardScheme":                              notLinked,
	"links[] of cardScheme cardType surchargePercentage": notLinked,

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
	notLinked    = "keys, accepted cards and surcharges have no address"
	noLinks      = "accounts inside transactions have no links of their own"
)
