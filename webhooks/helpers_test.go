package webhooks_test

import (
	"context"
	"io"
	"net"
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
var sender = webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret(currentSecret), Now: fixed}

// newVerifier accepts both secrets and takes signedAt for the present.
func newVerifier(t testing.TB, opts ...webhooks.VerifierOption) *webhooks.Verifier {
	t.Helper()
	opts = append([]webhooks.VerifierOption{webhooks.WithClock(fixed)}, opts...)
	v, err := webhooks.NewVerifier(signature.AssumedHMAC{},
		[]webhooks.Secret{webhooks.NewSecret(currentSecret), webhooks.NewSecret(previousSecret)}, opts...)
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

// calls counts what a function was called with.
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

// once is what a handler with this store does with a notification.
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

// newAPI returns a client of a service that answers every request like this.
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

// pipes is a listener of connections in memory, whose waiting a synctest bubble
// can see.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// serve serves in memory and returns the function that dials.
func serve(t testing.TB, server *http.Server) func() net.Conn {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	stopped := make(chan struct{})
	var open sync.WaitGroup // a connection lingers after a body that was not read to its end
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			open.Add(1)
		} else if state == http.StateClosed || state == http.StateHijacked {
			open.Done()
		}
	}
	go func() {
		defer close(stopped)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-stopped
		open.Wait()
	})
	return func() net.Conn {
		near, far := net.Pipe()
		l.conns <- far
		return near
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }
