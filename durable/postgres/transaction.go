package postgres

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
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
		return commitClaim(ctx, t.own.Conn().PgConn(), "commit")
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
func commitClaim(ctx context.Context, connection *pgconn.PgConn, commit string) (err error) {
	connection.Frontend().SendQuery(&pgproto3.Query{String: commit})
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
	values, err := database.Stored(args, storedTime, storedAmount)
	if err != nil {
		return 0, err
	}
	tag, err := t.tx.Exec(ctx, t.d.Text(query), values...)
	return tag.RowsAffected(), err
}

// Query runs a statement that returns rows.
func (t *transaction) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	values, err := database.Stored(args, storedTime, storedAmount)
	if err != nil {
		return nil, err
	}
	found, err := t.tx.Query(ctx, t.d.Text(query), values...)
	if err != nil {
		return nil, err
	}
	return rows{found}, nil
}

func storedTime(t time.Time) any { return t }

func storedAmount(amount decimal.Decimal) (any, error) { return amount.String(), nil }

type rows struct{ pgx.Rows }

// Scan reads a row.
func (r rows) Scan(into ...any) error { return database.Scan(r.Rows.Scan, into, timeOf, amountOf) }

func timeOf(t sql.NullTime) time.Time { return t.Time.UTC() }

func amountOf(amount decimal.NullDecimal) decimal.Decimal { return amount.Decimal }
