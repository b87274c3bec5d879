package oracle

import (
	"slices"

	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// LostWrite is a write whose answer was lost.
type LostWrite struct {
	Kind         string
	Made         bool // the service has carried it out
	OwnReference bool // the merchant's own
	Begins       bool // another reference begins with it
	Shared       bool // another write has it
	Twin         bool // another lost write differs in nothing but its key
	// OverPages means that a list in which it is searched has more than one page.
	OverPages bool
}

// isChange reports a capture, or a change of a pre-authorisation.
func isChange(kind string) bool { return kind == TopUp || kind == Capture || kind == Cancellation }

// formless are the values of ErrorForm without the service's words. A gateway could have said so.
func formless(world worlds.World) bool {
	return slices.Contains([]string{"list", "texts", "data", "html", "empty"}, world.Value("ErrorForm"))
}

// Held names the combination of a world's values in which the outcome of a lost write cannot be known;
// "" if it must settle.
func (l LostWrite) Held(world worlds.World) string {
	is := func(dimension string, values ...string) bool {
		return slices.Contains(values, world.Value(dimension))
	}
	unnamed := l.Kind == Refund && !is("RefundReferences", "own") || isChange(l.Kind) && !is("FollowUpReferences", "own")
	switch {
	case l.Kind == Void: // which is a state of its payment
		return ""
	case (!l.Made || unnamed || is("ReferenceSearch", "exact") && !is("StoredReferences", "sent")) && is("NothingFound", "404") && formless(world):
		return "nothing found, and a 404 that may be a gateway's"
	case is("ListOrder", "unstable") && (l.OverPages || !l.Made && !is("RepeatedReceipts", "none")): // the lists of dates are long
		return "unstable order over more than one page"
	case is("Metadata", "echoed"):
		return ""
	case l.OwnReference && !is("Metadata", "dropped", "refused"):
		return "own reference, the intent's id altered, answer lost" // it may be another's
	case is("EchoedReferences", "none"):
		return "reference left out, metadata not echoed, answer lost"
	case is("ReferenceSearch", "prefix") && l.Begins:
		return "prefix search, metadata not echoed, answer lost"
	case l.OwnReference && !is("ReusedReferences", "none") || l.Shared:
		return "reused reference, metadata not echoed, answer lost"
	// There may be many of them, and their amounts are shown in several ways.
	case unnamed && (l.Kind == TopUp || l.Kind == Cancellation):
		return "top-ups and cancellations without our reference, metadata not echoed, answer lost"
	// A time labelled Z, or a number, may be Sydney's under another label.
	case (l.OwnReference || unnamed) &&
		(is("DateForm", "absent") || is("TimeForm", "wrong", "absent", "minutes", "none", "Z", "epoch") || is("MerchantClock", "stepsBack") || !is("ClockSkew", "0s") && is("DateHeaderRight", "true")):
		return "times that are off, no reference of one payment alone, metadata not echoed, answer lost"
	case unnamed && l.Twin:
		return "follow-ups without our reference, metadata not echoed, two equal ones"
	}
	return ""
}
