package clienttest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestWithClock pays years from this machine's clock, by a clock that is an hour ahead of the
// service's. Under a reference of the merchant's own, and without the intent's id, only times show
// which payment is the intent's.
func TestWithClock(t *testing.T) {
	for _, year := range []int{2021, 2031} {
		clock := sandbox.NewClock(time.Date(year, time.May, 5, 1, 0, 0, 0, time.UTC))
		box := sandbox.New(sandbox.WithClock(clock))
		t.Cleanup(box.Close)
		ahead := func() time.Time { return clock.Now().Add(time.Hour) }
		begun := ahead()
		client := sandboxtest.Client(t, box, quickstream.WithClock(ahead))
		params := payment()

		plan, err := client.Transactions.PlanVoid(t.Context(), "1")
		require.NoError(t, err)
		assert.Equal(t, begun, plan.NotBefore)
		var stored quickstream.Intent
		_, err = client.Transactions.Pay(t.Context(), params, handed(&stored))
		require.NoError(t, err)
		assert.Equal(t, begun, stored.NotBefore)

		params.PaymentReferenceNumber = "INV-1"
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1}))
		_, err = client.Transactions.Pay(t.Context(), params, quickstream.WithoutResend())
		lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, begun, lost.Intent.NotBefore)
		clock.Advance(time.Minute)
		tx, err := client.Transactions.Resume(t.Context(), *lost.Intent)
		require.NoError(t, err, "%d", year)
		assert.Equal(t, box.Ledger()[1].Receipt, tx.ReceiptNumber)

		for ago, allowed := range map[time.Month]bool{0: true, 6: true, 7: false} {
			month := time.Date(year, time.May-ago, 1, 0, 0, 0, 0, time.UTC)
			_, err = client.Transactions.Suspended(quickstream.SuspendedParams{
				SupplierBusinessCode: sandbox.DefaultBusiness, Month: quickstream.YearMonth{Year: month.Year(), Month: month.Month()},
			}).ReadAll(t.Context())
			assert.Equal(t, allowed, err == nil, "%s: %v", month, err)
		}
	}
}
