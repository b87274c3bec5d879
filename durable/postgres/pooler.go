package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

var errPooler = errors.New("a pooler such as pgbouncer is between this program and the server: LISTEN does not work through it, and prepared statements fail. " +
	"Connect to the server itself, or use the option postgres.WithPooler and set default_query_exec_mode=exec in the address of the pool")

// checkPooler refuses a pooler without WithPooler, and a mode of pgx that fails with one. A pooler
// gives its clients process ids that are not the server's.
func (d *pgxDatabase) checkPooler(ctx context.Context, tx pgx.Tx) error {
	var given, here int64
	err := raw(ctx, tx, func(connection *pgx.Conn) error {
		given = int64(connection.PgConn().PID())
		return connection.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&here)
	})
	mode := d.pool.Config().ConnConfig.DefaultQueryExecMode
	switch {
	case err != nil:
		return err
	case !d.pooled && here != given:
		return errPooler
	case d.pooled && !slices.Contains([]pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}, mode):
		return fmt.Errorf("default_query_exec_mode is %s, which fails with a pooler in transaction mode: set default_query_exec_mode=exec in the address of the pool", mode)
	default:
		return nil
	}
}
