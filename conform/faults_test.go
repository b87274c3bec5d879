package conform_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/conform"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// With answers that are lost, late, broken or another's, much stays open, and nothing is wrong.
func TestFaults(t *testing.T) {
	told := 0
	for i, world := range drawn(*hiddenWorlds) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, err := worlds.Parse(world)
				require.NoError(t, err)
				box := sandbox.New(sandbox.WithSeed(*seed+uint64(i)), w.Option())
				t.Cleanup(box.Close)
				cfg := config(box)
				cfg.Wait, cfg.Business, cfg.NewKey = 20*time.Minute, sandbox.DefaultBusiness, nil
				cfg.Journal = filepath.Join(t.TempDir(), "journal")
				require.NoError(t, box.Inject(worlds.RandomFaults(0.05)...))
				report, err := conform.Run(t.Context(), cfg)
				if err != nil {
					t.Log(err)
				}
				for _, a := range box.Assumptions().List() {
					f := findings(report)[a.Name]
					if f.Value != "" || f.Other != "" {
						assert.Equal(t, a.Value, f.Value, "%s: %s", a.Name, f.Other)
						told++
					}
				}
				late := box.FaultCounts()["CommitLate"]
				box.ClearFaults()
				cfg.Wait = 6 * 24 * time.Hour
				var left []string
				for range 3 { // each may make 300 requests
					if left, err = conform.Clean(t.Context(), cfg); err == nil && len(left) == 0 {
						break
					}
				}
				// A payment that is carried out hours after its answer was lost is not waited for, and
				// without dates an older payment with the same reference cannot be distinguished.
				if a := box.Assumptions(); late == 0 && (a.DateForm != "absent" || a.ReusedReferences == "none" && a.AmountForm != "absent") {
					require.NoError(t, err)
					undone(t, box, left)
				}
				if t.Failed() {
					t.Log(world)
					for _, r := range box.Requests() {
						t.Log("REQ", r.Time.Format("02 15:04:05"), r.Method, r.Path, r.Query.Encode(), r.Status, r.Fault, string(r.Body))
					}
				}
			})
		})
	}
	assert.Greater(t, told, 20**hiddenWorlds, "enough is told")
}

// paymentsLost answers every card payment of the reads for the service, which never sees it.
type paymentsLost struct{ next http.RoundTripper }

func (p paymentsLost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		return p.next.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(body, []byte(`"principalAmount":1.23`)) {
		return &http.Response{StatusCode: http.StatusBadGateway, Body: http.NoBody, Request: r}, nil
	}
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	return p.next.RoundTrip(again)
}

// A read that cannot answer one of its questions is not read again until all requests are used up.
func TestPaymentsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newBox(t, "default")
		cfg := config(box)
		cfg.NewKey, cfg.Wait = nil, 20*time.Minute
		cfg.HTTPClient = &http.Client{Transport: paymentsLost{box.HTTPClient().Transport}}
		report, err := conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		for _, name := range []string{"Metadata", "AmountForm", "TransactionTimes"} {
			assert.NotEmpty(t, findings(report)[name].Open, name)
		}
		assert.Less(t, report.Requests, 200)
		same(t, box, report)
		undone(t, box, report.Left)
	})
}
