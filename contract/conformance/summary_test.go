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
		name, paths := ofModel(e.op.ResponseMembers(e.answer.status))
		for _, path := range paths {
			read[name+" "+path] = true
		}
	}
	documented, sent := requestMembers(t, made)
	t.Logf("client: %d of %d operations in %d calls; %d of %d request members and parameters sent; %d response members read",
		len(operations), len(doc.Operations()), len(made), len(sent), len(documented), len(read))
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, doc, true)
		defer s.box.Close()
		s.play()
		answered, of := 0, 0
		for _, members := range s.answeredMembers() {
			of += len(members)
			for _, hasValue := range members {
				if hasValue {
					answered++
				}
			}
		}
		t.Logf("sandbox: %d operations and notifications in %d exchanges; %d of %d response members had a value",
			len(s.statuses), s.count, answered, of)
	})
}
