package conform_test

import (
	"bytes"
	"fmt"
	"path/filepath"
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
				cfg := config(box)
				cfg.Wait, cfg.Journal = 0, filepath.Join(t.TempDir(), "journal")
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: test.kind, Match: first}))
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Garbage(sandbox.HTML), Probability: 1}))
				report, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				assert.NotZero(t, box.FaultCounts()[test.kind.String()])
				assert.NotEmpty(t, report.Left, "what cannot be found stays named")
				box.ClearFaults()
				<-time.After(test.after)
				cfg.Wait = 6 * 24 * time.Hour
				left, err := conform.Clean(t.Context(), cfg)
				require.NoError(t, err)
				undone(t, box, left)
			})
		})
	}
}

// One answer that is lost, late or changed on the way decides nothing: the question has its answer,
// or stays open.
func TestOneFault(t *testing.T) {
	const payments = "POST /transactions"
	slow, changed := sandbox.DelayAfterCommit(20*time.Second), sandbox.Garbage(sandbox.BrokenJSON)
	for _, test := range []struct {
		world, question string
		fault           sandbox.Fault
		calls           int // at each of which the fault begins once
	}{
		{"ErrorForm=object", "ErrorForm", sandbox.Fault{Operation: payments, Kind: changed}, 2},
		{"SoftDeclineCodes=01 RetrySchedule=24h,48h", "SoftDeclineCodes", sandbox.Fault{Operation: "GET /transactions/{receiptNumber}/retries", Kind: changed}, 4},
		{"KeyMismatch=409", "KeyMismatch", sandbox.Fault{Operation: payments, Kind: slow, Match: first}, 1},
	} {
		for nth := 1; nth <= test.calls; nth++ {
			t.Run(fmt.Sprint(test.world, nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					box := newBox(t, test.world)
					cfg := config(box)
					cfg.Wait = 4 * 24 * time.Hour
					test.fault.Nth = nth
					require.NoError(t, box.Inject(test.fault))
					report, err := conform.Run(t.Context(), cfg)
					require.NoError(t, err)
					assert.NotZero(t, box.FaultCounts()[test.fault.Kind.String()])
					same(t, box, report)
					assert.NotEmpty(t, findings(report)[test.question].Value)
				})
			})
		}
	}
}

// first reports the card payment of a run.
func first(r sandbox.Request) bool { return bytes.Contains(r.Body, []byte(`"principalAmount":1.23`)) }
