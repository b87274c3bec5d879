package enginetest

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	deploys        = 12 // processes that start at once
	deployDeadline = 30 * time.Second
)

// Twelve processes that start at once migrate an empty database and make an engine each.
// None of them sees a database that looks restored.
func TestMigrateProcesses(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		testMigrateProcesses(t, func() string { return filepath.Join(t.TempDir(), "shop.db") })
	})
	t.Run("SQLite, opened otherwise", func(t *testing.T) { // transactions begin by reading
		testMigrateProcesses(t, func() string {
			return "file:" + filepath.Join(t.TempDir(), "shop.db") + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		postgresServer(t)
		testMigrateProcesses(t, func() string { return emptyDatabase(t) })
	})
}

func testMigrateProcesses(t *testing.T, empty func() string) {
	text, err := json.Marshal(workerConfig{Migrate: true})
	require.NoError(t, err)
	type process struct {
		in  io.WriteCloser
		out *bufio.Scanner
	}
	var processes []process
	for range deploys {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), workerVariable+"="+string(text))
		command.Stderr = os.Stderr
		in, err := command.StdinPipe()
		require.NoError(t, err)
		out, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		t.Cleanup(func() {
			_ = in.Close()
			_ = command.Wait()
		})
		p := process{in, bufio.NewScanner(out)}
		require.True(t, p.out.Scan()) // it runs
		processes = append(processes, p)
	}
	for range deployRounds {
		database := empty()
		for _, p := range processes {
			_, err := fmt.Fprintln(p.in, database)
			require.NoError(t, err)
		}
		for i, p := range processes {
			require.True(t, p.out.Scan())
			assert.Equal(t, "migrated", p.out.Text(), "process %d", i)
		}
	}
}

// migrateAll is a process that migrates the databases whose names it reads, one a line.
func migrateAll(names io.Reader, answers io.Writer) error {
	if _, err := fmt.Fprintln(answers, "ready"); err != nil {
		return err
	}
	lines := bufio.NewScanner(names)
	for lines.Scan() {
		answer := "migrated"
		if err := migrateOne(lines.Text()); err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		if _, err := fmt.Fprintln(answers, answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func migrateOne(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), deployDeadline)
	defer cancel()
	if strings.HasPrefix(name, "postgres") {
		pool, err := pgxpool.New(ctx, name)
		if err != nil {
			return err
		}
		defer pool.Close()
		return bringUp[pgx.Tx](ctx, postgres.Pgx(pool))
	}
	open := sqlite.Open
	if strings.HasPrefix(name, "file:") {
		open = func(name string) (*sql.DB, error) { return sql.Open("sqlite", name) }
	}
	db, err := open(name)
	if err != nil {
		return err
	}
	defer db.Close()
	return bringUp[*sql.Tx](ctx, sqlite.DB(db))
}

// bringUp is the start of a merchant's program.
func bringUp[TTx any](ctx context.Context, db durable.Database[TTx]) error {
	if err := durable.MigrateUp(ctx, db); err != nil {
		return err
	}
	if err := newEngine(ctx, db); err != nil {
		return err
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	change, err := db.History(ctx, tx)
	if err == nil && change != database.Same {
		err = errors.New("an empty database is taken for a restored one")
	}
	return errors.Join(err, tx.Rollback(ctx))
}

// newEngine makes an engine that does nothing, and tells whether it may.
func newEngine[TTx any](ctx context.Context, db durable.Database[TTx]) error {
	client, err := quickstream.NewClient(quickstream.CustomURL("http://127.0.0.1:9/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("NOBODY_SEC_key")})
	if err != nil {
		return err
	}
	off := resolve.ServiceRetriesOff()
	_, err = durable.New(ctx, db, client, durable.Options[TTx]{
		Installation: "shop", OnOutcome: func(context.Context, TTx, durable.OutcomeChange) error { return nil }, ServiceRetries: &off,
	})
	return err
}

// A pool of one connection migrates, also beside eleven others.
func TestMigratePoolOfOne(t *testing.T) {
	t.Parallel()
	one := func(address string) durable.Database[pgx.Tx] {
		return poolOf(t, address, func(c *pgxpool.Config) { c.MaxConns = 1 })
	}
	ctx, cancel := context.WithTimeout(t.Context(), deployDeadline)
	defer cancel()
	db := one(emptyDatabase(t))
	require.NoError(t, bringUp(ctx, db))
	require.NoError(t, durable.MigrateDown(ctx, db))

	address := emptyDatabase(t)
	var all sync.WaitGroup
	for range deploys {
		db := one(address)
		all.Go(func() { assert.NoError(t, bringUp(ctx, db)) })
	}
	all.Wait()
}

// A migration that fails lets the next one in, which completes the tables.
func TestMigrateAgain(t *testing.T) {
	t.Parallel()
	again := func(t *testing.T, up func() error, execute func(statement string) error, name string) {
		require.NoError(t, execute("CREATE TABLE "+name+" (id text)"))
		require.ErrorContains(t, up(), "already exists")
		require.NoError(t, execute("DROP TABLE "+name))
		require.NoError(t, up())
	}
	t.Run("SQLite", func(t *testing.T) {
		db := newFile(t)
		again(t, func() error { return bringUp(t.Context(), sqlite.DB(db)) }, func(statement string) error {
			_, err := db.ExecContext(t.Context(), statement)
			return err
		}, "quickstream_notification")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		pool, err := pgxpool.New(t.Context(), emptyDatabase(t))
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		execute := func(statement string) error {
			_, err := pool.Exec(t.Context(), statement)
			return err
		}
		require.NoError(t, execute("CREATE SCHEMA quickstream"))
		again(t, func() error { return bringUp(t.Context(), postgres.Pgx(pool)) }, execute, "quickstream.notification")
	})
}

// A migration waits for another one until its context ends, whatever limits the pool has
// for queries.
func TestMigrateWaits(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", testMigrateWaitsSQLite)
	t.Run("PostgreSQL", testMigrateWaitsPostgres)
}

func testMigrateWaitsSQLite(t *testing.T) {
	file := "file:" + filepath.Join(t.TempDir(), "shop.db")
	other, err := sql.Open("sqlite", file+"?_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close() })
	tx, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	db, err := sql.Open("sqlite", file) // without a busy_timeout
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	waits(t, func(ctx context.Context) error { return durable.MigrateUp(ctx, sqlite.DB(db)) }, tx.Rollback)
}

func testMigrateWaitsPostgres(t *testing.T) {
	address := emptyDatabase(t)
	db := poolOf(t, address, func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["lock_timeout"] = "200ms"
		user := c.ConnConfig.User
		c.ConnConfig.User = "nobody"
		c.BeforeConnect = func(_ context.Context, config *pgx.ConnConfig) error { // as for passwords that change
			config.User = user
			return nil
		}
	})
	other, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close(context.WithoutCancel(t.Context())) })
	_, err = other.Exec(t.Context(), "SELECT pg_advisory_lock(8175556574286410866)")
	require.NoError(t, err)

	waits(t, func(ctx context.Context) error { return durable.MigrateUp(ctx, db) }, func() error { return other.Close(t.Context()) })
}

func waits(t *testing.T, up func(ctx context.Context) error, letIn func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, up(ctx), context.DeadlineExceeded)
	ended := make(chan error, 1)
	go func() { ended <- up(t.Context()) }()
	select {
	case err := <-ended:
		require.Fail(t, "it did not wait", "%v", err)
	case <-time.After(500 * time.Millisecond):
	}
	require.NoError(t, letIn())
	require.NoError(t, <-ended)
}

func TestMigrateAdopts(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { testMigrateAdopts(t, sqlite.DB(newFile(t))) })
	t.Run("PostgreSQL", func(t *testing.T) {
		testMigrateAdopts(t, poolOf(t, emptyDatabase(t), func(*pgxpool.Config) {}))
	})
}

// A process that begins when the tables appear does not take them for restored ones, also
// if the process that made them is killed then.
func testMigrateAdopts[TTx any](t *testing.T, db durable.Database[TTx]) {
	change := database.Replaced
	require.NoError(t, durable.MigrateUp(t.Context(), beforeCommit[TTx]{db, func(tx database.Tx) (err error) {
		change, err = db.History(t.Context(), tx)
		return err
	}}))
	require.Equal(t, database.Same, change)
}

// beforeCommit is a database with something to do before a migration is committed.
type beforeCommit[TTx any] struct {
	durable.Database[TTx]
	do func(tx database.Tx) error
}

func (b beforeCommit[TTx]) Migrate(ctx context.Context, up bool, f func(tx database.Tx) error) error {
	return b.Database.Migrate(ctx, up, func(tx database.Tx) error { return cmp.Or(f(tx), b.do(tx)) })
}
