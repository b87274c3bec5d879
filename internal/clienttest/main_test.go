package clienttest_test

import (
	"os"
	"testing"

	"github.com/quickstream-go/quickstream/internal/leaktest"
)

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
