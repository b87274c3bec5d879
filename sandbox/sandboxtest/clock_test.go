package sandboxtest_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The answer to a payment is lost, and a test moves the clock by an hour before the client sends it
// again. No client waits for an hour: if the service forgot the key meanwhile, the payer would be
// charged twice by the test, and not by the program.
func TestClockIsNotMovedPastAPayment(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]*sandbox.Clock{"still": sandbox.NewClock(time.Now()), "running": sandbox.NewRunningClock(time.Now())} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := sandbox.New(sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.KeyLifetime = 10 * time.Minute }))
			t.Cleanup(box.Close)
			client := sandboxtest.Client(t, box, quickstream.WithRetryWait(100*time.Millisecond, 100*time.Millisecond))
			sent := make(chan struct{})
			once := sync.OnceFunc(func() { close(sent) })
			require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1, Match: func(sandbox.Request) bool {
				once()
				return true
			}}))
			var moving sync.WaitGroup
			moving.Go(func() {
				<-sent
				clock.Advance(time.Hour)
			})
			_, err := client.Transactions.Pay(t.Context(), params("ORDER-1"))
			require.NoError(t, err)
			moving.Wait()
			assert.Len(t, box.Ledger().Charged("ORDER-1"), 1)
			assert.Len(t, box.Requests(), 2)
		})
	}
}

// If the service drops metadata, only its time tells a payment from an earlier one: the client uses the
// sandbox's clock, even if that is months behind.
func TestClientGoesByTheClock(t *testing.T) {
	t.Parallel()
	clock := sandbox.NewClock(time.Now().AddDate(0, -6, 0))
	box, client := sandboxtest.New(t, sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.Metadata = "dropped" }))
	require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}))
	_, err := client.Transactions.Pay(t.Context(), params("ORDER-1"), quickstream.WithoutResend())
	unknown, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, err)
	clock.Advance(48 * time.Hour)
	payment, err := client.Transactions.Resume(t.Context(), *unknown.Intent)
	require.NoError(t, err)
	assert.Equal(t, box.Ledger()[0].ReceiptNumber, payment.ReceiptNumber)
}
