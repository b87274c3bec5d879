package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
)

// The OnOutcome that the README and the documentation show is the example's, which runs.
func TestExampleIsShown(t *testing.T) {
	shown := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	_, program, found := strings.Cut(shown("example_test.go"), "\n// markOrder ")
	require.True(t, found)
	program, _, found = strings.Cut(program, "\n}\n")
	require.True(t, found)
	program = "// markOrder " + program + "\n}\n"
	assert.True(t, strings.Contains(shown("../README.md"), "```go\n"+program+"```\n"), "README.md")
	assert.True(t, strings.Contains(shown("../doc.go"), "//\n//\t"+strings.TrimSuffix(strings.ReplaceAll(program, "\n", "\n//\t"), "\t")+"\n"), "doc.go")
}

// newShop returns a database with the example's table of orders.
func newShop(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), ordersTable)
	require.NoError(t, err)
	return db
}

// The example's order is paid if and only if a payment of its amount stands.
func TestExampleOrders(t *testing.T) {
	payment := func(id string, after durable.State, edits ...func(*durable.Payment)) durable.OutcomeChange {
		p := durable.Payment{ID: id, OrderID: "A", State: after, Amount: decimal.RequireFromString("10"), Currency: quickstream.CurrencyAUD}
		for _, edit := range edits {
			edit(&p)
		}
		return durable.OutcomeChange{Payment: p, After: after}
	}
	of := func(receipt string) func(*durable.Payment) {
		return func(p *durable.Payment) { p.ReceiptOf = receipt }
	}
	passedBy := func(id string) func(*durable.Payment) {
		return func(p *durable.Payment) { p.PassedBy = id }
	}
	usd := func(p *durable.Payment) { p.Currency = "USD" }
	more := func(p *durable.Payment) { p.Amount = decimal.RequireFromString("10.01") }
	for name, test := range map[string]struct {
		changes []durable.OutcomeChange
		want    string
	}{
		"approved":            {[]durable.OutcomeChange{payment("1", durable.StateApproved)}, "paid"},
		"declined":            {[]durable.OutcomeChange{payment("1", durable.StateDeclined)}, "declined"},
		"paid by another try": {[]durable.OutcomeChange{payment("1", durable.StateDeclined), payment("2", durable.StateApproved)}, "paid"},
		"returned":            {[]durable.OutcomeChange{payment("1", durable.StateApproved), payment("1", durable.StateReturned)}, "returned"},
		"returned, and another try": {
			[]durable.OutcomeChange{payment("1", durable.StateApproved), payment("1", durable.StateReturned), payment("2", durable.StateEscalated)}, "escalated",
		},
		"a refund is declined": {[]durable.OutcomeChange{payment("1", durable.StateApproved), payment("2", durable.StateDeclined, of("R"))}, "paid"},
		"a refund is approved": {[]durable.OutcomeChange{payment("1", durable.StateApproved), payment("2", durable.StateApproved, of("R"), more)}, "paid"},
		"another amount":       {[]durable.OutcomeChange{payment("1", durable.StateApproved, more)}, "check"},
		"another currency":     {[]durable.OutcomeChange{payment("1", durable.StateApproved, usd)}, "check"},
		"checked":              {[]durable.OutcomeChange{payment("1", durable.StateApproved, more), payment("1", durable.StateVoided, more)}, "check"},
		"charged twice":        {[]durable.OutcomeChange{payment("1", durable.StateApproved), payment("2", durable.StateTwice, passedBy("1"))}, "check"},
		"passed by": {
			[]durable.OutcomeChange{payment("1", durable.StateAbsent), payment("2", durable.StateApproved), payment("1", durable.StateDeclined, passedBy("2"))}, "paid",
		},
		"passed by, and the other is not known yet": {
			[]durable.OutcomeChange{payment("1", durable.StateAbsent), payment("1", durable.StateDeclined, passedBy("2"))}, "absent",
		},
		"passed by, and found after the other was declined": {
			[]durable.OutcomeChange{payment("1", durable.StateAbsent), payment("2", durable.StateDeclined), payment("1", durable.StateApproved, passedBy("2"))}, "paid",
		},
		"passed by, and found before the other is declined": {
			[]durable.OutcomeChange{payment("1", durable.StateAbsent), payment("1", durable.StateApproved, passedBy("2")), payment("2", durable.StateDeclined)}, "paid",
		},
		"passed by, and found and returned": {
			[]durable.OutcomeChange{payment("1", durable.StateApproved, passedBy("2")), payment("1", durable.StateReturned, passedBy("2"))}, "returned",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := newShop(t)
			_, err := db.ExecContext(t.Context(), "INSERT INTO orders (id, amount, currency) VALUES ('A', '10.00', 'AUD')")
			require.NoError(t, err)
			for _, change := range test.changes {
				tx, err := db.BeginTx(t.Context(), nil)
				require.NoError(t, err)
				require.NoError(t, markOrder(t.Context(), tx, change))
				require.NoError(t, tx.Commit())
			}
			var state string
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT state FROM orders").Scan(&state))
			assert.Equal(t, test.want, state)
		})
	}
	t.Run("an order that the shop does not know", func(t *testing.T) {
		db := newShop(t)
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.ErrorIs(t, markOrder(t.Context(), tx, payment("1", durable.StateApproved)), sql.ErrNoRows, "it is told again, and counted")
		require.NoError(t, tx.Rollback())
	})
}
