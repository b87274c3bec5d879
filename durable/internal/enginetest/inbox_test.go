package enginetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
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

// listen subscribes the engine's inbox.
func (s *shop[TTx]) listen() {
	s.T.Helper()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{webhookSecret})
	require.NoError(s.T, err)
	inbox := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Engine().Inbox(verifier).ServeHTTP(w, r) })
	require.NoError(s.T, s.Sandbox.Subscribe(sandbox.Subscription{Handler: inbox, Secret: webhookSecret, Scheme: signature.AssumedHMAC{}, Clock: time.Now}))
}

// received waits until every notification was acted on.
func (s *shop[TTx]) received() {
	s.T.Helper()
	require.NoError(s.T, s.Sandbox.Flush(s.T.Context()))
	eventually(s.T, func() bool { s.Daily(); return s.health().Received == 0 }, "the notifications are acted on")
}

// mandate returns the parameters of a collection under an active PayTo agreement.
func (s *shop[TTx]) mandate() quickstream.CollectParams {
	s.T.Helper()
	ctx := s.T.Context()
	customer, err := s.Client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-7", CustomerName: "Alex Example"})
	require.NoError(s.T, err)
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(s.T, err)
	agreement, err := s.Client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeRetail, Description: "Orders", AutomaticRenewal: true, StartDate: quickstream.DateOf(s.Now().In(sydney)),
		},
		Terms: quickstream.AgreementTermsParams{Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-7", Name: "Alex Example", PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("waits@example.com"),
		},
	})
	require.NoError(s.T, err)
	require.NoError(s.T, s.Sandbox.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement))
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Currency: quickstream.CurrencyAUD, PrincipalAmount: decimal.New(1234, -2),
		AgreementToken: agreement.AgreementToken,
	}
}

// TestEvents: a PayTo payment that waits for its payer is settled by the event. The event is acted on once however often it
// comes, and is acknowledged while the API is away.
func TestEvents(t *testing.T) { everywhere(t, testEvents[*sql.Tx], testEvents[pgx.Tx]) }

func testEvents[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	params := s.mandate()
	s.Sandbox.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	s.pay("A", params)
	eventually(s.T, func() bool { s.Work(s.get("A")); return s.get("A").State == durable.StatePending }, "its payer has to answer")
	s.inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}", Kind: sandbox.Status(500, sandbox.HTML)})
	s.Advance(time.Hour)
	require.NoError(t, s.Sandbox.Flush(t.Context()))
	for _, d := range s.Sandbox.Deliveries() {
		require.NoError(t, s.Sandbox.Redeliver(d.ID))
	}
	require.NoError(t, s.Sandbox.Flush(t.Context()))
	assert.Positive(t, s.health().Received)
	s.Sandbox.ClearFaults()
	list, err := s.Engine().Notifications(t.Context(), 10)
	require.NoError(t, err)
	for _, n := range list {
		if err := s.Engine().RetryNotification(t.Context(), n.ID, n.Digest, "Kim", "the service answers again"); err != nil {
			require.ErrorIs(t, err, durable.ErrNoWrite) // it was confirmed meanwhile
		}
	}
	s.received()
	assert.Equal(t, "approved", s.Settled("A").Name())
	assert.Equal(t, []string{"approved"}, s.names("A"))
	require.ErrorIs(t, s.Engine().RetryNotification(t.Context(), "none", "none", "Kim", "none"), durable.ErrNoWrite)
}

// TestOnEvent: OnEvent is notified of an event that is about no write of the engine, until it succeeds.
func TestOnEvent(t *testing.T) { everywhere(t, testOnEvent[*sql.Tx], testOnEvent[pgx.Tx]) }

func testOnEvent[TTx any](t *testing.T, db store[TTx]) {
	var calls, taken atomic.Int64
	s := open(t, db, func(o *durable.Options[TTx]) {
		o.OnEvent = func(_ context.Context, _ TTx, n *webhooks.Notification) error {
			event, err := n.Event()
			if err != nil || calls.Add(1) == 1 {
				return errors.Join(err, errors.New("not now"))
			}
			if _, ok := event.(*webhooks.AgreementEvent); ok {
				taken.Add(1)
			}
			return nil
		}
	})
	s.listen()
	s.mandate()
	s.received()
	assert.EqualValues(t, 1, taken.Load())
}

// TestEventIsJudged: if an event's transaction carries the id of a write but differs from its request, it settles nothing, and
// does not count as the look-up before a person's decision.
func TestEventIsJudged(t *testing.T) {
	everywhere(t, testEventIsJudged[*sql.Tx], testEventIsJudged[pgx.Tx])
}

func testEventIsJudged[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(502, sandbox.HTML), Times: 1})
	s.inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(502, sandbox.HTML)})
	params := s.mandate()
	s.pay("A", params)
	eventually(s.T, func() bool { return s.get("A").State == durable.StateUnknown }, "its answer is lost")
	before := s.get("A")
	var sent struct{ Metadata map[string]string }
	for _, r := range s.Sandbox.Requests() {
		if r.Operation == "POST /transactions" {
			require.NoError(t, json.Unmarshal(r.Body, &sent))
		}
	}
	require.Equal(t, "A", sent.Metadata["quickstreamWrite"])
	other := params
	other.PrincipalAmount, other.Metadata, other.PaymentReferenceNumber = decimal.New(9999, -2), sent.Metadata, before.Reference
	s.Sandbox.NextTransaction(sandbox.Pending().ThenAfter(time.Minute, sandbox.Approved()))
	_, err := sandboxtest.Client(t, s.Sandbox, quickstream.WithIntentMetadata("")).PayTo.Collect(t.Context(), other)
	require.NoError(t, err)
	s.Advance(time.Minute)
	s.received()
	after := s.get("A")
	assert.Equal(t, "unknown", after.Name())
	assert.Equal(t, before.LookedUp, after.LookedUp)
	assert.Empty(t, after.ReceiptNumber)
	assert.Empty(t, s.names("A"))
}
