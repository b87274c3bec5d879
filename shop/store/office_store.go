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
	state      text NOT NULL, -- as OnOutcome was notified last: the name of a standing
	receipt    text NOT NULL,
	follows    text NOT NULL, -- the payment of a refund or a void
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
	failed  integer NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS shop_difference (
	number   integer PRIMARY KEY AUTOINCREMENT,
	date     text NOT NULL,
	kind     text NOT NULL,
	order_id text NOT NULL,
	operation text NOT NULL, -- here, as are state and amount; '' if there is nothing
	state    text NOT NULL,
	amount   integer NOT NULL,
	receipt  text NOT NULL, -- there, as are status and taken; '' if there is nothing
	status   text NOT NULL,
	taken    integer -- null if the service does not say
);`

// written is something that was sent to the service, as it was last heard of: a payment of
// an order, or what followed one.
type written struct {
	ID, OrderID, State string
	Operation          quickstream.Operation
	Receipt, Follows   string
	Amount             int64
	Written, Changed   int64
}

// keep stores how a write stands, for the lists of the back office: durable finds writes
// by their ids and payments by their orders. Its trace is the order's at that time: the next
// payment of the order has another one.
func (s *server) keep(ctx context.Context, in executor, w durable.Write) error {
	r, now := w.Common(), micros(s.clock.Now())
	ended := sql.NullInt64{Int64: now, Valid: !r.State.Open() || r.State == durable.StateDoubleCharged}
	_, err := in.ExecContext(ctx, `INSERT INTO shop_write (id, order_id, operation, state, receipt, follows, amount, written, changed, ended, carrier)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT carrier FROM shop_begun WHERE order_id = ?2), ''))
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, receipt = excluded.receipt, amount = excluded.amount, changed = excluded.changed,
		ended = coalesce(ended, excluded.ended)`,
		r.ID, r.Order, r.Operation, r.Name(), r.ReceiptNumber, follows(w), cents(r.Amount), micros(r.Written), now, ended)
	return err
}

// follows is the payment that a refund or a void is of, or "".
func follows(w durable.Write) string {
	f, _ := w.(durable.FollowUp)
	return f.Follows
}

// written reads what was sent, newest first.
func (s *server) written(ctx context.Context, where string, args ...any) ([]written, error) {
	//nolint:gosec // the condition is a constant of the callers
	rows, err := s.db.QueryContext(ctx, `SELECT id, order_id, operation, state, receipt, follows, amount, written, changed
		FROM shop_write WHERE `+where+" ORDER BY written DESC, rowid DESC LIMIT 200", args...)
	if err != nil {
		return nil, err
	}
	return all(rows, func(scan func(...any) error) (w written, err error) {
		err = scan(&w.ID, &w.OrderID, &w.Operation, &w.State, &w.Receipt, &w.Follows, &w.Amount, &w.Written, &w.Changed)
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

// forPerson is what a person has to find out or to mend. Of a double charge the order
// says whether one payment is still to be given back.
const forPerson = `(state IN ('not_found', 'escalated') OR state = 'double_charged' AND
	EXISTS (SELECT 1 FROM shop_order o WHERE o.id = shop_write.order_id AND o.state = 'double_charged'))`
