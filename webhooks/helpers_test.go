package webhooks_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const (
	currentSecret  = "canary-current-secret"
	previousSecret = "canary-previous-secret"
	address        = "http://merchant.localhost/webhooks"

	agreementData = `{"agreementToken":"AGR0001","status":"ACTIVE","priority":"UNAT",` +
		`"hasPendingBilateralAmendment":false,"payeeReference":"ORDER-1",` +
		`"paymentDetails":{"purpose":"RETL","startDate":"2024-02-08","endDate":null,"automaticRenewal":true},` +
		`"payerDetails":{"payerType":"PERS","payerName":"Canary Payer","maskedAccountNumber":"032-xxx xxx465"},"newMember":1}`
	transactionData = `{"receiptNumber":"1000000001","transactionType":"PAYMENT","status":"Approved","summaryCode":"0",` +
		`"responseCode":"00","principalAmount":{"currency":"AUD","amount":10.50,"displayAmount":"$10.50"}}`

	confirmedBody = `{"id":"5f2c8a54-0001","timestamp":"2024-02-08T00:12:50+1100",` +
		`"eventType":"payto.agreement.confirmed","data":` + agreementData + `}`
	approvedBody = `{"id":"5f2c8a54-0002","timestamp":"2024-02-08T00:13:50+1100",` +
		`"eventType":"payto.payment.approved","data":` + transactionData + `}`
)

var signedAt = time.UnixMilli(1707312770123)

func fixed() time.Time { return signedAt }

// sender signs at signedAt with the current secret.
var sender = webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: currentSecret, Now: fixed}

// newVerifier accepts both secrets and takes signedAt for the present.
func newVerifier(t testing.TB, opts ...signature.Option) *signature.Verifier {
	t.Helper()
	opts = append([]signature.Option{signature.WithClock(fixed)}, opts...)
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{currentSecret, previousSecret}, opts...)
	require.NoError(t, err)
	return v
}

func signed(t testing.TB, body string) *http.Request {
	t.Helper()
	return signedBy(t, sender, body)
}

func signedBy(t testing.TB, s webhooks.Signer, body string) *http.Request {
	t.Helper()
	r, err := s.NewRequestWithBody(t.Context(), address, []byte(body))
	require.NoError(t, err)
	return r
}

func parse(t testing.TB, body string) *webhooks.Notification {
	t.Helper()
	n, err := webhooks.Parse([]byte(body))
	require.NoError(t, err)
	return n
}

// eventOf returns the event of a notification that is known to have one.
func eventOf[E webhooks.Event](t testing.TB, n *webhooks.Notification) E {
	t.Helper()
	event, err := n.Event()
	typed, ok := event.(E)
	if err != nil || !ok {
		t.Fatalf("%v is a %T, %v", n, event, err)
	}
	return typed
}

// dataOf returns the data of a notification as its event has it.
func dataOf(t testing.TB, n *webhooks.Notification) string {
	t.Helper()
	event, err := n.Event()
	require.NoError(t, err)
	switch event := event.(type) {
	case *webhooks.AgreementEvent:
		return string(event.Agreement().Raw())
	case *webhooks.PaymentEvent:
		return string(event.Transaction().Raw())
	default:
		return string(event.(*webhooks.UnknownEvent).Data())
	}
}

func post(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// calls counts the notifications that a function was called with.
type calls struct {
	mu       sync.Mutex
	received []*webhooks.Notification
	err      error // returned
}

func (c *calls) handle(_ context.Context, n *webhooks.Notification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received = append(c.received, n)
	return c.err
}

// once returns a Func that handles a notification as a handler with this store does.
func once(store webhooks.Store, handle webhooks.Func) webhooks.Func {
	return func(ctx context.Context, n *webhooks.Notification) error { return store.Once(ctx, n, handle) }
}

func (c *calls) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.received)
}

// api answers the client with a handler, without any connection.
type api struct {
	handler  http.HandlerFunc
	mu       sync.Mutex
	requests []string
}

func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	a.requests = append(a.requests, r.Method+" "+r.URL.Path)
	a.mu.Unlock()
	w := httptest.NewRecorder()
	a.handler(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (a *api) seen() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.requests, ", ")
}

// newAPI returns a client of a service that gives every request this answer.
func newAPI(t testing.TB, status int, body string) (*quickstream.Client, *api) {
	t.Helper()
	a := &api{handler: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}}
	client, err := quickstream.NewClient(quickstream.CustomURL("http://localhost/rest/v1"),
		quickstream.Keys{Secret: quickstream.NewSecretKey("secret-key")},
		quickstream.WithHTTPClient(&http.Client{Transport: a}), quickstream.WithMaxAttempts(1))
	require.NoError(t, err)
	return client, a
}
