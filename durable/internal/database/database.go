// Package database says what the engine needs of a database.
package database

import (
	"context"

	"github.com/riverqueue/river"

	"github.com/quickstream-go/quickstream/webhooks"
)

// Of is the database of a merchant whose transactions have the type TTx.
type Of[TTx any] interface {
	Database
	// Join returns the merchant's transaction as one of the engine's, and Leave the reverse.
	Join(tx TTx) Tx
	Leave(tx Tx) TTx
}

// Database is where the engine keeps writes. Statements are the same for all databases but for
// their Dialect: with "quickstream." before each table, [Now] for the time, and $1, $2 for arguments. An
// argument is a text, an integer, a bool, a [time.Time], a [decimal.Decimal] or nil, and each is scanned
// into the same type. A zero time and a zero amount are null.
type Database interface {
	// Reader reads outside of a transaction of the engine: each statement sees what is committed.
	Reader
	Begin(ctx context.Context) (Tx, error)
	Dialect() Dialect
	// Schema returns the schema's files in order. A released file does not change.
	Schema() []string

	// Check refuses a database that may lose a commit.
	Check(ctx context.Context, tx Tx) error
	// History says how the database differs from the one adopted, in one query.
	History(ctx context.Context, tx Tx) (Change, error)
	// Adopt accepts the database as it is. If the transaction does not commit after it, History
	// may report a change.
	Adopt(ctx context.Context, tx Tx) error
	// Claim counts a claim in its transaction, in which History was Same. The function that it returns
	// is called after the commit and before the first byte is sent.
	Claim(ctx context.Context, tx Tx) (func() error, error)

	// Queue returns a queue of jobs in the same database.
	Queue(config *river.Config) (Queue, error)
	// Migrate migrates River's tables up and calls f. Other processes that migrate wait until it ends. f's
	// transaction commits if f returns nil.
	Migrate(ctx context.Context, f func(tx Tx) error) error

	// SetNow replaces the expression of [Now], in tests.
	SetNow(expression func(now string) string)
}

// Reader runs statements that return rows.
type Reader interface {
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// Tx is a transaction of the engine or the merchant.
type Tx interface {
	Reader
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Commit(ctx context.Context) error
	Rollback(ctx context.Context) error
}

// Rows is a result set.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close()
}

// Queue is a River client.
type Queue interface {
	// Insert adds the jobs that do not exist yet.
	Insert(ctx context.Context, tx Tx, jobs []river.InsertManyParams) error
	Pause(ctx context.Context, tx Tx, queue string) error
	Resume(ctx context.Context, tx Tx, queue string) error
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// Dialect is how the statements of the databases differ.
type Dialect struct {
	// Jobs is River's table, and JobTime the database's time as River stores it, which tests do not replace.
	Jobs, JobTime string
	// ForUpdate locks the rows that are read. SkipLocked does too, and skips locked ones.
	ForUpdate, SkipLocked string
	// WriteLock is the statement that takes the write lock; empty if transactions write beside each other.
	WriteLock string
	// Alone means that one process at a time works on the database.
	Alone bool
	// Sequences sets sequences that a copy of rows has left behind; empty if there are none.
	Sequences []string
}

// Driver is implemented by a test's Database that does an engine's work itself, in any order: New gives it the tasks.
type Driver interface {
	Drive(tasks Tasks)
}

// Tasks are the work that an engine does from Start to Stop. Those of a write take its id.
type Tasks struct {
	Recognise, Breaker, Restore, Orphans, Daily func(ctx context.Context) error

	Send, LookUp, Notify func(ctx context.Context, id string) error

	// Inline makes the engine run in its caller what it runs in a goroutine, so that a test decides what comes first.
	Inline func()
	// Keep and Inbox store a notification and act on it.
	Keep  func(ctx context.Context, n *webhooks.Notification) error
	Inbox func(ctx context.Context, id, digest string) error
}

// Change is how a database differs from the one that was adopted.
type Change string

// The changes.
const (
	Same Change = ""
	// Restarted: the server was restarted, and has all that this process saw of it.
	Restarted Change = "restarted"
	// Changed: commits may be lost, as after a promotion or a recovery.
	Changed Change = "changed"
	// MaybeCopy: it may be a copy of an original that is at work.
	MaybeCopy Change = "maybe_copy"
)

// Now is the database's time in statements.
const Now = "database_now()"

// PutMeta stores a text under a name.
const PutMeta = "INSERT INTO quickstream.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
