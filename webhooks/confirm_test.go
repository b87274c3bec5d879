package webhooks_test

import (
	"context"
	"errors"
	"fmt"
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

// TestStatusesOfTheClient: a confirmed transaction has the meanings that the client was given, and so
// has one that is decoded without a client and explained by it.
func TestStatusesOfTheClient(t *testing.T) {
	t.Parallel()
	settled := `{"receiptNumber":"1000000001","status":"Settled","summaryCode":"0"}`
	for meaning, want := range map[quickstream.Outcome]quickstream.Outcome{
		quickstream.OutcomeApproved: quickstream.OutcomeApproved, quickstream.OutcomeVoided: quickstream.OutcomeVoided, quickstream.OutcomePending: "",
	} {
		_, service := newAPI(t, 200, settled)
		client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("S")},
			quickstream.WithHTTPClient(&http.Client{Transport: service}), quickstream.WithStatus("settled", meaning))
		require.NoError(t, err)
		f := new(calls)
		body := `{"id":"1","eventType":"payto.payment.approved","data":` + settled + `}`
		err = webhooks.ConfirmWith(client, f.handle)(t.Context(), parse(t, body))
		if want == "" {
			require.ErrorIs(t, err, webhooks.ErrUnconfirmed, "it precedes the event")
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, eventOf[*webhooks.PaymentEvent](t, f.received[0]).Transaction().Outcome())
		claimed := eventOf[*webhooks.PaymentEvent](t, parse(t, body)).Transaction()
		assert.Equal(t, quickstream.OutcomeUnknown, claimed.Outcome())
		assert.Equal(t, want, client.Explain(claimed).Outcome())
		assert.Equal(t, quickstream.OutcomeUnknown, claimed.Outcome(), "it is another's too")
		assert.Nil(t, client.Explain(nil))
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

// A kind that nobody knows is confirmed by what it names, in whatever state that is.
// Where it names nothing that the API could be asked for, it is delivered as it
// came, and is nothing but an UnknownEvent.
func TestConfirmOfAnUnknownEvent(t *testing.T) {
	t.Parallel()
	const (
		payment, agreement = "*webhooks.PaymentEvent", "*webhooks.AgreementEvent"
		receipts, tokens   = "GET /rest/v1/transactions/1000000001", "GET /rest/v1/payto-agreements/AGR0001"
		pending            = `{"receiptNumber":"1000000001","status":"Pending","summaryCode":"0"}`
	)
	for _, test := range []struct{ event, data, answer, request, want string }{
		{"payid.received", `{"receiptNumber":"1000000001","x":"claimed"}`, transactionData, receipts, payment},
		{"payid.received", `{"receiptNumber":1000000001}`, transactionData, receipts, payment},
		{"payid.received", `{"receiptNumber":"1000000001","agreementToken":"AGR0001"}`, pending, receipts, payment},
		{"payto.payment.created", `{"receiptNumber":"1000000001","agreementToken":"AGR0001"}`, pending, receipts, payment},
		{"payto.payment.created", `{"agreementToken":"AGR0001","payment":{"receiptNumber":"1"}}`, agreementData, tokens, agreement},
		{"payto.agreement.created", `{"agreementToken":"AGR0001","receiptNumber":"1000000001"}`, withStatus("PENDING"), tokens, agreement},
		{"payto.agreement.charged", `{"receiptNumber":"1000000001"}`, transactionData, receipts, payment},
		{"mandate.changed", `{"agreementToken":"AGR0001","x":"claimed"}`, withStatus("CREATED"), tokens, agreement},
		{"payid.created", `{"payId":"claimed"}`, "", "", ""},
		{"payid.created", `{"receiptNumber":null,"agreementToken":""}`, "", "", ""},
		{"payto.payment.created", `["claimed"]`, "", "", ""},
	} {
		client, service := newAPI(t, 200, test.answer)
		f := new(calls)
		h := webhooks.NewHandler(newVerifier(t), webhooks.ConfirmWith(client, f.handle))
		body := `{"id":"1","eventType":"` + test.event + `","data":` + test.data + `}`
		if w := post(h, signed(t, body)); w.Code != http.StatusOK || service.seen() != test.request {
			t.Errorf("%s: answered %d after asking %q", body, w.Code, service.seen())
			continue
		}
		n := f.received[0]
		event, err := n.Event()
		if n.Digest() != parse(t, body).Digest() || string(n.EventType) != test.event || err != nil {
			t.Errorf("%s: delivered %v, %v", body, n, err)
		}
		if test.want == "" {
			if unknown, ok := event.(*webhooks.UnknownEvent); !ok || string(unknown.Data()) != test.data || string(n.Raw()) != body {
				t.Errorf("%s: delivered a %T with %s", body, event, n.Raw())
			}
			continue
		}
		if got := fmt.Sprintf("%T", event); got != test.want || dataOf(t, n) != test.answer || strings.Contains(string(n.Raw()), "claimed") {
			t.Errorf("%s: delivered a %s with %s", body, got, n.Raw())
		}
	}
}

// An identifier that is there decides: the API has to know it, whatever the kind.
func TestConfirmOfAnUnknownEventFails(t *testing.T) {
	t.Parallel()
	for data, answer := range map[string]string{
		`{"receiptNumber":"1000000002"}`:                              transactionData, // about another one
		`{"agreementToken":"AGR0002"}`:                                agreementData,
		`{"receiptNumber":["1000000001"]}`:                            transactionData, // cannot be read
		`{"receiptNumber":1e9}`:                                       transactionData,
		`{"ReceiptNumber":"1000000001"}`:                              transactionData, // in other letters
		`{"AgreementToken":"AGR0001"}`:                                agreementData,
		`{"receiptNumber":"1000000001","receiptNumber":"1000000001"}`: transactionData,
		`{"receiptNumber":"1000000001","agreementToken":{"a":1}}`:     transactionData,
		`{"agreementToken":"../customers"}`:                           agreementData,
	} {
		client, _ := newAPI(t, 200, answer)
		f := new(calls)
		err := webhooks.ConfirmWith(client, f.handle)(t.Context(), parse(t, `{"id":"1","eventType":"payid.received","data":`+data+`}`))
		_, undecodable := errors.AsType[*quickstream.DecodeError](err) // of an answer about another one
		if !undecodable && !errors.Is(err, webhooks.ErrUnconfirmed) || f.count() != 0 {
			t.Errorf("%s: %v after %d calls", data, err, f.count())
		}
	}
}

// A sender that hangs up leaves nothing half done, and an API that does not answer
// is not waited for.
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
		"API hangs":                  {nil, time.Hour, time.Hour, webhooks.DefaultConfirmTimeout, false},
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

// The order in which confirming and de-duplicating are put together changes the
// cost and not the result, even when the state changes in between.
func TestConfirmOutsideTheStore(t *testing.T) {
	t.Parallel()
	client, service := newAPI(t, 0, "")
	answers := []string{agreementData, withStatus("SUSPENDED")}
	service.handler = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(answers[0]))
		answers = answers[1:]
	}
	f := new(calls)
	handle := webhooks.ConfirmWith(client, once(new(webhooks.MemoryStore), f.handle))
	for range 2 {
		assert.NoError(t, handle(t.Context(), parse(t, confirmedBody)))
	}
	assert.Equal(t, 1, f.count())
}
