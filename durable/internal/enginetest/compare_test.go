package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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

// differences collects what the comparison tells.
type differences struct {
	mu   sync.Mutex
	told []durable.Difference
}

func (d *differences) tell(_ context.Context, difference durable.Difference) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, difference)
	return nil
}

// kinds are the differences since the last call, as "order: kind".
func (d *differences) kinds() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	kinds := []string{}
	for _, difference := range d.told {
		order := ""
		if difference.Write != nil {
			order = difference.Write.Common().Order
		}
		if order == "" && difference.Transaction != nil {
			order = difference.Transaction.Metadata["quickstreamOrder"]
		}
		kinds = append(kinds, fmt.Sprintf("%s: %s", order, difference.Kind))
	}
	d.told = nil
	return kinds
}

// compared opens a shop that collects differences.
func compared[TTx any](t *testing.T, db store[TTx], edits ...func(*durable.Options[TTx])) (*shop[TTx], *differences) {
	t.Helper()
	d := new(differences)
	return open(t, db, append(edits, func(o *durable.Options[TTx]) { o.OnDifference = d.tell })...), d
}

// corrupt changes a row behind the engine's back. args are those of set, from $2 on.
func (s *shop[TTx]) corrupt(set, id string, args ...any) {
	s.Helper()
	require.NoError(s, s.commit(func(tx TTx) error {
		n, err := s.db.Join(tx).Exec(s.Context(), "UPDATE quickstream.write SET "+set+" WHERE id = $1", append([]any{id}, args...)...)
		require.Equal(s, int64(1), n)
		return err
	}))
}

// What corrupt sets, as the engine stores it. A write whose look-ups begin again has none yet.
const (
	isDeclined  = "state = 'settled', outcome = 'declined'"
	isRefused   = "state = 'refused', outcome = '', lookups = ''"
	isResolving = "state = 'resolving', outcome = '', lookups = ''"
	isNotFound  = "state = 'not_found', outcome = '', lookups = ''"
	isEscalated = "state = 'escalated', outcome = '', lookups = ''"
	isReturned  = "reversal = 'returned'"
	isQueued    = "state = 'queued', outcome = '', claim = '', sends = 0, first_sent_at = NULL, last_sent_at = NULL, key_sent_at = NULL, lookups = '', receipt = '', settles_on = ''"
)

func TestCompare(t *testing.T) { everywhere(t, testCompare[*sql.Tx], testCompare[pgx.Tx]) }

// Each way in which a payment can differ is told by its name, what agrees is not told, and
// no state changes but by OnOutcome.
func testCompare[TTx any](t *testing.T, db store[TTx]) {
	s, told := compared(t, db)
	var days []quickstream.Date
	s.settled(s.pay("agrees", s.card(sandbox.CardAttempted)))
	var want []string
	cases := []struct {
		name, set string
		args      []any
		differs   durable.DifferenceKind
		after     []string // told by the comparison
	}{
		{"amount", "amount = $2", []any{decimal.New(9999, -2)}, durable.DifferentAmount, nil},
		{"currency", "currency = 'NZD'", nil, durable.DifferentAmount, nil},
		{"declined", "outcome = 'declined'", nil, durable.DifferentState, []string{approved}},
		{"refused", isRefused, nil, durable.DifferentState, []string{approved}},
		{"late", isResolving, nil, durable.Late, []string{approved}},
		{"not found", isNotFound, nil, durable.NotFoundCharged, []string{approved}},
		{"another receipt", "receipt = 'R-1', lookups = replace(lookups, receipt, 'R-1')", nil, durable.DoubleCharged, []string{doubleCharged}},
		{"missing there", "receipt = 'R-2', intent_id = '', reference = ''", nil, durable.MissingThere, nil},
	}
	for _, c := range cases {
		p := s.settled(s.pay(c.name, s.card(sandbox.CardAttempted)))
		s.corrupt(c.set, p.ID, c.args...)
		days = append(days, p.SettlesOn)
		want = append(want, c.name+": "+string(c.differs))
	}
	want = append(want, s.lose("missing here")+": missing_here", "missing there: double_charged") // the transaction that R-2 was
	s.compare(days...)
	assert.ElementsMatch(t, want, told.kinds())
	for _, c := range cases {
		assert.Equal(t, append([]string{approved}, c.after...), s.states(c.name), c.name)
	}
	s.compare(days...)
	assert.ElementsMatch(t, []string{
		"amount: amount", "currency: amount", "another receipt: double_charged", "missing here: missing_here",
		"missing there: missing_there", "missing there: double_charged",
	}, told.kinds(), "what was not applied differs still")
}

// compare compares days, when what was just paid is visible.
func (s *shop[TTx]) compare(days ...quickstream.Date) {
	s.Helper()
	s.clock.Advance(time.Minute)
	for _, day := range slices.Compact(slices.Clone(days)) {
		require.NoError(s, s.engine.Compare(s.Context(), day))
	}
}

// lose pays an order and removes its payment behind the engine's back.
func (s *shop[TTx]) lose(orderID string) string {
	s.Helper()
	p := s.settled(s.pay(orderID, s.card(sandbox.CardAttempted)))
	s.put("DELETE FROM quickstream.write WHERE id = $1", p.ID)
	return orderID
}

func TestCompareElsewhere(t *testing.T) {
	everywhere(t, testCompareElsewhere[*sql.Tx], testCompareElsewhere[pgx.Tx])
}

// What was made elsewhere is not ours, or pays an order of ours twice, or gives more back
// than was paid.
func testCompareElsewhere[TTx any](t *testing.T, db store[TTx]) {
	s, told := compared(t, db)
	paid := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	for _, metadata := range []map[string]string{
		nil, {"quickstreamInstallation": "shop", "quickstreamOrder": "A"}, {"quickstreamInstallation": "another shop", "quickstreamOrder": "A"},
	} {
		params := s.card(sandbox.CardAttempted)
		params.Metadata = metadata
		_, err := s.client.Transactions.Pay(t.Context(), params)
		require.NoError(t, err)
	}
	s.compare(paid.SettlesOn)
	assert.ElementsMatch(t, []string{": not_ours", "A: double_charged", "A: not_ours"}, told.kinds(), "another installation has orders of its own")

	s.clock.Advance(72 * time.Hour)
	refunded := s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	s.clock.Advance(72 * time.Hour)
	mine := s.refund(refunded.ID, 500)
	day := s.reaches(mine, approved, time.Second).SettlesOn
	portal := func(cents int64) {
		_, err := s.client.Transactions.Refund(t.Context(), quickstream.RefundParams{
			OriginalReceiptNumber: refunded.ReceiptNumber, PrincipalAmount: decimal.New(cents, -2), Currency: quickstream.CurrencyAUD,
		})
		require.NoError(t, err)
	}
	portal(734)
	s.compare(day)
	assert.Equal(t, []string{"B: not_ours"}, told.kinds(), "a refund of a payment of ours, up to all of it")
	s.corrupt("amount = $2", refunded.ID, decimal.New(1233, -2))
	s.compare(day)
	assert.ElementsMatch(t, []string{"B: not_ours", "B: refunds_exceed_payment", "B: refunds_exceed_payment"}, told.kinds())
}

func TestCompareMoved(t *testing.T) {
	everywhere(t, testCompareMoved[*sql.Tx], testCompareMoved[pgx.Tx])
}

// A payment that settles on another day than was told is told, with that day, and looked
// for on it from then on.
func testCompareMoved[TTx any](t *testing.T, db store[TTx]) {
	s, told := compared(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	before := p.SettlesOn.AddDays(-1)
	s.corrupt("settles_on = '"+before.String()+"'", p.ID)
	s.compare(before)
	require.Len(t, told.told, 1)
	assert.Equal(t, p.SettlesOn, told.told[0].Transaction.SettlementDate)
	assert.Equal(t, []string{"A: missing_there"}, told.kinds())
	moved := s.read(p.ID)
	assert.Equal(t, p.SettlesOn, moved.SettlesOn)
	s.compare(before, p.SettlesOn)
	assert.Empty(t, told.kinds())
}

func TestCompareOtherVersion(t *testing.T) {
	everywhere(t, testCompareOtherVersion[*sql.Tx], testCompareOtherVersion[pgx.Tx])
}

// A payment of another version of the program is told, and keeps no other from being
// compared.
func testCompareOtherVersion[TTx any](t *testing.T, db store[TTx]) {
	s, told := compared(t, db)
	newer := s.settled(s.pay("newer", s.card(sandbox.CardAttempted)))
	s.corrupt(`intent = replace(intent, '"version":1', '"version":9')`, newer.ID)
	late := s.settled(s.pay("late", s.card(sandbox.CardAttempted)))
	s.corrupt(isResolving, late.ID)
	s.compare(newer.SettlesOn, late.SettlesOn)
	var version *durable.VersionError
	for _, d := range told.told {
		if d.Write.Common().Order == "newer" {
			require.ErrorAs(t, d.Err, &version)
		}
	}
	assert.ElementsMatch(t, []string{"newer: unreadable", "late: late"}, told.kinds())
	_, err := s.engine.Write(t.Context(), newer.ID)
	require.ErrorAs(t, err, &version, "it is left as it is")
}

func TestCompareNightly(t *testing.T) {
	everywhere(t, testCompareNightly[*sql.Tx], testCompareNightly[pgx.Tx])
}

// The comparison of the day before runs once a night, of several engines in one, and
// again after a pause when it fails. What OnOutcome refuses does not end it.
func testCompareNightly[TTx any](t *testing.T, db store[TTx]) {
	told, failed := new(differences), new(atomic.Bool)
	nightly := func(o *durable.Options[TTx]) {
		o.CompareAt = &resolve.TimeOfDay{Hour: 4}
		o.OnDifference = func(ctx context.Context, d durable.Difference) error {
			if failed.CompareAndSwap(false, true) {
				return errors.New("the mail server is away")
			}
			return told.tell(ctx, d)
		}
	}
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.corrupt("amount = $2", p.ID, decimal.New(1, 0))
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(t, err)
	day := p.SettlesOn.AddDays(1)
	night := time.Date(day.Year, day.Month, day.Day, 3, 59, 0, 0, sydney)
	s.clock.Advance(night.Sub(s.clock.Now()))
	s.start(nightly)
	s.start(nightly)
	s.clock.Advance(2 * time.Minute)
	require.Eventually(t, failed.Load, time.Minute, 50*time.Millisecond)
	s.clock.Advance(11 * time.Minute) // after a failure the night's turn is free again in ten minutes
	require.Eventually(t, func() bool {
		told.mu.Lock()
		defer told.mu.Unlock()
		return len(told.told) > 0
	}, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		done := int64(0)
		require.NoError(t, s.commit(func(tx TTx) (err error) {
			done, err = s.db.Join(tx).Exec(t.Context(), "UPDATE quickstream.meta SET value = value WHERE name = 'compare' AND value LIKE '% 0'")
			return err
		}))
		return done == 1
	}, time.Minute, 50*time.Millisecond, "the night's turn does not end")
	for range 60 { // somebody else's turn would have come
		s.clock.Advance(30 * time.Second)
		<-time.After(20 * time.Millisecond)
	}
	require.NoError(t, s.engine.Stop(t.Context()))
	assert.Equal(t, []string{"A: amount"}, told.kinds())
}

func TestCompareMissed(t *testing.T) {
	everywhere(t, testCompareMissed[*sql.Tx], testCompareMissed[pgx.Tx])
}

// Days whose comparison was missed are compared later.
func testCompareMissed[TTx any](t *testing.T, db store[TTx]) {
	told := new(differences)
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.corrupt("amount = $2", p.ID, decimal.New(1, 0))
	for _, days := range []int{0, 3} { // after it
		assert.Empty(t, told.kinds())
		s.compares(p.SettlesOn.AddDays(days), told.tell, func(c durable.Comparison) bool { return c.Day == p.SettlesOn.AddDays(days-1) })
	}
	assert.Equal(t, []string{"A: amount"}, told.kinds())
}

func TestCompareFirst(t *testing.T) {
	everywhere(t, testCompareFirst[*sql.Tx], testCompareFirst[pgx.Tx])
}

// The first day of all is compared later too, if its comparison failed.
func testCompareFirst[TTx any](t *testing.T, db store[TTx]) {
	told := new(differences)
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.corrupt("amount = $2", p.ID, decimal.New(1, 0))
	away := func(context.Context, durable.Difference) error { return errors.New("the mail server is away") }
	s.compares(p.SettlesOn.AddDays(1), away, func(c durable.Comparison) bool { return !c.FailingSince.IsZero() })
	s.compares(p.SettlesOn.AddDays(4), told.tell, func(c durable.Comparison) bool { return c.Day == p.SettlesOn.AddDays(3) })
	assert.Equal(t, []string{"A: amount"}, told.kinds())
}

// compares runs an engine that compares at four, from five o'clock of a day until the comparisons stand so.
func (s *shop[TTx]) compares(day quickstream.Date, tell func(context.Context, durable.Difference) error, stand func(durable.Comparison) bool) {
	s.Helper()
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(s, err)
	s.clock.Advance(time.Date(day.Year, day.Month, day.Day, 5, 0, 0, 0, sydney).Sub(s.clock.Now()))
	engine := s.start(func(o *durable.Options[TTx]) { o.CompareAt, o.OnDifference = &resolve.TimeOfDay{Hour: 4}, tell })
	require.Eventually(s, func() bool { return stand(s.status().Comparison) }, 2*time.Minute, 50*time.Millisecond)
	require.NoError(s, engine.Stop(s.Context()))
}
