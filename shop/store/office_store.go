package store

import (
	"context"
	"database/sql"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// officeSchema are the tables of the back office and of the telemetry.
const officeSchema = `
CREATE TABLE IF NOT EXISTS shop_staff (
	digest  text PRIMARY KEY, -- of the cookie
	created integer NOT NULL
);
CREATE TABLE IF NOT EXISTS shop_begun (
	order_id text PRIMARY KEY,
	carrier  text NOT NULL -- the trace in which its last payment was written
);
CREATE TABLE IF NOT EXISTS shop_write (
	id         text PRIMARY KEY, -- durable's
	order_id   text NOT NULL,
	operation  text NOT NULL,
	state      text NOT NULL, -- as OnOutcome was told last
	receipt    text NOT NULL,
	receipt_of text NOT NULL,
	amount     integer NOT NULL,
	written    integer NOT NULL,
	changed    integer NOT NULL,
	carrier    text NOT NULL DEFAULT '', -- its trace
	ended      integer -- when it had an outcome first: a payment that is returned later ended long ago
);
CREATE INDEX IF NOT EXISTS shop_write_order ON shop_write (order_id, written);
CREATE TABLE IF NOT EXISTS shop_comparison (
	date    text PRIMARY KEY,
	whole   integer NOT NULL, -- the day was over
	begun   integer NOT NULL,
	ended   integer NOT NULL DEFAULT 0,
	problem text NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS shop_difference (
	number   integer PRIMARY KEY AUTOINCREMENT,
	date     text NOT NULL,
	kind     text NOT NULL,
	order_id text NOT NULL,
	what     text NOT NULL
);`

// written is something that was sent to the service, as it was last heard of: a payment of
// an order, or what followed one.
type written struct {
	ID, OrderID, State string
	Operation          quickstream.Operation
	Receipt, ReceiptOf string
	Amount             int64
	Written, Changed   int64
}

// keep writes down how something stands, for the lists of the back office: durable finds
// payments by their id and their order. Its trace is the order's at that time: the next
// payment of the order has another one.
func (s *server) keep(ctx context.Context, in executor, p durable.Payment) error {
	_, err := in.ExecContext(ctx, `INSERT INTO shop_write (id, order_id, operation, state, receipt, receipt_of, amount, written, changed, ended, carrier)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ?4 IN ('prepared', 'sending', 'unknown', 'absent', 'escalated') THEN NULL ELSE ?9 END,
			coalesce((SELECT carrier FROM shop_begun WHERE order_id = ?2), ''))
		ON CONFLICT (id) DO UPDATE SET operation = excluded.operation, state = excluded.state,
		receipt = excluded.receipt, changed = excluded.changed, ended = coalesce(ended, excluded.ended)`,
		p.ID, p.OrderID, p.Operation, string(p.State), p.ReceiptNumber, p.ReceiptOf, p.Amount.Shift(2).IntPart(), micros(p.Written), micros(s.clock.Now()))
	return err
}

// written reads what was sent, newest first.
func (s *server) written(ctx context.Context, where string, args ...any) ([]written, error) {
	//nolint:gosec // the condition is a constant of the callers
	rows, err := s.db.QueryContext(ctx, `SELECT id, order_id, operation, state, receipt, receipt_of, amount, written, changed
		FROM shop_write WHERE `+where+" ORDER BY written DESC, rowid DESC LIMIT 200", args...)
	if err != nil {
		return nil, err
	}
	return all(rows, func(scan func(...any) error) (w written, err error) {
		err = scan(&w.ID, &w.OrderID, &w.Operation, &w.State, &w.Receipt, &w.ReceiptOf, &w.Amount, &w.Written, &w.Changed)
		return w, err
	})
}

// all reads rows to their end.
func all[T any](rows *sql.Rows, read func(scan func(...any) error) (T, error)) ([]T, error) {
	defer rows.Close() //nolint:errcheck // Err tells
	var list []T
	for rows.Next() {
		one, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// forPerson is what a person has to find out or to mend. Of what was charged twice the order
// says whether one payment is still to be given back.
const forPerson = `(state IN ('absent', 'escalated') OR state = 'charged twice' AND
	EXISTS (SELECT 1 FROM shop_order o WHERE o.id = shop_write.order_id AND o.state = 'charged twice'))`
