package enginetest

import (
	"context"
	"path/filepath"
	"slices"
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

// scans keeps the statements for which the database reads all writes.
type scans struct {
	prefix string
	apart  string // how far apart the writes are
	scan   func(detail string) bool

	mu    sync.Mutex
	found map[string]bool
}

func (s *scans) explain(ctx context.Context, tx database.Tx, query string, args []any) {
	if !strings.Contains(query, "quickstream.write") {
		return
	}
	plan, err := tx.Query(ctx, s.prefix+query, args...)
	if err != nil {
		return // the statement itself will say so
	}
	defer plan.Close()
	for plan.Next() {
		var id, parent, unused int
		var detail string
		into := []any{&id, &parent, &unused, &detail}
		if s.prefix == "EXPLAIN " {
			into = into[3:]
		}
		if plan.Scan(into...) == nil && s.scan(detail) {
			s.mu.Lock()
			s.found[query] = true
			s.mu.Unlock()
		}
	}
}

// plannedRows says how many writes PostgreSQL plans for.
const plannedRows = "DURABLE_TEST_PLANNED"

// What is done about one write reads no others, however many there are, and neither do Health and lists.
func TestNoScans(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		testNoScans(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), &scans{prefix: "EXPLAIN QUERY PLAN ", apart: "1000 * i", scan: func(detail string) bool {
			return strings.Contains(detail, "SCAN quickstream_write") &&
				!strings.Contains(detail, "_due") && !strings.Contains(detail, "_pending") // indexes of a few writes
		}}, 20_000)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		testNoScans(t, onServer(t, emptyDatabase(t)), &scans{prefix: "EXPLAIN ", apart: "i * interval '1 ms'", scan: func(detail string) bool {
			return strings.Contains(detail, "Seq Scan on write")
		}}, times(t, plannedRows, 20_000))
	})
}

func testNoScans[TTx any](t *testing.T, db store[TTx], plans *scans, rows int) {
	first := open(t, db)
	first.settled(first.pay("before", first.card(sandbox.CardAttempted)))
	require.NoError(t, first.engine.Stop(t.Context()))
	columns := slices.DeleteFunc(first.columnsOf("write"), func(name string) bool {
		return slices.Contains([]string{"id", "order_id", "token", "receipt", "reference", "intent_id", "written_at"}, name)
	})
	others := strings.Join(columns, ", ")
	first.put(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		INSERT INTO quickstream.write (id, order_id, token, receipt, reference, intent_id, written_at, `+others+`)
		SELECT 'copy ' || i, 'order ' || i, 'token ' || i, 'R' || i, 'reference ' || i, 'intent ' || i, written_at - `+plans.apart+`, `+others+` FROM quickstream.write, n`, rows)
	first.put("ANALYZE") //nolint:misspell // as SQL spells it

	plans.found = map[string]bool{}
	db.Database = &hooked[TTx]{Database: db.Database, before: plans.explain}
	s := open(t, db)
	s.listen()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 3}))
	lost := s.reaches(s.pay("A", s.card(sandbox.CardAttempted)), approved, time.Minute)
	s.reverse(lost.ID)
	s.reaches(lost.ID, voided, time.Second)
	s.reaches(s.pay("B", s.mandate()), approved, time.Minute)
	paid := s.settled(s.pay("C", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.box.Flush(t.Context()))
	s.clock.Advance(48 * time.Hour)
	s.reaches(s.refund(paid.ID, 500), approved, time.Minute)
	s.status()
	for _, f := range []durable.Filter{
		{}, {OldestFirst: true, States: []durable.State{durable.StateSettled}}, {CustomerReferenceNumber: "C-1"}, {ReceiptNumber: paid.ReceiptNumber},
	} {
		f.Limit = 2
		_, err := s.engine.List(t.Context(), f)
		require.NoError(t, err)
	}
	_, err := s.engine.Details(t.Context(), paid.ID)
	require.NoError(t, err)
	_, err = s.engine.Writes(t.Context(), "C")
	require.NoError(t, err)
	plans.mu.Lock()
	defer plans.mu.Unlock()
	assert.Empty(t, plans.found)
}
