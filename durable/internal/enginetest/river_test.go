package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/durabletest"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func (s *shop[TTx]) jobs() string { return s.db.Dialect().Jobs }

// TestJobs: a job that is deleted, cancelled or discarded in River's interface, or that runs although its work is done,
// changes nothing: the payment gets its outcome, and is made once.
func TestJobs(t *testing.T) { everywhere(t, testJobs[*sql.Tx], testJobs[pgx.Tx]) }

func testJobs[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	const ended = "finalized_at" //nolint:misspell // River's column
	for i, statement := range []string{
		"DELETE FROM %s", "UPDATE %s SET state = 'cancelled', " + ended + " = " + db.Dialect().JobTime, "UPDATE %s SET state = 'discarded', " + ended + " = " + db.Dialect().JobTime,
		"UPDATE %s SET state = 'running', attempt = 1, attempted_at = " + db.Dialect().JobTime,
	} {
		order := fmt.Sprint("order ", i)
		require.NoError(t, s.Engine().Pause(ctx, "Kim", "somebody uses River's interface"))
		s.pay(order, s.stored())
		eventually(s.T, func() bool {
			return db.exec(ctx, fmt.Sprintf(statement+" WHERE queue = 'quickstream_send' AND state <> 'completed' AND args ->> 'id' = '%s'", s.jobs(), order)) == nil
		}, "the job is changed")
		require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
		s.Advance(time.Minute)
		if i < 3 {
			s.Daily()
			w, err := s.Engine().Wait(ctx, order)
			require.NoError(t, err)
			assert.True(t, w.Paid())
		}
		assert.True(t, s.Settled(order).Paid())
		assert.Equal(t, 1, s.charged(order))
	}
	// All jobs of what is done run again.
	require.NoError(t, db.exec(ctx, "UPDATE "+s.jobs()+" SET state = 'available', "+ended+" = NULL WHERE state = 'completed' AND queue IN ('quickstream_send', 'quickstream_notify', 'quickstream_lookup')"))
	s.pay("last", s.stored())
	s.Settled("last")
	for i := range 4 {
		assert.Equal(t, 1, s.charged(fmt.Sprint("order ", i)))
		assert.Equal(t, []string{"approved"}, s.names(fmt.Sprint("order ", i)))
	}
}

// TestTakeOver: a job that a killed process was running on a file runs again at once in the next one, which no other process
// can have started.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	s := open(t, onFile(t, t.TempDir()+"/shop.db"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "it is killed"))
	s.pay("A", s.stored())
	require.NoError(t, s.Engine().Stop(ctx))
	require.NoError(t, s.db.exec(ctx, "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = "+s.db.Dialect().JobTime+" WHERE queue = 'quickstream_send'"))
	s.Kill()
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
	w, err := s.Engine().Wait(ctx, "A")
	require.NoError(t, err)
	assert.True(t, w.Paid())
}

// TestClocks: the database's clock decides. If it is two hours from this machine's clock, by which River works, a payment
// is still sent and looked up, and its hook runs at once.
func TestClocks(t *testing.T) { everywhere(t, testClocks[*sql.Tx], testClocks[pgx.Tx]) }

func testClocks[TTx any](t *testing.T, db store[TTx]) {
	for _, apart := range []time.Duration{-2 * time.Hour, 2 * time.Hour} {
		db.SetNow(func(now string) string {
			if strings.HasPrefix(now, "clock_timestamp") {
				return fmt.Sprintf("(%s + interval '%d seconds')", now, int(apart.Seconds()))
			}
			return fmt.Sprintf("(%s + %d)", now, apart.Microseconds())
		})
		box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
		reported := 0
		engine, err := durable.New(t.Context(), db.Database, client, durable.Options[TTx]{Installation: "shop", ServiceRetries: serviceRetries(), OnOutcome: func(context.Context, TTx, durable.OutcomeChange) error {
			reported++
			return nil
		}})
		require.NoError(t, err)
		_ = engine.ConfirmFacility(t.Context(), "Kim", "another sandbox")
		require.NoError(t, engine.Start(t.Context()))
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.StatusAfterCommit(502, sandbox.HTML), Times: 1}))
		begun := time.Now()
		order := fmt.Sprint("order ", apart)
		token, err := sandboxtest.CardToken(t.Context(), client, sandbox.CardAttempted)
		require.NoError(t, err)
		commit(t, engine, db, durable.NewWrite{ID: order, Order: order}, params(quickstream.FromSingleUseToken(token)))
		w, err := engine.Wait(t.Context(), order)
		require.NoError(t, err)
		assert.True(t, w.Paid())
		assert.Less(t, time.Since(begun), 2*time.Minute)
		assert.WithinDuration(t, time.Now().Add(apart), w.Written, time.Minute)
		require.NoError(t, engine.Stop(context.WithoutCancel(t.Context())))
		assert.Equal(t, 1, reported)
		assert.Len(t, box.Ledger(), 1)
	}
	db.SetNow(func(now string) string { return now })
}

// hanging is a transport on which requests hang.
type hanging struct {
	http.RoundTripper
	mu  sync.Mutex
	end chan struct{}
}

func (h *hanging) set(hangs bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end != nil {
		close(h.end)
		h.end = nil
	}
	if hangs {
		h.end = make(chan struct{})
	}
}

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.mu.Lock()
	end := h.end
	h.mu.Unlock()
	if end != nil {
		select {
		case <-end:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
		return nil, io.ErrUnexpectedEOF // the calls that hung stay lost
	}
	return h.RoundTripper.RoundTrip(r)
}

// TestHang: when the service is back after a hang of all calls, a new payment gets through within ten seconds. No more
// outcomes are unknown than Workers, and one for each trial.
func TestHang(t *testing.T) {
	t.Parallel()
	db := onFile(t, t.TempDir()+"/shop.db")
	box, _ := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota, a.LookupLag = 0, 0 }))
	way := &hanging{RoundTripper: box.HTTPClient().Transport}
	client := sandboxtest.Client(t, box, quickstream.WithHTTPClient(&http.Client{Transport: way}), quickstream.WithAttemptTimeout(60*time.Second), quickstream.WithoutResend())
	browser := sandboxtest.Client(t, box)
	engine, err := durable.New(t.Context(), db.Database, client, durable.Options[*sql.Tx]{
		Installation: "shop", ServiceRetries: serviceRetries(), Workers: 3, OnOutcome: func(context.Context, *sql.Tx, durable.OutcomeChange) error { return nil },
	})
	require.NoError(t, err)
	require.NoError(t, engine.Start(t.Context()))
	defer func() { _ = engine.Stop(context.Background()) }()
	number := 0
	order := func() string {
		number++
		id := fmt.Sprint("order ", number)
		token, err := sandboxtest.CardToken(t.Context(), browser, sandbox.CardAttempted)
		require.NoError(t, err)
		commit(t, engine, db, durable.NewWrite{ID: id, Order: id}, params(quickstream.FromSingleUseToken(token)))
		return id
	}
	way.set(true)
	for range 30 {
		order()
	}
	eventually(t, func() bool { return !healthOf(t, engine).Paused.IsZero() }, "it is paused")
	h := healthOf(t, engine)
	assert.LessOrEqual(t, h.Unknown, 3+3, "no more than are wanted, twice at most")
	way.set(false)
	begun := time.Now()
	w, err := engine.Wait(t.Context(), order())
	require.NoError(t, err)
	assert.True(t, w.Paid())
	assert.Less(t, time.Since(begun), 10*time.Second)
	t.Logf("a new customer got through after %s, with %d unknown", time.Since(begun).Round(10*time.Millisecond), h.Unknown)
	eventually(t, func() bool { return healthOf(t, engine).Writes[durable.StateQueued] == 0 }, "the queue is drained")
	t.Logf("drained after %s", time.Since(begun).Round(10*time.Millisecond))
}

// TestLateAfterPause: payments that are too old when the service is back end together, before new orders are sent, and not in a
// trial each, of which there is one every two seconds.
func TestLateAfterPause(t *testing.T) {
	t.Parallel()
	s := open(t, onFile(t, t.TempDir()+"/shop.db"))
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(503, sandbox.ServiceError)})
	s.pay("first", s.card(sandbox.CardAttempted))
	eventually(s.T, func() bool { return !s.health().Paused.IsZero() }, "it is paused")
	const late = 20
	for i := range late {
		s.pay(fmt.Sprint("order ", i), s.card(sandbox.CardAttempted))
	}
	ctx := t.Context()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "no trial while the clock moves"))
	eventually(s.T, func() bool { return s.health().Writes[durable.StateSending] == 0 }, "no trial is under way")
	s.Advance(2 * time.Hour)
	s.Sandbox.ClearFaults()
	s.Sandbox.ResetRequests()
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "the clock has moved"))
	eventually(s.T, func() bool { return s.health().Writes[durable.StateQueued] == 0 }, "what is too late has ended")
	trials := 0
	for _, r := range s.Sandbox.Requests() {
		if r.Operation == "GET /transactions" { // Client.Check
			trials++
		}
	}
	assert.Less(t, trials, late/2)
	for i := range late {
		assert.Equal(t, "not_sent.too_late", s.get(fmt.Sprint("order ", i)).Name())
	}
	s.pay("new", s.card(sandbox.CardAttempted))
	eventually(s.T, func() bool { return s.get("new").Paid() }, "a new customer gets through")
	assert.Equal(t, 0, s.charged("first"))
}

// TestChaos: many orders, lost answers and killed engines on both databases: nothing is charged twice or lost, and no correct
// program meets a deadlock.
func TestChaos(t *testing.T) { everywhere(t, testChaos[*sql.Tx], testChaos[pgx.Tx]) }

func testChaos[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.Chaos(durabletest.ChaosOptions{Orders: 60}, func(_ context.Context, order string) error {
		_, err := s.tryPay(durable.NewWrite{ID: order, Order: order}, s.card(sandbox.CardAttempted))
		return err
	})
}

// TestSleepingJob: a write that becomes due earlier than its job is looked up all the same.
func TestSleepingJob(t *testing.T) {
	everywhere(t, testSleepingJob[*sql.Tx], testSleepingJob[pgx.Tx])
}

func testSleepingJob[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3})
	s.pay("A", s.stored())
	due := s.Settled("A").Due
	require.False(t, due.IsZero(), "it is looked up again")
	eventually(s.T, func() bool {
		return db.exec(t.Context(), "UPDATE "+s.jobs()+" SET state = 'scheduled', scheduled_at = '2100-01-01 00:00:00' WHERE queue = 'quickstream_lookup' AND state NOT IN ('completed', 'running')") == nil
	}, "its job sleeps")
	s.Advance(time.Hour)
	s.Daily()
	eventually(s.T, func() bool { return !s.get("A").Due.Equal(due) }, "it is looked up")
}
