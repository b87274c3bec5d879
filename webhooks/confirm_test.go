package webhooks_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
)

func TestConfirmDelivers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		event   string
		answer  string
		request string
		status  string
	}{
		"present":                {"payto.agreement.confirmed", agreementData, "/rest/v1/payto-agreements/AGR0001", "ACTIVE"},
		"suspended meanwhile":    {"payto.agreement.confirmed", withStatus("SUSPENDED"), "/rest/v1/payto-agreements/AGR0001", "SUSPENDED"},
		"cancelled meanwhile":    {"payto.agreement.confirmed", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"status unheard of":      {"payto.agreement.confirmed", withStatus("FROZEN"), "/rest/v1/payto-agreements/AGR0001", "FROZEN"},
		"declined":               {"payto.agreement.declined", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"expired":                {"payto.agreement.expired", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"recalled":               {"payto.agreement.recalled", withStatus("CANCELLED"), "/rest/v1/payto-agreements/AGR0001", "CANCELLED"},
		"kind not known by name": {"payto.agreement.added_later", agreementData, "/rest/v1/payto-agreements/AGR0001", "ACTIVE"},
		"declined, says sender":  {"payto.agreement.declined", agreementData, "/rest/v1/payto-agreements/AGR0001", "ACTIVE"},
		"approved":               {"payto.payment.approved", transactionData, "/rest/v1/transactions/1000000001", "Approved"},
		"declined, says the API": {"payto.payment.approved", declined, "/rest/v1/transactions/1000000001", "Declined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, service := newAPI(t, 200, test.answer)
			f := new(calls)
			h := webhooks.NewHandler(newVerifier(t), webhooks.ConfirmWith(client, f.handle))
			claimed := agreementData
			if strings.Contains(test.event, "payment") {
				claimed = transactionData
			}
			// What the sender says beside the identifier is not true.
			claimed = strings.Replace(claimed, "{", `{"comment":"claimed","payeeReference2":"claimed",`, 1)
			require.Equal(t, 200, post(h, signed(t, `{"id":"1","timestamp":"2024-02-08T00:12:50+1100","eventType":"`+test.event+`","x":"claimed","data":`+claimed+`}`)).Code, "answered")
			assert.Equal(t, "GET "+test.request, service.seen(), "asked")
			n := f.received[0]
			if n.ID != "1" || string(n.EventType) != test.event || n.Timestamp.IsZero() || dataOf(t, n) != test.answer {
				t.Errorf("delivered %v with %s", n, dataOf(t, n))
			}
			assert.NotContains(t, string(n.Raw()), "claimed", "raw holds what the sender claimed")
			checkStatus(t, n, test.status)
			// What is stored and read again is what was confirmed.
			checkStatus(t, parse(t, string(n.Raw())), test.status)
		})
	}
}

func withStatus(status string) string { return strings.Replace(agreementData, "ACTIVE", status, 1) }

const declined = `{"receiptNumber":"1000000001","status":"Declined","summaryCode":"1"}`

func checkStatus(t *testing.T, n *webhooks.Notification, want string) {
	t.Helper()
	var got string
	if strings.Contains(string(n.EventType), "agreement") {
		got = string(eventOf[*webhooks.AgreementEvent](t, n).Agreement().Status)
	} else {
		got = string(eventOf[*webhooks.PaymentEvent](t, n).Transaction().Status)
	}
	assert.Equal(t, want, got, "delivered the status")
}

// A sender that hangs up leaves nothing half done, and an API that does not answer is not awaited.
func TestConfirmHasItsOwnTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts    []quickstream.CallOption
		hangsUp time.Duration
		answers time.Duration
		took    time.Duration
		handled bool
	}{
		"sender hangs up":            {nil, time.Second, 2 * time.Second, 2*time.Second + time.Minute, true},
		"sender has hung up":         {nil, 0, time.Second, 0, false},
		"API hangs":                  {nil, time.Hour, time.Hour, 5 * time.Second, false},
		"API hangs, own patience":    {[]quickstream.CallOption{quickstream.WithTimeout(time.Second)}, time.Hour, time.Hour, time.Second, false},
		"API is slow, more patience": {[]quickstream.CallOption{quickstream.WithTimeout(time.Minute)}, time.Hour, 20 * time.Second, 80 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client, service := newAPI(t, 0, "")
				service.handler = func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(test.answers):
						_, _ = w.Write([]byte(agreementData))
					case <-r.Context().Done(): // there is no answer
					}
				}
				handled := false
				handle := webhooks.ConfirmWith(client, func(ctx context.Context, _ *webhooks.Notification) error {
					select { // an effect of several steps
					case <-time.After(time.Minute):
						handled = ctx.Value(contextKey{}) == "value"
					case <-ctx.Done():
					}
					return ctx.Err()
				}, test.opts...)
				ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), contextKey{}, "value"), test.hangsUp)
				defer cancel()
				start := time.Now()
				err := handle(ctx, parse(t, confirmedBody))
				if took := time.Since(start); took != test.took || handled != test.handled || (err == nil) != test.handled {
					t.Errorf("handled: %v after %v, %v", handled, took, err)
				}
			})
		})
	}
}
