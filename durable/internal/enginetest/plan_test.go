package enginetest

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/sandbox"
)

// planned is a database that keeps the statements for which it reads all writes.
type planned[TTx any] struct {
	durable.Database[TTx]
	prefix string
	scan   func(detail string) bool

	mu    sync.Mutex
	found map[string]bool
}

// plannedTx is a transaction of it. The drivers get the transaction itself.
type plannedTx[TTx any] struct {
	database.Tx
	db *planned[TTx]
}

// Exec explains a statement, and runs it.
func (tx plannedTx[TTx]) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tx.db.explain(ctx, tx.Tx, query, args)
	return tx.Tx.Exec(ctx, query, args...)
}

// Query explains a statement, and runs it.
func (tx plannedTx[TTx]) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	tx.db.explain(ctx, tx.Tx, query, args)
	return tx.Tx.Query(ctx, query, args...)
}

func (d *planned[TTx]) explain(ctx context.Context, tx database.Tx, query string, args []any) {
	if !strings.Contains(query, "quickstream.write") {
		return
	}
	plan, err := tx.Query(ctx, d.prefix+query, args...)
	if err != nil {
		return // the statement itself will say so
	}
	defer plan.Close()
	for plan.Next() {
		var id, parent, unused int
		var detail string
		into := []any{&id, &parent, &unused, &detail}
		if d.prefix == "EXPLAIN " {
			into = into[3:]
		}
		if plan.Scan(into...) == nil && d.scan(detail) {
			d.mu.Lock()
			d.found[query] = true
			d.mu.Unlock()
		}
	}
}

// Begin and Join return transactions that explain.
func (d *planned[TTx]) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.Database.Begin(ctx)
	return plannedTx[TTx]{tx, d}, err
}

func (d *planned[TTx]) Join(tx TTx) database.Tx { return plannedTx[TTx]{d.Database.Join(tx), d} }

func itself[TTx any](tx database.Tx) database.Tx {
	if explained, ok := tx.(plannedTx[TTx]); ok {
		return explained.Tx
	}
	return tx
}

func (d *planned[TTx]) Leave(tx database.Tx) TTx { return d.Database.Leave(itself[TTx](tx)) }
func (d *planned[TTx]) Check(ctx context.Context, tx database.Tx) error {
	return d.Database.Check(ctx, itself[TTx](tx))
}

func (d *planned[TTx]) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	return d.Database.History(ctx, itself[TTx](tx))
}

func (d *planned[TTx]) Adopt(ctx context.Context, tx database.Tx) error {
	return d.Database.Adopt(ctx, itself[TTx](tx))
}

func (d *planned[TTx]) Claim(ctx context.Context, tx database.Tx) (func() error, error) {
	return d.Database.Claim(ctx, itself[TTx](tx))
}

func (d *planned[TTx]) Queue(config *river.Config) (database.Queue, error) {
	queue, err := d.Database.Queue(config)
	return plannedQueue[TTx]{queue}, err
}

type plannedQueue[TTx any] struct{ database.Queue }

func (q plannedQueue[TTx]) Insert(ctx context.Context, tx database.Tx, jobs []river.InsertManyParams) error {
	return q.Queue.Insert(ctx, itself[TTx](tx), jobs)
}

func (q plannedQueue[TTx]) Pause(ctx context.Context, tx database.Tx, queue string) error {
	return q.Queue.Pause(ctx, itself[TTx](tx), queue)
}

func (q plannedQueue[TTx]) Resume(ctx context.Context, tx database.Tx, queue string) error {
	return q.Queue.Resume(ctx, itself[TTx](tx), queue)
}

// TestNoScans: what is done about one write reads no others, however many there are, and neither do Health and lists.
func TestNoScans(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		testNoScans(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), "EXPLAIN QUERY PLAN ", "1000 * i", func(detail string) bool {
			return strings.Contains(detail, "SCAN quickstream_write") && !strings.Contains(detail, "USING") // an index of a few writes
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		testNoScans(t, onServer(t, emptyDatabase(t)), "EXPLAIN ", "i * interval '1 ms'", func(detail string) bool {
			return strings.Contains(detail, "Seq Scan on write")
		})
	})
}

func testNoScans[TTx any](t *testing.T, db store[TTx], prefix, apart string, scan func(string) bool) {
	ctx := t.Context()
	first := open(t, db)
	first.paid("before")
	require.NoError(t, first.Engine().Stop(ctx))
	var others []string
	for _, column := range first.columns() {
		switch column {
		case "id", "order_id", "token", "receipt", "reference", "written_at":
		default:
			others = append(others, column)
		}
	}
	all := strings.Join(others, ", ")
	require.NoError(t, db.exec(ctx, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
		INSERT INTO quickstream.write (id, order_id, token, receipt, reference, written_at, `+all+`)
		SELECT 'copy ' || i, 'order ' || i, 'token ' || i, 'R' || i, 'reference ' || i, written_at - `+apart+`, `+all+` FROM quickstream.write, n`))
	require.NoError(t, db.exec(ctx, "ANALYZE")) //nolint:misspell // as SQL spells it

	plans := &planned[TTx]{Database: db.Database, prefix: prefix, scan: scan, found: map[string]bool{}}
	db.Database = plans
	s := open(t, db)
	s.listen()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3})
	lost := s.paid("A")
	require.NoError(t, s.Tx(func(tx TTx) error {
		_, _, err := s.Engine().Reverse(ctx, tx, durable.NewWrite{ID: "A/reverse"}, lost.ID)
		return err
	}))
	s.Settled("A/reverse")
	s.pay("B", s.mandate())
	s.Settled("B")
	paid := s.paid("C")
	s.received()
	s.Advance(48 * time.Hour)
	_, err := s.refund("C/refund", "C", 500)
	require.NoError(t, err)
	s.Settled("C/refund")
	s.health()
	_ = s.Engine().Ready(ctx) // the clock has moved on without it
	for _, f := range []durable.Filter{
		{}, {States: []durable.State{durable.StateApproved}}, {CustomerReferenceNumber: "C-1"}, {ReceiptNumber: paid.ReceiptNumber},
	} {
		f.Limit = 2
		_, err := s.Engine().List(ctx, f)
		require.NoError(t, err)
	}
	s.details("C")
	require.NoError(t, s.Engine().CompareNow(ctx, paid.SettlesOn))
	plans.mu.Lock()
	defer plans.mu.Unlock()
	assert.Empty(t, plans.found)
}

// columns are those of the table of writes.
func (s *shop[TTx]) columns() []string {
	if s.db.file != "" {
		return s.rows("SELECT name FROM pragma_table_info('quickstream_write')")
	}
	return s.rows("SELECT column_name FROM information_schema.columns WHERE table_schema = 'quickstream' AND table_name = 'write'")
}
