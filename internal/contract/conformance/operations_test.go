package conformance

import (
	"testing"
)

// TestEveryOperation holds the two lists of operations against each other: what is documented, and
// what the client calls. That the sandbox offers them too is seen when each has to succeed there.
func TestEveryOperation(t *testing.T) {
	doc := document(t)
	called := map[string]bool{}
	for _, call := range clientCalls(t) {
		called[call.operation] = true
		if _, ok := doc.Operation(call.operation); !ok {
			t.Errorf("%s: the client calls it and it is not documented", call.operation)
		}
	}
	for _, op := range doc.Operations {
		if !called[op.ID] {
			t.Errorf("%s is documented and the client does not call it", op.ID)
		}
	}
}
