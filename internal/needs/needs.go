// Package needs skips tests on machines without what they need.
package needs

import (
	"os"
	"strings"
	"testing"
)

// Skip skips a test, and says what it needs. Where QUICKSTREAM_SKIP is set, as in .ci/run, it fails, unless
// what it needs begins with that text. With "never" every such test fails.
func Skip(t testing.TB, what string) {
	t.Helper()
	if skip, set := os.LookupEnv("QUICKSTREAM_SKIP"); set && !strings.HasPrefix(what, skip) {
		t.Fatal("needs " + what)
	}
	t.Skip("needs " + what)
}
