// Package postgres keeps durable payments in PostgreSQL, for any number of processes
// and machines.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

const schema = "quickstream"

// Pgx returns the database of a pool. All tables stand in a schema of their own,
// "quickstream", beside the merchant's: the pool's role has to be allowed to make it,
// or to own it.
//
// The engine uses connections of the pool: for each worker one or two, and two for the
// queue. What is committed has to be on disk: where synchronous_commit or fsync is off
// the engine does not start. A migration opens one connection more, outside of the pool.
func Pgx(pool *pgxpool.Pool) durable.Database[pgx.Tx] { return pgxDatabase{pool} }

type pgxDatabase struct{ pool *pgxpool.Pool }

func (d pgxDatabase) Begin(ctx context.Context) (pgx.Tx, error) { return d.pool.Begin(ctx) }

func (pgxDatabase) Commit(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) }

func (pgxDatabase) Rollback(ctx context.Context, tx pgx.Tx) error { return tx.Rollback(ctx) }

func (pgxDatabase) Exec(ctx context.Context, tx pgx.Tx, query string, args ...any) (int64, error) {
	tag, err := tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (pgxDatabase) Query(ctx context.Context, tx pgx.Tx, query string, args ...any) (database.Rows, error) {
	return tx.Query(ctx, query, args...)
}

func (pgxDatabase) Words() database.Words {
	return database.Words{
		Jobs:      schema + ".river_job",
		Now:       "(extract(epoch from clock_timestamp()) * 1000000)::bigint",
		ForUpdate: " FOR UPDATE", SkipLocked: " FOR UPDATE SKIP LOCKED",
	}
}

func (pgxDatabase) Check(ctx context.Context, tx pgx.Tx) error {
	var commit, sync string
	if err := tx.QueryRow(ctx, "SELECT current_setting('synchronous_commit'), current_setting('fsync')").Scan(&commit, &sync); err != nil {
		return err
	}
	if commit == "off" {
		return errors.New("synchronous_commit is off: a crash of the database loses claims, and a lost claim is a second charge")
	}
	if sync == "off" {
		return errors.New("fsync is off: a crash of the machine loses claims, and a lost claim is a second charge")
	}
	var history string
	if err := tx.QueryRow(ctx, "SELECT "+identity).Scan(&history); err != nil {
		return fmt.Errorf("a failover or a restored backup could not be recognised: the role needs pg_control_system, pg_walfile_name, pg_current_wal_insert_lsn, and a server that is no standby: %w", err)
	}
	return nil
}

// identity changes when a dump is read back, because its tables get other numbers, and when
// a base backup is recovered or a standby is promoted, because that begins a timeline. A base
// backup that is started as it is stays in the timeline of its server, and so does a copied
// volume. The timeline is that of the next record to be written: pg_control_checkpoint shows
// a new one only after a checkpoint, up to a minute later.
const identity = `(SELECT s.system_identifier || '/' || ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int
	|| '/' || d.oid || '/' || 'quickstream.payment'::regclass::oid
	FROM pg_control_system() s, pg_database d WHERE d.datname = current_database())`

func (pgxDatabase) Restored(ctx context.Context, tx pgx.Tx) (restored bool, err error) {
	err = tx.QueryRow(ctx, "SELECT NOT EXISTS (SELECT FROM quickstream.meta WHERE name = 'history' AND value = "+identity+")").Scan(&restored)
	return restored, err
}

func (d pgxDatabase) Adopt(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `INSERT INTO quickstream.meta (name, value) VALUES ('history', `+identity+`)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`)
	return err
}

func (d pgxDatabase) Claim(ctx context.Context, tx pgx.Tx) (func() error, error) {
	restored, err := d.Restored(ctx, tx)
	if restored {
		err = database.ErrRestored
	}
	return func() error { return nil }, err
}

func (d pgxDatabase) Queue(config *river.Config) (*river.Client[pgx.Tx], error) {
	config.Schema = schema
	return river.NewClient(riverpgxv5.New(d.pool), config)
}

// Migrate runs in several transactions under one lock: some of River's migrations use what
// an earlier one has committed.
func (d pgxDatabase) Migrate(ctx context.Context, up bool, f func(tx pgx.Tx) error) error {
	migrator, err := rivermigrate.New(riverpgxv5.New(d.pool), &rivermigrate.Config{Schema: schema})
	if err != nil {
		return err
	}
	unlock, err := d.lockMigration(ctx)
	if err != nil {
		return fmt.Errorf("the lock of migrations: %w", err)
	}
	defer unlock()
	if !up {
		if err := pgx.BeginFunc(ctx, d.pool, f); err != nil {
			return err
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionDown, &rivermigrate.MigrateOpts{TargetVersion: -1}); err != nil {
			return fmt.Errorf("river's tables: %w", err)
		}
		_, err := d.pool.Exec(ctx, "DROP SCHEMA IF EXISTS "+schema)
		return err
	}
	// A role that owns the schema need not be allowed to make one.
	var missing bool
	if err := d.pool.QueryRow(ctx, "SELECT to_regnamespace($1) IS NULL", schema).Scan(&missing); err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	if missing {
		if _, err := d.pool.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
			return fmt.Errorf("the schema: %w", err)
		}
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("river's tables: %w", err)
	}
	return pgx.BeginFunc(ctx, d.pool, f)
}

// migrationLock is the key of the advisory lock that every migration holds. It spells
// "quickstr" and never changes: versions of a program lock each other out by it.
const migrationLock int64 = 0x717569636b737472

// lockMigration waits until no other process migrates, or ctx ends. The lock belongs to a
// connection outside of the pool, which may have one connection only. The end of the
// connection ends the lock, also if the process is killed.
func (d pgxDatabase) lockMigration(ctx context.Context) (unlock func(), err error) {
	config := d.pool.Config()
	if config.BeforeConnect != nil { // it may set a password that changes
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	connection, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	unlock = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = connection.Close(ctx)
	}
	for _, statement := range []string{
		// The server's limits are for queries: ctx limits the wait. Old servers do not have all of them.
		"SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout')",
		fmt.Sprintf("SELECT pg_advisory_lock(%d)", migrationLock),
	} {
		if _, err := connection.Exec(ctx, statement); err != nil {
			unlock()
			return nil, err
		}
	}
	return unlock, nil
}
