package enginetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// tracked is a write that the caller sends.
type tracked struct {
	operation string // of the sandbox
	call      func(ctx context.Context, orderID string, opts ...quickstream.CallOption) (any, error)
	wrong     func(ctx context.Context, orderID string, opts ...quickstream.CallOption) (any, error) // refused; nil where nothing is
	found     string                                                                                 // what a lost answer ends as
}

// tracked are the writes that hold secrets or a file.
func (s *shop[TTx]) tracked() map[string]tracked {
	customer, err := s.client.Customers.Create(s.Context(), quickstream.CreateCustomerParams{CustomerNumber: rand.Text()[:12], CustomerName: "Alex Example"})
	require.NoError(s, err)
	agreement := func(customerID string) func(context.Context, string, ...quickstream.CallOption) (any, error) {
		return func(ctx context.Context, orderID string, opts ...quickstream.CallOption) (any, error) {
			params := s.agreementParams()
			params.PayeeReference = orderID // by which it is found again
			return s.client.PayTo.Create(ctx, customerID, params, opts...)
		}
	}
	account := func(customerID string) func(context.Context, string, ...quickstream.CallOption) (any, error) {
		return func(ctx context.Context, _ string, opts ...quickstream.CallOption) (any, error) {
			params := quickstream.RegisterAccountParams{Card: new(sandboxtest.Card(sandbox.CardAttempted))}
			return s.client.Accounts.Register(ctx, customerID, params, opts...)
		}
	}
	upload := func(ctx context.Context, orderID string, opts ...quickstream.CallOption) (any, error) {
		const file = "a,b\r\n"
		return s.client.PaymentFiles.Upload(ctx, quickstream.UploadPaymentFileParams{
			FileName: strings.ReplaceAll(orderID, " ", "-"), Format: quickstream.PaymentFileFormatCSV2, Content: strings.NewReader(file), Size: int64(len(file)),
		}, opts...)
	}
	card := func(business string) func(context.Context, string, ...quickstream.CallOption) (any, error) {
		return func(ctx context.Context, _ string, opts ...quickstream.CallOption) (any, error) {
			params := s.card(sandbox.CardAttempted)
			params.Source, params.SupplierBusinessCode = quickstream.FromCard(sandboxtest.Card(sandbox.CardAttempted)), business
			return s.client.Transactions.Pay(ctx, params, opts...)
		}
	}
	return map[string]tracked{
		"agreement": {"POST /customers/{customerId}/payto-agreements", agreement(customer.CustomerID), agreement("C-9"), approved},
		"account":   {"POST /customers/{customerId}/accounts", account(customer.CustomerID), account("C-9"), escalated},
		"upload":    {"POST /payment-files", upload, nil, escalated},
		"card":      {transactions, card(sandbox.DefaultBusiness), card("NOBODY"), approved},
	}
}

// send makes a write whose intent is stored.
func (s *shop[TTx]) send(orderID string, call func(context.Context, string, ...quickstream.CallOption) (any, error), opts ...quickstream.CallOption) error {
	_, err := durable.Send(s.Context(), s.engine, s.newWrite(orderID), func(stored quickstream.CallOption) (any, error) {
		return call(s.Context(), orderID, append([]quickstream.CallOption{stored}, opts...)...)
	})
	return err
}

// writeOf is the write of an order, which may be no payment.
func (s *shop[TTx]) writeOf(orderID string) durable.Record {
	s.Helper()
	id := ""
	require.NoError(s, s.commit(func(tx TTx) error {
		rows, err := s.db.Join(tx).Query(s.Context(), "SELECT id FROM quickstream.write WHERE order_id = $1", orderID)
		require.NoError(s, err)
		defer rows.Close()
		for rows.Next() {
			require.NoError(s, rows.Scan(&id))
		}
		return rows.Err()
	}))
	return s.read(id)
}

func TestSend(t *testing.T) { everywhere(t, testSend[*sql.Tx], testSend[pgx.Tx]) }

// What the caller sends is known by its answer, its refusal, or by looking when the
// answer was lost, and OnOutcome is told once.
func testSend[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for name, kind := range s.tracked() {
		require.NoError(t, s.send(name, kind.call), name)
		p := s.writeOf(name)
		assert.Equal(t, approved, p.Text(), name)
		assert.NotEmpty(t, p.ReceiptNumber, name)
		if kind.wrong != nil {
			err := s.send(name+" refused", kind.wrong)
			require.ErrorAs(t, err, new(*quickstream.APIError), name)
			assert.Equal(t, refused, s.writeOf(name+" refused").Text(), name)
			assert.Equal(t, []string{refused}, s.states(name+" refused"), name)
		}
		require.NoError(t, s.box.Inject(sandbox.Fault{Operation: kind.operation, Kind: sandbox.ResetAfterCommit(), Times: 3}))
		err := s.send(name+" lost", kind.call, quickstream.WithoutResend())
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
		s.box.ClearFaults()
		found := s.reaches(s.writeOf(name+" lost").ID, kind.found, 10*time.Minute)
		if kind.found == escalated {
			assert.Contains(t, found.Problem, "it may be one of these")
			assert.NotContains(t, found.Problem, p.ReceiptNumber, "which is another's")
		}
		assert.Equal(t, []string{approved}, s.states(name), name)
		assert.Equal(t, []string{kind.found}, s.states(name+" lost"), name)
	}
	s.box.NextTransaction(sandbox.Declined(""))
	require.ErrorIs(t, s.sendCard("declined"), quickstream.ErrDeclined)
	assert.Equal(t, declined, s.writeOf("declined").Text(), "by the answer")
	err := s.send("card", s.tracked()["card"].call)
	require.ErrorIs(t, err, quickstream.ErrNotSent, "the order is paid")
	require.ErrorIs(t, err, durable.ErrOrderOpen)
	assert.Equal(t, 2, s.charged())
}

func TestSendFollowUps(t *testing.T) {
	everywhere(t, testSendFollowUps[*sql.Tx], testSendFollowUps[pgx.Tx])
}

// What follows another write is not sent by the caller: a refund may have to wait for one of the same amount whose
// outcome is unknown, and refunds made elsewhere are read first.
func testSendFollowUps[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	customer, err := s.client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Alex Example"})
	require.NoError(t, err)
	agreement, err := s.client.PayTo.Create(t.Context(), customer.CustomerID, s.agreementParams())
	require.NoError(t, err)
	for name, call := range map[string]func(stored quickstream.CallOption) (any, error){
		"refund": func(stored quickstream.CallOption) (any, error) {
			return s.client.Transactions.Refund(t.Context(), quickstream.RefundParams{
				OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: p.Amount, Currency: p.Currency,
			}, stored)
		},
		"void": func(stored quickstream.CallOption) (any, error) {
			return s.client.Transactions.Void(t.Context(), p.ReceiptNumber, stored)
		},
		"change": func(stored quickstream.CallOption) (any, error) {
			return nil, s.client.PayTo.Cancel(t.Context(), agreement.AgreementToken, quickstream.AgreementReason{Code: quickstream.AgreementReasonContractCancelled}, stored)
		},
	} {
		_, err := durable.Send(t.Context(), s.engine, durable.NewWrite{ID: name}, call)
		require.ErrorIs(t, err, quickstream.ErrNotSent, name)
		require.ErrorIs(t, err, durable.ErrNotAllowed, name)
	}
	assert.EqualValues(t, 1234, s.net("A"))
	assert.Equal(t, 1, s.sent(), "the payment")
	for _, request := range s.box.Requests() {
		assert.NotEqual(t, amendments, request.Operation)
	}
}

func TestSendCrashes(t *testing.T) {
	everywhere(t, testSendCrashes[*sql.Tx], testSendCrashes[pgx.Tx])
}

// A process that ends between the intent and the answer leaves a write that is looked for:
// found where it was carried out, and absent where it was not.
func testSendCrashes[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for name, kind := range s.tracked() {
		crash := func(orderID string, opts ...quickstream.CallOption) durable.Record {
			ended := make(chan struct{})
			go func() { // which ends without a word, as a process does
				defer close(ended)
				_ = s.send(orderID, func(ctx context.Context, orderID string, opts ...quickstream.CallOption) (any, error) {
					_, _ = kind.call(ctx, orderID, opts...)
					runtime.Goexit()
					return nil, nil
				}, opts...)
			}()
			<-ended
			p := s.writeOf(orderID)
			assert.Equal(t, sending, p.Text(), orderID)
			s.clock.Advance(5 * time.Minute)
			return p
		}
		p := crash(name+" not sent", quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error {
			runtime.Goexit()
			return nil
		}))
		s.reaches(p.ID, notFound, 6*time.Hour)
		s.reaches(crash(name+" sent").ID, kind.found, 10*time.Minute)
	}
	assert.Equal(t, 1, s.charged())
}

func TestSendStays(t *testing.T) { everywhere(t, testSendStays[*sql.Tx], testSendStays[pgx.Tx]) }

// A write that cannot be looked for, as the service is away for days, is not absent, and is
// a person's in the end.
func testSendStays[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	kind := s.tracked()["agreement"]
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: kind.operation, Kind: sandbox.ResetBeforeCommit(), Times: 3}))
	require.Error(t, s.send("A", kind.call, quickstream.WithoutResend()))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /customers/{customerId}/payto-agreements", Kind: sandbox.Status(400, sandbox.HTML)}))
	s.reaches(s.writeOf("A").ID, escalated, 3*time.Hour)
	assert.Equal(t, []string{escalated}, s.states("A"))
}
