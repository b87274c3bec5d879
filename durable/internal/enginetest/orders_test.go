package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestConflicts: a conflict stores nothing, and never aborts the merchant's transaction: its later writes commit.
func TestConflicts(t *testing.T) { everywhere(t, testConflicts[*sql.Tx], testConflicts[pgx.Tx]) }

func testConflicts[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	require.NoError(t, db.exec(ctx, "CREATE TABLE note (text text)"))
	params := s.card(sandbox.CardAttempted)
	s.pay("A", params)
	s.Settled("A")
	other, amount := params, params
	other.SupplierBusinessCode = "ANOTHER"
	amount.PrincipalAmount = decimal.New(1, 0)
	for i, conflict := range []struct {
		w      durable.NewWrite
		params quickstream.PayParams
		want   error
	}{
		{durable.NewWrite{ID: "A/2", Order: "A"}, s.card(sandbox.CardAttempted), durable.ErrOrderOpen},
		{durable.NewWrite{ID: "B", Order: "B"}, params, durable.ErrTokenUsed},
		{durable.NewWrite{ID: "A/2", Order: "A"}, other, durable.ErrOrderOpen},
		{durable.NewWrite{ID: "A", Order: "A"}, amount, durable.ErrIDReused},
		{durable.NewWrite{ID: "refund"}, quickstream.PayParams{}, durable.ErrTooMuch},
	} {
		require.NoError(t, s.Tx(func(tx TTx) (err error) {
			if conflict.w.ID == "refund" {
				_, _, err = s.Engine().Refund(ctx, tx, conflict.w, "A", quickstream.RefundParams{PrincipalAmount: decimal.New(99, 0), Currency: quickstream.CurrencyAUD})
			} else {
				_, _, err = s.Engine().Pay(ctx, tx, conflict.w, conflict.params)
			}
			require.ErrorIs(t, err, conflict.want)
			_, err = db.Join(tx).Exec(ctx, "INSERT INTO note (text) VALUES ($1)", err.Error())
			return err
		}))
		assert.Len(t, s.rows("SELECT text FROM note"), i+1)
	}
	assert.Equal(t, []string{"A"}, s.rows("SELECT id FROM quickstream.write"))
}

// TestTwoTabs: two tabs pay one order at the same moment. One payment is stored, and neither transaction is aborted.
func TestTwoTabs(t *testing.T) { everywhere(t, testTwoTabs[*sql.Tx], testTwoTabs[pgx.Tx]) }

func testTwoTabs[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for n := range 5 {
		order := fmt.Sprint("order ", n)
		var tabs sync.WaitGroup
		var stored, open atomic.Int64
		for tab := range 4 {
			params := s.card(sandbox.CardAttempted)
			tabs.Go(func() {
				switch _, err := s.tryPay(durable.NewWrite{ID: fmt.Sprint(order, " ", tab), Order: order}, params); {
				case err == nil:
					stored.Add(1)
				case errors.Is(err, durable.ErrOrderOpen):
					open.Add(1)
				default:
					assert.NoError(t, err)
				}
			})
		}
		tabs.Wait()
		assert.EqualValues(t, 1, stored.Load())
		assert.EqualValues(t, 3, open.Load())
		p, err := s.Engine().PaymentOf(t.Context(), order)
		require.NoError(t, err)
		s.Settled(p.ID)
		assert.Equal(t, 1, s.charged(order))
	}
}

// TestUnsureClaim: if the commit of a claim returns an error nothing is sent, whether it was committed or not, because a
// standby may lack it. The write is queued again, and nothing has to be looked up.
func TestUnsureClaim(t *testing.T) {
	everywhere(t, testUnsureClaim[*sql.Tx], testUnsureClaim[pgx.Tx])
}

func testUnsureClaim[TTx any](t *testing.T, db store[TTx]) {
	var claims atomic.Value // the transaction that claims
	var fails, committed atomic.Bool
	broken := errors.New("the connection is gone")
	db.Database = &hooked[TTx]{Database: db.Database, before: func(_ context.Context, tx database.Tx, _ string, args []any) {
		if slices.Contains(args, any(durable.StateSending)) {
			claims.Store(tx)
		}
	}, commit: func(ctx context.Context, tx database.Tx) error {
		switch {
		case claims.Load() != any(tx) || !fails.Swap(false):
			return tx.Commit(ctx)
		case committed.Load():
			return errors.Join(broken, tx.Commit(ctx))
		default:
			return errors.Join(broken, tx.Rollback(ctx))
		}
	}}
	s := open(t, db)
	for order, happened := range map[string]bool{"committed": true, "rolled back": false} {
		committed.Store(happened)
		fails.Store(true)
		s.pay(order, s.card(sandbox.CardAttempted))
		w := s.Settled(order)
		assert.True(t, w.Paid())
		assert.Nil(t, w.Case, "it was not looked up")
		assert.False(t, fails.Load())
		assert.Equal(t, happened, strings.Contains(s.history(order), "not_executed"), "what was not claimed has no such event")
		assert.Equal(t, 1, s.charged(order))
	}
}

// TestClaimOfOldRow: a write that a change of the database's history has marked since it was read is not claimed, but read again.
func TestClaimOfOldRow(t *testing.T) {
	everywhere(t, testClaimOfOldRow[*sql.Tx], testClaimOfOldRow[pgx.Tx])
}

func testClaimOfOldRow[TTx any](t *testing.T, db store[TTx]) {
	var claims atomic.Int32
	db.Database = &hooked[TTx]{Database: db.Database, before: func(ctx context.Context, tx database.Tx, query string, args []any) {
		if strings.HasPrefix(query, "UPDATE quickstream.write") && slices.Contains(args, any(durable.StateSending)) && claims.Add(1) == 1 {
			_, err := tx.Exec(ctx, "UPDATE quickstream.write SET suspect = 1")
			assert.NoError(t, err)
		}
	}}
	s := open(t, db)
	s.pay("A", s.card(sandbox.CardAttempted))
	assert.True(t, s.Settled("A").Paid())
	assert.Greater(t, claims.Load(), int32(1))
	assert.Equal(t, 1, s.charged("A"))
}

// listed returns the ids of a list, read in pages of so many writes.
func (s *shop[TTx]) listed(f durable.Filter, limit int) (ids []string) {
	s.T.Helper()
	for f.Limit = limit; ; {
		page, err := s.Engine().List(s.T.Context(), f)
		require.NoError(s.T, err)
		require.LessOrEqual(s.T, len(page.Writes), limit)
		for _, w := range page.Writes {
			ids = append(ids, w.ID)
		}
		if page.Next == "" {
			return ids
		}
		f.After = page.Next
	}
}

// TestList: a list has the writes that its filter selects, the last written first, for every length of its pages.
func TestList(t *testing.T) { everywhere(t, testList[*sql.Tx], testList[pgx.Tx]) }

func testList[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for i := range 3 {
		params := s.card(sandbox.CardAttempted)
		params.CustomerReferenceNumber = fmt.Sprint("C-", i%2)
		s.pay(fmt.Sprint("taken ", i), params)
		s.Settled(fmt.Sprint("taken ", i))
		s.Advance(time.Second)
	}
	taken := s.get("taken 2")
	s.pay("TAKEN", s.card("4111111111444496"))
	s.Settled("TAKEN")
	other := s.card(sandbox.CardAttempted)
	other.PrincipalAmount = decimal.New(777, -2)
	s.pay("another amount", other)
	s.Settled("another amount")
	all := []string{"another amount", "TAKEN", "taken 2", "taken 1", "taken 0"}
	for _, limit := range []int{1, 2, 50} {
		assert.Equal(t, all, s.listed(durable.Filter{}, limit))
		for _, test := range []struct {
			name   string
			filter durable.Filter
			want   []string
		}{
			{"states", durable.Filter{States: []durable.State{durable.StateDeclined, durable.StateUnknown}}, all[1:2]},
			{"no such reason", durable.Filter{Reasons: []durable.Reason{durable.ReasonRefused}}, nil},
			{"order", durable.Filter{Order: "taken"}, all[2:]},
			{"receipt", durable.Filter{ReceiptNumber: taken.ReceiptNumber}, all[2:3]},
			{"digits", durable.Filter{CardDigits: taken.CardDigits, Order: "taken 2"}, all[2:3]},
			{"customer", durable.Filter{CustomerReferenceNumber: "C-0"}, []string{"taken 2", "taken 0"}},
			{"no such customer", durable.Filter{CustomerReferenceNumber: "C-2"}, nil},
			{"amount", durable.Filter{Amount: decimal.New(777, -2)}, all[:1]},
			{"from", durable.Filter{From: taken.Written}, all[:3]},
			{"to", durable.Filter{To: taken.Written}, all[3:]},
			{"no state", durable.Filter{States: []durable.State{"x' OR '1' = '1"}}, nil},
			{"no reason", durable.Filter{Reasons: []durable.Reason{"x' OR '1' = '1"}}, nil},
		} {
			assert.Equal(t, test.want, s.listed(test.filter, limit), test.name)
		}
	}
	for name, wrong := range map[string]durable.Filter{
		"limit": {Limit: 1001}, "cursor": {After: "x"},
	} {
		_, err := s.Engine().List(t.Context(), wrong)
		require.Error(t, err, name)
	}
}

// TestUnsafeDatabases: a database that can lose a commit is refused, and so is one of another installation.
func TestUnsafeDatabases(t *testing.T) {
	t.Parallel()
	_, client := sandboxtest.New(t)
	onSQLite := func(db durable.Database[*sql.Tx], installation string) error {
		_, err := durable.New(t.Context(), db, client, durable.Options[*sql.Tx]{
			Installation: installation, ServiceRetries: serviceRetries(), OnOutcome: func(context.Context, *sql.Tx, durable.OutcomeChange) error { return nil },
		})
		return err
	}
	for dsn, want := range map[string]string{
		"_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)": "synchronous", "_pragma=journal_mode(MEMORY)&_pragma=synchronous(FULL)": "journal_mode",
		"mode=memory": "memory",
	} {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "shop.db")+"?"+dsn)
		require.NoError(t, err)
		db.SetMaxOpenConns(1)
		t.Cleanup(func() { _ = db.Close() })
		require.NoError(t, durable.MigrateUp(t.Context(), sqlite.DB(db)), dsn)
		require.ErrorContains(t, onSQLite(sqlite.DB(db), "shop"), want)
	}
	file := onFile(t, filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, onSQLite(file.Database, "shop"))
	require.ErrorContains(t, onSQLite(file.Database, "another-shop"), "another installation")
	t.Run("PostgreSQL", func(t *testing.T) {
		address, err := url.Parse(emptyDatabase(t))
		require.NoError(t, err)
		onServer(t, address.String())
		address.RawQuery = "synchronous_commit=off"
		pool, err := pgxpool.New(t.Context(), address.String())
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		_, err = durable.New(t.Context(), postgres.Pgx(pool), client, durable.Options[pgx.Tx]{
			Installation: "shop", ServiceRetries: serviceRetries(), OnOutcome: func(context.Context, pgx.Tx, durable.OutcomeChange) error { return nil },
		})
		require.ErrorContains(t, err, "synchronous_commit")
	})
}

// TestMigrations: any number of processes may migrate at once, and again.
func TestMigrations(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "shop.db")
		migrate(t, func() durable.Database[*sql.Tx] {
			db, err := sqlite.Open(file)
			require.NoError(t, err)
			t.Cleanup(func() { _ = db.Close() })
			return sqlite.DB(db)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := emptyDatabase(t)
		migrate(t, func() durable.Database[pgx.Tx] {
			pool, err := pgxpool.New(t.Context(), address)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			return postgres.Pgx(pool)
		})
	})
}

func migrate[TTx any](t *testing.T, open func() durable.Database[TTx]) {
	var processes sync.WaitGroup
	for range 4 {
		db := open()
		processes.Go(func() { assert.NoError(t, durable.MigrateUp(t.Context(), db)) })
	}
	processes.Wait()
	require.NoError(t, durable.MigrateUp(t.Context(), open()))
}
