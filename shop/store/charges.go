package store

import (
	"context"
	"database/sql"

	"github.com/quickstream-go/quickstream"
)

// charge is a payment of an order whose money was taken.
type charge struct {
	ID, State        string
	Amount, Refunded int64
}

// stands reports whether the money is not given back, or not all of it.
func (c charge) stands() bool {
	return (c.State == stateApproved || c.State == stateDoubleCharged) && c.Refunded < c.Amount
}

// reader is a transaction or the database.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// charges reads how often an order was charged, oldest first.
func charges(ctx context.Context, in reader, orderID string) ([]charge, error) {
	rows, err := in.QueryContext(ctx, `SELECT id, state, amount, (SELECT coalesce(sum(f.amount), 0) FROM shop_write f
			WHERE f.order_id = p.order_id AND f.follows = p.id AND f.state = 'approved' AND f.receipt <> '')
		FROM shop_write p WHERE order_id = ? AND `+taken+" ORDER BY written, rowid", orderID)
	if err != nil {
		return nil, err
	}
	return all(rows, func(scan func(...any) error) (c charge, err error) {
		err = scan(&c.ID, &c.State, &c.Amount, &c.Refunded)
		return c, err
	})
}

// taken is the condition of a payment of which a charge is or was.
const taken = "operation = '" + string(quickstream.OperationPay) + "' AND state IN ('approved', 'double_charged', 'voided', 'returned')"

// current are the charges that were not given back.
func current(list []charge) (left []charge) {
	for _, c := range list {
		if c.stands() {
			left = append(left, c)
		}
	}
	return left
}

// tally writes down how an order stands by all that was charged for it: what has become of
// one payment does not say so where another one was taken. last is the payment of which
// the outcome has changed.
func (s *server) tally(ctx context.Context, tx *sql.Tx, orderID string, last charge) error {
	list, err := charges(ctx, tx, orderID)
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.ID == last.ID {
			last.Refunded = c.Refunded
		}
	}
	left := current(list)
	if len(left) > 0 {
		last = left[0]
	}
	switch {
	case len(left) > 1:
		last.State = stateDoubleCharged
	case last.State == stateDoubleCharged && len(list) > 1: // and one of the two is given back
		last.State = stateApproved
	}
	_, err = tx.ExecContext(ctx, "UPDATE shop_order SET state = ?, returned = ? WHERE id = ?", last.State, last.Refunded, orderID)
	return err
}
