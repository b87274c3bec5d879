package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// transaction is a transaction of the merchant or the engine.
type transaction struct {
	tx     pgx.Tx
	d      *pgxDatabase
	claims bool // it commits a claim
	// standbys means that the commit waits for synchronous standbys.
	standbys bool
}

// Commit commits a transaction of the engine. The commit of a claim that standbys must have begins another transaction, so that
// pgx and database/sql have one to end, and give the connection back.
func (t *transaction) Commit(ctx context.Context) error {
	if !t.claims || !t.standbys {
		return t.tx.Commit(ctx)
	}
	err := raw(ctx, t.tx, func(connection *pgx.Conn) error { return commitClaim(ctx, connection.PgConn()) })
	if failed := t.tx.Rollback(ctx); err == nil && failed != nil {
		return fmt.Errorf("the end of a claim: %w", failed)
	}
	return err
}

func (t *transaction) Rollback(ctx context.Context) error { return t.tx.Rollback(ctx) }

var errNotReplicated = errors.New("the wait for a synchronous standby was cancelled: a promotion would undo the commit")

// commitClaim commits, and fails if the wait for a synchronous standby was cancelled: PostgreSQL has
// committed then, and only warns. pgx passes warnings only to the configuration of the merchant's
// pool, so commitClaim reads the messages itself.
func commitClaim(ctx context.Context, connection *pgconn.PgConn) (err error) {
	connection.Frontend().SendQuery(&pgproto3.Query{String: "commit; begin"})
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

func (t *transaction) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, t.d.Text(query), t.d.Arguments(args)...)
	return tag.RowsAffected(), err
}

func (t *transaction) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	found, err := t.tx.Query(ctx, t.d.Text(query), t.d.Arguments(args)...)
	return database.Converted{Rows: found}, err
}
