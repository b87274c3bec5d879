package enginetest

import (
	"context"
	"database/sql"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// hooked is a database whose transactions call hooks before each statement, and in place of the commit. Hooks
// may be nil.
type hooked[TTx any] struct {
	durable.Database[TTx]
	before func(ctx context.Context, tx database.Tx, query string, args []any)
	commit func(ctx context.Context, tx database.Tx) error
}

type hookedTx[TTx any] struct {
	database.Tx
	db *hooked[TTx]
}

// Exec calls the hook, and then runs the statement.
func (tx hookedTx[TTx]) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tx.called(ctx, query, args)
	return tx.Tx.Exec(ctx, query, args...)
}

// Query calls the hook, and then runs the statement.
func (tx hookedTx[TTx]) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	tx.called(ctx, query, args)
	return tx.Tx.Query(ctx, query, args...)
}

func (tx hookedTx[TTx]) called(ctx context.Context, query string, args []any) {
	if tx.db.before != nil {
		tx.db.before(ctx, tx.Tx, query, args)
	}
}

// Commit calls the hook, or commits.
func (tx hookedTx[TTx]) Commit(ctx context.Context) error {
	if tx.db.commit != nil {
		return tx.db.commit(ctx, tx.Tx)
	}
	return tx.Tx.Commit(ctx)
}

// Query calls the hook in a transaction of its own, and then runs the statement.
func (d *hooked[TTx]) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	if d.before != nil {
		tx, err := d.Database.Begin(ctx)
		if err != nil {
			return nil, err
		}
		d.before(ctx, tx, query, args)
		if err := tx.Rollback(ctx); err != nil {
			return nil, err
		}
	}
	return d.Database.Query(ctx, query, args...)
}

// Begin and Join return transactions that call the hooks. All else gets the transaction itself.
func (d *hooked[TTx]) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.Database.Begin(ctx)
	return hookedTx[TTx]{tx, d}, err
}

func (d *hooked[TTx]) Join(tx TTx) database.Tx { return hookedTx[TTx]{d.Database.Join(tx), d} }

func (d *hooked[TTx]) Leave(tx database.Tx) TTx { return d.Database.Leave(itself[TTx](tx)) }

func (d *hooked[TTx]) Check(ctx context.Context, tx database.Tx) error {
	return d.Database.Check(ctx, itself[TTx](tx))
}

func (d *hooked[TTx]) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	return d.Database.History(ctx, itself[TTx](tx))
}

func (d *hooked[TTx]) Adopt(ctx context.Context, tx database.Tx) error {
	return d.Database.Adopt(ctx, itself[TTx](tx))
}

func (d *hooked[TTx]) Claim(ctx context.Context, tx database.Tx) (func() error, error) {
	return d.Database.Claim(ctx, itself[TTx](tx))
}

func (d *hooked[TTx]) Queue(config *river.Config) (database.Queue, error) {
	queue, err := d.Database.Queue(config)
	return hookedQueue[TTx]{queue}, err
}

type hookedQueue[TTx any] struct{ database.Queue }

func (q hookedQueue[TTx]) Insert(ctx context.Context, tx database.Tx, jobs []river.InsertManyParams) error {
	return q.Queue.Insert(ctx, itself[TTx](tx), jobs)
}

func (q hookedQueue[TTx]) Pause(ctx context.Context, tx database.Tx, queue string) error {
	return q.Queue.Pause(ctx, itself[TTx](tx), queue)
}

func (q hookedQueue[TTx]) Resume(ctx context.Context, tx database.Tx, queue string) error {
	return q.Queue.Resume(ctx, itself[TTx](tx), queue)
}

func itself[TTx any](tx database.Tx) database.Tx {
	if hooked, ok := tx.(hookedTx[TTx]); ok {
		return hooked.Tx
	}
	return tx
}

// TestWaitSilent: Wait ends soon after its context if the database does not answer.
func TestWaitSilent(t *testing.T) { everywhere(t, testWaitSilent[*sql.Tx], testWaitSilent[pgx.Tx]) }

func testWaitSilent[TTx any](t *testing.T, db store[TTx]) {
	var silent atomic.Bool
	db.Database = &hooked[TTx]{Database: db.Database, before: func(ctx context.Context, _ database.Tx, query string, _ []any) {
		if silent.Load() && strings.Contains(query, "FROM quickstream.write WHERE id = $1") {
			<-ctx.Done()
		}
	}}
	s := open(t, db)
	s.paid("A")
	silent.Store(true)
	defer silent.Store(false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Engine().Wait(ctx, "A")
	require.Error(t, err)
}
