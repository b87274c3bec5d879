package enginetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
)

func TestMigrations(t *testing.T) { everywhere(t, testMigrations[*sql.Tx], testMigrations[pgx.Tx]) }

// Up changes nothing where nothing is missing, down removes all, and what is made anew
// works. Beside tables of a later version a program accepts and reads; it sends nothing if they ask for
// what it does not know.
func testMigrations[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.settled(id)
	require.NoError(t, durable.MigrateUp(t.Context(), db.Database))
	s.read(id)
	require.NoError(t, s.engine.Stop(t.Context()))
	begin := func() error { return newEngine(t.Context(), db.Database) }
	require.NoError(t, begin())
	s.put("UPDATE quickstream.meta SET value = '999' WHERE name = 'schema'")
	s.put("UPDATE quickstream.meta SET value = '3' WHERE name = 'safety'")
	s.put("ALTER TABLE quickstream.write ADD COLUMN later text NOT NULL DEFAULT ''")
	db.anew()
	require.NoError(t, durable.MigrateUp(t.Context(), db.Database), "an older program that is started again")
	s.engine = s.start()
	waits := s.pay("B", s.stored())
	require.ErrorIs(t, s.sendCard("C"), quickstream.ErrNotSent)
	for range 5 { // longer than a lease
		s.clock.Advance(time.Minute)
		<-time.After(50 * time.Millisecond)
	}
	assert.Equal(t, queued, s.read(waits).Text())
	assert.True(t, s.status().Outdated)
	s.put("UPDATE quickstream.meta SET value = '2' WHERE name = 'safety'")
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Minute)
		return s.read(waits).Text() == approved
	}, time.Minute, 20*time.Millisecond)
	require.NoError(t, s.engine.Stop(t.Context()))
	assert.Equal(t, 2, s.charged())
	require.NoError(t, durable.MigrateDown(t.Context(), db.Database))
	require.NoError(t, durable.MigrateDown(t.Context(), db.Database))
	require.ErrorContains(t, begin(), "MigrateUp")
	require.NoError(t, durable.MigrateUp(t.Context(), db.Database))
	db.anew()
	s.engine = s.start()
	assert.Equal(t, approved, s.settled(s.pay("A", s.card(sandbox.CardAttempted))).Text())
}

// A database that may forget a commit is refused.
func TestUnsafeDatabases(t *testing.T) {
	for dsn, want := range map[string]string{
		"_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)": "synchronous", "_pragma=journal_mode(MEMORY)&_pragma=synchronous(FULL)": "journal_mode",
		"mode=memory": "memory",
	} {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "shop.db")+"?"+dsn)
		require.NoError(t, err)
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		require.NoError(t, durable.MigrateUp(t.Context(), sqlite.DB(db)), dsn)
		require.ErrorContains(t, newEngine(t.Context(), sqlite.DB(db)), want)
	}
	t.Run("PostgreSQL", func(t *testing.T) {
		address := emptyDatabase(t)
		onServer(t, address)
		db := poolOf(t, address, func(c *pgxpool.Config) { c.ConnConfig.RuntimeParams["synchronous_commit"] = "off" })
		require.ErrorContains(t, newEngine(t.Context(), db), "synchronous_commit")
	})
}

// poolOf returns the database of a pool that is configured otherwise.
func poolOf(t *testing.T, address string, edit func(*pgxpool.Config)) durable.Database[pgx.Tx] {
	t.Helper()
	config, err := pgxpool.ParseConfig(address)
	require.NoError(t, err)
	edit(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return postgres.Pgx(pool)
}

// newRole makes a role that has no rights yet. It returns what runs a statement as the
// database's owner, and the database as the role has it.
func newRole(t *testing.T, address string) (role string, run func(statement string), db durable.Database[pgx.Tx]) {
	t.Helper()
	role = "durable_" + strings.ToLower(rand.Text())
	run = func(statement string) {
		t.Helper()
		ctx := context.WithoutCancel(t.Context())
		connection, err := pgx.Connect(ctx, address)
		require.NoError(t, err)
		defer connection.Close(ctx)
		_, err = connection.Exec(ctx, statement)
		require.NoError(t, err)
	}
	run("CREATE ROLE " + role + " LOGIN")
	t.Cleanup(func() { run("DROP OWNED BY " + role + "; DROP ROLE " + role) })
	return role, run, poolOf(t, address, func(c *pgxpool.Config) { c.ConnConfig.User = role })
}

// A role that owns the schema migrates, also where it is not allowed to make one.
func TestSchemasOwner(t *testing.T) {
	role, run, db := newRole(t, emptyDatabase(t))
	run("CREATE SCHEMA quickstream AUTHORIZATION " + role)
	require.NoError(t, durable.MigrateUp(t.Context(), db))
}

// A server that does not let the role read its timeline is refused: a failover could not be
// recognised.
func TestTimelineIsRequired(t *testing.T) {
	address := emptyDatabase(t)
	require.NoError(t, newEngine(t.Context(), onServer(t, address).Database)) // which names the installation
	role, run, db := newRole(t, address)
	run("GRANT USAGE ON SCHEMA quickstream TO " + role)
	run("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA quickstream TO " + role)
	require.NoError(t, newEngine(t.Context(), db))
	run("REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC")
	err := newEngine(t.Context(), db)
	require.ErrorContains(t, err, "pg_walfile_name")
	require.ErrorContains(t, err, "failover")
}

func TestRetention(t *testing.T) { everywhere(t, testRetention[*sql.Tx], testRetention[pgx.Tx]) }

// What is over is emptied in its time, and never what is open, nor is a notification removed
// that may come again, however short the time. An order that was paid stays paid.
func testRetention[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db, func(o *durable.Options[TTx]) {
		o.Keep = durable.Keep{Payments: 10 * 24 * time.Hour, FollowUps: 10 * 24 * time.Hour, Others: 10 * 24 * time.Hour, Notifications: time.Hour}
	})
	s.listen()
	ids := map[string]string{}
	for name, set := range map[string]string{
		"paid": "", "charged twice": "state = 'double_charged', outcome = ''", "declined": isDeclined, "resolving": isResolving, "not found": isNotFound,
		"declined by a clock behind": isDeclined, "escalated": isEscalated, "refused by OnOutcome": "pending = '[]'", "due": "",
	} {
		ids[name] = s.settled(s.pay(name, s.card(sandbox.CardAttempted))).ID
		if set != "" {
			s.corrupt(set, ids[name])
		}
	}
	s.corrupt("changed_at = $2", ids["declined by a clock behind"], time.UnixMicro(1))
	s.corrupt("next_at = $2", ids["due"], time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	notifications := func() int { return s.count("SELECT count(*) FROM quickstream.notification") }
	s.until(0, func(status durable.Health) bool { return status.Received == 0 })
	require.NotZero(t, notifications())
	for range 7 {
		s.clock.Advance(24 * time.Hour)
		<-time.After(60 * time.Millisecond)
	}
	require.NotZero(t, notifications(), "they may be delivered again")
	assert.False(t, s.emptied(ids["declined by a clock behind"]))
	require.Eventually(t, func() bool {
		s.clock.Advance(12 * time.Hour)
		return s.emptied(ids["declined"])
	}, 2*time.Minute, 60*time.Millisecond)
	assert.Zero(t, notifications())
	over := []string{"paid", "charged twice", "declined", "declined by a clock behind"}
	for name, id := range ids {
		assert.Equal(t, slices.Contains(over, name), s.emptied(id), name)
		p := s.read(id)
		assert.Equal(t, "12.34", p.Amount.String(), name)
		assert.NotEmpty(t, p.ReceiptNumber, name)
		if !strings.HasPrefix(name, "declined") {
			assert.Equal(t, id, s.blocked(name, s.card(sandbox.CardAttempted)), name)
		}
	}
	assert.Equal(t, len(ids), s.charged())
}

// emptied reports whether retention has emptied a write: what was sent is gone, and its history.
func (s *shop[TTx]) emptied(id string) bool {
	s.Helper()
	return s.count(`SELECT count(*) FROM quickstream.write w WHERE id = $1 AND intent = '' AND lookups = '' AND reference = '' AND decision = ''
		AND NOT EXISTS (SELECT 1 FROM quickstream.event WHERE write_id = w.id)`, id) == 1
}

func TestRefundsAreKept(t *testing.T) {
	everywhere(t, testRefundsAreKept[*sql.Tx], testRefundsAreKept[pgx.Tx])
}

// Refunds limit those to come for ever, and an emptied payment can be refunded.
func testRefundsAreKept[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db, func(o *durable.Options[TTx]) { o.Keep.Payments, o.Keep.FollowUps = 10*24*time.Hour, 10*24*time.Hour })
	p := s.settledLongAgo("A")
	refund := s.settled(s.refund(p.ID, 800))
	require.Eventually(t, func() bool {
		s.clock.Advance(12 * time.Hour)
		return s.emptied(p.ID) && s.emptied(refund.ID)
	}, 2*time.Minute, 60*time.Millisecond)
	_, err := s.tryRefund(p.ID, 800)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	s.reaches(s.refund(p.ID, 434), approved, time.Minute)
	assert.Zero(t, s.net("A"))
}

// count returns the number that a statement reads.
func (s *shop[TTx]) count(statement string, args ...any) int {
	s.Helper()
	return one[int](s, statement, args...)
}

// one returns the value that a statement reads.
func one[Value, TTx any](s *shop[TTx], statement string, args ...any) (value Value) {
	s.Helper()
	require.NoError(s, s.commit(func(tx TTx) error {
		rows, err := s.db.Join(tx).Query(s.Context(), statement, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		require.True(s, rows.Next())
		return rows.Scan(&value)
	}))
	return value
}

func TestClockLeaps(t *testing.T) { everywhere(t, testClockLeaps[*sql.Tx], testClockLeaps[pgx.Tx]) }

// A machine whose clock is a year ahead for a moment empties nothing, and the daily work of
// the others goes on.
func testClockLeaps[TTx any](t *testing.T, db store[TTx]) {
	forgets := func(o *durable.Options[TTx]) { o.Keep.Payments, o.Keep.FollowUps = 90*24*time.Hour, 90*24*time.Hour }
	s := open(t, db, forgets)
	var ids []string
	for i := range 5 {
		ids = append(ids, s.settled(s.pay(fmt.Sprint("order ", i), s.card("4111111111444496"))).ID)
	}
	require.NoError(t, s.engine.Stop(t.Context()))
	wrong := s.startAhead(365*24*time.Hour, forgets)
	<-time.After(500 * time.Millisecond)
	require.NoError(t, wrong.Stop(t.Context()))
	for _, id := range ids {
		require.False(t, s.emptied(id))
	}
	// What such a machine has once written counts for nothing.
	done := time.Now().AddDate(1, 0, 0).UnixMicro()
	s.put("UPDATE quickstream.meta SET value = $1 WHERE name = 'retention'", fmt.Sprint(done, " ", done))
	s.engine = s.start(forgets)
	require.Eventually(t, func() bool {
		s.clock.Advance(24 * time.Hour)
		return s.emptied(ids[0])
	}, 2*time.Minute, 20*time.Millisecond)
	assert.Less(t, time.Until(s.clock.Now()), 200*24*time.Hour)
}

// log is a log that many may write to.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func TestLogs(t *testing.T) { everywhere(t, testLogs[*sql.Tx], testLogs[pgx.Tx]) }

// The log says what went wrong, and neither handles nor keys nor the service's messages.
func testLogs[TTx any](t *testing.T, db store[TTx]) {
	written := new(log)
	s := open(t, db, func(o *durable.Options[TTx]) {
		o.Logger = slog.New(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.OnEvent = func(context.Context, TTx, *webhooks.Notification) error { return assert.AnError }
	})
	s.listen()
	params := s.card(sandbox.CardAttempted)
	paid := s.settled(s.pay("A", params))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 3}))
	lost := s.reaches(s.pay("B", s.card(sandbox.CardAttempted)), approved, time.Minute)
	refused := s.card(sandbox.CardAttempted)
	refused.SupplierBusinessCode = "NOBODY"
	s.settled(s.pay("C", refused))
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	s.until(0, func(status durable.Health) bool { return status.Held > 0 })
	s.corrupt(isResolving+", intent = 'x', next_at = $2, due_at = $2", lost.ID, time.UnixMicro(1))
	require.Eventually(t, func() bool {
		written.mu.Lock()
		defer written.mu.Unlock()
		return bytes.Contains(written.text.Bytes(), []byte("another version"))
	}, 2*time.Minute, 20*time.Millisecond)
	status := s.status()
	assert.Equal(t, 1, status.Stuck)
	written.mu.Lock()
	defer written.mu.Unlock()
	keys := s.box.Keys()
	secrets := []string{paid.ReceiptNumber, lost.ReceiptNumber, keys.Secret, keys.Publishable, webhookSecret, sandbox.CardAttempted, "waits@example.com"}
	for _, entry := range s.box.Ledger() {
		secrets = append(secrets, entry.Receipt, entry.PaymentReferenceNumber)
	}
	for _, entry := range s.box.Agreements() {
		secrets = append(secrets, entry.Token)
	}
	for _, secret := range append(secrets, "level=INFO", "level=DEBUG") { // the queue's, every few seconds
		assert.NotContains(t, written.text.String(), secret)
	}
}

type traceKey struct{}

func TestTraces(t *testing.T) { everywhere(t, testTraces[*sql.Tx], testTraces[pgx.Tx]) }

// What a payment was sent under, or reversed, is what look-ups and voids go on with, and
// what OnOutcome is told under. What a notification was delivered under is what its job goes
// on with.
func testTraces[TTx any](t *testing.T, db store[TTx]) {
	traces := make(chan any, 10)
	var s *shop[TTx]
	s = open(t, db, func(o *durable.Options[TTx]) {
		o.Carrier = func(ctx context.Context) string {
			if ctx.Value(traceKey{}) == "delivery" {
				return "delivery"
			}
			return "trace"
		}
		o.Continue = func(ctx context.Context, carrier string) context.Context {
			return context.WithValue(ctx, traceKey{}, carrier+" continued")
		}
		o.OnEvent = func(ctx context.Context, _ TTx, _ *webhooks.Notification) error {
			traces <- ctx.Value(traceKey{})
			return nil
		}
		o.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			if _, follows := change.Write.(durable.FollowUp); follows || change.Write.Common().Order == "looked up" {
				traces <- ctx.Value(traceKey{})
			}
			return s.told(ctx, tx, change)
		}
	})
	s.box.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	s.reaches(s.pay("looked up", s.card(sandbox.CardAttempted)), approved, time.Hour)
	assert.Equal(t, "trace continued", <-traces)
	s.settled(s.reverse(s.settled(s.pay("reversed", s.card(sandbox.CardAttempted))).ID))
	assert.Equal(t, "trace continued", <-traces)
	s.listen(func(inbox http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			inbox.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), traceKey{}, "delivery")))
		})
	})
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	assert.Equal(t, "delivery continued", <-traces)
}

func TestSkew(t *testing.T) { everywhere(t, testSkew[*sql.Tx], testSkew[pgx.Tx]) }

// How far the service's clock is ahead is measured by its answers.
func testSkew[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ClockSkew = 90 * time.Second }))
	s.engine = s.start()
	status := s.status()
	assert.NotZero(t, status.ServiceAt, "its businesses were read")
	s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	status = s.status()
	assert.InDelta(t, 90, status.ServiceAhead.Seconds(), 30, "a busy machine reads the time late")
	assert.Less(t, status.DatabaseAhead.Abs(), 30*time.Second)
}
