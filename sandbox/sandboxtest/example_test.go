package sandboxtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// A merchant's own test, in 200 worlds: whatever the answer was, an order that was
// charged is never one that was not paid.
func ExampleWorlds() {
	testPay := func(t *testing.T) {
		sandboxtest.Worlds(t, sandboxtest.WorldsOptions{}, func(t *testing.T, run sandboxtest.Run) {
			_, err := quickstream.RequireApproved(run.Client.Transactions.Pay(t.Context(), params("ORDER-1")))
			for days := 0; days < 14; days++ {
				lost, isLost := errors.AsType[*quickstream.UnknownOutcomeError](err)
				if !isLost || lost.Intent == nil {
					break
				}
				<-time.After(24 * time.Hour) // in the bubble, no time at all
				_, err = quickstream.RequireApproved(run.Client.Transactions.Resume(t.Context(), *lost.Intent))
			}
			charged := len(run.Box.Ledger().Charged("ORDER-1")) == 1
			if (err == nil) != charged && !errors.Is(err, quickstream.ErrOutcomeUnknown) {
				t.Errorf("charged %v, and %v", charged, err)
			}
		})
	}
	_ = testPay // called by go test, as TestPay
}
