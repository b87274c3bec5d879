// Package wiretest proves that one attempt of the client is one request on the
// wire. net/http sends a request again by itself after some failures, which a
// RoundTripper above it cannot see coming. The servers here speak HTTP/1.1 byte
// by byte and HTTP/2 frame by frame in front of the sandbox, break off wherever a
// connection can break, and count what arrives. The sandbox's ledger shows what a
// payer was charged.
package wiretest

import (
	"os"
	"testing"

	"github.com/quickstream-go/quickstream/internal/leaktest"
)

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
