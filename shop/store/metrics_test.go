package store

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// span is a line of the file of spans.
type span struct {
	Name        string
	SpanContext struct{ TraceID string }
	Status      struct{ Code string }
	Attributes  []struct {
		Key   string
		Value struct{ Value any }
	}
}

// spans are those that were written so far.
func (w *world) spans() []span {
	w.Helper()
	file, err := os.Open(w.config.Traces)
	require.NoError(w, err)
	defer file.Close()
	var all []span
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one span
		require.NoError(w, json.Unmarshal(lines.Bytes(), &one))
		all = append(all, one)
	}
	return all
}

// traceWith is the trace that has spans of these names: the names of all its spans.
func (w *world) traceWith(wanted ...string) []string {
	w.Helper()
	traces := map[string][]string{}
	for _, one := range w.spans() {
		traces[one.SpanContext.TraceID] = append(traces[one.SpanContext.TraceID], one.Name)
	}
	for _, names := range traces {
		if !slices.ContainsFunc(wanted, func(name string) bool { return !slices.Contains(names, name) }) {
			return names
		}
	}
	return nil
}

// newTracedWorld is a shop that writes spans.
func newTracedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.close()
	w.config.Traces = filepath.Join(filepath.Dir(w.config.Database), "spans.json")
	w.open()
	return w
}

// A notification is in the trace of the payment that it is about, when it comes once more
// after another payment of the order, and long after it was signed.
func TestTraceOfAnEarlierPayment(t *testing.T) {
	w := newTracedWorld(t)
	b := w.browser()
	id := b.order("pot")
	w.box.NextTransaction(sandbox.Declined("AM04"))
	b.post("/orders/"+id+"/pay", "name", "Alex Example", "payid", payID)
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	b.becomes("/orders/"+id, "declined", time.Second)
	require.NoError(t, w.box.Flush(t.Context()))
	all := w.box.Deliveries()
	declined := all[len(all)-1]
	b.get("/checkout/" + id)
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	came := func() (names []string, notified int) {
		names = w.traceWith("POST /orders/{order}/pay", "POST /webhooks")
		for _, name := range names {
			if name == "POST /webhooks" {
				notified++
			}
		}
		return names, notified
	}
	_, before := came()
	for i, ago := range []time.Duration{0, 10 * time.Minute} {
		require.Equal(t, http.StatusOK, w.deliver(t.Context(), declined.Body, ago))
		names, notified := came()
		assert.NotContains(t, names, "SingleUseTokens.Authenticate", "the card's")
		assert.Equal(t, before+i+1, notified, "signed %s ago", ago)
	}
}

// A notification that comes 1,500 times more leaves the page of its payment as it was after the first time: the inbox
// stores it once, and a line is for what is new.
func TestReplaysLeaveThePage(t *testing.T) {
	w := newWorld(t)
	b, staff := w.browser(), w.staff()
	id := b.order("pot")
	b.post("/orders/"+id+"/pay", "name", "Alex Example", "payid", payID)
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	b.becomes("/orders/"+id, approved, time.Second)
	require.NoError(t, w.box.Flush(t.Context()))
	all := w.box.Deliveries()
	p, err := w.shop.engine.PaymentOf(t.Context(), id)
	require.NoError(t, err)
	timeline := func() string {
		return timelinePattern.FindString(staff.get("/office/payment?id=" + p.ID).body)
	}
	require.Equal(t, http.StatusOK, w.deliver(t.Context(), all[len(all)-1].Body, 0))
	before := timeline()
	require.NotEmpty(t, before)
	for range 1500 {
		require.Equal(t, http.StatusOK, w.deliver(t.Context(), all[len(all)-1].Body, 0))
	}
	assert.Equal(t, before, timeline())
	health, err := w.shop.engine.Health(t.Context())
	require.NoError(t, err)
	assert.Zero(t, health.Received, "none waits")
}

var timelinePattern = regexp.MustCompile(`(?s)<ol class="timeline".*?</ol>`)

// deliver hands the shop a notification that was signed some time ago, and returns the
// status of its answer.
func (w *world) deliver(ctx context.Context, body []byte, ago time.Duration) int {
	w.Helper()
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret(webhookKey), Now: func() time.Time { return time.Now().Add(-ago) }}
	r, err := signer.NewRequestWithBody(ctx, w.web.URL+"/webhooks", body)
	require.NoError(w, err)
	answer := httptest.NewRecorder()
	w.shop.handler().ServeHTTP(answer, r)
	return answer.Code
}

// A request that was answered by a failure of the shop's is one in its trace, too.
func TestTraceOfAFailure(t *testing.T) {
	w := newTracedWorld(t)
	n, err := webhooks.NewNotification("other.event", struct{}{})
	require.NoError(t, err)
	gone, goes := context.WithCancel(t.Context())
	goes()
	require.Equal(t, http.StatusInternalServerError, w.deliver(gone, n.Raw(), 0))
	all := w.spans()
	failed := all[len(all)-1]
	assert.Equal(t, "POST /webhooks", failed.Name)
	assert.Equal(t, "Error", failed.Status.Code)
	labels := map[string]any{}
	for _, label := range failed.Attributes {
		labels[label.Key] = label.Value.Value
	}
	assert.Equal(t, "500", labels["error.type"])
}

// scrape reads the metrics as Prometheus does.
func (w *world) scrape() string {
	w.Helper()
	answer, err := http.Get(w.web.URL + "/metrics")
	require.NoError(w, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(w, err)
	require.Equal(w, http.StatusOK, answer.StatusCode)
	return string(body)
}

// The metrics are Prometheus's, and for this machine. What has not happened yet is 0 and not
// missing, so that the first time is seen.
func TestMetrics(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	nothing := w.scrape()
	for _, state := range []string{"queued", "sending", "resolving", "not_found", "escalated", "double_charged"} {
		assert.Contains(t, nothing, fmt.Sprintf("quickstream_durable_write_count{quickstream_durable_state=%q} 0\n", state))
	}
	for _, status := range []int{200, 401, 500} {
		assert.Contains(t, nothing, fmt.Sprintf("shop_webhooks_answers_total{http_response_status_code=\"%d\"} 0\n", status))
	}
	for card, state := range map[string]string{visa: approved, noFunds: "declined"} {
		id := b.order("pot")
		b.pay(id, card)
		b.becomes("/orders/"+id, state, 0)
	}
	body := w.scrape()
	for _, line := range []string{
		`quickstream_durable_outcomes_total{quickstream_durable_standing="approved",quickstream_operation="Transactions.Pay"} 1`,
		`quickstream_durable_outcomes_total{quickstream_durable_standing="declined",quickstream_operation="Transactions.Pay"} 1`,
		`quickstream_durable_unknown_age_seconds 0`, `quickstream_durable_received_count 0`, `quickstream_durable_held_count 0`,
		`quickstream_operation="Transactions.Pay",quickstream_result="success"`,
	} {
		assert.Contains(t, body, line)
	}

	for name, change := range map[string]func(*http.Request){
		"another machine":          func(r *http.Request) { r.RemoteAddr = "192.0.2.1:1" },
		"the name of a public one": func(r *http.Request) { r.Host = "shop.example" },
	} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:1/metrics", nil)
		r.RemoteAddr = "127.0.0.1:2"
		change(r)
		answer := httptest.NewRecorder()
		w.shop.handler().ServeHTTP(answer, r)
		assert.Equal(t, http.StatusNotFound, answer.Code, name)
	}
}

// What is not known is counted, and for how long.
func TestUnknownIsCounted(t *testing.T) {
	w := newWorld(t)
	customer := w.browser()
	w.box.NextTransaction(sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved()))
	id := customer.order("pot")
	customer.pay(id, visa)
	customer.becomes("/orders/"+id, "unknown", 0)
	w.clock.Jump(3 * time.Hour)
	w.shopFollows()
	assert.Regexp(t, `quickstream_durable_unknown_age_seconds (1\d{4}\b|1\.\d+e\+04)`, w.scrape())
	assert.Contains(t, w.scrape(), `quickstream_durable_write_count{quickstream_durable_state="resolving"} 1`)
	customer.becomes("/orders/"+id, approved, time.Hour)
	assert.Contains(t, w.scrape(), "quickstream_durable_unknown_age_seconds 0\n")
}

// shopFollows waits until the shop knows how late it is.
func (w *world) shopFollows() {
	w.Helper()
	now := w.clock.Now()
	require.Eventually(w, func() bool { return !w.shop.clock.Now().Before(now) }, time.Minute, 10*time.Millisecond)
}

// For how long something is unknown is said of what is counted as unknown, and not of a
// refund that waits until the payment has settled.
func TestOldestIsOneOfTheUnknown(t *testing.T) {
	w := newWorld(t)
	customer := w.browser()
	id := customer.paid("pot")
	p, err := w.shop.engine.PaymentOf(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, w.shop.within(t.Context(), func(tx *sql.Tx) error {
		ten := quickstream.RefundParams{PrincipalAmount: decimal.New(1000, -2), Currency: quickstream.CurrencyAUD}
		_, _, err := w.shop.engine.Refund(t.Context(), tx, durable.NewWrite{ID: "refund"}, p.ID, ten)
		return err
	}))
	w.clock.Jump(3 * time.Hour)
	w.shopFollows()
	id = customer.order("pot")
	w.box.NextTransactionFor(id, sandbox.Erred().ThenAfter(36*time.Hour, sandbox.Approved())) // the refund may be made meanwhile
	customer.pay(id, visa)
	customer.becomes("/orders/"+id, "unknown", 0)
	health, err := w.shop.engine.Health(t.Context())
	require.NoError(t, err)
	assert.Less(t, health.UnknownFor, time.Hour)
}

// Neither spans nor metrics nor the pages and files of the back office hold a card's
// number, and spans and metrics nothing that identifies an order either.
func TestNoValuesInTelemetry(t *testing.T) {
	w := newTracedWorld(t)
	customer, b := w.browser(), w.staff()
	id := customer.paid("pot")
	p, err := w.shop.engine.PaymentOf(t.Context(), id)
	require.NoError(t, err)
	metrics := w.scrape()
	pages := ""
	for _, path := range []string{"/office/", "/office/payment?id=" + p.ID, "/office/attention", "/office/installation"} {
		pages += b.get(path).body
	}
	w.close()
	spans, err := os.ReadFile(w.config.Traces)
	require.NoError(t, err)
	everything := w.everything() + pages
	w.open()
	require.Contains(t, string(spans), "Transactions.Pay")
	require.Contains(t, everything, id)
	for _, value := range []string{id, p.ReceiptNumber, p.ID, p.Reference, "203.0.113.7", "Example Street", "Teapot", visa, w.config.SecretKey} {
		assert.NotContains(t, string(spans), value)
		assert.NotContains(t, metrics, value)
	}
	assert.NotContains(t, everything, visa)
	assert.NotContains(t, everything, w.config.SecretKey)
}
