package conform_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
	"github.com/quickstream-go/quickstream/sandbox"
)

// A payment whose answer was lost is taken back, although every other reading of a list leaves it
// out, or although it is carried out minutes later and found a day after that.
func TestLostPayments(t *testing.T) {
	for _, test := range []struct {
		world string
		kind  sandbox.FaultKind
		after time.Duration // until -clean, whose first look may be its last
	}{
		{"Paging=unstable PageSize=1", sandbox.ResetAfterCommit(), 7 * 24 * time.Hour},
		{"LookupLag=24h", sandbox.DelayBeforeCommit(10 * time.Minute), 0},
	} {
		t.Run(test.world, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := newBox(t, test.world)
				cfg := config(t, box)
				cfg.Wait = 0
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: test.kind, Match: first}))
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Garbage(sandbox.HTML), Probability: 1}))
				report, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				assert.NotZero(t, box.FaultCounts()[test.kind.String()])
				assert.NotEmpty(t, report.Left, "what cannot be found stays named")
				box.ClearFaults()
				<-time.After(test.after)
				cfg.Wait = 6 * 24 * time.Hour
				left, err := clean(t, cfg)
				require.NoError(t, err)
				undone(t, box, left)
			})
		})
	}
}

// first reports the card payment of a run.
func first(r sandbox.Request) bool { return bytes.Contains(r.Body, []byte(`"principalAmount":1.23`)) }
