package conform_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Other hosts, the service's own production among them, are not asked, and neither is anybody
// without keys.
func TestOnlyTestFacilities(t *testing.T) {
	t.Parallel()
	never := &http.Client{Transport: handled{http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked") })}}
	for _, env := range []quickstream.Environment{
		"", quickstream.ProductionAU, quickstream.ProductionNZ, "https://example.com/rest/v1", "http://127.0.0.1.example.com/rest/v1",
		"http://box.localhost/rest/v1", "http://user@127.0.0.1/rest/v1", "ftp://127.0.0.1/rest/v1", "http://127.0.0.1/rest/v1?x=1", "//127.0.0.1", "://",
		quickstream.TestAU + "/..", "http://api.quickstream.support.qvalent.com/rest/v1",
	} {
		_, err := conform.Run(t.Context(), conform.Config{Environment: env, SecretKey: "s", HTTPClient: never})
		require.Error(t, err, env)
		_, err = conform.Run(t.Context(), conform.Config{Environment: env, SecretKey: "s", HTTPClient: never, Clean: true})
		require.Error(t, err, env)
	}
	_, err := conform.Run(t.Context(), conform.Config{Environment: quickstream.TestAU, HTTPClient: never})
	require.Error(t, err)
}

// A run asks at most once a second, and at most 300 times.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newBox(t, "PageSize=1")
		cfg := config(t, box)
		cfg.Wait = time.Minute
		_, err := conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		requests := box.Requests()
		assert.LessOrEqual(t, len(requests), 300)
		for i := 1; i < len(requests); i++ {
			assert.GreaterOrEqual(t, requests[i].Time.Sub(requests[i-1].Time), time.Second)
		}
	})
}

// A run that waits for nothing has an answer to all but what needs more minutes, days or a flag.
func TestShortestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newBox(t, "default")
		cfg := config(t, box)
		cfg.Wait = 0
		report, err := conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		undone(t, box, report.Left)
		var open []string
		for _, f := range report.Findings {
			if f.Open != "" {
				open = append(open, f.Name)
			}
		}
		assert.ElementsMatch(t, []string{
			"KeyLifetime", "PageSize", "CutOffHour", "SoftDeclineCodes",
		}, open)
	})
}

// The journal is for its owner alone, and of one host.
func TestJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config(t, newBox(t, "default"))
		cfg.Wait = 0
		_, err := conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		info, err := os.Stat(cfg.Journal)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		cfg.Environment = "http://127.0.0.1/rest/v1"
		_, err = conform.Run(t.Context(), cfg)
		assert.ErrorContains(t, err, "another host")
	})
}

// canary puts a text into every text of every answer that no question is about.
type canary struct{ next http.RoundTripper }

const bird = "canary-4242"

var freeTexts = regexp.MustCompile(`"(customerName|payerName|displayAmount|responseDescription|customerMessage|developerMessage|traceCode|keyName|displayName|merchantName|communityName)":"[^"]*"`)

func (c canary) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil {
		return nil, err
	}
	changed := freeTexts.ReplaceAllString(body.String(), `"$1":"`+bird+`"`)
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(changed)), int64(len(changed))
	resp.Header.Set("X-Canary", bird)
	return resp, nil
}

// No secret, handle or personal value of any answer stands in the file or the report, and no key in the journal.
func TestCanaries(t *testing.T) {
	for _, world := range append(drawn(2), "default") {
		synctest.Test(t, func(t *testing.T) {
			box := newBox(t, world)
			cfg := config(t, box)
			subscribed(t, box, &cfg, webhookSecret)
			dir := t.TempDir()
			cfg.HTTPClient = &http.Client{Transport: canary{box.HTTPClient().Transport}}
			report, err := conform.Run(t.Context(), cfg)
			require.NoError(t, err)
			require.NoError(t, report.WriteFile(filepath.Join(dir, "facility.json")))
			content, err := os.ReadFile(filepath.Join(dir, "facility.json"))
			require.NoError(t, err)
			all := report.String() + string(content)
			journal, err := os.ReadFile(cfg.Journal)
			require.NoError(t, err)
			for _, secret := range []string{webhookSecret, cfg.SecretKey, "4111111111111111", "999994"} {
				assert.NotRegexp(t, `(^|\D)`+regexp.QuoteMeta(secret)+`(\D|$)`, string(journal)) // a receipt may hold its digits
			}
			secrets := []string{
				bird, webhookSecret, cfg.SecretKey, box.Keys().Secret, "4111111111111111", "4242424242424242",
				"411111...111", "111111", "999994", "conform@example.com", sandbox.ConfirmingPayID, "255501234", "Kim", "203.0.113",
			}
			for _, e := range box.Ledger() {
				secrets = append(secrets, e.ReceiptNumber, e.CustomerReferenceNumber, e.PaymentReferenceNumber, e.AgreementToken, e.EndToEndID)
			}
			for _, a := range box.Agreements() {
				secrets = append(secrets, a.AgreementToken, a.CustomerID, a.PayeeReference)
			}
			for _, secret := range secrets {
				if secret != "" {
					assert.NotContains(t, all, secret)
				}
			}
		})
	}
}

// The scheme of notifications is found in a run, or that none fits.
func TestSchemeOfNotifications(t *testing.T) {
	for want, secret := range map[string]string{"sha256 t.body text hex": webhookSecret, "none fits": "another"} {
		synctest.Test(t, func(t *testing.T) {
			box := newBox(t, "default")
			cfg := config(t, box)
			cfg.Wait = 0
			subscribed(t, box, &cfg, secret)
			report, err := conform.Run(t.Context(), cfg)
			require.NoError(t, err)
			assert.Equal(t, want, report.SignatureScheme)
		})
	}
}

// The report says what differs, what holds and what is open.
func TestReport(t *testing.T) {
	t.Parallel()
	report := conform.Report{Facility: conform.Facility{
		SignatureScheme: "none fits",
		Findings: []conform.Finding{
			{Name: "CutOffHour", Value: "20"}, {Name: "LookupLag", Value: "0s"}, {Name: "StatusForm", Other: "no word"}, {Name: "KeyMismatch", Open: "refused"},
		},
	}}
	for _, line := range []string{
		"CutOffHour: 20, and not 18: a merchant voids", "LookupLag: 0s\n", "StatusForm: something else", "no word\n", "KeyMismatch: open: refused\n", "none fits\n",
	} {
		assert.Contains(t, report.String(), line)
	}
	report.SignatureScheme = "sha256 body text hex, without the time"
	assert.Contains(t, report.String(), "can be sent again under a new time")
}
