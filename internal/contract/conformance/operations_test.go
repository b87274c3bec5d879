package conformance

import (
	"testing"
)

// TestEveryOperation: the client calls all that is documented. That what it calls is documented, and that
// the sandbox offers it too, is seen when each call has to succeed.
func TestEveryOperation(t *testing.T) {
	doc := document(t)
	called := map[string]bool{}
	for _, call := range clientCalls(t) {
		called[call.operation] = true
	}
	for _, op := range doc.Operations {
		if !called[op.ID] {
			t.Errorf("%s is documented and the client does not call it", op.ID)
		}
	}
}
