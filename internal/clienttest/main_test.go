// Package clienttest_test uses a client as a merchant's program does. Values and rules are tested in the root folder.
package clienttest_test

import (
	"os"
	"testing"

	"github.com/quickstream-go/quickstream/internal/leaktest"
)

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
