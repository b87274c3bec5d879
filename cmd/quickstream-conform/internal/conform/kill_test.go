package conform_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
	"github.com/quickstream-go/quickstream/sandbox"
)

// killed ends the process at a request: after it was sent, or before.
type killed struct {
	next  http.RoundTripper
	kill  context.CancelFunc
	left  int
	after bool // the request arrives, and its answer does not
}

func (k *killed) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.left--; k.left > 0 {
		return k.next.RoundTrip(r)
	}
	defer k.kill()
	if k.after {
		if resp, err := k.next.RoundTrip(r.WithContext(context.WithoutCancel(r.Context()))); err == nil {
			_ = resp.Body.Close()
		}
	}
	return nil, context.Canceled
}

// At whatever request a run is killed, its journal names all that it has made, -clean undoes
// everything, and a run that goes on finds the world.
func TestKills(t *testing.T) {
	for _, world := range []string{
		"default", "LookupLag=5m ReferenceSearch=exact PageSize=3 Metadata=dropped",
		"LookupLag=10s EchoedReferences=none TransactionAnswers=receipt PayToApprovedAfter=0s",
	} {
		for request := 2; request < 150; request += 19 {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprint(world, request, after), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { kill(t, world, request, after) })
				})
			}
		}
	}
}

func kill(t *testing.T, world string, request int, after bool) {
	box := newBox(t, world)
	cfg := config(t, box)
	cfg.Wait = 20 * time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	dying := cfg
	dying.HTTPClient = &http.Client{Transport: &killed{next: box.HTTPClient().Transport, kill: cancel, left: request, after: after}}
	if _, err := conform.Run(ctx, dying); err == nil {
		return // the run was shorter
	}
	journal, err := os.ReadFile(cfg.Journal)
	require.NoError(t, err)
	for _, e := range box.Ledger() {
		if e.OriginalReceiptNumber == "" && e.Amount > 0 && (e.Outcome == "approved" || e.Outcome == "pending") {
			assert.Contains(t, string(journal), e.PaymentReferenceNumber)
		}
	}
	if request%2 == 0 {
		report, err := conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		same(t, box, report)
	}
	cfg.Wait = 6 * 24 * time.Hour
	left, err := clean(t, cfg)
	require.NoError(t, err)
	undone(t, box, left)
	explain(t, box, world)
}

// A run first voids what an interrupted one has left.
func TestUndoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newBox(t, "default")
		cfg := config(t, box)
		ctx, cancel := context.WithCancel(t.Context())
		dying := cfg
		dying.HTTPClient = &http.Client{Transport: &killed{next: box.HTTPClient().Transport, kill: cancel, left: 4}}
		_, err := conform.Run(ctx, dying)
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, box.Ledger(), 1)
		before := len(box.Requests())
		_, err = conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		for _, r := range box.Requests()[before:] {
			if r.Method == http.MethodPost {
				assert.Contains(t, r.Path, box.Ledger()[0].ReceiptNumber+"/void")
				return
			}
		}
	})
}

// same compares the values that were found with those of a sandbox. What is open is allowed.
func same(t *testing.T, box *sandbox.Sandbox, report conform.Report) (told int) {
	t.Helper()
	for _, a := range box.Assumptions().List() {
		for _, f := range report.Findings {
			if f.Name == a.Name && f.Open == "" {
				assert.Equal(t, a.Value, f.Value, "%s: %s", a.Name, f.Other)
				told++
			}
		}
	}
	return told
}
