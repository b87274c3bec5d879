package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// lost has an order charged by a payment that is absent: nothing finds it until the
// faults are cleared.
func (s *shop[TTx]) lost(orderID string) string {
	s.Helper()
	require.NoError(s, s.box.Inject(
		sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 1},
		sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit()},
	))
	s.hides()
	id := s.pay(orderID, s.card(sandbox.CardAttempted))
	s.reaches(id, notFound, 6*time.Hour)
	return id
}

// hides has the service find no transaction by its reference.
func (s *shop[TTx]) hides() {
	s.Helper()
	require.NoError(s, s.box.Inject(
		sandbox.Fault{Operation: "GET /transactions", Kind: sandbox.Status(404, sandbox.ServiceError)},
		sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(404, sandbox.ServiceError)},
	))
}

// payAgain waits for an engine that has just started until it knows how long ago the first one was sent.
func (s *shop[TTx]) payAgain(orderID, absent string, params quickstream.TransactionParams) (id string, err error) {
	for deadline := time.Now().Add(time.Minute); ; <-time.After(40 * time.Millisecond) {
		err = s.commit(func(tx TTx) error {
			payment, _, err := s.engine.PayAgain(s.Context(), tx, s.newWrite(orderID), absent, "Alex", "support says so", params)
			id = payment.ID
			return err
		})
		if _, sending := errors.AsType[*durable.StillSendingError](err); !sending || time.Now().After(deadline) {
			return id, err
		}
	}
}

// refuses has OnOutcome fail, until it is nil.
func (s *shop[TTx]) refuses(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// holding has OnOutcome hold its transaction for a while when a payment is found, and
// returns what is closed when it does.
func (s *shop[TTx]) holding(id *string) (found chan struct{}, edit func(*durable.Options[TTx])) {
	found = make(chan struct{})
	return found, func(o *durable.Options[TTx]) {
		o.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			if w := change.Write.Common(); w.ID == *id && w.Text() == approved {
				close(found)
				<-time.After(time.Second)
			}
			return s.told(ctx, tx, change)
		}
	}
}

// A payment that is about to be sent is not, when an earlier one of its order is found at
// that moment, in a transaction that has not committed yet.
func TestFoundWhileClaimed(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	first := s.lost("A")
	require.NoError(t, s.engine.Stop(t.Context()))
	s.corrupt("next_at = $2, due_at = $2", first, s.clock.Now().Add(24*time.Hour)) // it is not found before the second one is written
	s.box.ClearFaults()
	found, edit := s.holding(&first)
	claiming := make(chan struct{}, 10)
	s.db.step = func(step string) {
		if step == "before the claim" {
			claiming <- struct{}{}
			<-found
		}
	}
	s.engine = s.start(edit)
	second, err := s.payAgain("A", first, s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	<-claiming
	s.corrupt("next_at = $2, due_at = $2", first, s.clock.Now())
	s.reaches(first, approved, 0)
	assert.Equal(t, notSent, s.settled(second).Text())
	assert.Equal(t, 1, s.charged())
}

// A customer who pays again at the moment at which an earlier payment of the order is
// found does not.
func TestFoundWhilePaid(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	first := s.lost("A")
	require.NoError(t, s.engine.Stop(t.Context()))
	s.corrupt("next_at = $2, due_at = $2", first, s.clock.Now().Add(24*time.Hour)) // it is not found before the decline
	s.box.ClearFaults()
	s.engine = s.start()
	s.box.NextTransaction(sandbox.Declined(""))
	second, err := s.payAgain("A", first, s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	s.reaches(second, declined, 0)
	require.NoError(t, s.engine.Stop(t.Context()))
	found, edit := s.holding(&first)
	s.engine = s.start(edit)
	params := s.card(sandbox.CardAttempted)
	for looking := true; looking; {
		select {
		case <-found:
			looking = false
		case <-time.After(50 * time.Millisecond):
			s.clock.Advance(6 * time.Hour)
		}
	}
	assert.Equal(t, first, s.blocked("A", params))
	assert.Equal(t, 1, s.charged())
}

// An order whose only charge is a payment that another one has replaced is paid: no way
// of paying pays it again, and it is what the order's payment is.
func TestReplacedByIsPaid(t *testing.T) {
	everywhere(t, testReplacedByIsPaid[*sql.Tx], testReplacedByIsPaid[pgx.Tx])
}

func testReplacedByIsPaid[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	first := s.lost("A")
	s.box.ClearFaults()
	s.hides() // or a look-up that is due may find it before the second one is sent
	s.box.NextTransaction(sandbox.Declined(""))
	second, err := s.payAgain("A", first, s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	s.reaches(second, declined, time.Second)
	s.box.ClearFaults()
	s.reaches(first, approved, 6*time.Hour)

	p := s.paymentOf("A")
	assert.Equal(t, first, p.ID)
	assert.Equal(t, first, s.blocked("A", s.card(sandbox.CardAttempted)))
	require.ErrorIs(t, s.sendCard("A"), quickstream.ErrNotSent)
	assert.Equal(t, 1, s.charged())
}

// Nobody decides over what is seen of a payment already, and waits for OnOutcome alone.
func TestDecideBesideWhatIsSeen(t *testing.T) {
	everywhere(t, testDecideBesideWhatIsSeen[*sql.Tx], testDecideBesideWhatIsSeen[pgx.Tx])
}

func testDecideBesideWhatIsSeen[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	id := s.lost("A")
	s.refuses(errors.New("the merchant's tables are locked"))
	s.box.ClearFaults()
	s.until(6*time.Hour, func(status durable.Health) bool { return status.Refused == 1 })
	err := s.commit(func(tx TTx) error {
		return s.engine.Decide(t.Context(), tx, id, durable.Decision{Verdict: durable.VerdictDeclined, By: "Alex", Note: "support says so"})
	})
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	_, err = s.payAgain("A", id, s.card(sandbox.CardAttempted))
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	s.refuses(nil)
	s.reaches(id, approved, time.Hour)
	assert.Equal(t, id, s.blocked("A", s.card(sandbox.CardAttempted)))
	assert.Equal(t, []string{notFound, approved}, s.states("A"))
}

// An absent refund is for a person to decide: it is not replaced.
func TestRefundIsNotPaidAgain(t *testing.T) {
	everywhere(t, testRefundIsNotPaidAgain[*sql.Tx], testRefundIsNotPaidAgain[pgx.Tx])
}

func testRefundIsNotPaidAgain[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	payment := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	refund := quickstream.RefundParams{OriginalReceiptNumber: payment.ReceiptNumber, PrincipalAmount: payment.Amount, Currency: payment.Currency}
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit()}))
	id := s.pay("A", refund)
	s.reaches(id, notFound, 6*time.Hour)
	s.box.ClearFaults()
	_, err := s.payAgain("A", id, s.card(sandbox.CardAttempted))
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	require.NoError(t, s.commit(func(tx TTx) error {
		return s.engine.Decide(t.Context(), tx, id, durable.Decision{Verdict: durable.VerdictNotSent, By: "Alex", Note: "support says so"})
	}))
	assert.Equal(t, approved, s.settled(s.pay("A", refund)).Text())
}
