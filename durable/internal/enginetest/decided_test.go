package enginetest

import (
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// decides has a person look a write up, and decide about it. Something happens between the two.
func (s *shop[TTx]) decides(id string, verdict durable.Verdict, happens func()) {
	s.T.Helper()
	ctx := s.T.Context()
	_, err := s.Engine().LookUp(ctx, "Kim", "before I decide", id)
	require.NoError(s.T, err)
	happens()
	d := durable.Decision{Verdict: verdict, By: "Kim", Note: "support says so", Version: s.get(id).Version}
	require.NoError(s.T, s.Tx(func(tx TTx) error { return s.Engine().Decide(ctx, tx, id, d) }))
}

// TestMoneyBackAfterDecision: a payment that a person has decided as approved stays voided, or returned, when the engine voids it
// or the bank returns it after that.
func TestMoneyBackAfterDecision(t *testing.T) {
	everywhere(t, testMoneyBackAfterDecision[*sql.Tx], testMoneyBackAfterDecision[pgx.Tx])
}

func testMoneyBackAfterDecision[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for order, p := range map[string]quickstream.PayParams{"voided": s.stored(), "returned": s.bankAccount()} {
		s.Sandbox.NextTransaction(sandbox.Suspended())
		s.pay(order, p)
		w := s.reaches(order, "pending.suspended")
		s.Advance(3 * time.Minute)
		s.decides(order, durable.VerdictApproved, func() { require.NoError(t, s.Sandbox.Portal(w.ReceiptNumber, sandbox.CompleteTransaction)) })
	}
	_, err := s.follow("V", "voided", s.Engine().Reverse)
	require.NoError(t, err)
	require.True(t, s.Settled("V").Done())
	s.Advance(26 * time.Hour)
	require.NoError(t, s.Sandbox.ReturnPayment(s.get("returned").ReceiptNumber, "6"))
	s.Daily()
	for _, order := range []string{"voided", "returned"} {
		s.Until(order, func(w durable.Write) bool { return w.Due.IsZero() })
		assert.Equal(t, order, s.get(order).Name())
		assert.Equal(t, []string{"approved", order}, s.names(order))
	}
}
