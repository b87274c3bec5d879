package sqlite

import (
	"context"
	"database/sql"
	"fmt"
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

// Exec runs a statement.
func (t transaction) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	values, err := database.Stored(args, storedTime, storedAmount)
	if err != nil {
		return 0, err
	}
	result, err := t.tx.ExecContext(ctx, t.d.Text(query), values...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Query runs a statement that returns rows.
func (t transaction) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	values, err := database.Stored(args, storedTime, storedAmount)
	if err != nil {
		return nil, err
	}
	found, err := t.tx.QueryContext(ctx, t.d.Text(query), values...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

const centPlaces = 2

func storedTime(t time.Time) any { return t.UnixMicro() }

func storedAmount(amount decimal.Decimal) (any, error) {
	cents := amount.Shift(centPlaces)
	if !cents.IsInteger() || !cents.BigInt().IsInt64() {
		return nil, fmt.Errorf("an amount has more than two decimal places, or is too large")
	}
	return cents.IntPart(), nil
}

type rows struct{ *sql.Rows }

// Close ends the reading.
func (r rows) Close() { _ = r.Rows.Close() }

// Scan reads a row.
func (r rows) Scan(into ...any) error { return database.Scan(r.Rows.Scan, into, timeOf, amountOf) }

func timeOf(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

func amountOf(cents sql.NullInt64) decimal.Decimal { return decimal.New(cents.Int64, -centPlaces) }
