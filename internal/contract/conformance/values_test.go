package conformance

import (
	"maps"
	"slices"
	"testing"
)

// TestConstants holds the constants of the client's enumerations against the
// documented values: a constant that nobody knows can only be misspelt, and a
// value without a constant is one that callers have to spell themselves.
func TestConstants(t *testing.T) {
	documented := map[string]bool{}
	for _, op := range document(t).Operations {
		for _, v := range op.RequestVariants() {
			for _, m := range v.Members {
				add(documented, m.Values)
			}
		}
		for _, status := range op.Statuses() {
			for _, m := range op.ResponseMembers(status) {
				add(documented, m.Values)
			}
		}
		for _, p := range op.Parameters {
			add(documented, p.Values)
		}
	}
	known := map[string]bool{}
	for kind, values := range constants(t) {
		if slices.Contains(notOnTheWire, kind) {
			continue
		}
		add(known, values)
		for _, value := range values {
			if !documented[value] {
				t.Errorf("%s: %q is not a documented value of any member", kind, value)
			}
		}
	}
	for _, value := range slices.Sorted(maps.Keys(documented)) {
		if _, excepted := withoutConstant[value]; known[value] == excepted {
			t.Errorf("%q: has a constant is %t; a value without one has to be listed in withoutConstant, and no other", value, known[value])
		}
	}
}

func add(set map[string]bool, values []string) {
	for _, value := range values {
		set[value] = true
	}
}

// notOnTheWire are types whose constants are the client's own.
var notOnTheWire = []string{"Environment", "NextStep", "Operation", "Outcome", "ThreeDSStep", "CallResult"}

// withoutConstant are documented values that have none, and why.
var withoutConstant = map[string]string{
	"": "the creation type is left out instead",

	"RECALL_PAYTO_AGREEMENT":     ownMethod,
	"STATUS_AMENDMENT":           ownMethod,
	"UNILATERAL_AMENDMENT":       ownMethod,
	"BILATERAL_AMENDMENT":        ownMethod,
	"RECALL_BILATERAL_AMENDMENT": ownMethod,

	"4": aNumber, "8": aNumber, "15": aNumber, "16": aNumber, "24": aNumber, "32": aNumber, "48": aNumber,

	"GET": aVerb, "POST": aVerb, "PUT": aVerb, "PATCH": aVerb, "DELETE": aVerb,

	"self": aLink, "next": aLink, "prev": aLink,

	"07":   "what only informs the issuer is a text; its comment lists the codes",
	"NORM": aPriority, "UNAT": aPriority,

	"RESTAPI": "the codes of sources are the facility's",

	"FPAN": onlyShown, "DPAN": onlyShown, "CREDIT": onlyShown, "DEBIT": onlyShown, "ENABLED": onlyShown, "DISABLED": onlyShown,

	"EMAIL": aMedium, "SMS": aMedium, "EMAILANDSMS": aMedium, "NONE": aMedium,
}

const (
	ownMethod = "each kind of update has a method"
	aNumber   = "a colour depth is a number"
	aVerb     = "net/http has the methods of HTTP"
	aMedium   = "what only the service acts by is a text; its comment lists the values"
	onlyShown = "a program has nothing to decide by it"
	aPriority = "no list of priorities is published"
	aLink     = "lists follow their links by themselves"
)
