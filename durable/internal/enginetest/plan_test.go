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

// explained keeps the statements for which SQLite reads all payments.
type explained struct {
	durable.Database[*sql.Tx]
	mu    sync.Mutex
	scans map[string]bool
}

func (d *explained) Query(ctx context.Context, tx *sql.Tx, query string, args ...any) (database.Rows, error) {
	d.explain(ctx, tx, query, args)
	return d.Database.Query(ctx, tx, query, args...)
}

func (d *explained) Exec(ctx context.Context, tx *sql.Tx, query string, args ...any) (int64, error) {
	d.explain(ctx, tx, query, args)
	return d.Database.Exec(ctx, tx, query, args...)
}

func (d *explained) explain(ctx context.Context, tx *sql.Tx, query string, args []any) {
	plan, err := d.Database.Query(ctx, tx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return // the statement itself will say so
	}
	defer plan.Close()
	for plan.Next() {
		var id, parent, unused int
		var detail string
		if plan.Scan(&id, &parent, &unused, &detail) == nil && strings.Contains(detail, "SCAN quickstream_payment") && !strings.Contains(detail, "_due") {
			d.mu.Lock()
			d.scans[query] = true
			d.mu.Unlock()
		}
	}
}

// What is done about one payment reads no others, however many there are.
func TestNoScans(t *testing.T) {
	t.Parallel()
	db := onFile(t, filepath.Join(t.TempDir(), "shop.db"))
	plans := &explained{Database: db.Database, scans: map[string]bool{}}
	db.Database = plans
	s := open(t, db)
	s.listen()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 3}))
	lost := s.reaches(s.pay("A", s.card(sandbox.CardAttempted)), durable.StateApproved, time.Minute)
	_, err := s.giveBack(lost, 1234)
	require.NoError(t, err)
	s.reaches(lost.ID, durable.StateVoided, time.Second)
	s.reaches(s.pay("B", s.mandate()), durable.StateApproved, time.Minute)
	paid := s.settled(s.pay("C", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.box.Flush(t.Context()))
	s.clock.Advance(48 * time.Hour)
	id, err := s.giveBack(paid, 500)
	require.NoError(t, err)
	s.reaches(id, durable.StateApproved, time.Minute)
	plans.mu.Lock()
	defer plans.mu.Unlock()
	assert.Empty(t, plans.scans)
}
