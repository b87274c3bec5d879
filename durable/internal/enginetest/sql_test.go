package enginetest

import (
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/sandbox"
)

// TestSQL: a program that uses database/sql with PostgreSQL stores an order and its payment in one transaction, and the server
// warns of nothing.
func TestSQL(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(emptyDatabase(t))
	require.NoError(t, err)
	var mu sync.Mutex
	var warnings []string
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, n.Severity+" "+n.Message)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { _ = db.Close() })
	s := open(t, store[*sql.Tx]{Database: postgres.SQL(pool)})
	_, err = db.ExecContext(t.Context(), "CREATE TABLE orders (id text PRIMARY KEY)")
	require.NoError(t, err)
	params := s.card(sandbox.CardAttempted)
	require.NoError(t, s.Tx(func(tx *sql.Tx) error {
		_, _, err := s.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: "A", Order: "A"}, params)
		require.NoError(t, err)
		_, err = tx.ExecContext(t.Context(), "INSERT INTO orders (id) VALUES ('A')")
		return err
	}))
	assert.True(t, s.Settled("A").Paid())
	mu.Lock()
	defer mu.Unlock()
	assert.NotContains(t, strings.Join(warnings, "; "), "WARNING")
}
