package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// transaction is one of the merchant's or the engine's.
type transaction struct {
	tx     pgx.Tx
	d      *pgxDatabase
	own    *pgxpool.Conn // the engine's with pgx, or nil
	claims bool          // it is that of a claim
}

// Commit commits a transaction of the engine's.
func (t *transaction) Commit(ctx context.Context) error {
	defer t.release()
	inner, inSQL := t.tx.(sqlTx)
	switch {
	case !t.claims:
		return t.tx.Commit(ctx)
	case inSQL:
		return inner.commitClaim(ctx)
	default:
		return commitClaim(ctx, t.own.Conn().PgConn())
	}
}

// Rollback ends a transaction of the engine's.
func (t *transaction) Rollback(ctx context.Context) error {
	defer t.release()
	return t.tx.Rollback(ctx)
}

func (t *transaction) release() {
	if t.own != nil {
		t.own.Release()
	}
}

var errNotReplicated = errors.New("the wait for a synchronous standby was cancelled: a promotion would undo the commit")

// commitClaim commits, and fails if the wait for a synchronous standby was cancelled: PostgreSQL has
// committed then, and only warns. pgx gives warnings to the configuration of the merchant's pool
// alone, so the messages are read here.
func commitClaim(ctx context.Context, connection *pgconn.PgConn) (err error) {
	connection.Frontend().SendQuery(&pgproto3.Query{String: "commit"})
	if err := connection.Frontend().Flush(); err != nil {
		return err
	}
	for {
		message, broken := connection.ReceiveMessage(ctx)
		if broken != nil {
			return broken // the pool closes a connection that is not idle
		}
		switch message := message.(type) {
		case *pgproto3.NoticeResponse:
			if message.Routine == "SyncRepWaitForLSN" { // its code is that of all warnings
				err = errNotReplicated
			}
		case *pgproto3.ErrorResponse:
			err = pgconn.ErrorResponseToPgError(message)
		case *pgproto3.CommandComplete:
			if string(message.CommandTag) == "ROLLBACK" {
				err = pgx.ErrTxCommitRollback
			}
		case *pgproto3.ReadyForQuery:
			return err
		}
	}
}

// Exec runs a statement.
func (t *transaction) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, t.d.statement(query), stored(args)...)
	return tag.RowsAffected(), err
}

// Query runs a statement that returns rows.
func (t *transaction) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	found, err := t.tx.Query(ctx, t.d.statement(query), stored(args)...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

// stored are arguments as they are stored.
func stored(args []any) []any {
	values := make([]any, len(args))
	for i, arg := range args {
		switch value := arg.(type) {
		case time.Time:
			if !value.IsZero() {
				values[i] = value
			}
		case decimal.Decimal:
			if !value.IsZero() {
				values[i] = value.String()
			}
		default:
			values[i] = arg
		}
	}
	return values
}

type rows struct{ pgx.Rows }

// Scan reads a row.
func (r rows) Scan(into ...any) error {
	targets := make([]any, len(into))
	for i, target := range into {
		switch target.(type) {
		case *time.Time:
			targets[i] = new(pgtype.Timestamptz)
		case *decimal.Decimal:
			targets[i] = new(pgtype.Numeric)
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
			*value = targets[i].(*pgtype.Timestamptz).Time.UTC() //nolint:forcetypeassert // set above
			if !targets[i].(*pgtype.Timestamptz).Valid {         //nolint:forcetypeassert // set above
				*value = time.Time{}
			}
		case *decimal.Decimal:
			number := targets[i].(*pgtype.Numeric) //nolint:forcetypeassert // set above
			switch {
			case !number.Valid:
				*value = decimal.Decimal{}
			case number.NaN || number.Int == nil:
				return fmt.Errorf("an amount is no number")
			default:
				*value = decimal.NewFromBigInt(number.Int, number.Exp)
			}
		}
	}
	return nil
}
