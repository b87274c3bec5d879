package enginetest

import (
	"context"
	"database/sql"
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

// scans keeps the statements for which SQLite reads all writes.
type scans struct {
	mu    sync.Mutex
	found map[string]bool
}

func (s *scans) explain(ctx context.Context, tx database.Tx, query string, args []any) {
	plan, err := tx.Query(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return // the statement itself will say so
	}
	defer plan.Close()
	for plan.Next() {
		var id, parent, unused int
		var detail string
		if plan.Scan(&id, &parent, &unused, &detail) == nil && strings.Contains(detail, "SCAN quickstream_write") &&
			!strings.Contains(detail, "_due") && !strings.Contains(detail, "_pending") { // indexes of a few writes
			s.mu.Lock()
			s.found[query] = true
			s.mu.Unlock()
		}
	}
}

// What is done about one write reads no others, however many there are.
func TestNoScans(t *testing.T) {
	t.Parallel()
	db := onFile(t, filepath.Join(t.TempDir(), "shop.db"))
	plans := &scans{found: map[string]bool{}}
	db.Database = &hooked[*sql.Tx]{Database: db.Database, before: plans.explain}
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
	s.listed(durable.Filter{}, 2)
	s.listed(durable.Filter{OldestFirst: true, States: []durable.State{durable.StateSettled}}, 2)
	s.listed(durable.Filter{CustomerReferenceNumber: "C-1"}, 2)
	s.listed(durable.Filter{ReceiptNumber: paid.ReceiptNumber}, 2)
	_, err := s.engine.Details(t.Context(), paid.ID)
	require.NoError(t, err)
	_, err = s.engine.Writes(t.Context(), "C")
	require.NoError(t, err)
	plans.mu.Lock()
	defer plans.mu.Unlock()
	assert.Empty(t, plans.found)
}
