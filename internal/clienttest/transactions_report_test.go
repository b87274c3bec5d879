package clienttest_test

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const csvOperation = "GET /transactions/csv"

// reportDay is the settlement date on which the clock of a bubble begins.
func reportDay() quickstream.ReportParams {
	return quickstream.ReportParams{SettlementDate: quickstream.NewDate(2000, time.January, 1)}
}

// withReport runs f in a bubble with a sandbox that has the report of three
// payments ready.
func withReport(t *testing.T, f func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.ReportGeneration, a.LookupLag = 0, 0
		}))
		for range 3 {
			_, err := client.Transactions.Pay(t.Context(), payment())
			require.NoError(t, err)
		}
		box.ResetRequests()
		f(t, box, client)
	})
}

func TestReportIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ReportGeneration = 90 * time.Second }))
		for range 3 {
			_, err := client.Transactions.Pay(t.Context(), payment())
			require.NoError(t, err)
		}
		box.ResetRequests()
		var to bytes.Buffer
		start := time.Now()
		n, err := client.Transactions.AwaitReport(t.Context(), &to, reportDay(), 0) // a minute
		require.NoError(t, err)
		assert.EqualValues(t, to.Len(), n)
		assert.Len(t, box.Requests(), 3, "the report takes 90 seconds")
		assert.InDelta(t, 2*time.Minute, time.Since(start), float64(time.Second))
		assert.Equal(t, 3, strings.Count(to.String(), "\n"), "three payments below the header")
	})
}

// TestReportBreaksOff cuts reports off, before and after their first byte, and answers with
// something else, of which nothing is written.
func TestReportBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		kind               sandbox.FaultKind
		written, questions int
		ends               string
		network            quickstream.NetworkKind
	}{
		"in the middle":         {sandbox.TruncatedBody(100), 100, 1, network, quickstream.NetworkKindReset},
		"before the first byte": {sandbox.TruncatedBody(0), 0, 3, network, quickstream.NetworkKindReset},
		"before the answer":     {sandbox.ResetBeforeCommit(), 0, 3, network, quickstream.NetworkKindReset},
		"no answer":             {sandbox.HangBeforeCommit(), 0, 3, network, quickstream.NetworkKindTimeout},
		"a page":                {sandbox.Garbage(sandbox.HTML), 0, 3, decoding, ""},
		"JSON":                  {sandbox.Garbage(sandbox.ServiceError), 0, 3, decoding, ""},
		"nothing":               {sandbox.Garbage(sandbox.Empty), 0, 1, decoding, ""},
	} {
		withReport(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) {
			client.CloseIdleConnections()
			require.NoError(t, box.Inject(sandbox.Fault{Operation: csvOperation, Kind: c.kind}))
			var to bytes.Buffer
			n, err := client.Transactions.DownloadReport(t.Context(), &to, reportDay())
			require.Equal(t, c.ends, ending(err), "%s: %v", name, err)
			if c.network != "" {
				assert.Equal(t, c.network, networkKind(t, err), name)
			}
			assert.EqualValues(t, c.written, n, name)
			assert.Equal(t, c.written, to.Len(), name)
			assert.Len(t, box.Requests(), c.questions, name)
		})
	}
}

// The wait for a report ends with its context, also in a pause.
func TestAwaitReportEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := clientOf(t, says(http.StatusAccepted, ""))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		_, err := client.Transactions.AwaitReport(ctx, new(bytes.Buffer), reportDay(), time.Hour)
		assert.ErrorIs(t, err, quickstream.ErrReportNotReady)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(begun))
	})
}
