package enginetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const webhookSecret = "whsec_example"

// listen subscribes the engine's inbox, with what wraps it.
func (s *shop[TTx]) listen(wraps ...func(http.Handler) http.Handler) {
	s.Helper()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{webhookSecret})
	require.NoError(s, err)
	inbox := s.engine.Inbox(verifier)
	for _, wrap := range wraps {
		inbox = wrap(inbox)
	}
	require.NoError(s, s.box.Subscribe(sandbox.Subscription{
		Handler: inbox, Secret: webhookSecret, Scheme: signature.AssumedHMAC{}, Clock: time.Now,
	}))
}

// mandate returns the parameters of a payment under an active PayTo agreement.
func (s *shop[TTx]) mandate() quickstream.CollectParams {
	s.Helper()
	customer, err := s.client.Customers.Create(s.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Alex Example"})
	require.NoError(s, err)
	agreement, err := s.client.PayTo.Create(s.Context(), customer.CustomerID, s.agreementParams())
	require.NoError(s, err)
	require.NoError(s, s.box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement))
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Currency: quickstream.CurrencyAUD, PrincipalAmount: decimal.New(1234, -2),
		AgreementToken: agreement.AgreementToken,
	}
}

func TestEvents(t *testing.T) { everywhere(t, testEvents[*sql.Tx], testEvents[pgx.Tx]) }

// A PayTo payment that waits for its payer is settled by the event, which is acted on once
// however often it comes, and was acknowledged while the API was away.
func testEvents[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	params := s.mandate()
	s.box.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	id := s.pay("A", params)
	s.reaches(id, resolving, 0)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}", Kind: sandbox.Status(500, sandbox.HTML)}))
	s.clock.Advance(time.Hour)
	require.NoError(t, s.box.Flush(t.Context()))
	for _, d := range s.box.Deliveries() {
		require.NoError(t, s.box.Redeliver(d.ID))
	}
	require.NoError(t, s.box.Flush(t.Context()))
	s.box.ClearFaults()
	s.reaches(id, approved, time.Second)
	assert.Equal(t, []string{approved}, s.states("A"))
	s.until(time.Second, func(status durable.Health) bool { return status.Received == 0 })
}

func TestOnEvent(t *testing.T) { everywhere(t, testOnEvent[*sql.Tx], testOnEvent[pgx.Tx]) }

// What is no payment of the engine's goes to OnEvent, until it takes it.
func testOnEvent[TTx any](t *testing.T, db store[TTx]) {
	var calls, taken atomic.Int64
	s := open(t, db, func(o *durable.Options[TTx]) {
		o.OnEvent = func(_ context.Context, _ TTx, n *webhooks.Notification) error {
			if calls.Add(1) == 1 {
				return errors.New("not now")
			}
			event, err := n.Event()
			if err != nil {
				return err
			}
			if _, ok := event.(*webhooks.AgreementEvent); ok {
				taken.Add(1)
			}
			return nil
		}
	})
	s.listen()
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Second)
		return taken.Load() == 1
	}, 2*time.Minute, 40*time.Millisecond)
	status := s.status()
	assert.Zero(t, status.Received)
}

func TestEventBeforeAnswer(t *testing.T) {
	everywhere(t, testEventBeforeAnswer[*sql.Tx], testEventBeforeAnswer[pgx.Tx])
}

// An event that comes before the answer to the request is known by the intent's id.
func testEventBeforeAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	params := s.mandate()
	require.NoError(t, s.box.Inject(
		sandbox.Fault{Operation: transactions, Kind: sandbox.StatusAfterCommit(http.StatusBadGateway, sandbox.HTML), Times: 1},
		sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(500, sandbox.HTML)},
	))
	id := s.pay("A", params)
	s.reaches(id, approved, time.Second)
	assert.Equal(t, []string{approved}, s.states("A"))
	assert.Equal(t, 1, s.charged())
}

// mistaken answers every payment but the first with the first one's answer, which is lost itself.
type mistaken struct {
	service http.RoundTripper
	mu      sync.Mutex
	key     string
	answer  []byte
}

func (m *mistaken) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/transactions") {
		return m.service.RoundTrip(r)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var key string
	for name, values := range r.Header { // the client writes it in lower case
		if strings.EqualFold(name, "Idempotency-Key") {
			key = values[0]
		}
	}
	if m.key != "" && key != m.key {
		return &http.Response{
			StatusCode: http.StatusCreated, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewReader(m.answer)), Request: r,
		}, nil
	}
	response, err := m.service.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	m.key = key
	m.answer, _ = io.ReadAll(response.Body)
	_ = response.Body.Close()
	return nil, errors.New("the answer was lost")
}

func TestAnswerOfAnother(t *testing.T) {
	everywhere(t, testAnswerOfAnother[*sql.Tx], testAnswerOfAnother[pgx.Tx])
}

// A write that got the answer of another payment takes nothing else of that payment: the event of its approval changes
// its own write alone.
func testAnswerOfAnother[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, _ = sandboxtest.New(t, sandbox.WithClock(s.clock))
	s.client = sandboxtest.Client(t, s.box, quickstream.WithHTTPClient(&http.Client{Transport: &mistaken{service: s.box.HTTPClient().Transport}}))
	s.engine = s.start()
	s.listen()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(502, sandbox.HTML)}))
	params := s.mandate()
	s.box.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	first := s.pay("A", params)
	s.reaches(first, resolving, 0)
	second := s.pay("B", s.card(sandbox.CardAttempted))
	s.reaches(second, resolving, 0)
	s.clock.Advance(time.Hour)
	require.NoError(t, s.box.Flush(t.Context()))
	s.until(time.Second, func(status durable.Health) bool { return status.Received == 0 })
	s.reaches(first, approved, time.Second)
	s.box.ClearFaults()
	assert.Equal(t, resolving, s.read(second).Text())
	assert.NotContains(t, s.states("B"), approved)
	assert.Equal(t, 1, s.charged())
}

func (s *shop[TTx]) agreementParams() quickstream.CreateAgreementParams {
	s.Helper()
	return agreementParams(s, s.clock.Now(), "waits@example.com")
}

// agreementParams are those of an agreement that begins today.
func agreementParams(t testing.TB, now time.Time, payID string) quickstream.CreateAgreementParams {
	t.Helper()
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(t, err)
	return quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeRetail, Description: "Orders", AutomaticRenewal: true, StartDate: quickstream.DateOf(now.In(sydney)),
		},
		Terms: quickstream.AgreementTermsParams{Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Alex Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(payID),
		},
	}
}
