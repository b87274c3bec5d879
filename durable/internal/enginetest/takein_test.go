package enginetest

import (
	"database/sql"
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
)

func TestReferenceOfWhatWasTakenIn(t *testing.T) {
	everywhere(t, testReferenceOfWhatWasTakenIn[*sql.Tx], testReferenceOfWhatWasTakenIn[pgx.Tx])
}

// A payment of the portal is taken in. Its refund and another payment, made there under the same reference, are not taken for
// it: it is not charged twice, and what was refunded counts.
func testReferenceOfWhatWasTakenIn[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	portal := sandboxtest.Client(t, s.box, quickstream.WithIntentMetadata(""))
	params := s.stored()
	params.PaymentReferenceNumber = "INV-7"
	paid, err := portal.Transactions.Pay(t.Context(), params)
	require.NoError(t, err)
	s.clock.Advance(time.Minute)
	p, created, err := s.engine.TakeIn(t.Context(), durable.NewWrite{ID: "portal", Order: "A"}, paid.ReceiptNumber)
	require.NoError(t, err)
	require.True(t, created)
	require.Equal(t, approved, p.Text())
	s.clock.Advance(48 * time.Hour)
	another, err := portal.Transactions.Pay(t.Context(), params)
	require.NoError(t, err)
	refund, err := portal.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: paid.ReceiptNumber, PrincipalAmount: decimal.New(300, -2), Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "INV-7"},
	})
	require.NoError(t, err)
	s.clock.Advance(time.Minute) // until the lists have them
	for _, date := range []quickstream.Date{another.SettlementDate, refund.SettlementDate} {
		require.NoError(t, s.engine.Compare(t.Context(), date))
	}
	assert.Equal(t, []string{approved}, s.states("A"))
	assert.Contains(t, s.reaches(s.refund(p.ID, 1000), notSent, time.Minute).Problem, "leave 9.34 of the payment")
	assert.EqualValues(t, 3, len(s.box.Ledger()))
}

func TestConflictWhileTheClockIsDoubted(t *testing.T) {
	everywhere(t, testConflictWhileTheClockIsDoubted[*sql.Tx], testConflictWhileTheClockIsDoubted[pgx.Tx])
}

// After a restore the service has a payment of an order that differs from the one that waits. It waits for a person, also while
// the database's clock is doubted: no time has ended it.
func testConflictWhileTheClockIsDoubted[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.ClockSkew = 0, 0, 3*time.Hour
	}))
	params := s.stored()
	other := params
	other.PrincipalAmount, other.Metadata = decimal.New(1, 0), map[string]string{"quickstreamInstallation": "shop", "quickstreamOrder": "A"}
	_, err := s.client.Transactions.Pay(t.Context(), other)
	require.NoError(t, err)
	s.engine = s.engineOf()
	id := s.pay("A", params)
	require.NoError(t, s.engine.Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	require.NoError(t, s.engine.ConfirmHistory(t.Context(), "Kim", "the only copy"))
	s.engine = s.start()
	require.True(t, s.status().ClockDoubted)
	s.searched()
	s.restored()
	assert.Equal(t, escalated, s.read(id).Text())
	assert.Equal(t, 1, s.charged())
}
