package store

import (
	"context"
	"database/sql"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable"
)

// officeSchema are the tables of the back office and of the telemetry.
const officeSchema = `
CREATE TABLE IF NOT EXISTS shop_staff (
	digest  text PRIMARY KEY, -- of the cookie
	name    text NOT NULL,
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
	carrier    text NOT NULL DEFAULT '' -- its trace
);
CREATE INDEX IF NOT EXISTS shop_write_order ON shop_write (order_id, written);`

// executor is a transaction or the database.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// keep stores how a write stands, for what the shop says of an order. Its trace is the order's at that time: the next
// payment of the order has another one.
func (s *server) keep(ctx context.Context, in executor, w durable.Write) error {
	r := w.Common()
	_, err := in.ExecContext(ctx, `INSERT INTO shop_write (id, order_id, operation, state, receipt, follows, amount, written, carrier)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, coalesce((SELECT carrier FROM shop_begun WHERE order_id = ?2), ''))
		ON CONFLICT (id) DO UPDATE SET state = excluded.state, receipt = excluded.receipt, amount = excluded.amount`,
		r.ID, r.Order, r.Operation, r.Name(), r.ReceiptNumber, follows(w), cents(r.Amount), micros(r.Written))
	return err
}

// follows is the payment that a refund or a void is of, or "".
func follows(w durable.Write) string {
	f, _ := w.(durable.FollowUp)
	return f.Follows
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

func cents(amount decimal.Decimal) int64 { return amount.Shift(2).IntPart() }
