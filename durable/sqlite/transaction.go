package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// transaction keeps times as microseconds since 1970 and amounts as cents, so that SQLite compares
// them as numbers.
type transaction struct {
	tx *sql.Tx
	d  *sqliteDatabase
}

func (t transaction) Commit(context.Context) error   { return t.tx.Commit() }
func (t transaction) Rollback(context.Context) error { return t.tx.Rollback() }

func (t transaction) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := t.tx.ExecContext(ctx, t.d.Text(query), t.d.Arguments(args)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (t transaction) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	return converted(t.tx.QueryContext(ctx, t.d.Text(query), t.d.Arguments(args)...))
}

func (d *sqliteDatabase) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	return converted(d.db.QueryContext(ctx, d.Text(query), d.Arguments(args)...))
}

func converted(found *sql.Rows, err error) (database.Rows, error) {
	if err != nil {
		return nil, err
	}
	return database.Converted{Rows: rows{found}}, nil
}

// storedAs returns an argument as it is stored.
func storedAs(arg any) any {
	switch value := arg.(type) {
	case time.Time:
		return value.UnixMicro()
	case decimal.Decimal:
		return cents(value)
	default:
		return arg
	}
}

// cents is an amount that is stored as cents.
type cents decimal.Decimal

func (c cents) Value() (driver.Value, error) {
	whole := decimal.Decimal(c).Shift(database.CentPlaces)
	if !whole.IsInteger() || !whole.BigInt().IsInt64() {
		return nil, errors.New("an amount has more than two decimal places, or is too large")
	}
	return whole.IntPart(), nil
}

type rows struct{ *sql.Rows }

func (r rows) Close() { _ = r.Rows.Close() }
