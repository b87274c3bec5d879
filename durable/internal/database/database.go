// Package database says what the engine needs of a database.
package database

import (
	"context"
	"errors"
	"io/fs"
	"time"

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
// their Dialect: with "quickstream." before each table, [Now] for the time, and $1, $2 for arguments. An argument is a
// text, an integer, a bool, a [time.Time], a [decimal.Decimal] or nil, and each is scanned into the
// same type. A zero time and a zero amount are null.
type Database interface {
	Begin(ctx context.Context) (Tx, error)
	Dialect() Dialect
	// Schema returns the schema's files in order. What is released stays as it is.
	Schema() []string

	// Check refuses a database that may lose what it has committed.
	Check(ctx context.Context, tx Tx) error
	// History tells how the database differs from the one adopted, as far as that can be seen.
	History(ctx context.Context, tx Tx) (Change, error)
	// Adopt takes the database as it is. If the transaction does not commit after it, the
	// database may count as Replaced.
	Adopt(ctx context.Context, tx Tx) error
	// Claim is called in the transaction of each claim, and what it returns after the
	// commit and before the first byte. It returns ErrChanged if History is not Same.
	Claim(ctx context.Context, tx Tx) (func() error, error)

	// Queue returns a queue of jobs in the same database.
	Queue(config *river.Config) (Queue, error)
	// Migrate moves River's tables up and calls f, or calls f and moves them down. Other
	// processes that migrate wait until it ends. f's transaction commits if f returns nil.
	Migrate(ctx context.Context, up bool, f func(tx Tx) error) error
}

// Tx is a transaction of the engine's or the merchant's.
type Tx interface {
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	Query(ctx context.Context, query string, args ...any) (Rows, error)
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
	Insert(ctx context.Context, tx Tx, jobs []river.InsertManyParams) error
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// Dialect is what differs between the databases' statements.
type Dialect struct {
	// Jobs is River's table.
	Jobs string
	// ForUpdate locks the rows that are read, and SkipLocked passes locked ones over.
	ForUpdate, SkipLocked string
	// Enter is a statement that returns one row and marks the transaction as one that stores a write: it
	// is combined with what follows it, and $1 is the time in seconds. Storing returns the least of the
	// open transactions. Where one transaction writes at a time both are empty, and WriteLock is the
	// statement by which it becomes that one.
	Enter, Storing, WriteLock string
}

// Probe is what a Database of the tests is too: the engine names each durable step, before and
// after it, and asks for the time of the machine, whose clock may be wrong.
type Probe interface {
	Step(name string)
	Machine() time.Time
}

// Driver is a Probe that does an engine's work itself, in any order: New gives it the tasks.
type Driver interface {
	Probe
	Drive(tasks Tasks)
}

// Tasks are what an engine does from Start to Stop, and keep what the inbox takes.
type Tasks struct {
	Begin, Sweep, CheckBreaker, ReadLost, Forget, Nightly func(ctx context.Context) error

	Write        func(ctx context.Context, id string) error
	Notification func(ctx context.Context, id, digest string) error
	Keep         func(ctx context.Context, n *webhooks.Notification) error
}

// Change is how a database differs from the one that was adopted.
type Change string

// The changes, by what they can mean. Of several it is the last one.
const (
	Same Change = ""
	// Restarted: the server has started anew. It may be a snapshot that came back.
	Restarted Change = "restarted"
	// Advanced: a standby was promoted or a backup recovered. Its last commits may be lost.
	Advanced Change = "advanced"
	// Replaced: it may be a copy, beside which the original is at work. It was never adopted, or it is
	// another database or at another place.
	Replaced Change = "replaced"
)

// ErrChanged means that the history of the database has changed since it was adopted.
var ErrChanged = errors.New("the history of the database has changed")

// Files returns the texts of the files below "schema", in the order of their names.
func Files(files fs.FS) []string {
	names, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return nil
	}
	texts := make([]string, len(names))
	for i, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil
		}
		texts[i] = string(text)
	}
	return texts
}

// Now is the database's time in statements.
const Now = "database_now()"

// PutMeta stores a text under a name.
const PutMeta = "INSERT INTO quickstream.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
