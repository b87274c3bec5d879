package oracle

import (
	"slices"

	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// isChange reports a capture, or a change of a pre-authorisation.
func isChange(kind string) bool { return kind == TopUp || kind == Capture || kind == Cancellation }

// formless are the values of ErrorForm without the service's error body. A gateway could have said so.
func formless(world worlds.World) bool {
	return slices.Contains([]string{"list", "html", "empty"}, world.Value("ErrorForm"))
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
