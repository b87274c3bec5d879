package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

const transactions = "POST /transactions"

func TestDeclineAndAnotherCard(t *testing.T) {
	everywhere(t, testDeclineAndAnotherCard[*sql.Tx], testDeclineAndAnotherCard[pgx.Tx])
}

// A declined payment frees its order at once.
func testDeclineAndAnotherCard[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	first := s.pay("A", s.card("4111111111444496"))
	assert.Equal(t, durable.StateDeclined, s.settled(first).State)
	second := s.pay("A", s.card(sandbox.CardAttempted))
	assert.NotEqual(t, first, second)
	assert.Equal(t, durable.StateApproved, s.settled(second).State)
	assert.Equal(t, []durable.State{durable.StateDeclined, durable.StateApproved}, s.states("A"))
	p := s.paymentOf("A")
	assert.Equal(t, second, p.ID)
	assert.Equal(t, 1, s.charged())
}

func TestAnotherAmount(t *testing.T) {
	everywhere(t, testAnotherAmount[*sql.Tx], testAnotherAmount[pgx.Tx])
}

// Whoever asks for another payment of an order learns that it has one.
func testAnotherAmount[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	params := s.card(sandbox.CardAttempted)
	id := s.pay("A", params)
	params.PrincipalAmount = decimal.New(99, 0)
	err := s.commit(func(tx TTx) error {
		other, err := s.engine.Pay(t.Context(), tx, "A", params)
		assert.Equal(t, id, other)
		return err
	})
	require.ErrorIs(t, err, durable.ErrOtherRequest)
	s.settled(id)
	assert.Equal(t, 1, s.charged())
}

func TestLostAnswer(t *testing.T) { everywhere(t, testLostAnswer[*sql.Tx], testLostAnswer[pgx.Tx]) }

// A payment whose answer is lost is looked up, and never sent by anybody again.
func testLostAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for name, kind := range map[string]sandbox.FaultKind{"carried out": sandbox.ResetAfterCommit(), "not carried out": sandbox.ResetBeforeCommit()} {
		s.box.ClearFaults()
		require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: kind, Times: 3}))
		id := s.pay(name, s.card(sandbox.CardAttempted))
		if name == "carried out" {
			s.reaches(id, durable.StateApproved, time.Minute)
			continue
		}
		s.reaches(id, durable.StateAbsent, 6*time.Hour)
		assert.Equal(t, id, s.pay(name, s.card(sandbox.CardAttempted)), "an absent payment blocks its order")
		again, err := s.payAgain(name, id, s.card(sandbox.CardAttempted))
		require.NoError(t, err)
		assert.Equal(t, durable.StateApproved, s.settled(again).State)
		assert.Equal(t, []durable.State{durable.StateAbsent, durable.StateApproved}, s.states(name))
	}
	assert.Equal(t, 2, s.charged())
}

func TestUnavailable(t *testing.T) { everywhere(t, testUnavailable[*sql.Tx], testUnavailable[pgx.Tx]) }

// What the service says that it has not processed is not sent again by itself: it may say so
// of the second of two requests. What was never sent is.
func testUnavailable[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Status(503, sandbox.ServiceError), Times: 1}))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches(id, durable.StateAbsent, 6*time.Hour)
	assert.Equal(t, 1, s.sent())
	assert.Zero(t, s.charged())
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Unreachable(sandbox.ConnectionRefused), Times: 9}))
	s.reaches(s.pay("B", s.card(sandbox.CardAttempted)), durable.StateApproved, time.Second)
	assert.Equal(t, 1, s.charged())
	assert.Equal(t, []durable.State{durable.StateApproved}, s.states("B"))
}

func TestRefusal(t *testing.T) { everywhere(t, testRefusal[*sql.Tx], testRefusal[pgx.Tx]) }

// What the service refuses ends, and frees the order.
func testRefusal[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	params := s.card(sandbox.CardAttempted)
	params.SupplierBusinessCode = "NOBODY"
	p := s.settled(s.pay("A", params))
	assert.Equal(t, durable.StateRefused, p.State, p.Problem)
	assert.Equal(t, []durable.State{durable.StateRefused}, s.states("A"))
	assert.Equal(t, durable.StateApproved, s.settled(s.pay("A", s.card(sandbox.CardAttempted))).State)
}

func TestOnOutcomeFails(t *testing.T) {
	everywhere(t, testOnOutcomeFails[*sql.Tx], testOnOutcomeFails[pgx.Tx])
}

// An outcome that OnOutcome refuses is told again until it is taken, once.
func testOnOutcomeFails[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.refuses(errors.New("the shop's tables are locked"))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.until(time.Second, func(status durable.Status) bool { return status.Refused == 1 })
	p := s.read(id)
	assert.Contains(t, p.Problem, "locked")
	assert.True(t, p.State.Open())
	s.refuses(nil)
	s.reaches(id, durable.StateApproved, time.Minute)
	assert.Equal(t, []durable.State{durable.StateApproved}, s.states("A"))
	assert.Equal(t, 1, s.charged())
}

func TestOnOutcomeFailsAndFollowsUp(t *testing.T) {
	everywhere(t, testOnOutcomeFailsAndFollowsUp[*sql.Tx], testOnOutcomeFailsAndFollowsUp[pgx.Tx])
}

// An approval that was seen twice while OnOutcome refused it is told once, and OnOutcome may
// give the money back in the same transaction.
func testOnOutcomeFailsAndFollowsUp[TTx any](t *testing.T, db store[TTx]) {
	var s *shop[TTx]
	s = open(t, db, func(o *durable.Options[TTx]) {
		o.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			err := s.told(ctx, tx, change)
			if err == nil && change.After == durable.StateApproved && change.Payment.ReceiptOf == "" {
				_, err = s.engine.GiveBack(ctx, tx, change.Payment.OrderID, change.Payment.ReceiptNumber, change.Payment.Amount, change.Payment.Currency)
			}
			return err
		}
	})
	s.refuses(errors.New("the shop's tables are locked"))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.until(0, func(status durable.Status) bool { return status.Refused == 1 })
	for paid, err := range s.client.Transactions.List(quickstream.ListTransactionsParams{SupplierBusinessCode: sandbox.DefaultBusiness}).All(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, s.engine.Compare(t.Context(), paid.SettlementDate))
	}
	s.refuses(nil)
	s.reaches(id, durable.StateVoided, time.Minute)
	assert.Equal(t, []durable.State{durable.StateApproved, durable.StateVoided, durable.StateVoided}, s.states("A"))
}

func TestDecide(t *testing.T) { everywhere(t, testDecide[*sql.Tx], testDecide[pgx.Tx]) }

// A person closes what nobody can find out, and it is kept who did.
func testDecide[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.box.NextTransaction(sandbox.Erred()) // unknown to the service
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches(id, durable.StateEscalated, 6*time.Hour)
	decide := func(verdict durable.State, who string, receipt ...string) error {
		return s.commit(func(tx TTx) error {
			return s.engine.Decide(t.Context(), tx, id, verdict, strings.Join(receipt, ""), who, "support says that it was declined")
		})
	}
	require.Error(t, decide(durable.StateDeclined, ""))
	require.Error(t, decide(durable.StatePrepared, "Alex"))
	require.ErrorAs(t, decide(durable.StateApproved, "Alex", "R/1"), new(*quickstream.ValidationError))
	require.NoError(t, decide(durable.StateDeclined, "Alex"))
	require.ErrorIs(t, decide(durable.StateDeclined, "Alex"), durable.ErrNotAllowed)
	p := s.read(id)
	assert.Equal(t, "Alex", p.Decided.Who)
	assert.Equal(t, []durable.State{durable.StateEscalated, durable.StateDeclined}, s.states("A"))
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
}

func TestRolledBack(t *testing.T) { everywhere(t, testRolledBack[*sql.Tx], testRolledBack[pgx.Tx]) }

// A payment whose order was not committed is never sent.
func testRolledBack[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	failed := errors.New("out of stock")
	err := s.commit(func(tx TTx) error {
		_, err := s.engine.Pay(t.Context(), tx, "A", s.card(sandbox.CardAttempted))
		require.NoError(t, err)
		return failed
	})
	require.ErrorIs(t, err, failed)
	s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	_, err = s.engine.PaymentOf(t.Context(), "A")
	require.ErrorIs(t, err, durable.ErrNoPayment)
	assert.Equal(t, 1, s.charged())
}

func TestOptions(t *testing.T) {
	db := onFile(t, t.TempDir()+"/shop.db")
	_, err := durable.New(t.Context(), db.Database, nil, durable.Options[*sql.Tx]{})
	require.ErrorContains(t, err, "ServiceRetries")
	off := resolve.ServiceRetriesOff()
	_, err = durable.New(t.Context(), db.Database, nil, durable.Options[*sql.Tx]{ServiceRetries: &off})
	require.ErrorContains(t, err, "OnOutcome")
}
