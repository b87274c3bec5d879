package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
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

// differences collects the differences that the comparison reports.
type differences struct {
	mu       sync.Mutex
	reported []durable.Difference
}

func (d *differences) report(_ context.Context, difference durable.Difference) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reported = append(d.reported, difference)
	return nil
}

// kinds returns the differences since the last call, as "order: kind".
func (d *differences) kinds() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	kinds := []string{}
	for _, difference := range d.reported {
		order := difference.Write.Order
		if order == "" && difference.Transaction != nil {
			order = difference.Transaction.Metadata["quickstreamOrder"]
		}
		kinds = append(kinds, fmt.Sprintf("%s: %s", order, difference.Kind))
	}
	d.reported = nil
	return kinds
}

// compared opens a shop that collects differences.
func compared[TTx any](t *testing.T, db store[TTx], edits ...func(*durable.Options[TTx])) (*shop[TTx], *differences) {
	t.Helper()
	d := new(differences)
	return open(t, db, append(edits, func(o *durable.Options[TTx]) { o.OnDifference = d.report })...), d
}

// edit changes a row behind the engine's back.
func (s *shop[TTx]) edit(set, id string) {
	s.T.Helper()
	require.NoError(s.T, s.db.exec(s.T.Context(), "UPDATE quickstream.write SET "+set+" WHERE id = '"+id+"'"))
}

// paid pays an order by a card and waits for its outcome.
func (s *shop[TTx]) paid(order string) durable.Write {
	s.T.Helper()
	s.pay(order, s.card(sandbox.CardAttempted))
	return s.Settled(order)
}

func (s *shop[TTx]) compare(day quickstream.Date) {
	s.T.Helper()
	require.NoError(s.T, s.Engine().CompareNow(s.T.Context(), day))
}

// TestCompare: each way in which a payment can differ is reported by its name, payments that agree are not reported, and OnOutcome
// is notified of every change of a state.
func TestCompare(t *testing.T) { everywhere(t, testCompare[*sql.Tx], testCompare[pgx.Tx]) }

func testCompare[TTx any](t *testing.T, db store[TTx]) {
	s, reported := compared(t, db)
	day := s.paid("agrees").SettlementDate
	want := []string{"missing here: missing_here", "gone: missing_there", "its own: missing_here", "another receipt: missing_there"}
	cases := []struct {
		name, set string
		differs   durable.DifferenceKind
		after     string // from the comparison
	}{
		{"declined", "state = 'declined'", durable.DifferenceState, "approved"},
		{"refused", "state = 'declined', reason = 'refused'", durable.DifferenceState, "approved"},
		{"late", "state = 'unknown'", durable.DifferenceLate, "approved"},
		{"not found", "state = 'needs_person', reason = 'not_found'", durable.DifferenceNotFoundCharged, "approved"},
		{"another receipt", "receipt = 'R-1'", durable.DifferenceDoubleCharged, "needs_person.double_charged"},
	}
	for _, c := range cases {
		s.paid(c.name)
		s.edit(c.set, c.name)
		want = append(want, c.name+": "+string(c.differs))
	}
	for _, amount := range []string{"amount", "currency"} {
		s.paid(amount)
		want = append(want, amount+": amount")
	}
	s.edit("currency = 'NZD'", "currency")
	s.edit("amount = 9999", "amount")
	s.paid("its own")
	s.edit("id = 'gone', order_id = 'gone', receipt = 'R-2', reference = ''", "its own")
	s.paid("missing here")
	s.loses("missing here")
	s.pay("declined there", s.card("4111111111444496"))
	s.Settled("declined there")
	s.loses("declined there")
	s.pay("retried", s.card("4111111111444496"))
	s.Settled("retried")
	s.edit("state = 'approved', receipt = 'R-3', settles_on = ''", "retried") // as by a retry of the service
	s.compare(day)
	assert.ElementsMatch(t, want, reported.kinds())
	for _, c := range cases {
		s.Settled(c.name)
		assert.Equal(t, []string{"approved", c.after}, s.names(c.name), c.name)
	}
	assert.True(t, s.Settled("missing here").Paid())
	assert.True(t, s.Settled("declined there").MayPayAgain())
}

// TestCompareElsewhere: a payment that was made elsewhere is not_ours, or pays an order of ours twice.
func TestCompareElsewhere(t *testing.T) {
	everywhere(t, testCompareElsewhere[*sql.Tx], testCompareElsewhere[pgx.Tx])
}

func testCompareElsewhere[TTx any](t *testing.T, db store[TTx]) {
	s, reported := compared(t, db)
	paid := s.paid("A")
	for _, metadata := range []map[string]string{
		nil, {"quickstreamInstallation": "shop", "quickstreamOrder": "A"}, {"quickstreamInstallation": "another shop", "quickstreamOrder": "A"},
	} {
		params := s.card(sandbox.CardAttempted)
		params.Metadata = metadata
		_, err := s.Client.Transactions.Pay(t.Context(), params)
		require.NoError(t, err)
	}
	s.compare(paid.SettlementDate)
	assert.ElementsMatch(t, []string{": not_ours", "A: double_charged", "A: not_ours"}, reported.kinds(), "another installation has orders of its own")

	refunded := s.paid("B")
	s.Advance(72 * time.Hour)
	_, err := s.refund("B/refund", "B", 500)
	require.NoError(t, err)
	day := s.Settled("B/refund").SettlementDate
	_, err = s.Client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: refunded.ReceiptNumber, PrincipalAmount: decimal.New(734, -2), Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	s.compare(day)
	assert.Equal(t, []string{"B: not_ours"}, reported.kinds(), "a refund of a payment of ours, up to all of it")
}

// TestCompareNightly: the comparisons of the days that were missed, or failed, are made up, the oldest first.
func TestCompareNightly(t *testing.T) {
	everywhere(t, testCompareNightly[*sql.Tx], testCompareNightly[pgx.Tx])
}

func testCompareNightly[TTx any](t *testing.T, db store[TTx]) {
	s, reported := compared(t, db, func(o *durable.Options[TTx]) { o.CompareAt = &resolve.TimeOfDay{Hour: 2} })
	s.Daily() // of yesterday
	first := s.health().Comparison.Day
	require.False(t, first.IsZero())
	s.paid("lost")
	s.loses("lost")
	s.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(500, sandbox.ServiceError)})
	s.Advance(3 * 24 * time.Hour)
	s.Daily()
	assert.Equal(t, first, s.health().Comparison.Day)
	assert.False(t, s.health().Comparison.FailingSince.IsZero())
	s.Sandbox.ClearFaults()
	s.Daily()
	comparison := s.health().Comparison
	assert.Equal(t, first.AddDays(3), comparison.Day)
	assert.Equal(t, 1, comparison.Differences)
	require.Len(t, comparison.Found, 1, "of another day that was made up")
	assert.Equal(t, durable.DifferenceMissingHere, comparison.Found[0].Kind)
	assert.True(t, s.health().Comparison.FailingSince.IsZero())
	assert.Contains(t, reported.kinds(), "lost: missing_here")
}
