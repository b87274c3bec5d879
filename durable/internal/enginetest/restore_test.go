package enginetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
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

func TestRestored(t *testing.T) { everywhere(t, testRestored[*sql.Tx], testRestored[pgx.Tx]) }

// After a restore what the backup holds as queued is looked up first; and an order that was paid after
// the backup, which it does not know at all, is not paid again.
func testRestored[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ids, collected := map[string]string{}, s.mandate()
	for i, params := range []quickstream.TransactionParams{s.stored(), collected, s.stored()} {
		order := fmt.Sprint("order ", i)
		ids[order] = s.pay(order, params)
		s.reaches(ids[order], approved, time.Minute)
	}
	require.NoError(t, s.engine.Stop(t.Context()))
	// What a backup from before the payments holds: one not claimed yet, one unknown to it.
	s.corrupt(isQueued+", next_at = $2, due_at = $2", ids["order 0"], time.Now())
	s.put("DELETE FROM quickstream.write WHERE order_id = 'order 1'")
	require.NoError(t, s.engineOf().Restored(t.Context(), time.Now().Add(-time.Hour)))
	require.NoError(t, s.engineOf().ConfirmHistory(t.Context(), "Kim", "the only copy"))
	s.engine = s.start()
	assert.Equal(t, approved, s.reaches(ids["order 0"], approved, time.Minute).Text())
	require.Eventually(t, func() bool {
		p, err := s.engine.PaymentOf(t.Context(), "order 1")
		s.clock.Advance(10 * time.Second)
		return err == nil && p.Text() == approved
	}, 2*time.Minute, 20*time.Millisecond)
	assert.Equal(t, ids["order 1"], s.blocked("order 1", s.card(sandbox.CardAttempted)), "the order is paid")
	_, created, err := s.asked(durable.NewWrite{ID: ids["order 1"], Order: "order 1"}, collected)
	require.NoError(t, err, "it is known by its id")
	assert.False(t, created)
	s.restored()
	s.settled(s.pay("order 3", s.card(sandbox.CardAttempted)))
	assert.Equal(t, 4, s.charged())
}

// searched waits until the lists were read once.
func (s *shop[TTx]) searched() {
	s.Helper()
	require.Eventually(s, func() bool {
		s.clock.Advance(2 * time.Second)
		return strings.Contains(s.text("SELECT value FROM quickstream.meta WHERE name = 'change of history'"), `"searched":true`)
	}, time.Minute, 50*time.Millisecond)
}

// restored waits until what the backup does not know was looked for.
func (s *shop[TTx]) restored() {
	s.Helper()
	s.until(20*time.Second, func(status durable.Health) bool { return status.Restoring.IsZero() })
}

func TestWindow(t *testing.T) { everywhere(t, testWindow[*sql.Tx], testWindow[pgx.Tx]) }

// A backup that is days old is put back, and a program that only takes orders writes one
// before a worker starts: what was paid since the backup is found all the same.
func testWindow[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.settled(s.pay("before", s.card(sandbox.CardAttempted)))
	stored := s.text("SELECT value FROM quickstream.meta WHERE name = 'last claim'")
	s.clock.Advance(2 * time.Minute)
	for i := range 5 {
		s.settled(s.pay(fmt.Sprint("since ", i), s.card(sandbox.CardAttempted)))
	}
	assert.NotEqual(t, stored, s.text("SELECT value FROM quickstream.meta WHERE name = 'last claim'"), "it moves on")
	require.NoError(t, s.engine.Stop(t.Context()))
	s.clock.Advance(72 * time.Hour)
	s.put("DELETE FROM quickstream.write WHERE order_id LIKE 'since %'")
	s.put("UPDATE quickstream.meta SET value = $1 WHERE name = 'last claim'", stored)
	s.put("UPDATE quickstream.meta SET value = 'another' WHERE name = 'history'")
	require.NoError(t, durable.MigrateUp(t.Context(), s.db.Database))

	s.engine = s.engineOf()
	s.pay("the web program's", s.stored())
	s.engine = s.start()
	s.searched()
	for i := range 5 {
		err := s.commit(func(tx TTx) error {
			_, err := s.ask(tx, fmt.Sprint("since ", i), s.card(sandbox.CardAttempted))
			return err
		})
		if err != nil {
			require.ErrorIs(t, err, durable.ErrOrderOpen, "it was found before")
		}
	}
	s.restored()
	for i := range 5 {
		p := s.paymentOf(fmt.Sprint("since ", i))
		assert.Equal(t, approved, p.Text())
	}
	p := s.paymentOf("the web program's")
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Minute)
		return s.read(p.ID).Text() == approved
	}, time.Minute, 50*time.Millisecond)
	assert.Equal(t, 7, s.charged())
}

// put runs a statement, and text reads one value.
func (s *shop[TTx]) put(statement string, args ...any) {
	s.Helper()
	require.NoError(s, s.commit(func(tx TTx) error {
		_, err := s.db.Join(tx).Exec(s.Context(), statement, args...)
		return err
	}))
}

func (s *shop[TTx]) text(statement string) string {
	s.Helper()
	return one[string](s, statement)
}

func TestSearchTakesNoGatewaysWord(t *testing.T) {
	everywhere(t, testSearchTakesNoGatewaysWord[*sql.Tx], testSearchTakesNoGatewaysWord[pgx.Tx])
}

// A 404 that is not the service's own is no empty list: the search goes on until the service itself has
// told what a restored backup does not know. Payments wait for that for three minutes.
func testSearchTakesNoGatewaysWord[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write")
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	s.clock.Advance(2 * time.Second)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-settlement-date", Kind: sandbox.Status(404, sandbox.HTML)}))
	s.engine = s.start()
	id := s.pay("B", s.stored())
	begun := s.clock.Now()
	for s.read(id).Text() != approved {
		s.clock.Advance(5 * time.Second)
		<-time.After(20 * time.Millisecond)
	}
	assert.Greater(t, s.clock.Now().Sub(begun), 2*time.Minute)
	s.clock.Advance(time.Hour)
	require.NotZero(t, s.status().Restoring)
	s.box.ClearFaults()
	s.restored()
	assert.Equal(t, approved, s.paymentOf("A").Text())
	assert.Equal(t, 2, s.charged())
}

func TestLookedUpWhileSearching(t *testing.T) {
	everywhere(t, testLookedUpWhileSearching[*sql.Tx], testLookedUpWhileSearching[pgx.Tx])
}

// As long as the lists cannot be read, what is asked for again is looked up before it is sent, also when a
// quarter of an hour has passed: the database does not know it yet, and the service has forgotten its key.
func testLookedUpWhileSearching[TTx any](t *testing.T, db store[TTx]) {
	s := forgetful(t, db)
	params, lost := s.stored(), s.newWrite("A")
	_, _, err := s.asked(lost, params)
	require.NoError(t, err)
	paid := s.settled(lost.ID)
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write")
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-settlement-date", Kind: sandbox.Status(502, sandbox.HTML)}))
	s.engine = s.start()
	s.clock.Advance(20 * time.Minute)
	_, _, err = s.asked(lost, params)
	require.NoError(t, err)
	assert.Equal(t, paid.ReceiptNumber, s.settled(lost.ID).ReceiptNumber)
	s.box.ClearFaults()
	s.restored()
	assert.Equal(t, 1, s.charged())
}

func TestRefundRepeatedAfterARestore(t *testing.T) {
	everywhere(t, testRefundRepeatedAfterARestore[*sql.Tx], testRefundRepeatedAfterARestore[pgx.Tx])
}

// A refund that a backup does not know is asked for again a day after the restore, under its id. The search finds
// no refunds, and the service has forgotten its key: it is looked up first.
func testRefundRepeatedAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	s := forgetful(t, db)
	paid := s.settledLongAgo("A")
	ask := func() {
		require.NoError(t, s.commit(func(tx TTx) error {
			_, _, err := s.engine.Refund(t.Context(), tx, durable.NewWrite{ID: "refund"}, paid.ID, quickstream.RefundParams{PrincipalAmount: decimal.New(300, -2), Currency: quickstream.CurrencyAUD})
			return err
		}))
	}
	ask()
	refund := s.settled("refund")
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write WHERE id = 'refund'")
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	s.engine = s.start()
	s.restored()
	s.clock.Advance(24 * time.Hour)
	ask()
	assert.Equal(t, refund.ReceiptNumber, s.settled("refund").ReceiptNumber)
	assert.EqualValues(t, 934, s.net("A"))
}

// forgetful returns a shop whose service shows a transaction at once, and forgets its key in a minute.
func forgetful[TTx any](t *testing.T, db store[TTx]) *shop[TTx] {
	t.Helper()
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 0, time.Minute
	}))
	s.engine = s.start()
	return s
}

func TestSearchEndsAfterTheLag(t *testing.T) {
	everywhere(t, testSearchEndsAfterTheLag[*sql.Tx], testSearchEndsAfterTheLag[pgx.Tx])
}

// A payment that is shown a quarter of an hour late, after its list was read and before the others were, is found
// all the same: the search that ends is one that began later.
func testSearchEndsAfterTheLag[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag = 0, 15*time.Minute
	}))
	s.engine = s.start()
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write")
	restored := s.clock.Now()
	require.NoError(t, s.engineOf().Restored(t.Context(), restored.Add(-time.Hour)))
	last, read := quickstream.DateOf(restored).AddDays(6).String(), make(chan bool, 1)
	s.client = sandboxtest.Client(t, s.box, quickstream.WithHTTPClient(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if passed := s.clock.Now().Sub(restored); passed > 14*time.Minute && passed < 15*time.Minute && strings.Contains(r.URL.RawQuery, last) {
			s.clock.Advance(40 * time.Second) // this list takes long
			read <- true
		}
		return s.box.HTTPClient().Transport.RoundTrip(r)
	})}))
	s.engine = s.start()
	s.searched()
	s.clock.Advance(restored.Add(14*time.Minute + 30*time.Second).Sub(s.clock.Now()))
	<-read
	s.restored()
	assert.Equal(t, approved, s.paymentOf("A").Text())
}

func TestSearchKeepsItsBeginning(t *testing.T) {
	everywhere(t, testSearchKeepsItsBeginning[*sql.Tx], testSearchKeepsItsBeginning[pgx.Tx])
}

// A search that is open keeps its beginning when the database is adopted again, and one that
// would begin in the future begins now.
func testSearchKeepsItsBeginning[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context()))
	since := func() time.Time {
		var h struct{ Since time.Time }
		require.NoError(t, json.Unmarshal([]byte(s.text("SELECT value FROM quickstream.meta WHERE name = 'change of history'")), &h))
		return h.Since
	}
	now := s.clock.Now()
	require.NoError(t, s.engineOf().Restored(t.Context(), now.Add(time.Hour)))
	assert.WithinDuration(t, s.clock.Now(), since(), time.Minute)
	require.NoError(t, s.engineOf().Restored(t.Context(), now.Add(-time.Hour)))
	require.NoError(t, s.engineOf().Restored(t.Context(), now))
	assert.WithinDuration(t, now.Add(-time.Hour), since(), time.Second)
}

func TestFoundAfterARestore(t *testing.T) {
	everywhere(t, testFoundAfterARestore[*sql.Tx], testFoundAfterARestore[pgx.Tx])
}

// What the service has under the number of an order that waits is taken for its payment only
// where it agrees with it. What differs is for a person, and neither is sent. What was forgotten is not charged twice for that.
func testFoundAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	onFile := s.stored()
	elsewhere := map[string]func(*quickstream.PayParams){
		"the same":         func(*quickstream.PayParams) {},
		"another amount":   func(p *quickstream.PayParams) { p.PrincipalAmount = decimal.New(1, 0) },
		"another currency": func(p *quickstream.PayParams) { p.Currency = quickstream.CurrencyNZD },
	}
	for order, edit := range elsewhere {
		params := onFile
		edit(&params)
		for _, order := range []string{order, "a backup's " + order} {
			params.Metadata = map[string]string{"quickstreamInstallation": "shop", "quickstreamOrder": order}
			paid, err := s.client.Transactions.Pay(t.Context(), params)
			require.NoError(t, err, order)
			if order == "the same" {
				s.clock.Advance(48 * time.Hour)
				_, err = s.client.Transactions.Refund(t.Context(), quickstream.RefundParams{
					OriginalReceiptNumber: paid.ReceiptNumber, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
					FollowUpDetails: quickstream.FollowUpDetails{Metadata: map[string]string{"quickstreamInstallation": "shop", "quickstreamOrder": "a refund"}},
				})
				require.NoError(t, err)
			}
		}
	}
	forgotten := s.settled(s.pay("forgotten", onFile))
	s.corrupt("intent = '', reference = '', intent_id = '', lookups = '', claim = '', settles_on = ''", forgotten.ID)
	require.NoError(t, s.engine.Stop(t.Context()))
	ids := map[string]string{}
	for order := range elsewhere {
		ids["a backup's "+order] = s.pay("a backup's "+order, onFile)
	}
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-72*time.Hour)))
	for order := range elsewhere {
		ids[order] = s.pay(order, onFile)
	}
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-settlement-date", Kind: sandbox.Status(502, sandbox.HTML)}))
	s.engine = s.start()
	require.NoError(t, s.engine.ConfirmHistory(t.Context(), "Kim", "the only copy")) // they wait for the search alone
	s.box.ClearFaults()
	s.searched()
	s.restored()
	for order, id := range ids {
		p := s.read(id)
		if strings.HasSuffix(order, "the same") {
			assert.Equal(t, approved, p.Text())
			continue
		}
		assert.Equal(t, escalated, p.Text(), order)
		assert.Contains(t, p.Problem, "receipt number", order)
		assert.Equal(t, []string{escalated}, s.states(order), order)
		assert.Equal(t, "12.34", p.Amount.String(), order)
	}
	assert.Equal(t, []string{approved}, s.states("forgotten"))
	assert.Equal(t, 2*len(elsewhere)+1, s.charged())
	_, err := s.engine.PaymentOf(t.Context(), "a refund")
	require.ErrorIs(t, err, durable.ErrNoWrite)
}

func TestSearchHoldsNobody(t *testing.T) {
	everywhere(t, testSearchHoldsNobody[*sql.Tx], testSearchHoldsNobody[pgx.Tx])
}

// A transaction that cannot be read after a restore is counted, and holds nobody. A person can end a
// search that finds no end.
func testSearchHoldsNobody[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(time.Minute)
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write")
	s.client = sandboxtest.Client(t, s.box, quickstream.WithHTTPClient(&http.Client{Transport: spoiled{s.box.HTTPClient().Transport, "/transactions/for-settlement-date"}}))
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	s.engine = s.start()
	s.clock.Advance(2 * time.Second)
	assert.Equal(t, approved, s.settled(s.pay("B", s.stored())).Text())
	status := s.status()
	assert.NotZero(t, status.Restoring)
	assert.Equal(t, 1, status.RestoringUnreadable)
	require.Error(t, s.engine.EndRestoring(t.Context(), "", ""))
	require.NoError(t, s.engine.EndRestoring(t.Context(), "Kim", "compared by hand"))
	assert.Zero(t, s.status().Restoring)
}

func TestMaybeACopy(t *testing.T) { everywhere(t, testMaybeACopy[*sql.Tx], testMaybeACopy[pgx.Tx]) }

// What a database held that may be a copy waits for what its original may be sending, or for a person
// who says that it is none. What is new is sent at once, after a look.
func testMaybeACopy[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for _, confirmed := range []bool{false, true} {
		require.NoError(t, s.engine.Stop(t.Context()))
		before := s.pay(fmt.Sprint("before ", confirmed), s.stored())
		s.put("UPDATE quickstream.meta SET value = 'another' WHERE name = 'history'")
		s.engine = s.start()
		s.clock.Advance(2 * time.Second)
		s.box.ResetRequests()
		fresh := s.settled(s.pay(fmt.Sprint("new ", confirmed), s.card(sandbox.CardAttempted)))
		assert.Equal(t, approved, fresh.Text())
		looked := slices.IndexFunc(s.box.Requests(), func(r sandbox.Request) bool {
			return strings.Contains(r.Path+r.Query.Encode(), fresh.Reference)
		})
		assert.NotEqual(t, -1, looked, "it was not looked up")
		assert.Equal(t, queued, s.read(before).Text())
		assert.True(t, s.status().MaybeCopy)
		begun := s.clock.Now()
		if confirmed {
			require.NoError(t, s.engine.ConfirmHistory(t.Context(), "Kim", "the original is gone"))
		}
		require.Eventually(t, func() bool {
			if !confirmed {
				s.clock.Advance(time.Minute)
			}
			return s.read(before).Text() == approved
		}, time.Minute, 50*time.Millisecond)
		assert.Equal(t, confirmed, s.clock.Now().Sub(begun) < 14*time.Minute)
		assert.False(t, s.status().MaybeCopy)
		s.restored()
	}
	assert.Equal(t, 4, s.charged())
}

func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+from)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", to)
	require.NoError(t, err)
}
