// Package clienttest_test holds the tests that use a client as a merchant's program does.
// The tests of values and rules, which call no service, are in the root folder.
package clienttest_test

import (
	"os"
	"testing"

	"github.com/quickstream-go/quickstream/internal/leaktest"
)

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
