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

// What the README and the documentation show is of the examples, which run.
func TestExampleIsShown(t *testing.T) {
	shown := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	part := func(file, from, to string) string {
		_, program, found := strings.Cut(shown(file), "\n"+from)
		require.True(t, found, from)
		program, _, found = strings.Cut(program, "\n"+to)
		require.True(t, found, to)
		program = from + program
		assert.True(t, strings.Contains(shown("../README.md"), "```go\n"+program+"```\n"), "README.md: %s", from)
		return program
	}
	part("example_server_test.go", "// serve ", "// staff ")
	program := part("example_test.go", "// markOrder ", "func sell(")
	assert.True(t, strings.Contains(shown("../doc.go"), "//\n//\t"+strings.TrimSuffix(strings.ReplaceAll(strings.ReplaceAll(program, "\n", "\n//\t"), "//\t\n", "//\n"), "\t")), "doc.go")
}

// newShop returns a database with the example's tables.
func newShop(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(t.Context(), shopTables)
	require.NoError(t, err)
	return db
}

// The example's order is paid if and only if a payment of its amount stands.
func TestExampleOrders(t *testing.T) {
	stands := func(state durable.State) durable.Standing {
		return durable.Standing{State: state, Reversal: durable.ReversalNone}
	}
	settled := func(outcome quickstream.Outcome) durable.Standing {
		return durable.Standing{State: durable.StateSettled, Outcome: outcome, Reversal: durable.ReversalNone}
	}
	approved, declined := settled(quickstream.OutcomeApproved), settled(quickstream.OutcomeDeclined)
	returned, voided := approved, approved
	returned.Reversal, voided.Reversal = durable.ReversalReturned, durable.ReversalVoided
	notFound, escalated, double := stands(durable.StateNotFound), stands(durable.StateEscalated), stands(durable.StateDoubleCharged)
	record := func(id string, s durable.Standing, edits ...func(*durable.Record)) durable.Record {
		r := durable.Record{ID: id, Order: "A", Standing: s, Amount: decimal.RequireFromString("10"), Currency: quickstream.CurrencyAUD}
		for _, edit := range edits {
			edit(&r)
		}
		return r
	}
	payment := func(id string, s durable.Standing, edits ...func(*durable.Record)) durable.Write {
		return durable.Payment{Record: record(id, s, edits...)}
	}
	refund := func(id string, s durable.Standing, edits ...func(*durable.Record)) durable.Write {
		return durable.FollowUp{Record: record(id, s, append(edits, func(r *durable.Record) { r.Operation = quickstream.OperationRefund })...), Follows: "1"}
	}
	replacedBy := func(id string) func(*durable.Record) {
		return func(r *durable.Record) { r.ReplacedBy = id }
	}
	usd := func(r *durable.Record) { r.Currency = "USD" }
	more := func(r *durable.Record) { r.Amount = decimal.RequireFromString("10.01") }
	for name, test := range map[string]struct {
		writes []durable.Write
		want   string
	}{
		"approved":                  {[]durable.Write{payment("1", approved)}, "paid"},
		"declined":                  {[]durable.Write{payment("1", declined)}, "declined"},
		"paid by another attempt":   {[]durable.Write{payment("1", declined), payment("2", approved)}, "paid"},
		"returned":                  {[]durable.Write{payment("1", approved), payment("1", returned)}, "returned"},
		"returned, another attempt": {[]durable.Write{payment("1", approved), payment("1", returned), payment("2", escalated)}, "escalated"},
		"a refund is declined":      {[]durable.Write{payment("1", approved), refund("2", declined)}, "paid"},
		"a refund is approved":      {[]durable.Write{payment("1", approved), refund("2", approved, more)}, "paid"},
		"an agreement is made":      {[]durable.Write{payment("1", approved), durable.OtherWrite{Record: record("2", declined)}}, "paid"},
		"another amount":            {[]durable.Write{payment("1", approved, more)}, "check"},
		"another currency":          {[]durable.Write{payment("1", approved, usd)}, "check"},
		"checked":                   {[]durable.Write{payment("1", approved, more), payment("1", voided, more)}, "check"},
		"charged twice":             {[]durable.Write{payment("1", approved), payment("2", double, replacedBy("1"))}, "check"},
		"replaced": {
			[]durable.Write{payment("1", notFound), payment("2", approved), payment("1", declined, replacedBy("2"))}, "paid",
		},
		"replaced, and the other is not known yet": {
			[]durable.Write{payment("1", notFound), payment("1", declined, replacedBy("2"))}, "not found",
		},
		"replaced, and found after the other was declined": {
			[]durable.Write{payment("1", notFound), payment("2", declined), payment("1", approved, replacedBy("2"))}, "paid",
		},
		"replaced, and found before the other is declined": {
			[]durable.Write{payment("1", notFound), payment("1", approved, replacedBy("2")), payment("2", declined)}, "paid",
		},
		"replaced, and found and returned": {
			[]durable.Write{payment("1", approved, replacedBy("2")), payment("1", returned, replacedBy("2"))}, "returned",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := newShop(t)
			_, err := db.ExecContext(t.Context(), "INSERT INTO orders (id, amount, currency) VALUES ('A', '10.00', 'AUD')")
			require.NoError(t, err)
			for _, w := range test.writes {
				tx, err := db.BeginTx(t.Context(), nil)
				require.NoError(t, err)
				require.NoError(t, markOrder(t.Context(), tx, durable.OutcomeChange{Write: w}))
				require.NoError(t, tx.Commit())
			}
			var state string
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT state FROM orders").Scan(&state))
			assert.Equal(t, test.want, state)
		})
	}
	t.Run("a refund has a state of its own, also one that the console has made", func(t *testing.T) {
		db := newShop(t)
		_, err := db.ExecContext(t.Context(), "INSERT INTO refunds (id, order_id, amount) VALUES ('2', 'A', '10.00')")
		require.NoError(t, err)
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, markOrder(t.Context(), tx, durable.OutcomeChange{Write: refund("2", declined)}))
		require.NoError(t, markOrder(t.Context(), tx, durable.OutcomeChange{Write: refund("console-3", approved)}))
		require.NoError(t, tx.Commit())
		var states string
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT group_concat(order_id || ' ' || amount || ' ' || state ORDER BY id) FROM refunds").Scan(&states))
		assert.Equal(t, "A 10.00 declined,A 10.00 approved", states)
	})
	t.Run("an order that the shop does not know", func(t *testing.T) {
		db := newShop(t)
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		require.ErrorIs(t, markOrder(t.Context(), tx, durable.OutcomeChange{Write: payment("1", approved)}), sql.ErrNoRows, "it is notified again, and counted")
		require.NoError(t, tx.Rollback())
	})
}
