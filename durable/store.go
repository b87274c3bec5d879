package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// Database is where writes are kept: sqlite.DB and postgres.Pgx return one. TTx is the
// merchant's transaction: *sql.Tx and pgx.Tx.
type Database[TTx any] = database.Of[TTx]

type tx = database.Tx

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
func query(ctx context.Context, tx tx, each func(scan func(...any) error) error, statement string, args ...any) error {
	rows, err := tx.Query(ctx, statement, args...)
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
func meta(ctx context.Context, tx tx, name string) (value string, err error) {
	err = query(ctx, tx, func(scan func(...any) error) error { return scan(&value) },
		"SELECT value FROM quickstream.meta WHERE name = $1", name)
	return value, err
}

func setMeta(ctx context.Context, tx tx, name, value string) error {
	return execute(ctx, tx, database.PutMeta, name, value)
}

// each calls f for every write that a condition names. One of another version of the program is
// given with its error.
func (e *engine) each(ctx context.Context, tx tx, f func(r *row, unreadable error), where string, args ...any) error {
	return query(ctx, tx, func(scan func(...any) error) error {
		r, err := e.statements.scan(scan)
		if err == nil {
			f(r, e.decode(r))
		}
		return err
	}, e.statements.read+where, args...)
}

// one returns the write that a condition names, or nil.
func (e *engine) one(ctx context.Context, tx tx, where string, args ...any) (found *row, err error) {
	var unreadable error
	err = e.each(ctx, tx, func(r *row, err error) { found, unreadable = r, err }, where, args...)
	return found, errors.Join(err, unreadable)
}

// read returns a write, locked until the transaction ends.
func (e *engine) read(ctx context.Context, tx tx, id string) (*row, error) {
	return e.one(ctx, tx, "id = $1"+e.dialect.ForUpdate, id)
}

// peek returns the write that a condition names, or nil, in a transaction of its own.
func (e *engine) peek(ctx context.Context, where string, args ...any) (found *row, err error) {
	err = within(ctx, e.db, func(tx tx) (err error) {
		found, err = e.one(ctx, tx, where, args...)
		return err
	})
	return found, err
}

// ofReceipt is the condition of the write that a receipt is of. The index leaves out what is empty,
// which SQLite cannot tell of a parameter.
const ofReceipt = "receipt <> '' AND receipt = $1 AND operation <> 'Transactions.Void'"

// byReceipt returns the write that a receipt is of, or nil.
func (e *engine) byReceipt(ctx context.Context, tx tx, receipt string) (*row, error) {
	return e.one(ctx, tx, ofReceipt+" LIMIT 1", receipt)
}

// lock waits for those who change a payment of the same order, or what follows the same write, and
// reports whether there is any. PostgreSQL decides what a statement sees when it begins, and not when
// it is let in: what follows sees what they have committed. Rows are locked in the order of their ids.
// A write is stored only after it, so that a list in the order of time is complete: see Filter.OldestFirst.
func (e *engine) lock(ctx context.Context, tx tx, r *row) (related bool, err error) {
	where, key := "order_id = $2 AND kind = 'payment'", r.Order
	if !r.isPayment() {
		where, key = "(id = $2 OR follows <> '' AND follows = $2)", r.follows
	}
	if e.dialect.WriteLock != "" {
		if err := execute(ctx, tx, e.dialect.WriteLock); err != nil {
			return false, err
		}
	}
	statement := "SELECT 1 AS related FROM quickstream.write WHERE " + where + " ORDER BY id" + e.dialect.ForUpdate
	if e.dialect.Enter != "" {
		statement = e.dialect.Enter + " UNION ALL SELECT related FROM (" + statement + ") AS locked"
	}
	err = query(ctx, tx, func(scan func(...any) error) error {
		var n int
		err := scan(&n)
		related = related || n == 1
		return err
	}, statement, e.clock().Unix()-storingEpoch, key)
	return related, err
}

// insert stores a write unless an index forbids it, and reports whether it did.
func (e *engine) insert(ctx context.Context, tx tx, r *row) (bool, error) {
	if err := e.refreshTime(ctx, tx); err != nil {
		return false, err
	}
	now := e.clock()
	r.Written, r.Changed, r.databaseTime, r.Version = now, now, e.time.expected(), 1
	if r.Reversal == "" {
		r.Reversal = ReversalNone
	}
	if err := e.encode(r); err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, e.statements.insert, e.statements.inserted(r, now.Add(lease))...)
	return n == 1, err
}

// save stores a changed write, if it is as it was read: each change counts its version up. State
// and claim tell versions apart that a restored backup counts a second time.
func (e *engine) save(ctx context.Context, tx tx, before, r *row) error {
	r.Version = before.Version + 1
	if r.Standing != before.Standing {
		r.Changed = e.clock()
	}
	if err := e.encode(r); err != nil {
		return err
	}
	args := append([]any{r.ID, string(before.State), before.Version, before.claim}, e.statements.updated(r)...)
	n, err := tx.Exec(ctx, e.statements.update, args...)
	if err == nil && n != 1 {
		err = ErrChanged
	}
	return err
}

// Write returns a write as it stands. The error matches [ErrNoWrite] if there is none.
func (e *Engine[TTx]) Write(ctx context.Context, id string) (Write, error) {
	return e.find(ctx, "id = $1", id)
}

// PaymentOf returns the payment of an order that counts: the one that keeps it from being
// paid again, or the last one. The error matches [ErrNoWrite] if there is none.
func (e *Engine[TTx]) PaymentOf(ctx context.Context, order string) (Payment, error) {
	found, err := e.find(ctx, `order_id = $1 AND kind = 'payment'
		ORDER BY CASE WHEN replaced_by = '' AND `+sqlBlocks()+` THEN 0 WHEN `+secondCharge()+` THEN 1 ELSE 2 END, written_at DESC LIMIT 1`, order)
	if err != nil {
		return Payment{}, err
	}
	return Payment{found.Common()}, nil
}

// Writes returns the writes of an order, the last one first: its payments, their follow-ups, and other
// writes that name it.
func (e *Engine[TTx]) Writes(ctx context.Context, order string) (list []Write, err error) {
	err = within(ctx, e.db, func(tx tx) error {
		var errs []error
		err := e.each(ctx, tx, func(r *row, unreadable error) {
			list, errs = append(list, r.write()), append(errs, unreadable)
		}, "order_id = $1 ORDER BY written_at DESC, id DESC", order)
		return errors.Join(append(errs, err)...)
	})
	if err != nil {
		return nil, fmt.Errorf("durable: %w", err)
	}
	return list, nil
}

func (e *engine) find(ctx context.Context, where string, args ...any) (Write, error) {
	found, err := e.peek(ctx, where, args...)
	switch {
	case err != nil:
		return nil, fmt.Errorf("durable: %w", err)
	case found == nil:
		return nil, ErrNoWrite
	default:
		return found.write(), nil
	}
}
