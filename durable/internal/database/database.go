// Package database says what the durable engine needs of a database.
package database

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/quickstream-go/quickstream/webhooks"
)

// Database is a merchant's database. Statements are written once: with the schema
// "quickstream." before each table and $1, $2 for arguments.
type Database[TTx any] interface {
	Begin(ctx context.Context) (TTx, error)
	Commit(ctx context.Context, tx TTx) error
	Rollback(ctx context.Context, tx TTx) error
	Exec(ctx context.Context, tx TTx, query string, args ...any) (int64, error)
	Query(ctx context.Context, tx TTx, query string, args ...any) (Rows, error)

	// Forms of statements that differ.
	Words() Words

	// Check refuses a database that may lose what it has committed.
	Check(ctx context.Context, tx TTx) error
	// Restored reports whether the database is another history than the one adopted: one
	// that was restored from a backup, as far as that can be seen. One that was never
	// adopted is another.
	Restored(ctx context.Context, tx TTx) (bool, error)
	// Adopt takes the database as it is. Where the transaction does not commit after it, the
	// database may count as restored.
	Adopt(ctx context.Context, tx TTx) error
	// Claim is called in the transaction of each claim, and what it returns after the
	// commit and before the first byte. It returns ErrRestored where Restored is true.
	Claim(ctx context.Context, tx TTx) (func() error, error)

	// Queue returns a River client.
	Queue(config *river.Config) (*river.Client[TTx], error)
	// Migrate moves River's tables up and calls f, or calls f and moves them down. Other
	// processes that migrate wait until it ends. f's transaction commits if f returns nil.
	Migrate(ctx context.Context, up bool, f func(tx TTx) error) error
}

// Probe is what a Database of the tests is too: the engine says each durable step, before and
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
	Begin, Sweep, CheckPause, ReadLost, Forget, Nightly func(ctx context.Context) error

	Payment      func(ctx context.Context, id string) error
	Notification func(ctx context.Context, id, digest string) error
	Keep         func(ctx context.Context, n *webhooks.Notification) error
}

// ErrRestored means that the database was restored from a backup since it was adopted.
var ErrRestored = errors.New("the database was restored from a backup")

// PutMeta stores a text under a name.
const PutMeta = "INSERT INTO quickstream.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value"

// Words are the forms of statements that differ between databases.
type Words struct {
	// Jobs is River's table.
	Jobs string
	// Now is the time in microseconds since 1970.
	Now string
	// ForUpdate locks the rows that are read, and SkipLocked passes locked ones over.
	ForUpdate, SkipLocked string
}

// Rows is a result set.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close()
}
