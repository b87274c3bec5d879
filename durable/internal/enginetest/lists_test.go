package enginetest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// listed returns the orders of a list, read in pages of so many writes.
func (s *shop[TTx]) listed(f durable.Filter, limit int) (orders []string) {
	s.Helper()
	for f.Limit = limit; ; {
		page, err := s.engine.List(s.Context(), f)
		require.NoError(s, err)
		require.LessOrEqual(s, len(page.Writes), limit)
		for _, w := range page.Writes {
			orders = append(orders, w.Common().Order)
		}
		if page.Next == "" {
			return orders
		}
		f.After = page.Next
	}
}

func TestList(t *testing.T) { everywhere(t, testList[*sql.Tx], testList[pgx.Tx]) }

// A list has what its filter names, in the order of time, whatever its pages hold.
func testList[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	customer := func(params quickstream.PayParams, reference string) quickstream.PayParams {
		params.CustomerReferenceNumber = reference
		return params
	}
	var taken durable.Record
	for i, number := range []string{sandbox.CardAttempted, sandbox.CardAttempted, sandbox.CardAttempted} {
		taken = s.settled(s.pay(fmt.Sprint("taken ", i), customer(s.card(number), fmt.Sprint("C-", i%2))))
	}
	s.box.NextTransaction(sandbox.Declined("51"))
	s.settled(s.pay("declined", s.card(sandbox.CardAttempted)))
	other := s.card(sandbox.CardAttempted)
	other.PrincipalAmount = decimal.New(777, -2)
	s.settled(s.pay("another amount", other))
	missing := s.lost("missing")

	all := []string{"missing", "another amount", "declined", "taken 2", "taken 1", "taken 0"}
	oldest := []string{"taken 0", "taken 1", "taken 2", "declined", "another amount", "missing"}
	for _, limit := range []int{1, 2, 3, 50} {
		assert.Equal(t, all, s.listed(durable.Filter{}, limit))
		for _, test := range []struct {
			name   string
			filter durable.Filter
			want   []string
		}{
			{"states", durable.Filter{States: []durable.State{durable.StateNotFound, durable.StateEscalated}}, all[:1]},
			{"two states", durable.Filter{States: []durable.State{durable.StateNotFound, durable.StateSettled}}, all},
			{"outcome", durable.Filter{Outcome: quickstream.OutcomeDeclined}, all[2:3]},
			{"order", durable.Filter{Order: "taken 1"}, all[4:5]},
			{"receipt", durable.Filter{ReceiptNumber: taken.ReceiptNumber}, all[3:4]},
			{"customer", durable.Filter{CustomerReferenceNumber: "C-0"}, []string{"taken 2", "taken 0"}},
			{"no such customer", durable.Filter{CustomerReferenceNumber: "C-2"}, nil},
			{"amount", durable.Filter{Amount: decimal.New(777, -2)}, all[1:2]},
			{"from", durable.Filter{From: taken.Written}, all[:4]},
			{"to", durable.Filter{To: taken.Written}, all[4:]},
		} {
			assert.Equal(t, test.want, s.listed(test.filter, limit), test.name)
		}
		s.clock.Advance(time.Minute)
		assert.Equal(t, oldest, s.listed(durable.Filter{OldestFirst: true}, limit))
	}
	for name, wrong := range map[string]durable.Filter{
		"limit": {Limit: 1001}, "state": {States: []durable.State{"x' OR '1' = '1"}}, "cursor": {After: "x"},
	} {
		_, err := s.engine.List(t.Context(), wrong)
		assert.Error(t, err, name)
	}
	details, err := s.engine.Details(t.Context(), missing)
	require.NoError(t, err)
	assert.Equal(t, notFound, details.Write.Common().Text())
	assert.Equal(t, durable.SourceToken, details.Source)
	assert.Equal(t, durable.EventQueued, details.Events[0].Kind)
}

// A list that is followed loses no write whose transaction commits late: it waits for that. On SQLite one
// transaction writes at a time.
func TestFollowedList(t *testing.T) {
	t.Parallel()
	db := onServer(t, emptyDatabase(t))
	s := open(t, db)
	slow, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, _, err = s.engine.Pay(t.Context(), db.Leave(slow), durable.NewWrite{ID: "slow", Order: "slow"}, s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	for i := range 3 {
		s.settled(s.pay(fmt.Sprint("order ", i), s.card(sandbox.CardAttempted)))
	}
	s.clock.Advance(time.Minute)
	follow := durable.Filter{OldestFirst: true}
	page, err := s.engine.List(t.Context(), follow)
	require.NoError(t, err)
	assert.Empty(t, page.Writes, "a page ends before the oldest open transaction")
	follow.After = page.Last
	require.NoError(t, slow.Commit(t.Context()))
	assert.Equal(t, []string{"slow", "order 0", "order 1", "order 2"}, s.listed(follow, 2))
}

func TestActs(t *testing.T) { everywhere(t, testActs[*sql.Tx], testActs[pgx.Tx]) }

// A person decides about what was seen, right after a look-up, and the second of two people is told.
func testActs[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	missing := s.lost("A")
	decide := func(version int64) error {
		return s.commit(func(tx TTx) error {
			return s.engine.Decide(t.Context(), tx, missing, durable.Decision{
				Verdict: durable.VerdictNotSent, By: "Alex", Note: "support says so", Version: version,
			})
		})
	}
	require.NoError(t, s.engine.Stop(t.Context())) // or it looks up by itself
	s.clock.Advance(2 * time.Minute)
	seen := s.read(missing)
	require.ErrorIs(t, decide(seen.Version), durable.ErrLookUpFirst)
	w, err := s.engine.LookUp(t.Context(), missing, "Alex", "a customer asks")
	require.NoError(t, err)
	require.ErrorIs(t, decide(seen.Version), durable.ErrStale, "it has been looked up since")
	require.NoError(t, decide(w.Common().Version))
	require.ErrorIs(t, decide(w.Common().Version), durable.ErrStale)
	asked := s.eventsOf(missing, durable.EventAsked)
	require.Len(t, asked, 1)
	assert.Equal(t, "Alex", asked[0].By)

	s.engine = s.start()
	s.box.ClearFaults()
	paid := s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	refund := func(id string) error {
		return s.commit(func(tx TTx) error {
			_, _, err := s.engine.Refund(t.Context(), tx, durable.NewWrite{ID: id, Version: paid.Version}, paid.ID,
				quickstream.RefundParams{PrincipalAmount: decimal.New(100, -2), Currency: quickstream.CurrencyAUD})
			return err
		})
	}
	paid = s.read(paid.ID)
	require.NoError(t, refund("first page"))
	require.NoError(t, refund("first page"), "a second click")
	require.ErrorIs(t, refund("second page"), durable.ErrStale)
	assert.Equal(t, approved, s.settled("first page").Text())

	for _, act := range []func(by, note string) error{
		func(by, note string) error { return s.engine.Pause(t.Context(), by, note) },
		func(by, note string) error { return s.engine.NotifyAgain(t.Context(), paid.ID, by, note) },
		func(by, note string) error { _, err := s.engine.LookUp(t.Context(), paid.ID, by, note); return err },
		func(by, note string) error { return s.engine.RetryNotification(t.Context(), "1", "2", by, note) },
		func(by, note string) error { _, err := s.engine.Erase(t.Context(), "C-1", by, note); return err },
	} {
		assert.ErrorContains(t, act("", "why"), "by and note are required")
		assert.ErrorContains(t, act("Alex", "two\nlines"), "by and note are required")
	}
}

func TestPause(t *testing.T) { everywhere(t, testPause[*sql.Tx], testPause[pgx.Tx]) }

// While a person has paused the installation payments are accepted and none is sent, by any process.
func testPause[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Pause(t.Context(), "Kim", "the service asks us to stop"))
	waits := s.pay("A", s.stored())
	require.ErrorIs(t, s.sendCard("B"), quickstream.ErrNotSent)
	for range 5 { // longer than a lease
		s.clock.Advance(time.Minute)
		<-time.After(50 * time.Millisecond)
	}
	assert.Equal(t, queued, s.read(waits).Text())
	status := s.status()
	assert.Equal(t, "Kim", status.PausedBy)
	assert.False(t, status.Paused.IsZero())
	assert.Zero(t, s.charged())
	require.NoError(t, s.engine.Ready(t.Context()), "it accepts")
	require.NoError(t, s.engine.Unpause(t.Context(), "Kim", "they say it is over"))
	assert.Equal(t, approved, s.settled(waits).Text(), "at once, and not when a lease ends")
	assert.True(t, s.status().Paused.IsZero())
	events, err := s.engine.Events(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, []any{durable.EventPaused, durable.EventUnpaused, "Kim"}, []any{events[0].Kind, events[1].Kind, events[1].By})
}

func TestNotifyAgain(t *testing.T) { everywhere(t, testNotifyAgain[*sql.Tx], testNotifyAgain[pgx.Tx]) }

// What OnOutcome has refused it is notified of at once when a person asks, and of what it took once more.
func testNotifyAgain[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.refuses(assert.AnError)
	id := s.pay("A", s.card(sandbox.CardAttempted))
	require.Eventually(t, func() bool { return s.status().Refused == 1 }, 2*time.Minute, 20*time.Millisecond)
	require.ErrorIs(t, s.engine.NotifyAgain(t.Context(), id, "Alex", "the hook is mended"), assert.AnError)
	s.refuses(nil)
	require.NoError(t, s.engine.NotifyAgain(t.Context(), id, "Alex", "the hook is mended"))
	assert.Equal(t, approved, s.read(id).Text())
	require.NoError(t, s.engine.NotifyAgain(t.Context(), id, "Alex", "the order was deleted"))
	assert.Equal(t, []string{approved, approved}, s.states("A"))
	waiting := s.pay("B", s.mandate())
	require.ErrorIs(t, s.engine.NotifyAgain(t.Context(), waiting, "Alex", "soon"), durable.ErrInProgress)
	require.ErrorIs(t, s.engine.NotifyAgain(t.Context(), "none", "Alex", "soon"), durable.ErrNoWrite)
}

func TestHeldNotifications(t *testing.T) {
	everywhere(t, testHeldNotifications[*sql.Tx], testHeldNotifications[pgx.Tx])
}

// Notifications that wait are listed with why, and are confirmed at once when a person asks.
func testHeldNotifications[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	s.refuses(assert.AnError)
	s.pay("A", s.mandate())
	var list []durable.Notification
	require.Eventually(t, func() (held bool) {
		var err error
		s.clock.Advance(time.Second)
		list, _, err = s.engine.Notifications(t.Context(), "", 10)
		require.NoError(t, err)
		return len(list) > 0 && list[0].Failures > 3
	}, 2*time.Minute, 20*time.Millisecond)
	assert.NotEmpty(t, list[0].EventType)
	assert.Contains(t, list[0].Problem, "OnOutcome failed")
	first, next, err := s.engine.Notifications(t.Context(), "", 1)
	require.NoError(t, err)
	require.Len(t, first, 1)
	if len(list) > 1 {
		rest, _, err := s.engine.Notifications(t.Context(), next, 10)
		require.NoError(t, err)
		assert.Equal(t, list[1].ID, rest[0].ID)
	}
	s.refuses(nil)
	for _, n := range list {
		require.NoError(t, s.engine.RetryNotification(t.Context(), n.ID, n.Digest, "Alex", "the hook is mended"))
	}
	require.Eventually(t, func() bool { return s.status().Received == 0 }, 5*time.Second, 20*time.Millisecond)
}

// over is how many writes are settled.
func (s *shop[TTx]) over() int {
	s.Helper()
	return s.count("SELECT count(*) FROM quickstream.write WHERE state = 'settled'")
}
