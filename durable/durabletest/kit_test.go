package durabletest_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/durabletest"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// openShop is a merchant's database, with the options of their engine.
func openShop(t testing.TB) (*sql.DB, durable.Options[*sql.Tx]) {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), "CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT NOT NULL DEFAULT 'open')")
	require.NoError(t, err)
	return db, durable.Options[*sql.Tx]{OnOutcome: markOrder}
}

func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	p := change.Write
	if !p.IsPayment() {
		return nil
	}
	_, err := tx.ExecContext(ctx, "UPDATE orders SET state = ? WHERE id = ?", p.Name(), p.Order)
	return err
}

// buy is the merchant's checkout: it stores the order and its payment.
func buy(ctx context.Context, db *sql.DB, engine *durable.Engine[*sql.Tx], order, token string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES (?)", order); err != nil {
		return err
	}
	_, _, err = engine.Pay(ctx, tx, durable.NewWrite{ID: order + "/1", Order: order}, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token),
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

func stateOf(ctx context.Context, db *sql.DB, order string) (state string, err error) {
	err = db.QueryRowContext(ctx, "SELECT state FROM orders WHERE id = ?", order).Scan(&state)
	return state, err
}

// The answer to the payment is lost and found days later, in no time.
func TestSettled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind    sandbox.FaultKind
		want    string
		charged int
	}{
		"lost":          {sandbox.ResetAfterCommit(), "approved", 1},
		"made late":     {sandbox.CommitLate(5 * time.Minute), "approved", 1},
		"never made":    {sandbox.ResetBeforeCommit(), "needs_person.not_found", 0},
		"not reachable": {sandbox.Unreachable(sandbox.ConnectionRefused), "not_sent.too_late", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, opts := openShop(t)
			kit := durabletest.New(t, sqlite.DB(db), opts)
			require.NoError(t, kit.Sandbox.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: test.kind}))
			require.NoError(t, buy(t.Context(), db, kit.Engine(), "A", kit.Token(sandbox.CardAttempted)))
			write := kit.Settled("A/1")
			assert.Equal(t, test.want, write.Name())
			state, err := stateOf(t.Context(), db, "A")
			require.NoError(t, err)
			assert.Equal(t, test.want, state)
			assert.Len(t, kit.Sandbox.Ledger().Charged("A"), test.charged)
			kit.Judge("A")
		})
	}
}

// The time of the engine, the sandbox and the client is one, and an engine that was killed is followed
// by another one.
func TestTimeAndKills(t *testing.T) {
	t.Parallel()
	db, opts := openShop(t)
	kit := durabletest.New(t, sqlite.DB(db), opts)
	before, first := kit.Now(), kit.Engine()
	kit.Advance(48 * time.Hour)
	kit.Kill()
	assert.NotSame(t, first, kit.Engine())
	require.NoError(t, buy(t.Context(), db, kit.Engine(), "A", kit.Token(sandbox.CardAttempted)))
	write := kit.Settled("A/1")
	assert.WithinDuration(t, before.Add(48*time.Hour), write.Written, time.Minute)
	assert.WithinDuration(t, write.Written, kit.Sandbox.Ledger()[0].Time, time.Minute)
	require.ErrorContains(t, kit.Tx(func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO orders (id) VALUES ('B'), ('A')")
		return err
	}), "UNIQUE")
	require.NoError(t, kit.Tx(func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO orders (id) VALUES ('B')")
		return err
	}), "the first one was rolled back")
}

// report is a t that keeps what a test would fail of.
type report struct {
	testing.TB
	failed []string
}

func (*report) Helper() {}

func (r *report) Errorf(format string, args ...any) {
	r.failed = append(r.failed, fmt.Sprintf(format, args...))
}

func (r *report) text() string { return strings.Join(r.failed, "\n") }

// A payment beside the engine is a charge that no payment knows.
func TestJudge(t *testing.T) {
	t.Parallel()
	db, opts := openShop(t)
	judged := &report{TB: t}
	kit := durabletest.New(judged, sqlite.DB(db), opts, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.RefundBeforeCutOff = true }))
	require.NoError(t, buy(t.Context(), db, kit.Engine(), "A", kit.Token(sandbox.CardAttempted)))
	payment := kit.Settled("A/1")
	kit.Judge("A")
	require.Empty(t, judged.failed)
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, _, err = kit.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: "held", Order: "held"}, quickstream.PreauthoriseParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(kit.Token(sandbox.CardAttempted)), PrincipalAmount: payment.Amount,
		Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
	})
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	require.True(t, kit.Settled("held").Paid())
	kit.Judge("A", "held")
	require.Empty(t, judged.failed)
	kit.Judge("held")
	assert.Contains(t, judged.text(), payment.ReceiptNumber+` was charged for "A"`)

	judged.failed = nil
	_, err = kit.Client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: payment.ReceiptNumber, PrincipalAmount: payment.Amount, Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	kit.Judge("A", "held")
	require.Empty(t, judged.failed)
}

func TestWorlds(t *testing.T) {
	t.Parallel()
	durabletest.Worlds(t, 12, func(t *testing.T, world worlds.World) {
		db, opts := openShop(t)
		kit := durabletest.NewIn(t, world, sqlite.DB(db), opts)
		assert.Equal(t, world, kit.World)
		require.NoError(t, buy(t.Context(), db, kit.Engine(), "A", kit.Token(sandbox.CardAttempted)))
		kit.Settled("A/1")
		kit.Judge("A")
	})
}

// chaos pays orders while everything fails.
func chaos(t testing.TB, opts durabletest.ChaosOptions, onOutcome func(context.Context, *sql.Tx, durable.OutcomeChange) error) {
	db, options := openShop(t)
	options.OnOutcome = onOutcome
	kit := durabletest.New(t, sqlite.DB(db), options)
	opts.Paid = func(ctx context.Context, order string) (bool, error) {
		state, err := stateOf(ctx, db, order)
		return state == "approved", err
	}
	kit.Chaos(opts, func(ctx context.Context, order string) error {
		return buy(ctx, db, kit.Engine(), order, kit.Token(sandbox.CardAttempted))
	})
}

func TestChaos(t *testing.T) {
	t.Parallel()
	chaos(t, durabletest.ChaosOptions{}, markOrder)
}

// A program that does not mark its orders in OnOutcome is found out.
func TestChaosFindsTheUsualMistake(t *testing.T) {
	t.Parallel()
	judged := &report{TB: t}
	chaos(judged, durabletest.ChaosOptions{Orders: 8}, func(context.Context, *sql.Tx, durable.OutcomeChange) error { return nil })
	assert.Contains(t, judged.text(), "the merchant's tables say paid: false")
}
