package explore

import (
	"cmp"
	"database/sql"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
)

const tablesOfSQLite = `CREATE TABLE orders (id text PRIMARY KEY, state text NOT NULL);
	CREATE TABLE reported (number integer PRIMARY KEY, payment text NOT NULL, before text NOT NULL, after text NOT NULL);
	CREATE TABLE history (number integer PRIMARY KEY, payment text NOT NULL, before text NOT NULL, after text NOT NULL);
	CREATE TRIGGER changes AFTER UPDATE OF state ON quickstream_write WHEN OLD.state <> NEW.state BEGIN
		INSERT INTO history (payment, before, after) VALUES (NEW.id, OLD.state, NEW.state); END;`

func onSQLite(t testing.TB, sc scenario[*sql.Tx], m mutant) *scene[*sql.Tx] {
	file := filepath.Join(t.TempDir(), "shop.db")
	db, err := sqlite.Open(file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, faster := range []string{"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA synchronous = OFF"} { // nobody else opens it, and it need not survive
		_, err := db.Exec(faster)
		require.NoError(t, err)
	}
	require.NoError(t, durable.MigrateUp(t.Context(), sqlite.DB(db)))
	mark := func() func() { // a mark that is behind would show no restore
		text, err := os.ReadFile(file + ".mark")
		require.NoError(t, err)
		return func() { require.NoError(t, os.WriteFile(file+".mark", text, 0o600)) }
	}
	return newScene(t, sc, m, sqlite.DB(db), func() durable.Database[*sql.Tx] { return sqlite.DB(db) }, mark, tablesOfSQLite)
}

const (
	replayVariable = "DURABLE_SCHEDULE"
	boundVariable  = "DURABLE_PREEMPTIONS"
)

// TestSchedulesOnSQLite runs every schedule of all scenarios with one preemption, where each transaction is a step, and
// at most one process ends. .ci/long runs them with two.
func TestSchedulesOnSQLite(t *testing.T) {
	total := 0
	for _, sc := range scenarios[*sql.Tx]() {
		preemptions := 1 + more(t)
		t.Run(sc.name, func(t *testing.T) {
			total += explored(t, onSQLite(t, sc, mutant{}), Options{Preemptions: preemptions, Deaths: 1, Atomic: true})
		})
	}
	counted(t, total, 900)
}

// TestSchedulesOnPostgres runs every schedule of some scenarios with one preemption, where each
// statement is a step: two transactions are open at a time, and wait for each other. .ci/long
// runs all scenarios.
func TestSchedulesOnPostgres(t *testing.T) {
	server, total := postgresServer(t), 0
	for _, sc := range scenarios[pgx.Tx]() {
		if sc.fine = true; !sc.meets && more(t) == 0 {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			total += explored(t, onPostgres(t, server, sc, mutant{}), Options{Preemptions: max(1, more(t))})
		})
	}
	counted(t, total, 100)
}

// more returns how many preemptions DURABLE_PREEMPTIONS adds: none by default, and one in .ci/long.
func more(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv(boundVariable), "0"))
	require.NoError(t, err)
	return n
}

// counted checks that no schedules were lost, if all were run.
func counted(t *testing.T, total, atLeast int) {
	t.Helper()
	t.Logf("%d schedules", total)
	if run := flag.Lookup("test.run").Value.String(); !strings.Contains(run, "/") && os.Getenv(replayVariable) == "" && !quick {
		assert.GreaterOrEqual(t, total, atLeast)
	}
}

// explored runs all schedules of a world, and returns how many there are.
func explored(t *testing.T, w World, o Options) int {
	t.Helper()
	if schedule := os.Getenv(replayVariable); schedule != "" {
		steps, err := Replay(w, schedule)
		t.Log("\n" + strings.Join(steps, "\n"))
		require.NoError(t, err)
		return 1
	}
	if quick {
		o.Preemptions, o.Most = 1, 20
	}
	begun := time.Now()
	r := Run(w, o)
	t.Logf("%d schedules in %d runs, %.1f s", r.Schedules, r.Runs, time.Since(begun).Seconds())
	if o.Atomic {
		assert.Zero(t, r.Diverged, "a schedule has not gone as before")
	}
	if v := r.Shortest(); v != nil {
		t.Errorf("%d of %d schedules are wrong; the shortest has %d preemptions:\n%s\n%v\n%s='%s' go -C durable/internal/enginetest test -v -run '%s' ./explore",
			len(r.Violations), r.Schedules, v.Preemptions, strings.Join(v.Steps, "\n"), v.Err, replayVariable, v.Schedule, exactly(t.Name()))
	}
	return r.Schedules
}

// exactly is the pattern of one test.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.ReplaceAll(strings.Join(parts, "/"), "'", ".")
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // many small runs
	m.Run()
}
