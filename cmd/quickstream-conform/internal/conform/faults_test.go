package conform_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
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
				cfg := config(t, box)
				cfg.Wait, cfg.Business = []time.Duration{20 * time.Minute, 10 * 24 * time.Hour}[i%2], sandbox.DefaultBusiness
				subscribed(t, box, &cfg, webhookSecret)
				require.NoError(t, box.Inject(worlds.RandomFaults(0.05)...))
				report, err := conform.Run(t.Context(), cfg)
				if err != nil {
					t.Log(err)
				}
				told += same(t, box, report)
				late := box.FaultCounts()["CommitLate"]
				box.ClearFaults()
				cfg.Wait = 6 * 24 * time.Hour
				var left []string
				for range 3 { // each may make 300 requests
					if left, err = clean(t, cfg); err == nil && len(left) == 0 {
						break
					}
				}
				if late == 0 { // a payment that is carried out hours after its answer was lost is not waited for
					require.NoError(t, err)
					undone(t, box, left)
				}
				explain(t, box, world)
			})
		})
	}
	assert.Greater(t, told, 8**hiddenWorlds, "enough is told")
}

// lossy answers some requests for the service, which never sees them: with a status that is not 0.
type lossy struct {
	next http.RoundTripper
	lost func(r *http.Request, body []byte) (status int)
}

func (l lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if status := l.lost(r, body); status != 0 {
		return &http.Response{StatusCode: status, Body: http.NoBody, Request: r}, nil
	}
	return l.next.RoundTrip(r)
}

// What cannot be undone is named by the reference that the run gave it, alone, until it is undone.
func TestLeftIsNamed(t *testing.T) {
	for _, test := range []struct{ kind, reference string }{{"agreement", "payeeReference"}, {"payment", "paymentReferenceNumber"}} {
		t.Run(test.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box := newBox(t, "default")
				cfg := config(t, box)
				cfg.Wait = 0
				stuck, named := "", "" // the first of its kind
				cfg.HTTPClient = &http.Client{Transport: lossy{box.HTTPClient().Transport, func(r *http.Request, body []byte) int {
					parts := strings.Split(strings.TrimSuffix(r.URL.Path, "/void"), "/")
					handle := parts[len(parts)-1]
					undoes := r.Method == http.MethodPatch && test.kind == "agreement" || strings.HasSuffix(r.URL.Path, "/void") && test.kind == "payment"
					if undoes && stuck == "" {
						stuck = handle
					}
					switch {
					case undoes && handle == stuck:
						return http.StatusBadGateway
					case bytes.Contains(body, []byte("payToData")): // a payment would end its agreement
						return http.StatusUnprocessableEntity
					default:
						return 0
					}
				}}}
				report, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				for _, a := range box.Agreements() {
					if a.AgreementToken == stuck {
						named = a.PayeeReference
					}
				}
				for _, e := range box.Ledger() {
					if e.ReceiptNumber == stuck {
						named = e.PaymentReferenceNumber
					}
				}
				assert.Equal(t, []string{test.kind + " with " + test.reference + " " + named}, report.Left)
				assert.NotEmpty(t, named)
				cfg.HTTPClient = box.HTTPClient()
				left, err := clean(t, cfg)
				require.NoError(t, err)
				undone(t, box, left)
			})
		})
	}
}
