package enginetest

import (
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestRefundIsNotSentAgain(t *testing.T) {
	everywhere(t, testRefundIsNotSentAgain[*sql.Tx], testRefundIsNotSentAgain[pgx.Tx])
}

// A refund whose answer is lost is looked up, and the client does not send it again within its claim.
func testRefundIsNotSentAgain[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 1}))
	first := s.reaches(s.refund(p.ID, 500), approved, time.Minute)
	assert.Equal(t, 1, first.Sends)
	assert.Equal(t, 2, s.sent(), "with the payment")
	assert.EqualValues(t, 734, s.net("A"))
}

func TestRefundWaitsForSends(t *testing.T) {
	everywhere(t, testRefundWaitsForSends[*sql.Tx], testRefundWaitsForSends[pgx.Tx])
}

// A refund that was sent twice, and whose outcome is unknown, holds one that would exceed the payment if both sends
// were executed.
func testRefundWaitsForSends[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	first := s.reaches(s.refund(p.ID, 500), approved, time.Minute)
	s.corrupt("state = 'resolving', outcome = '', sends = 2", first.ID)
	second := s.refund(p.ID, 700)
	require.Eventually(t, func() bool { return s.read(second).Version > 1 }, 2*time.Minute, 20*time.Millisecond)
	assert.Equal(t, queued, s.read(second).Text())
	assert.Equal(t, 0, s.read(second).Sends)
	s.corrupt("state = 'settled', outcome = 'approved'", first.ID)
	s.ends(second, approved)
	assert.EqualValues(t, 34, s.net("A"))
}

func TestRefundExecutedTwice(t *testing.T) {
	everywhere(t, testRefundExecutedTwice[*sql.Tx], testRefundExecutedTwice[pgx.Tx])
}

// A service that forgets keys has executed a refund twice. Both count before another one is sent.
func testRefundExecutedTwice[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	first := s.reaches(s.refund(p.ID, 500), approved, time.Minute)
	s.clock.Advance(time.Hour)
	made, err := s.client.Transactions.Get(t.Context(), first.ReceiptNumber)
	require.NoError(t, err)
	_, err = s.client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: first.Amount, Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{Metadata: made.Metadata},
	}, quickstream.WithReference(first.Reference), quickstream.WithIntentMetadata("own"))
	require.NoError(t, err)
	s.clock.Advance(time.Hour)
	second := s.refund(p.ID, 700)
	s.ends(second, notSent)
	assert.Contains(t, s.read(second).Problem, "leave 2.34 of the payment")
	assert.EqualValues(t, 234, s.net("A"))
}

// ends waits until a write that may wait in line is in a state.
func (s *shop[TTx]) ends(id, state string) {
	s.Helper()
	require.Eventually(s, func() bool {
		s.clock.Advance(10 * time.Second)
		return s.read(id).Text() == state
	}, 2*time.Minute, 20*time.Millisecond)
}
