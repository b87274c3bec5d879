package durable_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestRestored(t *testing.T) { everywhere(t, testRestored[*sql.Tx], testRestored[pgx.Tx]) }

// After a restore nothing is sent that the backup holds as prepared; and an order that was
// paid after the backup, which it does not know at all, is not paid again.
func testRestored[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ids := map[string]string{}
	for i := range 3 {
		order := fmt.Sprint("order ", i)
		ids[order] = s.pay(order, s.card(sandbox.CardAttempted))
		s.settled(ids[order])
	}
	require.NoError(t, s.engine.Stop(t.Context()))
	// What a backup from before the payments holds: one not claimed yet, one unknown to it.
	require.NoError(t, s.commit(func(tx TTx) error {
		if _, err := s.db.Exec(t.Context(), tx, `UPDATE quickstream.payment SET state = 'prepared', claim = '', resolution = '', receipt = '',
			next_at = $1, due_at = $1 WHERE order_id = 'order 0'`, time.Now().UnixMicro()); err != nil {
			return err
		}
		_, err := s.db.Exec(t.Context(), tx, "DELETE FROM quickstream.payment WHERE order_id = 'order 1'")
		return err
	}))
	require.NoError(t, s.engineOf().Restored(t.Context(), time.Now().Add(-time.Hour)))
	s.engine = s.start()
	assert.Equal(t, durable.StateApproved, s.reaches(ids["order 0"], durable.StateApproved, time.Second).State)
	require.Eventually(t, func() bool {
		p, err := s.engine.PaymentOf(t.Context(), "order 1")
		s.clock.Advance(10 * time.Second)
		return err == nil && p.State == durable.StateApproved
	}, 20*time.Second, 20*time.Millisecond)
	p, err := s.engine.PaymentOf(t.Context(), "order 1")
	require.NoError(t, err)
	assert.Equal(t, p.ID, s.pay("order 1", s.card(sandbox.CardAttempted)), "the order is paid")
	require.Eventually(t, func() bool { // nothing is sent before all of it was read
		status, err := s.engine.Status(t.Context())
		s.clock.Advance(time.Minute)
		return err == nil && status.Restoring.IsZero()
	}, 20*time.Second, 20*time.Millisecond)
	s.settled(s.pay("order 3", s.card(sandbox.CardAttempted)))
	assert.Equal(t, 4, s.charged())
}

// A SQLite file that is put back from a backup is recognised by the mark beside it.
func TestRestoredFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	s := open(t, onFile(t, file))
	s.settled(s.pay("before", s.card(sandbox.CardAttempted)))
	backup := filepath.Join(t.TempDir(), "backup.db")
	require.NoError(t, s.engine.Stop(t.Context()))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	copyDatabase(t, file, backup)
	s.engine = s.start()
	s.settled(id)
	require.NoError(t, s.engine.Stop(t.Context()))

	restored, err := os.ReadFile(backup)
	require.NoError(t, err)
	mark, err := os.ReadFile(file + ".mark")
	require.NoError(t, err)
	old := filepath.Join(t.TempDir(), "shop.db")
	require.NoError(t, os.WriteFile(old, restored, 0o600))
	require.NoError(t, os.WriteFile(old+".mark", mark, 0o600))
	s.db = onFile(t, old)
	s.engine = s.start()
	p := s.reaches(id, durable.StateApproved, time.Second)
	assert.Contains(t, p.Problem, "backup")
	assert.Equal(t, 2, s.charged())
}

func copyDatabase(t *testing.T, from, to string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+from)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "VACUUM INTO ?", to)
	require.NoError(t, err)
}
