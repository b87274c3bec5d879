package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryOperation holds the three lists of operations against each other: what
// is documented, what the client calls, and what the sandbox offers.
func TestEveryOperation(t *testing.T) {
	doc := document(t)
	called := map[string]bool{}
	for _, call := range clientCalls(t) {
		called[call.operation] = true
	}
	offered := sandboxOperations(t)
	for id := range called {
		if _, ok := doc.Operation(id); !ok {
			t.Errorf("%s: the client calls it and it is not documented", id)
		}
	}
	for id := range offered {
		if _, ok := doc.Operation(id); !ok {
			t.Errorf("%s: the sandbox offers it and it is not documented", id)
		}
	}
	for _, op := range doc.Operations() {
		if !called[op.ID] {
			t.Errorf("%s is documented and the client does not call it", op.ID)
		}
		if !offered[op.ID] {
			t.Errorf("%s is documented and the sandbox does not offer it", op.ID)
		}
	}
}

var sandboxOperation = regexp.MustCompile(`\bid: "([A-Z]+ /[^"]*)"`)

// sandboxOperations are the rows of the sandbox's table.
func sandboxOperations(t *testing.T) map[string]bool {
	t.Helper()
	names, err := filepath.Glob("../../../sandbox/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range sandboxOperation.FindAllSubmatch(text, -1) {
			found[string(row[1])] = true
		}
	}
	return found
}
