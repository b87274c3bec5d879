// Package postgres keeps durable payments in PostgreSQL, for any number of processes
// and machines.
package postgres

import (
	"context"
	_ "embed" // the schema
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// Option changes the database of a pool.
type Option func(*pgxDatabase)

// WithSchema names the schema of all tables, "quickstream" by default: 1 to 40 lower-case letters, digits and
// underscores, and no digit first. Installations that share a database need a schema each. Never
// change the name: the engine finds no payment in another schema.
func WithSchema(name string) Option { return func(d *pgxDatabase) { d.schema = name } }

// WithPooler is for a pool whose connections lead through a pooler in transaction mode, such as pgbouncer,
// with default_query_exec_mode=exec in its address. LISTEN does not work through it, so jobs are found up
// to half a second later. The pooler must send reads to the primary too.
func WithPooler() Option { return func(d *pgxDatabase) { d.pooled = true } }

// Pgx returns the database of a pool. All tables are in a schema of their own, beside the
// merchant's: the pool's role must be allowed to make the schema, or own it.
//
// The engine uses connections of the pool: one for each job in a transaction, of which up to six times
// Options.Workers run, up to eight for moments of its regular work, and at most three for the queue. An idle engine holds
// only those three. Allow four at least: with fewer a hook that takes a second one may wait for ever. A
// commit has to reach the disk: if synchronous_commit or fsync is off the engine does not start.
func Pgx(pool *pgxpool.Pool, opts ...Option) durable.Database[pgx.Tx] { return newDatabase(pool, opts) }

func newDatabase(pool *pgxpool.Pool, opts []Option) *pgxDatabase {
	d := &pgxDatabase{pool: pool, schema: "quickstream"}
	d.seen.Store(&identity{})
	for _, opt := range opts {
		opt(d)
	}
	// Not the transaction's time: a merchant's transaction may be old.
	d.Statements = database.Statements{Replacer: strings.NewReplacer("quickstream.", d.schema+"."), Time: "clock_timestamp()"}
	return d
}

type pgxDatabase struct {
	database.Statements
	pool   *pgxpool.Pool
	schema string
	pooled bool
	seen   atomic.Pointer[identity] // the latest
}

//go:embed schema/0001.sql
var schema string

func (*pgxDatabase) Schema() []string { return []string{schema} }

func (d *pgxDatabase) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	found, err := d.pool.Query(ctx, d.Text(query), d.Arguments(args)...)
	return database.Converted{Rows: found}, err
}

func (d *pgxDatabase) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return d.Join(tx), nil
}

func (d *pgxDatabase) Join(tx pgx.Tx) database.Tx { return &transaction{tx: tx, d: d} }
func (*pgxDatabase) Leave(tx database.Tx) pgx.Tx  { return tx.(*transaction).tx } //nolint:forcetypeassert // there is no other

func (d *pgxDatabase) Dialect() database.Dialect {
	return database.Dialect{
		Jobs: "quickstream.river_job", JobTime: "now()", ForUpdate: " FOR UPDATE", SkipLocked: " FOR UPDATE SKIP LOCKED",
		// Logical replication and a load of data alone leave the sequence behind.
		Sequences: []string{"SELECT setval(pg_get_serial_sequence('quickstream.river_job', 'id'), greatest((SELECT coalesce(max(id), 0) FROM quickstream.river_job), " +
			"(SELECT last_value FROM quickstream.river_job_id_seq)) + 1)"},
	}
}

func (d *pgxDatabase) Check(ctx context.Context, joined database.Tx) error {
	if !validSchema.MatchString(d.schema) {
		return errInvalidSchema
	}
	tx := d.Leave(joined)
	if err := d.checkPooler(ctx, tx); err != nil {
		return err
	}
	var commit, fsync, shown string
	var standbys bool
	if err := tx.QueryRow(ctx, `SELECT current_setting('synchronous_commit'), current_setting('fsync'), current_setting('client_min_messages'),
		current_setting('synchronous_standby_names') <> ''`).Scan(&commit, &fsync, &shown, &standbys); err != nil {
		return err
	}
	switch {
	case commit == "off":
		return errors.New("synchronous_commit is off: a crash of the database loses claims, and a lost claim is a second charge")
	case fsync == "off":
		return errors.New("fsync is off: a crash of the machine loses claims, and a lost claim is a second charge")
	case standbys && !slices.Contains([]string{"on", "remote_write", "remote_apply"}, commit):
		return fmt.Errorf("synchronous_commit is %s although there are synchronous standbys: a promotion loses claims, and a lost claim is a second charge", commit)
	case standbys && shown == "error":
		return errors.New("client_min_messages is error although there are synchronous standbys: PostgreSQL only warns of a claim that they do not have, and a lost claim is a second charge")
	}
	if _, _, err := d.identify(ctx, joined); err != nil {
		return fmt.Errorf("a failover or a restored backup could not be recognised: the role needs pg_control_system, pg_walfile_name, pg_current_wal_insert_lsn, and a server that is no standby: %w", err)
	}
	return nil
}

func (d *pgxDatabase) Queue(config *river.Config) (database.Queue, error) {
	config.Schema, config.PollOnly = d.schema, d.pooled
	// Without the two indexes that the schema drops.
	config.ReindexerIndexNames = slices.DeleteFunc(river.ReindexerIndexNamesDefault(), func(name string) bool {
		return name == "river_job_args_index" || name == "river_job_metadata_index"
	})
	client, err := river.NewClient(riverpgxv5.New(d.pool), config)
	if err != nil {
		return nil, err
	}
	return database.River[pgx.Tx]{Client: client, Leave: d.Leave}, nil
}

// migrationLock is the key of the advisory lock that every migration holds. It spells
// "quickstr" and never changes: versions of a program lock each other out by it.
const migrationLock int64 = 0x717569636b737472

// Migrate runs in several transactions, because some of River's migrations use what an earlier one has committed. One more
// transaction holds the lock, so the lock ends with it, even if the process is killed.
func (d *pgxDatabase) Migrate(ctx context.Context, f func(tx database.Tx) error) error {
	switch {
	case !validSchema.MatchString(d.schema):
		return errInvalidSchema
	case d.pool.Config().MaxConns < 2:
		return errors.New("a migration needs two connections: set pool_max_conns")
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(d.pool), &rivermigrate.Config{Schema: d.schema})
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, d.pool, func(lock pgx.Tx) error {
		if err := d.lockMigration(ctx, lock); err != nil {
			return fmt.Errorf("the lock of migrations: %w", err)
		}
		// A role that owns the schema need not be allowed to make one.
		create := fmt.Sprintf("DO $$ BEGIN IF to_regnamespace('%[1]s') IS NULL THEN CREATE SCHEMA %[1]s; END IF; END $$", d.schema)
		if _, err := d.pool.Exec(ctx, create); err != nil {
			return fmt.Errorf("the schema: %w", err)
		}
		if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
			return fmt.Errorf("river's tables: %w", err)
		}
		return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return f(d.Join(tx)) })
	})
}

// lockMigration waits until no other process migrates, or ctx ends. It lifts the server's time limits, which are meant for
// queries; old servers lack some of them.
func (d *pgxDatabase) lockMigration(ctx context.Context, tx pgx.Tx) error {
	for _, statement := range []string{
		`SELECT set_config(name, '0', true) FROM pg_settings
			WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`,
		fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", migrationLock),
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return d.checkPooler(ctx, tx)
}

var errInvalidSchema = errors.New("the name of the schema must have 1 to 40 lower-case letters, digits and underscores, and no digit first")

var validSchema = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,39}$`)
