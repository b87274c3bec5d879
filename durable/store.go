package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// Database is a database that keeps writes: sqlite.DB and postgres.Pgx return one. TTx is the
// type of the merchant's transaction: *sql.Tx or pgx.Tx.
type Database[TTx any] = database.Of[TTx]

type (
	tx     = database.Tx
	reader = database.Reader
)

// within runs f in a transaction, and commits it unless f fails or panics.
func within(ctx context.Context, db database.Database, f func(tx tx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended {
			_ = tx.Rollback(context.WithoutCancel(ctx))
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	ended = true
	return tx.Commit(ctx)
}

func execute(ctx context.Context, tx tx, query string, args ...any) error {
	_, err := tx.Exec(ctx, query, args...)
	return err
}

// query calls each for every row that a statement returns.
func query(ctx context.Context, from reader, each func(scan func(...any) error) error, statement string, args ...any) error {
	rows, err := from.Query(ctx, statement, args...)
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

// texts returns the first column of all rows.
func texts(ctx context.Context, from reader, statement string, args ...any) (list []string, err error) {
	err = query(ctx, from, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		list = append(list, text)
		return err
	}, statement, args...)
	return list, err
}

// count returns the number that a statement selects.
func count(ctx context.Context, from reader, statement string, args ...any) (n int, err error) {
	err = query(ctx, from, func(scan func(...any) error) error { return scan(&n) }, statement, args...)
	return n, err
}

// databaseNow reads the database's clock. Every decision goes by it.
func databaseNow(ctx context.Context, from reader) (now time.Time, err error) {
	err = query(ctx, from, func(scan func(...any) error) error { return scan(&now) }, "SELECT "+database.Now)
	return now, err
}

// meta returns the text under a name, or "".
func meta(ctx context.Context, from reader, name string) (value string, err error) {
	err = query(ctx, from, func(scan func(...any) error) error { return scan(&value) },
		"SELECT value FROM quickstream.meta WHERE name = $1", name)
	return value, err
}

func setMeta(ctx context.Context, tx tx, name, value string) error {
	return execute(ctx, tx, database.PutMeta, name, value)
}

// setMetaJSON stores a value as JSON.
func setMetaJSON(ctx context.Context, tx tx, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return setMeta(ctx, tx, name, string(text))
}

// each calls f for every write that a condition selects.
func (e *engine) each(ctx context.Context, from reader, f func(r *row), where string, args ...any) error {
	return query(ctx, from, func(scan func(...any) error) error {
		r, err := e.statements.scan(scan)
		if err == nil {
			e.ahead.Store(int64(time.Until(r.now)))
			r.unreadable = r.decode()
			f(r)
		}
		return err
	}, e.statements.read+where, args...)
}

// one returns the write that a condition selects, or nil.
func (e *engine) one(ctx context.Context, from reader, where string, args ...any) (found *row, err error) {
	err = e.each(ctx, from, func(r *row) { found = r }, where, args...)
	if err == nil && found != nil {
		err = found.unreadable
	}
	return found, err
}

// read returns a write, locked until the transaction ends.
func (e *engine) read(ctx context.Context, tx tx, id string) (*row, error) {
	return e.one(ctx, tx, "id = $1"+e.dialect.ForUpdate, id)
}

// ofReceipt selects the write that has a receipt. The index leaves out empty receipts, and SQLite
// cannot know that a parameter is not empty: the condition says so.
const ofReceipt = "receipt <> '' AND receipt = $1 AND operation <> 'Transactions.Void'"

// lock waits for transactions that change a payment of the same order, or a follow-up of the same payment. A statement of
// PostgreSQL sees the commits from before it began to wait: only the statements after lock see those of the transactions
// that it waited for. Payments are locked before follow-ups, and both in the order of their ids.
func (e *engine) lock(ctx context.Context, tx tx, r *row) error {
	if e.dialect.WriteLock != "" {
		if err := execute(ctx, tx, e.dialect.WriteLock); err != nil {
			return err
		}
	}
	if e.dialect.ForUpdate == "" {
		return nil
	}
	_, err := texts(ctx, tx, "SELECT id FROM quickstream.write WHERE order_id = $1 AND follows = '' ORDER BY id"+e.dialect.ForUpdate, r.Order)
	if err == nil && !r.IsPayment() {
		_, err = texts(ctx, tx, "SELECT id FROM quickstream.write WHERE (id = $1 OR follows <> '' AND follows = $1) ORDER BY id"+e.dialect.ForUpdate, r.Follows)
	}
	return err
}

// locked takes the locks of lock, locks a write that was read before, and reads it again, a payment with the others of its order
// that are not free.
func (e *engine) locked(ctx context.Context, tx tx, of *row) (r *row, err error) {
	if of == nil {
		return nil, ErrNoWrite
	}
	if err := e.lock(ctx, tx, of); err != nil {
		return nil, err
	}
	where, args := "id = $1", []any{of.ID}
	if of.IsPayment() {
		where, args = "order_id = $1 AND follows = '' AND (id = $2 OR "+sqlBlocks()+") ORDER BY id", []any{of.Order, of.ID}
	}
	var others []*row
	err = e.each(ctx, tx, func(found *row) {
		if found.ID == of.ID {
			r = found
		} else {
			others = append(others, found)
		}
	}, where+e.dialect.ForUpdate, args...)
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, ErrNoWrite
	}
	r.others = others
	return r, r.unreadable
}

// guess estimates the database's time, for uses that decide nothing.
func (e *engine) guess() time.Time { return time.Now().Add(time.Duration(e.ahead.Load())) }

// insert stores a write unless an index forbids it, and reports whether it did. A Due or Changed that is zero becomes
// the database's time.
func (e *engine) insert(ctx context.Context, tx tx, r *row, statement string) (stored bool, err error) {
	r.Version = 1
	if err := r.encode(); err != nil {
		return false, err
	}
	err = query(ctx, tx, func(scan func(...any) error) error {
		stored = true
		return scan(&r.Written)
	}, statement, e.statements.values(r, false)...)
	if stored {
		r.now, r.Changed = r.Written, r.Written
		e.ahead.Store(int64(time.Until(r.now)))
	}
	return stored, err
}

// save stores a changed write if the row is still as it was read: each change counts its version up.
// State and claim are compared too, because a restored backup can count to the same version again, and suspect, because a
// change of the history sets it in many rows.
func (e *engine) save(ctx context.Context, tx tx, before, r *row) error {
	r.Version = before.Version + 1
	if r.Standing != before.Standing {
		if r.Changed = before.now; !r.State.InProgress() { // OnOutcome is notified of it
			r.changes++
			if r.callsHook {
				r.notifies()
			}
		}
	}
	if err := r.encode(); err != nil {
		return err
	}
	args := append([]any{r.ID, string(before.State), before.Version, before.claim, before.suspect}, e.statements.values(r, true)...)
	n, err := tx.Exec(ctx, e.statements.update, args...)
	if err == nil && n != 1 {
		err = ErrChanged
	}
	return err
}

// Get returns a write as it stands. The error matches [ErrNoWrite] if there is none.
func (e *Engine[TTx]) Get(ctx context.Context, id string) (Write, error) {
	return e.find(ctx, "id = $1", id)
}

// PaymentOf returns the payment of an order that counts: the one that blocks another payment, else the last one.
// The error matches [ErrNoWrite] if there is none.
func (e *Engine[TTx]) PaymentOf(ctx context.Context, order string) (Write, error) {
	return e.find(ctx, `order_id = $1 AND follows = ''
		ORDER BY CASE WHEN replaced_by = '' AND `+sqlBlocks()+` THEN 0 WHEN `+sqlHolds()+` THEN 1 ELSE 2 END, written_at DESC LIMIT 1`, order)
}

// Writes returns the writes of an order, the newest first: its payments and their follow-ups.
func (e *Engine[TTx]) Writes(ctx context.Context, order string) (list []Write, err error) {
	err = e.each(ctx, e.db, func(r *row) { list = append(list, r.shown()) }, "order_id = $1 ORDER BY written_at DESC, id DESC", order)
	return list, named(err)
}

func (e *engine) find(ctx context.Context, where string, args ...any) (Write, error) {
	found, err := e.one(ctx, e.db, where, args...)
	if err != nil || found == nil {
		return Write{}, named(cmp.Or(err, ErrNoWrite))
	}
	return found.shown(), nil
}
