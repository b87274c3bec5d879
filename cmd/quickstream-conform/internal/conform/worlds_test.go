package conform_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

var (
	hiddenWorlds = flag.Int("hidden-worlds", 24, "number of random worlds")
	seed         = flag.Uint64("seed", 1, "of the worlds")
	onlyWorld    = flag.String("world", "", "the one world to run, as a test printed it")
)

// questions is the number of questions.
const questions = 12

// drawn returns random worlds: every assumption has any of its values.
func drawn(n int) (list []string) {
	if *onlyWorld != "" {
		return []string{*onlyWorld}
	}
	dice := rand.New(rand.NewPCG(*seed, 1))
	for range n {
		text := ""
		for _, a := range sandbox.DefaultAssumptions().List() {
			text += fmt.Sprintf(" %s=%s", a.Name, a.Worlds[dice.IntN(len(a.Worlds))])
		}
		list = append(list, text)
	}
	return list
}

func newBox(t *testing.T, world string) *sandbox.Sandbox {
	t.Helper()
	w, err := worlds.Parse(world)
	require.NoError(t, err)
	box := sandbox.New(w.Option(), sandbox.WithBusiness(sandbox.DefaultBusiness, "Conform Trading", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 150}))
	t.Cleanup(box.Close)
	return box
}

func config(t *testing.T, box *sandbox.Sandbox) conform.Config {
	t.Helper()
	return conform.Config{
		Environment: quickstream.CustomURL(box.URL()), SecretKey: box.Keys().Secret, Journal: filepath.Join(t.TempDir(), "journal"),
		HTTPClient: box.HTTPClient(), Wait: 14 * 24 * time.Hour, Progress: func(int) {},
	}
}

// clean undoes what earlier runs have left.
func clean(t *testing.T, cfg conform.Config) (left []string, err error) {
	t.Helper()
	cfg.Clean = true
	report, err := conform.Run(t.Context(), cfg)
	return report.Left, err
}

const webhookSecret = "whsec-of-a-test-0123456789"

// subscribed has the box notify a receiver of a run, which knows a secret.
func subscribed(t *testing.T, box *sandbox.Sandbox, cfg *conform.Config, secret string) {
	t.Helper()
	cfg.Webhooks = conform.NewReceiver(secret)
	require.NoError(t, box.Subscribe(sandbox.Subscription{Handler: cfg.Webhooks, Secret: webhookSecret, Scheme: signature.AssumedHMAC{}}))
}

// handled is a connection to a handler.
type handled struct{ handler http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// hidden reports that a question may stay open in a world, because another dimension hides its answer.
func hidden(w worlds.World, name string) bool {
	is := func(name string, values ...string) bool { return slices.Contains(values, w.Value(name)) }
	switch name {
	case "KeyMismatch":
		return is("KeyLifetime", "0s")
	case "PayToApprovedAfter":
		return is("PayToApprovedAfter", "0s") && is("TransactionAnswers", "receipt") || is("LookupLag", "24h") && !is("PayToApprovedAfter", "119h") || is("LookupLag", "5m") && is("PayToApprovedAfter", "0s", "1m")
	case "SoftDeclineCodes":
		return is("SoftDeclineCodes", "none") || is("RetrySchedule", "none") || is("LookupLag", "24h") // a retry that is not visible yet
	case "CutOffHour":
		return is("SettlementDays", "business") && is("LookupLag", "24h") // the samples are made on the holiday
	case "PageSize":
		return is("PageSize", "20", "1000")
	case "ReferenceSearch":
		return is("Paging", "unstable")
	default:
		return false
	}
}

// In every world, each answer is the drawn one, or stays open because of another dimension.
func TestHiddenWorlds(t *testing.T) {
	answers, open := 0, 0
	for i, world := range drawn(*hiddenWorlds) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				<-time.After(387*24*time.Hour + time.Duration(i%6)*13*time.Hour) // to January 2001, before a national holiday
				box := newBox(t, world)
				cfg := config(t, box)
				subscribed(t, box, &cfg, webhookSecret)
				report, err := conform.Run(t.Context(), cfg)
				require.NoError(t, err)
				w, err := worlds.Parse(world)
				require.NoError(t, err)
				assert.Len(t, report.Findings, questions)
				for _, f := range report.Findings {
					answers++
					switch {
					case f.Value == w.Value(f.Name):
					case f.Open != "" && hidden(w, f.Name):
						open++
					default:
						t.Errorf("%s is %s: found %q %q %q", f.Name, w.Value(f.Name), f.Value, f.Other, f.Open)
					}
				}
				assert.LessOrEqual(t, len(box.Requests()), 300)
				undone(t, box, report.Left)
				explain(t, box, world)
			})
		})
	}
	t.Logf("%d answers, %d of them stay open", answers, open)
	assert.Less(t, 6*open, answers)
}

// explain logs what happened in a world where a test has failed.
func explain(t *testing.T, box *sandbox.Sandbox, world string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	t.Log(world)
	for _, r := range box.Requests() {
		t.Log("REQ", r.Time.Format("02 15:04:05"), r.Method, r.Path, r.Query.Encode(), r.Status, r.Fault, string(r.Body))
	}
}

// undone asks the ledger whether all was taken back.
func undone(t *testing.T, box *sandbox.Sandbox, left []string) {
	t.Helper()
	assert.Empty(t, left)
	net := map[string]int64{}
	for _, e := range box.Ledger() {
		original := e.OriginalReceiptNumber
		if original == "" {
			original = e.ReceiptNumber
		}
		switch {
		case e.Type == "PAYMENT" && e.Outcome == "pending":
			t.Error("a payment is pending")
		case e.Outcome != "approved" && e.Outcome != "pending":
		case e.Type == "PAYMENT":
			net[e.ReceiptNumber] += e.Amount // a retry is a payment of its own
		case e.Type == "REFUND":
			net[original] -= e.Amount
		}
	}
	for _, amount := range net {
		assert.Zero(t, amount, "a payment was not taken back, or more than it")
	}
	for _, a := range box.Agreements() {
		assert.Contains(t, []string{"CANCELLED", "REJECTED"}, a.Status)
	}
}
