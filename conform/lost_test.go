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

	"github.com/quickstream-go/quickstream/conform"
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
		{"ListOrder=unstable PageSize=1 ReusedReferences=declined StoredReferences=lower ReferenceSearch=exact", sandbox.ResetAfterCommit(), 7 * 24 * time.Hour},
		{"LookupLag=24h", sandbox.DelayBeforeCommit(10 * time.Minute), 0},
	} {
		t.Run(test.world, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := newBox(t, test.world)
				cfg := config(box)
				cfg.NewKey, cfg.Wait, cfg.Journal = nil, 0, filepath.Join(t.TempDir(), "journal")
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: test.kind, Match: func(r sandbox.Request) bool {
					return bytes.Contains(r.Body, []byte(`"principalAmount":1.23`))
				}}))
				_, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				assert.NotZero(t, box.FaultCounts()[test.kind.String()])
				<-time.After(test.after)
				cfg.Wait = 6 * 24 * time.Hour
				left, err := conform.Clean(t.Context(), cfg)
				require.NoError(t, err)
				undone(t, box, left)
			})
		})
	}
}

// One refusal that something on the way has changed decides nothing, and the others do.
func TestChangedRefusal(t *testing.T) {
	for nth := 1; nth <= 2; nth++ {
		for _, operation := range []string{"POST /transactions", "GET /transactions/{receiptNumber}"} {
			synctest.Test(t, func(t *testing.T) {
				box := newBox(t, "NullErrorList=false")
				cfg := config(box)
				cfg.NewKey, cfg.Wait = nil, 0
				require.NoError(t, box.Inject(sandbox.Fault{Operation: operation, Nth: nth, Kind: sandbox.Garbage(sandbox.BrokenJSON)}))
				report, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				assert.Equal(t, "object", findings(report)["ErrorForm"].Value, "%s %d", operation, nth)
				assert.Equal(t, "false", findings(report)["NullErrorList"].Value, "%s %d", operation, nth)
			})
		}
	}
}

// Retries that one reading of a list leaves out are not missing in the schedule.
func TestRetriesInUnstableList(t *testing.T) {
	for nth := 1; nth <= 8; nth++ {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := newBox(t, "ListOrder=unstable PageSize=1 SoftDeclineCodes=01")
				cfg := config(box)
				cfg.NewKey, cfg.Wait = nil, 4*24*time.Hour
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}/retries", Nth: nth, Kind: sandbox.ResetAfterCommit()}))
				report, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				assert.Equal(t, "01", findings(report)["SoftDeclineCodes"].Value)
				same(t, box, report)
			})
		})
	}
}

// A payment whose answer or whose void comes slowly has its time while the answer comes.
func TestSlowPayment(t *testing.T) {
	for _, operation := range []string{"POST /transactions", "POST /transactions/{receiptNumber}/void"} {
		for _, value := range []string{"made", "changed"} {
			t.Run(operation+value, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					box := newBox(t, "TransactionTimes="+value)
					cfg := config(box)
					cfg.NewKey, cfg.Wait = nil, 0
					require.NoError(t, box.Inject(sandbox.Fault{Operation: operation, Kind: sandbox.DelayAfterCommit(20 * time.Second), Match: func(r sandbox.Request) bool {
						return len(r.Body) == 0 || bytes.Contains(r.Body, []byte(`"principalAmount":1.23`))
					}}))
					report, err := conform.Run(t.Context(), cfg)
					require.NoError(t, err)
					assert.NotZero(t, box.FaultCounts()["DelayAfterCommit"])
					assert.Equal(t, value, findings(report)["TransactionTimes"].Value, findings(report)["TransactionTimes"])
				})
			})
		}
	}
}
