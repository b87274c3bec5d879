package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
)

var errPooler = errors.New("a pooler such as pgbouncer is between this program and the server: LISTEN does not work through it, and prepared statements fail. " +
	"Connect to the server itself, or use the option postgres.Pooled and set default_query_exec_mode=exec in the address of the pool")

// checkPooler refuses a pooler that was not said to be there, and a mode of pgx that fails with one.
// A pooler gives its clients numbers of processes that are not the server's.
func (d *pgxDatabase) checkPooler(given uint32, here int64) error {
	mode := d.pool.Config().ConnConfig.DefaultQueryExecMode
	switch {
	case !d.pooled && here != int64(given):
		return errPooler
	case d.pooled && !slices.Contains([]pgx.QueryExecMode{pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol}, mode):
		return fmt.Errorf("default_query_exec_mode is %s, which fails with a pooler in transaction mode: set default_query_exec_mode=exec in the address of the pool", mode)
	default:
		return nil
	}
}

// processGiven is the number of the process as the client was given it.
func processGiven(ctx context.Context, tx pgx.Tx) (id uint32, err error) {
	inner, inSQL := tx.(sqlTx)
	if !inSQL {
		return tx.Conn().PgConn().PID(), nil
	}
	err = inner.raw(ctx, func(connection *pgx.Conn) error {
		id = connection.PgConn().PID()
		return nil
	})
	return id, err
}

// enoughConnections are those of a pool in which jobs and OnOutcome do not wait for each other.
const enoughConnections = 4

// checkConnections warns of a pool that is too small.
func (d *pgxDatabase) checkConnections(logger *slog.Logger) {
	if most := d.pool.Config().MaxConns; logger != nil && most < enoughConnections {
		logger.Warn("quickstream: the pool is small: jobs wait for each other, and a hook that takes a second connection may wait for ever: set pool_max_conns",
			"connections", most, "enough", enoughConnections)
	}
}
