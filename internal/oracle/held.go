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
	// OverPages means that a list in which it is searched has more than one page.
	OverPages bool
}

// isChange reports a capture, or a change of a pre-authorisation.
func isChange(kind string) bool { return kind == TopUp || kind == Capture || kind == Cancellation }

// formless are the values of ErrorForm without the service's error body. A gateway could have said so.
func formless(world worlds.World) bool {
	return slices.Contains([]string{"list", "html", "empty"}, world.Value("ErrorForm"))
}

// Held names what a world has that the contract does not describe and that may hold a lost write, or end
// it as not found; "" if it must settle.
func (l LostWrite) Held(world worlds.World) string {
	is := func(dimension string, values ...string) bool {
		return slices.Contains(values, world.Value(dimension))
	}
	follows := l.Kind == Refund || isChange(l.Kind)
	unnamed := follows && !is("FollowUpReferences", "own")
	switch {
	case l.Kind == Void, world.String() == (worlds.World{}).String(): // a void is a state of its payment
		return ""
	case is("NothingFound", "404") && formless(world):
		return "nothing found is a 404 that may be a gateway's"
	case is("Paging", "unstable") && l.OverPages:
		return "lists in another order each time"
	case unnamed:
		return "what follows a transaction is found under another reference than its own"
	case is("EchoedReferences", "none"):
		return "references that no list shows"
	case l.OwnReference && !is("Metadata", "echoed"):
		return "the merchant's own reference, and no id"
	case follows && !is("Metadata", "echoed"):
		return "what follows a transaction, and shows no id"
	}
	return "something else that the contract does not describe"
}

// provesAnswer reports whether the answer to a write shows its id or, where no ids are shown, its reference.
func provesAnswer(world worlds.World, kind string) bool {
	switch is := world.Value; is("Metadata") {
	case "echoed":
		return true
	case "dropped":
		return kind != Refund && !isChange(kind) || is("FollowUpReferences") == "own"
	}
	return false
}
