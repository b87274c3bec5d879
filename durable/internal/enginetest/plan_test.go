package enginetest

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/sandbox"
)

// plans keeps the statements for which a database reads all writes.
type plans struct {
	prefix string
	scan   func(detail string) bool

	mu    sync.Mutex
	found map[string]bool
}

func (p *plans) explain(ctx context.Context, tx database.Tx, query string, args []any) {
	if !strings.Contains(query, "quickstream.write") {
		return
	}
	plan, err := tx.Query(ctx, p.prefix+query, args...)
	if err != nil {
		return // the statement itself fails
	}
	defer plan.Close()
	for plan.Next() {
		var id, parent, unused int
		var detail string
		into := []any{&id, &parent, &unused, &detail}
		if p.prefix == "EXPLAIN " {
			into = into[3:]
		}
		if plan.Scan(into...) != nil {
			continue
		}
		byState := strings.Contains(detail, "quickstream_write_states") // which reads all of them here
		if p.scan(detail) || byState && (strings.Contains(query, "order_id >=") || strings.Contains(query, "changes > notified AND")) {
			p.mu.Lock()
			p.found[query] = true
			p.mu.Unlock()
		}
	}
}

// TestNoScans: work on one write does not read all others, and neither do Health and lists.
func TestNoScans(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		testNoScans(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), "EXPLAIN QUERY PLAN ", "1000 * i", func(detail string) bool {
			all := strings.Contains(detail, "SCAN quickstream_write") && !strings.Contains(detail, "USING") // an index of a few writes
			return all || strings.HasPrefix(detail, "SEARCH f ") && !strings.Contains(detail, "quickstream_write_follows")
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
	if db.file == "" { // SQLite files are rarely analysed
		require.NoError(t, db.exec(ctx, "ANALYZE")) //nolint:misspell // as SQL spells it
	}

	found := &plans{prefix: prefix, scan: scan, found: map[string]bool{}}
	db.Database = &hooked[TTx]{Database: db.Database, before: found.explain}
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
		{},
		{States: []durable.State{durable.StateApproved}},
		{CustomerReferenceNumber: "C-1"},
		{ReceiptNumber: paid.ReceiptNumber},
		{Unnotified: true},
		{Order: "order 77"},
		{Order: "order 77", States: []durable.State{durable.StateApproved}},
	} {
		f.Limit = 2
		_, err := s.Engine().List(ctx, f)
		require.NoError(t, err)
	}
	s.details("C")
	require.NoError(t, s.Engine().CompareNow(ctx, paid.SettlementDate))
	found.mu.Lock()
	defer found.mu.Unlock()
	assert.Empty(t, found.found)
}

// columns returns the columns of the table of writes.
func (s *shop[TTx]) columns() []string {
	if s.db.file != "" {
		return s.rows("SELECT name FROM pragma_table_info('quickstream_write')")
	}
	return s.rows("SELECT column_name FROM information_schema.columns WHERE table_schema = 'quickstream' AND table_name = 'write'")
}
