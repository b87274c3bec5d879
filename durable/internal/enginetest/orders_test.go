package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
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
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const transactions = "POST /transactions"

// blocked asks for another payment of an order, and returns the id of the one that it has.
func (s *shop[TTx]) blocked(order string, params quickstream.TransactionParams) (id string) {
	s.Helper()
	err := s.commit(func(tx TTx) (err error) {
		id, err = s.ask(tx, order, params)
		return err
	})
	require.ErrorIs(s, err, durable.ErrOrderOpen)
	return id
}

// eventsOf are the events of a write that are of a kind.
func (s *shop[TTx]) eventsOf(id string, kind durable.EventKind) (events []durable.Event) {
	s.Helper()
	all, err := s.engine.Events(s.Context(), id)
	require.NoError(s, err)
	for _, event := range all {
		if event.Kind == kind {
			events = append(events, event)
		}
	}
	return events
}

func TestDeclineAndAnotherCard(t *testing.T) {
	everywhere(t, testDeclineAndAnotherCard[*sql.Tx], testDeclineAndAnotherCard[pgx.Tx])
}

// A declined payment frees its order at once.
func testDeclineAndAnotherCard[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	first := s.pay("A", s.card("4111111111444496"))
	assert.Equal(t, declined, s.settled(first).Text())
	second := s.pay("A", s.card(sandbox.CardAttempted))
	assert.NotEqual(t, first, second)
	assert.Equal(t, approved, s.settled(second).Text())
	assert.Equal(t, []string{declined, approved}, s.states("A"))
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
	id := s.pay("A", s.card(sandbox.CardAttempted))
	params := s.card(sandbox.CardAttempted)
	params.PrincipalAmount = decimal.New(99, 0)
	assert.Equal(t, id, s.blocked("A", params))
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
			s.reaches(id, approved, time.Minute)
			continue
		}
		s.reaches(id, notFound, 6*time.Hour)
		assert.Equal(t, id, s.blocked(name, s.card(sandbox.CardAttempted)), "a payment that is not found blocks its order")
		again, err := s.payAgain(name, id, s.card(sandbox.CardAttempted))
		require.NoError(t, err)
		assert.Equal(t, approved, s.settled(again).Text())
		assert.Equal(t, []string{notFound, approved}, s.states(name))
	}
	assert.Equal(t, 2, s.charged())
}

func TestUnavailable(t *testing.T) { everywhere(t, testUnavailable[*sql.Tx], testUnavailable[pgx.Tx]) }

// What was never sent is sent again, as often as the service cannot be reached.
func testUnavailable[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Unreachable(sandbox.ConnectionRefused), Times: 9}))
	p := s.reaches(s.pay("A", s.card(sandbox.CardAttempted)), approved, time.Second)
	assert.Equal(t, 1, p.Sends)
	assert.Equal(t, 1, s.charged())
	assert.Equal(t, []string{approved}, s.states("A"))
}

func TestRefusal(t *testing.T) { everywhere(t, testRefusal[*sql.Tx], testRefusal[pgx.Tx]) }

// A payment that the service refuses took nothing: a fresh token pays its order.
func testRefusal[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	expired := s.card(sandbox.CardAttempted)
	s.clock.Advance(10 * time.Minute)
	p := s.settled(s.pay("A", expired))
	assert.Equal(t, refused, p.Text(), p.Problem)
	assert.Equal(t, approved, s.settled(s.pay("A", s.card(sandbox.CardAttempted))).Text())
	assert.Equal(t, []string{refused, approved}, s.states("A"))
	assert.Equal(t, 1, s.charged())
}

func TestRefusedAsUsed(t *testing.T) {
	everywhere(t, testRefusedAsUsed[*sql.Tx], testRefusedAsUsed[pgx.Tx])
}

// Two requests with one token, and the first hangs or its answer is lost: that the second is refused as used says
// nothing of the first, which holds the order until it has ended.
func testRefusedAsUsed[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.KeyLifetime = 0, 0 // the client's second attempt is refused, too
	}))
	s.engine = s.start()
	for i, kind := range []sandbox.FaultKind{sandbox.DelayAfterCommit(time.Minute), sandbox.ResetAfterCommit()} {
		order, params := strconv.Itoa(i), s.card(sandbox.CardAttempted)
		s.hides()
		require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: kind, Times: 1}))
		first := s.pay(order, params)
		require.Eventually(t, func() bool { return s.charged() == i+1 }, time.Minute, 10*time.Millisecond)
		assert.Equal(t, first, s.blocked(order, params), "another click")
		_, err := s.client.Transactions.Pay(t.Context(), params) // another program
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Equal(t, first, s.blocked(order, s.card(sandbox.CardAttempted)), "a fresh token")
		s.box.ClearFaults()
		s.clock.Advance(time.Minute)
		s.reaches(first, approved, time.Minute)
		assert.Equal(t, []string{approved}, s.states(order))
	}
	assert.Equal(t, 2, s.charged())
}

func TestOnOutcomeFails(t *testing.T) {
	everywhere(t, testOnOutcomeFails[*sql.Tx], testOnOutcomeFails[pgx.Tx])
}

// An outcome that OnOutcome refuses is told again until it is taken, once.
func testOnOutcomeFails[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.refuses(errors.New("the shop's tables are locked"))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.until(time.Second, func(status durable.Health) bool { return status.Refused == 1 })
	p := s.read(id)
	assert.Contains(t, p.Problem, "OnOutcome failed with")
	assert.NotContains(t, p.Problem, "locked")
	assert.True(t, p.State.Open())
	s.refuses(nil)
	s.reaches(id, approved, time.Minute)
	assert.Equal(t, []string{approved}, s.states("A"))
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
			if p, ok := change.Write.(durable.Payment); ok && err == nil && p.Paid() {
				_, _, err = s.engine.Reverse(ctx, tx, durable.NewWrite{ID: p.ID + ", reversed"}, p.ID)
			}
			return err
		}
	})
	s.refuses(errors.New("the shop's tables are locked"))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.until(0, func(status durable.Health) bool { return status.Refused == 1 })
	for paid, err := range s.client.Transactions.List(quickstream.ListTransactionsParams{SupplierBusinessCode: sandbox.DefaultBusiness}).All(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, s.engine.Compare(t.Context(), paid.SettlementDate))
	}
	s.refuses(nil)
	s.reaches(id, voided, time.Minute)
	assert.Equal(t, []string{approved, approved, voided}, s.states("A"))
}

func TestDecide(t *testing.T) { everywhere(t, testDecide[*sql.Tx], testDecide[pgx.Tx]) }

// A person closes what nobody can find out, and it is kept who did.
func testDecide[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.box.NextTransaction(sandbox.Erred()) // unknown to the service
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches(id, escalated, 6*time.Hour)
	const note = "support says that it was declined"
	decide := func(d durable.Decision) error {
		return s.commit(func(tx TTx) error { return s.engine.Decide(t.Context(), tx, id, d) })
	}
	d := durable.Decision{Verdict: durable.VerdictDeclined, By: "Alex", Note: note}
	for name, wrong := range map[string]durable.Decision{
		"nobody": {Verdict: d.Verdict, Note: note}, "no reason": {Verdict: d.Verdict, By: "Alex"}, "no verdict": {Verdict: "queued", By: "Alex", Note: note},
		"two names": {Verdict: d.Verdict, By: "Alex\nKim", Note: note}, "a note of several lines": {Verdict: d.Verdict, By: "Alex", Note: note + "\r\nlevel=INFO"},
		"a long note": {Verdict: d.Verdict, By: "Alex", Note: strings.Repeat("x", 201)},
	} {
		require.Error(t, decide(wrong), name)
	}
	require.ErrorAs(t, decide(durable.Decision{Verdict: durable.VerdictApproved, ReceiptNumber: "R/1", By: "Alex", Note: note}), new(*quickstream.ValidationError))
	require.NoError(t, decide(d))
	require.ErrorIs(t, decide(d), durable.ErrNotAllowed)
	decided := s.eventsOf(id, durable.EventDecided)
	require.Len(t, decided, 1)
	assert.Equal(t, "Alex", decided[0].By)
	assert.Equal(t, note, decided[0].Note)
	assert.Equal(t, []string{escalated, declined}, s.states("A"))
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
}

func TestRolledBack(t *testing.T) { everywhere(t, testRolledBack[*sql.Tx], testRolledBack[pgx.Tx]) }

// A payment whose order was not committed is never sent.
func testRolledBack[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	failed := errors.New("out of stock")
	err := s.commit(func(tx TTx) error {
		_, err := s.ask(tx, "A", s.card(sandbox.CardAttempted))
		require.NoError(t, err)
		return failed
	})
	require.ErrorIs(t, err, failed)
	s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	_, err = s.engine.PaymentOf(t.Context(), "A")
	require.ErrorIs(t, err, durable.ErrNoWrite)
	assert.Equal(t, 1, s.charged())
}

func TestOptions(t *testing.T) {
	db := onFile(t, t.TempDir()+"/shop.db")
	for _, name := range []string{"", "the shop", "shop\n", strings.Repeat("x", 101)} {
		_, err := durable.New(t.Context(), db.Database, nil, durable.Options[*sql.Tx]{Installation: name})
		require.ErrorContains(t, err, "Installation", "%q", name)
	}
	_, err := durable.New(t.Context(), db.Database, nil, durable.Options[*sql.Tx]{Installation: "shop"})
	require.ErrorContains(t, err, "ServiceRetries")
	off := resolve.ServiceRetriesOff()
	_, err = durable.New(t.Context(), db.Database, nil, durable.Options[*sql.Tx]{Installation: "shop", ServiceRetries: &off})
	require.ErrorContains(t, err, "OnOutcome")
}
