// Package needs skips a test if the machine lacks something that it needs.
package needs

import (
	"os"
	"strings"
	"testing"
)

// Skip skips a test, and says what it needs. If QUICKSTREAM_SKIP is set, as in .ci/run, the test
// fails instead, unless what begins with that text. With "never" every such test fails.
func Skip(t testing.TB, what string) {
	t.Helper()
	if skip, set := os.LookupEnv("QUICKSTREAM_SKIP"); set && !strings.HasPrefix(what, skip) {
		t.Fatal("needs " + what)
	}
	t.Skip("needs " + what)
}
