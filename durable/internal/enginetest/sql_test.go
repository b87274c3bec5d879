package enginetest

import (
	"context"
	"database/sql"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/sandbox"
)

// inSQL is a database for programs that use database/sql, by an address with more parameters.
func inSQL(t *testing.T, parameters map[string]string, opts ...postgres.Option) (store[*sql.Tx], *sql.DB) {
	t.Helper()
	address := emptyDatabase(t)
	for name, value := range parameters {
		address = with(t, address, name, value)
	}
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := store[*sql.Tx]{Database: postgres.SQL(pool, opts...), anew: pool.Reset}
	require.NoError(t, durable.MigrateUp(t.Context(), s.Database))
	return s, stdlib.OpenDBFromPool(pool)
}

// with is an address with one more parameter.
func with(t *testing.T, address, name, value string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	query := parsed.Query()
	query.Set(name, value)
	parsed.RawQuery = query.Encode()
	return parsed.String()
}

// A program that uses database/sql pays in its own transactions, in each mode of pgx, and with a pool
// as small as it may be. Jobs are announced when its transaction commits, and not before.
func TestSQL(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		parameters map[string]string
		opts       []postgres.Option
	}{
		"default":         {},
		"small pool":      {parameters: map[string]string{"pool_max_conns": "1"}},
		"exec":            {parameters: map[string]string{"default_query_exec_mode": "exec"}, opts: []postgres.Option{postgres.Pooled()}},
		"simple protocol": {parameters: map[string]string{"default_query_exec_mode": "simple_protocol"}, opts: []postgres.Option{postgres.Pooled()}},
		"schema":          {opts: []postgres.Option{postgres.Schema("payments")}},
	} {
		t.Run(name, func(t *testing.T) {
			postgresServer(t)
			t.Parallel()
			db, own := inSQL(t, test.parameters, test.opts...)
			_, err := own.ExecContext(t.Context(), "CREATE TABLE orders (id text PRIMARY KEY, state text)")
			require.NoError(t, err)
			s := open(t, db, func(o *durable.Options[*sql.Tx]) { o.SweepEvery = time.Hour }) // by the announcement alone
			s.hook = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
				w := change.Write.Common()
				_, err := tx.ExecContext(ctx, "UPDATE orders SET state = $1 WHERE id = $2", w.Text(), w.Order)
				return err
			}
			begin := func(order string) *sql.Tx {
				tx, err := own.BeginTx(t.Context(), nil)
				require.NoError(t, err)
				_, err = tx.ExecContext(t.Context(), "INSERT INTO orders VALUES ($1, 'open')", order)
				require.NoError(t, err)
				return tx
			}
			params := s.card(sandbox.CardAttempted)
			tx := begin("rolled back")
			_, err = s.ask(tx, "rolled back", params)
			require.NoError(t, err)
			require.NoError(t, tx.Rollback())

			tx = begin("paid")
			id, err := s.ask(tx, "paid", s.card(sandbox.CardAttempted))
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			write := s.settled(id)
			assert.Equal(t, approved, write.Text())
			assert.Equal(t, "12.34", write.Amount.String())
			assert.Equal(t, 1, s.charged())
			_, err = s.engine.PaymentOf(t.Context(), "rolled back")
			require.ErrorIs(t, err, durable.ErrNoWrite)
			var state string
			require.NoError(t, own.QueryRowContext(t.Context(), "SELECT string_agg(id || ' ' || state, ',') FROM orders").Scan(&state))
			assert.Equal(t, "paid approved", state)
			require.NoError(t, durable.MigrateUp(t.Context(), db.Database), "again")
		})
	}
}

// What is tested on the other databases holds for one of database/sql, directly and as behind a pooler.
func TestSQLToo(t *testing.T) {
	t.Parallel()
	for mode, opts := range map[string][]postgres.Option{"cache_statement": nil, "exec": {postgres.Pooled()}} {
		for name, test := range map[string]func(*testing.T, store[*sql.Tx]){
			"pay": testPay[*sql.Tx], "lost answer": testLostAnswer[*sql.Tx], "refused hook": testOnOutcomeFails[*sql.Tx], "rolled back": testRolledBack[*sql.Tx],
			"ids": testIDReused[*sql.Tx], "conflicts": testConflictsAbortNothing[*sql.Tx], "refunds": testTwoEqualRefunds[*sql.Tx], "reversal": testReverse[*sql.Tx],
			"comparison": testCompare[*sql.Tx], "report": testCompareReport[*sql.Tx], "events": testEvents[*sql.Tx], "inbox": testOnEvent[*sql.Tx],
			"retention": testRetention[*sql.Tx], "restored": testRestored[*sql.Tx], "decision": testDecide[*sql.Tx], "seal": testSeal[*sql.Tx],
			"send": testSend[*sql.Tx], "change": testChange[*sql.Tx], "waited": testWaited[*sql.Tx],
		} {
			t.Run(mode+" "+name, func(t *testing.T) {
				postgresServer(t)
				t.Parallel()
				db, _ := inSQL(t, map[string]string{"default_query_exec_mode": mode}, opts...)
				test(t, db)
			})
		}
	}
}

// A transaction that has ended, or one of another driver, is refused.
func TestSQLRefuses(t *testing.T) {
	t.Parallel()
	postgresServer(t)
	db, own := inSQL(t, nil)
	s := open(t, db)
	tx, err := own.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.NoError(t, tx.Rollback())
	_, err = s.ask(tx, "A", token())
	require.ErrorIs(t, err, sql.ErrTxDone)

	other, err := newFile(t).BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { _ = other.Rollback() }()
	_, err = s.ask(other, "A", token())
	require.Error(t, err)
	assert.Equal(t, 0, s.charged())
}

// The commit of a claim that no synchronous standby has is an error, with database/sql too, and the
// connection can be used on.
func TestSQLClaims(t *testing.T) {
	t.Parallel()
	postgresServer(t)
	db, own := inSQL(t, map[string]string{"pool_max_conns": "2"})
	for range 10 { // more than there are connections
		tx, err := db.Begin(t.Context())
		require.NoError(t, err)
		ready, err := db.Claim(t.Context(), tx)
		require.NoError(t, err)
		require.NoError(t, tx.Commit(t.Context()))
		require.NoError(t, ready())
	}
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = db.Claim(t.Context(), tx)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT 1/0")
	require.ErrorContains(t, err, "division by zero")
	require.ErrorContains(t, tx.Commit(t.Context()), "rollback", "a claim that is rolled back is none")
	require.NoError(t, own.PingContext(t.Context()))
}
