package explore

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/internal/needs"
)

const tablesOfPostgres = `CREATE TABLE orders (id text PRIMARY KEY, state text NOT NULL);
	CREATE TABLE reported (number bigserial PRIMARY KEY, payment text NOT NULL, before text NOT NULL, after text NOT NULL);
	CREATE TABLE history (number bigserial PRIMARY KEY, payment text NOT NULL, before text NOT NULL, after text NOT NULL);
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO history (payment, before, after) VALUES (NEW.id, OLD.state, NEW.state);
		RETURN NULL; END $$;
	CREATE TRIGGER changes AFTER UPDATE OF state ON quickstream.write FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION note();`

// waitingScene is a scene on a server, whose transactions wait for each other.
type waitingScene struct {
	*scene[pgx.Tx]
	monitor *pgx.Conn
}

// Waits asks the server whether an actor's transaction waits for a lock.
func (w waitingScene) Waits(actor int) bool {
	pid, open := w.pid(actor)
	if !open {
		return false
	}
	waits := false
	require.NoError(w, w.monitor.QueryRow(context.Background(), "SELECT pg_blocking_pids($1) && $2", pid, w.pids()).Scan(&waits))
	return waits
}

// pids are the server's processes that work for actors.
func (w waitingScene) pids() (pids []int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pid := range w.servers {
		pids = append(pids, int32(pid))
	}
	return pids
}

// onPostgres makes a scene on a database of its own.
func onPostgres(t testing.TB, server string, sc scenario[pgx.Tx], m mutant) waitingScene {
	ctx := context.Background()
	monitor, err := pgx.Connect(ctx, server)
	require.NoError(t, err)
	t.Cleanup(func() { _ = monitor.Close(ctx) })
	ask := func(statement string) {
		_, err := monitor.Exec(ctx, statement)
		require.NoError(t, err)
	}
	name := fmt.Sprintf("explore_%d_%d", os.Getpid(), time.Now().UnixNano()) // ids are not random here
	ask("CREATE DATABASE " + name)
	t.Cleanup(func() { ask("DROP DATABASE " + name + " WITH (FORCE)") })
	address, err := url.Parse(server)
	require.NoError(t, err)
	address.Path = name
	config, err := pgxpool.ParseConfig(address.String())
	require.NoError(t, err)
	config.ConnConfig.RuntimeParams["deadlock_timeout"] = "20ms"
	config.MaxConns = 10
	pool, err := pgxpool.NewWithConfig(ctx, config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db := postgres.Pgx(pool)
	require.NoError(t, durable.MigrateUp(ctx, db))
	for _, table := range []string{"write", "event", "notification", "meta", "river_job"} { // it locks tables
		_, err := pool.Exec(ctx, "ALTER TABLE quickstream."+table+" SET (autovacuum_enabled = false)")
		require.NoError(t, err)
	}
	s := newScene(t, sc, m, db, func() durable.Database[pgx.Tx] { return db }, func() func() { return func() {} }, tablesOfPostgres)
	s.process = func(tx pgx.Tx) uint32 { return tx.Conn().PgConn().PID() }
	return waitingScene{s, monitor}
}

// postgresServer is the address of a server. Without one the tests run on SQLite alone.
func postgresServer(t *testing.T) string {
	t.Helper()
	server := os.Getenv("DURABLE_TEST_POSTGRES")
	if server == "" {
		needs.Skip(t, "PostgreSQL: DURABLE_TEST_POSTGRES is not set")
	}
	return server
}
