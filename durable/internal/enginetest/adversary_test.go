package enginetest

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// What is asked for again right after a restore, and by any way, is not sent beside what
// the backup does not know.
func TestAskedAgainAfterARestore(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.db")
	s := open(t, onFile(t, file))
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.engine.Stop(t.Context()))
	backup := filepath.Join(t.TempDir(), "backup.db")
	copyDatabase(t, file, backup)
	s.engine = s.start()
	s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	s.settled(s.pay("C", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.engine.Stop(t.Context()))

	mark, err := os.ReadFile(file + ".mark")
	require.NoError(t, err)
	restored, err := os.ReadFile(backup)
	require.NoError(t, err)
	old := filepath.Join(t.TempDir(), "shop.db")
	require.NoError(t, os.WriteFile(old, restored, 0o600))
	require.NoError(t, os.WriteFile(old+".mark", mark, 0o600))
	s.db = onFile(t, old)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-settlement-date", Kind: sandbox.Status(502, sandbox.HTML), Times: 40}))
	s.engine = s.start()
	again := s.pay("B", s.card(sandbox.CardAttempted))
	require.ErrorIs(t, s.sendCard("C"), quickstream.ErrNotSent)
	s.box.ClearFaults()
	s.restored()
	p := s.settled(again)
	assert.Equal(t, approved, p.Text())
	assert.Equal(t, 3, s.charged())
}

// A charge that comes after a person has decided that there is none is told.
func TestChargedAfterDecide(t *testing.T) {
	t.Parallel()
	s := open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.CommitLate(5 * time.Minute), Times: 3}))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches(id, resolving, time.Second)
	decide := func() error {
		return s.commit(func(tx *sql.Tx) error {
			return s.engine.Decide(t.Context(), tx, id, durable.Decision{Verdict: durable.VerdictDeclined, By: "Alex", Note: "support says so"})
		})
	}
	var still *durable.StillSendingError
	require.ErrorAs(t, decide(), &still)
	s.clock.Advance(still.Until.Sub(s.clock.Now()) + time.Second)
	require.NoError(t, decide())
	p := s.read(id)
	assert.Equal(t, declined, p.Text())
	again := s.pay("A", s.card(sandbox.CardAttempted))
	assert.Equal(t, approved, s.settled(again).Text())
	s.reaches(id, doubleCharged, time.Hour)
	assert.Equal(t, []string{declined, approved, doubleCharged}, s.states("A"))
}

// What a call of the merchant's returns about something else decides nothing.
func TestSendBelievesItsOwnAnswerOnly(t *testing.T) {
	s := open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))
	params := func() quickstream.PayParams {
		p := s.card(sandbox.CardAttempted)
		p.Source = quickstream.FromCard(sandboxtest.Card(sandbox.CardAttempted))
		return p
	}
	pay := func(stored quickstream.CallOption) { _, _ = s.client.Transactions.Pay(t.Context(), params(), stored) }
	for order, returns := range map[string]func() (*quickstream.Transaction, error){
		"nothing": func() (*quickstream.Transaction, error) { return nil, nil },
		"another's error": func() (*quickstream.Transaction, error) {
			return nil, &quickstream.APIError{CallInfo: quickstream.CallInfo{Operation: quickstream.OperationRegisterAccount}, Reason: quickstream.ReasonInvalid}
		},
		"nothing was sent": func() (*quickstream.Transaction, error) { return nil, errors.Join(quickstream.ErrNotSent) },
		"another's answer": func() (*quickstream.Transaction, error) {
			other := &quickstream.Transaction{PaymentReferenceNumber: "OTHER", Status: quickstream.TransactionStatusDeclined, SummaryCode: quickstream.SummaryCodeDeclined}
			return nil, &quickstream.DeclinedError{CallInfo: quickstream.CallInfo{Operation: quickstream.OperationPay}, Transaction: other}
		},
	} {
		_, _ = durable.Send(t.Context(), s.engine, s.newWrite(order), func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
			pay(stored)
			return returns()
		})
		p := s.paymentOf(order)
		s.reaches(p.ID, approved, time.Minute)
	}
	assert.Equal(t, 4, s.charged())
}

// An engine that was stopped does not pretend to work.
func TestStartedOnce(t *testing.T) {
	s := open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))
	require.Error(t, s.engine.Start(t.Context()))
	require.NoError(t, s.engine.Stop(t.Context()))
	require.Error(t, s.engine.Start(t.Context()))
}

// An order whose first payment is found after all is not paid a third time, and what was to be paid
// again stays as it was.
func TestFoundWhilePaidAgain(t *testing.T) {
	t.Parallel()
	s := open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))
	first := s.lost("A")
	second, err := s.payAgain("A", first, s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	s.reaches(second, notFound, 6*time.Hour)
	s.box.ClearFaults()
	s.reaches(first, approved, 6*time.Hour)
	_, err = s.payAgain("A", second, s.card(sandbox.CardAttempted))
	var open *durable.OrderOpenError
	require.ErrorAs(t, err, &open)
	assert.Equal(t, first, open.Payment.ID)
	p := s.read(second)
	assert.Equal(t, notFound, p.Text())
	assert.Empty(t, p.ReplacedBy)
	assert.Len(t, s.eventsOf(first, durable.EventReplaced), 1)
	assert.Empty(t, s.eventsOf(second, durable.EventReplaced))
	assert.Equal(t, 1, s.charged())
}
