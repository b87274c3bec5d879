package resolve_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestPaidAgainByAResend: an approval after a lost answer may be the second one, if a service
// ignores idempotency keys.
func TestPaidAgainByAResend(t *testing.T) {
	const lookUp = "GET /transactions/for-reference-number"
	executed, not := sandbox.ResetAfterCommit(), sandbox.ResetBeforeCommit()
	for name, tt := range map[string]struct {
		first     sandbox.FaultKind
		metadata  string
		reference string
		lag       time.Duration
		status    resolve.Status
		lookups   int
	}{
		"executed twice":              {executed, "echoed", "", 0, resolve.StatusDoubleCharged, 1},
		"executed twice, without ids": {executed, "dropped", "", 0, resolve.StatusDoubleCharged, 1},
		"both are visible later":      {executed, "dropped", "", time.Hour, resolve.StatusDoubleCharged, 2},
		"executed once":               {not, "echoed", "", 0, resolve.StatusSettled, 2},
		"own reference, with ids":     {executed, "echoed", "ORDER-1", 0, resolve.StatusDoubleCharged, 1},
		"own reference, without ids":  {executed, "dropped", "ORDER-1", 0, resolve.StatusSettled, 2},
		"failed looks":                {executed, "echoed", "", 0, resolve.StatusSettled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
					a.KeyLifetime, a.Metadata, a.LookupLag = 0, tt.metadata, tt.lag
				}))
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: tt.first, Times: 1}))
				if tt.lookups == 0 {
					require.NoError(t, box.Inject(sandbox.Fault{Operation: lookUp, Kind: sandbox.Status(502, sandbox.HTML)}))
				}
				order := exampleOrder()
				order.CustomerReferenceNumber, order.PaymentReferenceNumber = "", tt.reference
				tx, err := client.Transactions.Pay(t.Context(), order)
				require.NoError(t, err)

				begun := time.Now()
				result := resolve.After(tx, err, begun)
				assert.Equal(t, resolve.ResultEnded, result.Status)
				require.NotNil(t, result.Case)
				c := *result.Case
				assert.Equal(t, 2, c.Intent.Attempts)
				assert.Equal(t, resolve.StatusSettled, c.Status)
				assert.Equal(t, quickstream.OutcomeApproved, c.Outcome)
				stored, err := json.Marshal(c)
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(stored, &c))
				c = run(t, client.Transactions, c)
				assert.Equal(t, tt.status, c.Status)
				assert.Equal(t, quickstream.OutcomeApproved, c.Outcome)
				assert.True(t, c.NextLook.IsZero())
				if tt.lookups == 0 {
					return
				}
				lookups := slices.DeleteFunc(box.Requests(), func(r sandbox.Request) bool { return r.Operation != lookUp })
				assert.Len(t, lookups, tt.lookups)
				assert.Equal(t, 15*time.Minute, c.Lookups[0].At.Sub(begun))
			})
		})
	}
}

// TestResentWithAnotherUnderWay: a second transaction that may still be approved is looked up until
// it is over, and early look-ups change nothing.
func TestResentWithAnotherUnderWay(t *testing.T) {
	pending, p := begun(quickstream.Intent{Reference: "A"}), policy() // what After makes of an approval that was sent again
	pending.Status, pending.Seen, pending.NextLook = resolve.StatusSettled, found(approved("R1")), wednesday().Add(15*time.Minute)
	pending.Outcome = pending.Seen.Outcome
	c := p.Next(pending, several("R1", "R2"), pending.NextLook)
	assert.Equal(t, wednesday().AddDate(0, 0, 1).Add(15*time.Minute), c.NextLook)
	assert.Equal(t, c.NextLook, p.Next(c, foundNothing(), wednesday().Add(time.Hour)).NextLook)
	assert.Equal(t, c.NextLook, p.Next(pending, found(unsettled("R2")), pending.NextLook).NextLook)
	days, end := over(t, p, c, several("R1", "R2"))
	assert.Len(t, days, 14)
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, resolve.StatusDoubleCharged, p.Next(c, found(approved("R2")), c.NextLook).Status)
	assert.Equal(t, resolve.StatusSettled, p.Next(c, found(declined("R2", "54")), c.NextLook).Status)
	assert.Equal(t, quickstream.OutcomeApproved, p.Next(c, found(declined("R2", "54")), c.NextLook).Outcome)
}
