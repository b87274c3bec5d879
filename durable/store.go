package durable

import (
	"context"
	"time"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// Database is where payments are kept: sqlite.DB and postgres.Pgx return one. TTx is the
// merchant's transaction: *sql.Tx and pgx.Tx.
type Database[TTx any] = database.Database[TTx]

// within runs f in a transaction, and commits it unless f fails or panics.
func within[TTx any](ctx context.Context, db Database[TTx], f func(tx TTx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended {
			_ = db.Rollback(context.WithoutCancel(ctx), tx)
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	ended = true
	return db.Commit(ctx, tx)
}

func execute[TTx any](ctx context.Context, db Database[TTx], tx TTx, query string, args ...any) error {
	_, err := db.Exec(ctx, tx, query, args...)
	return err
}

// query calls each for every row that a statement returns.
func query[TTx any](ctx context.Context, db Database[TTx], tx TTx, each func(scan func(...any) error) error, statement string, args ...any) error {
	rows, err := db.Query(ctx, tx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// meta returns the text under a name, or "".
func meta[TTx any](ctx context.Context, db Database[TTx], tx TTx, name string) (value string, err error) {
	err = query(ctx, db, tx, func(scan func(...any) error) error { return scan(&value) },
		"SELECT value FROM quickstream.meta WHERE name = $1", name)
	return value, err
}

// databaseTime returns the time by the database's clock, which all machines share, and how
// far that clock is ahead of this machine's. The time is ahead of the database's clock by as
// much as Options.Clock is ahead of this machine's.
func (e *Engine[TTx]) databaseTime(ctx context.Context, tx TTx) (now time.Time, ahead time.Duration, err error) {
	var read int64
	err = query(ctx, e.db, tx, func(scan func(...any) error) error { return scan(&read) }, "SELECT "+e.db.Words().Now)
	machine := e.machine()
	ahead = moment(read).Sub(machine)
	return e.opts.Clock().Add(ahead), ahead, err
}
