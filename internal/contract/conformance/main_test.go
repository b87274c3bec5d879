// Package conformance tests the client and the sandbox of this repository against the OpenAPI 3.1
// document in internal/openapi. Neither is written from the other, so that a name which is wrong in
// either shows up here.
//
// The document is unofficial. Requests are closed: a member or query parameter that is not documented
// is an error. Responses are open, because the service may add members; Undocumented lists them.
//
// The client is called with every parameter filled and its requests compared
// with the document; it is answered with every documented member and its models
// are searched for what was lost. The sandbox's answers and notifications are
// recorded and validated. What is not covered is on a list, with the reason.
//
//	go -C internal/contract test -v -run 'ClientRequests|Sandbox' ./conformance
//
// shows the coverage. A new operation or field is found by itself, or fails a test that says what is
// missing; testdata/samples.yaml has exchanges that together use every documented member. A fact of the document that
// is not in the contract has x-source and x-sureness.
package conformance

import (
	"os"
	"testing"

	"github.com/quickstream-go/quickstream/internal/leaktest"
)

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
