package sandboxtest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// testPay is a merchant's own test in 200 worlds: an order that was charged is never reported
// as not paid, and none is charged twice.
func testPay(t *testing.T) {
	lookUp := []quickstream.ClientOption{quickstream.WithoutResend()} // in some worlds the service forgets keys at once
	sandboxtest.Worlds(t, sandboxtest.WorldsOptions{Client: lookUp}, func(t *testing.T, run sandboxtest.Run) {
		tx, err := run.Client.Transactions.Pay(t.Context(), params("ORDER-1"))
		answered := err == nil
		for days := 0; days < 14; days++ {
			lost, isLost := errors.AsType[*quickstream.UnknownOutcomeError](err)
			if !isLost || lost.Intent == nil {
				break
			}
			<-time.After(24 * time.Hour) // in the bubble, no time at all
			tx, err = run.Client.Transactions.Resume(t.Context(), *lost.Intent)
		}
		if !answered && err == nil { // the service may take back what only a look-up has found
			<-time.After(24 * time.Hour)
			if tx, err = run.Client.Transactions.Get(t.Context(), tx.ReceiptNumber); err == nil && tx.Outcome() == quickstream.OutcomeVoided {
				return
			}
		}
		charged := len(run.Box.Ledger().Charged("ORDER-1"))
		if run.World.Value("KeyLifetime") == "0s" && strings.HasPrefix(run.World.Value(worlds.Fault), "twice") {
			return // a gateway has sent it twice, and passes on the second answer
		}
		if charged > 1 || (err == nil) != (charged == 1) && !errors.Is(err, quickstream.ErrOutcomeUnknown) {
			t.Errorf("charged %d times, and %v", charged, err)
		}
	})
}

// Worlds makes subtests and needs a test: go test calls testPay as TestPay.
func ExampleWorlds() {
	_ = testPay
}
