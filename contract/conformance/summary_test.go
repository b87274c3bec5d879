package conformance

import (
	"testing"
	"testing/synctest"
)

// TestSummary says how much of the document the tests cover.
func TestSummary(t *testing.T) {
	doc := document(t)
	_, made := everyCall(t)
	operations, read := map[string]bool{}, map[string]bool{}
	for _, e := range made {
		operations[e.op.ID] = true
		for _, m := range e.op.ResponseMembers(e.answer.status) {
			read[shared(m.Path)] = true
		}
	}
	documented, sent := requestMembers(t, made)
	t.Logf("client: %d of %d operations in %d calls; %d of %d request members and parameters sent (%d excepted); %d kinds of response member read",
		len(operations), len(doc.Operations()), len(made), len(sent), len(documented), len(neverSent), len(read))
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, doc, true)
		defer s.box.Close()
		s.play()
		answered, of := s.answeredMembers()
		t.Logf("sandbox: %d operations and notifications in %d exchanges; %d of %d kinds of response member had a value",
			len(s.statuses), s.count, len(answered), len(of))
	})
}
