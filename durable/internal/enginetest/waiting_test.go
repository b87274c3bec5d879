package enginetest

import (
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// stored returns the parameters of a payment by an account that is on file.
func (s *shop[TTx]) stored() quickstream.PayParams {
	s.Helper()
	customer, err := s.client.Customers.Create(s.Context(), quickstream.CreateCustomerParams{CustomerNumber: rand.Text()[:12], CustomerName: "Alex Example"})
	require.NoError(s, err)
	account, err := s.client.Accounts.Register(s.Context(), customer.CustomerID,
		quickstream.RegisterAccountParams{Card: new(sandboxtest.Card(sandbox.CardAttempted))})
	require.NoError(s, err)
	params := s.card(sandbox.CardAttempted)
	params.Source = quickstream.FromAccount(account.AccountToken, quickstream.AccountTypeCreditCard)
	return params
}

// age makes a payment older, by the database's clock.
func (s *shop[TTx]) age(id string, by time.Duration) {
	s.Helper()
	written := one[time.Time](s, "SELECT database_at FROM quickstream.write WHERE id = $1", id)
	s.corrupt("database_at = $2", id, written.Add(-by))
}

const lookUps = "GET /transactions/for-reference-number"

func TestWaited(t *testing.T) { everywhere(t, testWaited[*sql.Tx], testWaited[pgx.Tx]) }

// What waited for too long by the database's clock is not sent: by a single-use token ten
// minutes, and by anything else as long as the merchant says. Its order can be paid again.
// What was claimed once is looked up before, and was sent if it is found.
func testWaited[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	onFile := s.stored()
	found := s.settled(s.pay("found", onFile)).ID
	require.NoError(t, s.engine.Stop(t.Context()))
	s.corrupt(isQueued+", next_at = $2, due_at = $2", found, s.clock.Now())
	old, young := s.pay("old token", s.card(sandbox.CardAttempted)), s.pay("young token", s.card(sandbox.CardAttempted))
	stored, late, claimed := s.pay("stored", onFile), s.pay("late", onFile), s.pay("claimed", onFile)
	s.age(old, 11*time.Minute)
	s.age(young, 9*time.Minute)
	s.age(stored, 11*time.Minute)
	s.age(late, 31*time.Minute)
	for _, id := range []string{claimed, found} {
		s.age(id, 31*time.Minute)
		s.corrupt("claim = 'an earlier one', sends = 1, permit = 'refused', first_sent_at = $2, last_sent_at = $2, key_sent_at = $2", id, s.clock.Now().Add(-30*time.Minute))
	}
	s.clock.Advance(time.Minute) // until it can be seen
	s.box.ResetRequests()
	s.engine = s.start(func(o *durable.Options[TTx]) { o.SendWithin = 30 * time.Minute })
	assert.Equal(t, notSent, s.settled(old).Text())
	assert.Equal(t, approved, s.settled(young).Text())
	assert.Equal(t, approved, s.settled(stored).Text())
	assert.Equal(t, notSent, s.settled(late).Text())
	assert.Equal(t, notSent, s.settled(claimed).Text())
	assert.True(t, slices.ContainsFunc(s.box.Requests(), func(r sandbox.Request) bool {
		return r.Operation == lookUps && r.Query.Get("referenceNumber") == s.read(claimed).Reference
	}), "it was looked up")
	s.reaches(found, approved, time.Minute)
	assert.Equal(t, 3, s.charged())
	assert.Equal(t, []string{notSent}, s.states("late"))
	assert.Equal(t, approved, s.settled(s.pay("old token", s.card(sandbox.CardAttempted))).Text())
}

func TestFreshOnAMachineAhead(t *testing.T) {
	everywhere(t, testFreshOnAMachineAhead[*sql.Tx], testFreshOnAMachineAhead[pgx.Tx])
}

// A machine whose clock is hours ahead sends what another one has just written.
func testFreshOnAMachineAhead[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context()))
	paid := s.settledBy(s.pay("A", s.stored()), 11*time.Hour)
	assert.Equal(t, approved, paid.Text())
	require.NoError(t, s.engine.Stop(t.Context()))
	s.clock.Advance(48 * time.Hour) // a refund, not a void
	assert.Equal(t, approved, s.settledBy(s.refund(paid.ID, 100), 8*24*time.Hour).Text())
}

// settledBy waits for the outcome of a payment that a machine works on whose clock is ahead.
func (s *shop[TTx]) settledBy(id string, ahead time.Duration) durable.Record {
	s.Helper()
	s.engine = s.startAhead(ahead)
	return s.settled(id)
}

// startAhead starts an engine on a machine whose clock is ahead.
func (s *shop[TTx]) startAhead(ahead time.Duration, edits ...func(*durable.Options[TTx])) *durable.Engine[TTx] {
	s.Helper()
	s.db.machine = func() time.Time { return time.Now().Add(ahead) }
	defer func() { s.db.machine = nil }()
	return s.start(append(edits, func(o *durable.Options[TTx]) {
		clock := o.Clock
		o.Clock = func() time.Time { return clock().Add(ahead) }
	})...)
}

func TestLookedUpFirst(t *testing.T) {
	everywhere(t, testLookedUpFirst[*sql.Tx], testLookedUpFirst[pgx.Tx])
}

// A payment that is sent more than 15 minutes after it was written is looked up first, and
// not sent where it is found, nor as long as it cannot be looked up.
func testLookedUpFirst[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	onFile := s.stored()
	done := s.settled(s.pay("done", onFile)).ID
	s.clock.Advance(time.Minute)
	require.NoError(t, s.engine.Stop(t.Context()))
	s.corrupt(isQueued+", next_at = $2, due_at = $2", done, s.clock.Now())
	s.age(done, 16*time.Minute)
	waits := s.pay("waits", onFile)
	s.age(waits, 16*time.Minute)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: lookUps, Kind: sandbox.Status(403, sandbox.ServiceError)}))
	s.box.ResetRequests()
	s.engine = s.start()
	require.Eventually(t, func() bool {
		return s.read(waits).Problem != ""
	}, 2*time.Minute, 20*time.Millisecond)
	assert.Equal(t, 1, s.charged())
	s.box.ClearFaults()
	s.reaches(done, approved, time.Second)
	s.reaches(waits, approved, time.Second)
	assert.Equal(t, 2, s.charged(), "one of them was found")
	assert.Equal(t, 1, s.sent())
}

// sent counts the payments that were sent since the requests were reset.
func (s *shop[TTx]) sent() int {
	sent := 0
	for _, request := range s.box.Requests() {
		if request.Operation == transactions {
			sent++
		}
	}
	return sent
}

func TestSlowService(t *testing.T) { everywhere(t, testSlowService[*sql.Tx], testSlowService[pgx.Tx]) }

// What waits for a slow service is handed out once, and not anew at every lease: new
// payments do not wait behind it.
func testSlowService[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, _ = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }))
	s.client = sandboxtest.Client(t, s.box, quickstream.WithAttemptTimeout(200*time.Millisecond), quickstream.WithTimeout(time.Second))
	s.engine = s.start(func(o *durable.Options[TTx]) { o.Workers = 1 })
	params := s.stored()
	require.NoError(t, s.box.Inject(sandbox.Fault{Kind: sandbox.HangBeforeCommit()}))
	for i := range 60 {
		s.pay(fmt.Sprint("order ", i), params)
	}
	waiting := func() int {
		return s.count("SELECT count(*) FROM " + db.Dialect().Jobs + " WHERE state = 'available'")
	}
	most := 0
	for range 40 {
		s.clock.Advance(61 * time.Second)
		<-time.After(40 * time.Millisecond)
		most = max(most, waiting())
	}
	assert.Less(t, most, 60+2*20)
	s.box.ClearFaults()
}

func TestClocksDiffer(t *testing.T) {
	everywhere(t, testClocksDiffer[*sql.Tx], testClocksDiffer[pgx.Tx])
}

// What one process writes is done at once by another whose clock is behind.
func testClocksDiffer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.engine = s.engineOf(func(o *durable.Options[TTx]) {
		o.Clock = func() time.Time { return s.clock.Now().Add(time.Minute) }
	})
	s.listen()
	params := s.mandate()
	require.Equal(t, approved, s.settled(s.pay("A", s.card(sandbox.CardAttempted))).Text())
	s.box.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	id := s.pay("B", params)
	s.reaches(id, resolving, 0)
	s.clock.Advance(time.Hour)
	require.NoError(t, s.box.Flush(t.Context()))
	s.settled(id)
}

func TestHandedOutEarly(t *testing.T) {
	everywhere(t, testHandedOutEarly[*sql.Tx], testHandedOutEarly[pgx.Tx])
}

// What a process whose clock is ahead hands out is done when it is time, and not when the
// job's lease ends.
func testHandedOutEarly[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.box.NextTransaction(sandbox.Pending().ThenAfter(time.Second, sandbox.Approved()))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches(id, resolving, 0)
	s.corrupt("next_at = $2, due_at = $3", id, s.clock.Now().Add(3*time.Second), time.UnixMicro(1))
	assert.Equal(t, approved, s.settled(id).Text())
}

func TestPulledBack(t *testing.T) { everywhere(t, testPulledBack[*sql.Tx], testPulledBack[pgx.Tx]) }

// What a wrong clock has put off for longer than anything waits is due when an engine starts.
func testPulledBack[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context()))
	id, far := s.pay("A", s.stored()), s.clock.Now().Add(30*24*time.Hour)
	s.corrupt("failures = 1, next_at = $2, due_at = $2, written_at = $2", id, far)
	s.engine = s.start()
	assert.Equal(t, approved, s.settled(id).Text())
}

func TestLooksAfterAJump(t *testing.T) {
	everywhere(t, testLooksAfterAJump[*sql.Tx], testLooksAfterAJump[pgx.Tx])
}

// The first looks at a lost payment are seconds apart by the engine's own clock, also
// where that is far from the machine's.
func testLooksAfterAJump[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.clock.Advance(20 * time.Hour)
	require.NoError(t, s.engine.Stop(t.Context()))
	s.client = sandboxtest.Client(t, s.box, quickstream.WithIntentMetadata("")) // found by its reference
	s.engine = s.start()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.CommitLate(45 * time.Second), Times: 3}))
	params, begun := s.card(sandbox.CardAttempted), s.clock.Now()
	s.reaches(s.pay("A", params), approved, 10*time.Second)
	assert.Less(t, s.clock.Now().Sub(begun), time.Hour)
}
