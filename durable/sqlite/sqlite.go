// Package sqlite keeps durable payments in a SQLite file, for one process.
// River's driver for SQLite is young. For production on several machines use
// package postgres: the program stays the same.
package sqlite

import (
	"context"
	"database/sql"
	_ "embed" // the schema
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// Open opens a file with the settings that [DB] needs: a write-ahead log of about 40 MB, every commit
// synced, writers that wait for each other, and one connection. That connection keeps its
// compiled statements, and [sql.Conn.Raw] gives it instead of the driver's own. End a
// transaction before you call a method of the engine that takes none: it needs the only
// connection.
func Open(file string) (*sql.DB, error) {
	pragmas := url.Values{
		"_pragma": {"journal_mode(WAL)", "busy_timeout(10000)", "synchronous(FULL)", "wal_autocheckpoint(10000)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	connector, err := modernc.NewConnector("file:" + (&url.URL{Path: file}).EscapedPath() + "?" + pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(keeping{connector})
	db.SetMaxOpenConns(1)
	return db, nil
}

// DB returns the database of an open file, which may hold the merchant's own tables
// too. It also holds River's tables, and those of the engine, which begin with
// "quickstream_". Beside the file is its mark, a file of the same name with ".mark" after
// it. The engine recognises a restored backup by the mark: leave it where it is when you
// restore.
func DB(db *sql.DB) durable.Database[*sql.Tx] {
	return &sqliteDatabase{db: db, Statements: database.Statements{
		Replacer: strings.NewReplacer("$", "?", "quickstream.", "quickstream_"), Time: "CAST(unixepoch('subsec') * 1000000 AS INTEGER)", Stored: storedAs,
	}}
}

type sqliteDatabase struct {
	database.Statements
	mark
	db *sql.DB
}

//go:embed schema/0001.sql
var schema string

func (*sqliteDatabase) Schema() []string { return []string{schema} }

func (d *sqliteDatabase) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return transaction{tx, d}, nil
}

func (d *sqliteDatabase) Join(tx *sql.Tx) database.Tx { return transaction{tx, d} }
func (*sqliteDatabase) Leave(tx database.Tx) *sql.Tx  { return tx.(transaction).tx } //nolint:forcetypeassert // there is no other

func (*sqliteDatabase) Dialect() database.Dialect {
	return database.Dialect{Jobs: "river_job", Alone: true, JobTime: "datetime('now', 'subsec')", WriteLock: "UPDATE quickstream.meta SET value = value WHERE name = ''"}
}

func (d *sqliteDatabase) Check(ctx context.Context, joined database.Tx) error {
	var file, journal string
	var synchronous int
	err := d.Leave(joined).QueryRowContext(ctx, `SELECT file, synchronous, journal_mode FROM pragma_database_list, pragma_synchronous, pragma_journal_mode
		WHERE name = 'main'`).Scan(&file, &synchronous, &journal)
	switch {
	case err != nil:
		return err
	case file == "":
		return errors.New("the database is in memory: a crash loses claims, and a lost claim is a second charge")
	case synchronous < 2:
		return errors.New("synchronous is not FULL: a crash of the machine loses claims, and a lost claim is a second charge")
	case journal == "off" || journal == "memory":
		return fmt.Errorf("journal_mode is %s: a crash loses the file", journal)
	}
	return nil
}

func (d *sqliteDatabase) Queue(config *river.Config) (database.Queue, error) {
	driver := riverDriver{riversqlite.New(d.db), make(chan string, 100)}
	client, err := river.NewClient(driver, config)
	if err != nil {
		return nil, err
	}
	return queue{database.River[*sql.Tx]{Client: client, Leave: d.Leave}, driver}, nil
}

type queue struct {
	database.River[*sql.Tx]
	driver riverDriver
}

// Insert uses River's fast insert: on SQLite it leaves out jobs that exist, and reads nothing back.
func (q queue) Insert(ctx context.Context, tx database.Tx, jobs []river.InsertManyParams) error {
	if _, err := q.InsertManyFastTx(ctx, q.Leave(tx), jobs); err != nil {
		return err
	}
	for _, job := range jobs {
		q.driver.signal(job.InsertOpts.Queue)
	}
	return nil
}

// Migrate implements [database.Database]. It tries until ctx ends: SQLite does not wait while another process makes the
// write-ahead log of a new file.
func (d *sqliteDatabase) Migrate(ctx context.Context, f func(tx database.Tx) error) error {
	for {
		err := d.tryMigrate(ctx, f)
		if busy := (*modernc.Error)(nil); !errors.As(err, &busy) || busy.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tryMigrate runs in one transaction that holds the file's write lock from its beginning. River
// deprecates that for PostgreSQL, whose types change by a commit; SQLite has no such types.
func (d *sqliteDatabase) tryMigrate(ctx context.Context, f func(tx database.Tx) error) error {
	migrator, err := rivermigrate.New(riversqlite.New(d.db), nil)
	if err != nil {
		return err
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	// If the merchant opened the file, a transaction may begin by reading: SQLite then refuses
	// to let it write beside another writer, instead of waiting.
	for _, statement := range []string{"ROLLBACK", "BEGIN IMMEDIATE"} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if _, err := migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, nil); err != nil { //nolint:staticcheck // see above
		return fmt.Errorf("river's tables: %w", err)
	}
	if err := f(d.Join(tx)); err != nil {
		return err
	}
	return tx.Commit()
}
