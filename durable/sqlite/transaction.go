package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
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

// now is the database's time.
const now = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"

// dialect is how a statement is written for SQLite.
func (d *sqliteDatabase) dialect(query string) string {
	written, known := d.statements.Load(query)
	if !known {
		written = strings.NewReplacer("$", "?", "quickstream.", "quickstream_").Replace(query)
		d.statements.Store(query, written)
	}
	text := written.(string) //nolint:forcetypeassert // stored above
	if !strings.Contains(text, database.Now) {
		return text
	}
	expression := now
	if d.now != nil {
		expression = d.now(now)
	}
	return strings.ReplaceAll(text, database.Now, expression)
}

// Exec runs a statement.
func (t transaction) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	values, err := stored(args)
	if err != nil {
		return 0, err
	}
	result, err := t.tx.ExecContext(ctx, t.d.dialect(query), values...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// Query runs a statement that returns rows.
func (t transaction) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	values, err := stored(args)
	if err != nil {
		return nil, err
	}
	found, err := t.tx.QueryContext(ctx, t.d.dialect(query), values...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

const centPlaces = 2

// stored are arguments as they are stored.
func stored(args []any) ([]any, error) {
	values := make([]any, len(args))
	for i, arg := range args {
		switch value := arg.(type) {
		case time.Time:
			if !value.IsZero() {
				values[i] = value.UnixMicro()
			}
		case decimal.Decimal:
			cents := value.Shift(centPlaces)
			if !cents.IsInteger() || !cents.BigInt().IsInt64() {
				return nil, fmt.Errorf("an amount has more than two decimal places, or is too large")
			}
			if !value.IsZero() {
				values[i] = cents.IntPart()
			}
		default:
			values[i] = arg
		}
	}
	return values, nil
}

type rows struct{ *sql.Rows }

// Close ends the reading.
func (r rows) Close() { _ = r.Rows.Close() }

// Scan reads a row.
func (r rows) Scan(into ...any) error {
	targets, numbers := make([]any, len(into)), make([]sql.NullInt64, len(into))
	for i, target := range into {
		switch target.(type) {
		case *time.Time, *decimal.Decimal:
			targets[i] = &numbers[i]
		default:
			targets[i] = target
		}
	}
	if err := r.Rows.Scan(targets...); err != nil {
		return err
	}
	for i, target := range into {
		switch value := target.(type) {
		case *time.Time:
			*value = time.Time{}
			if numbers[i].Valid {
				*value = time.UnixMicro(numbers[i].Int64).UTC()
			}
		case *decimal.Decimal:
			*value = decimal.New(numbers[i].Int64, -centPlaces)
		}
	}
	return nil
}
