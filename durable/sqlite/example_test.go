package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// shop is a backend that takes card payments.
type shop struct {
	db     *sql.DB
	engine *durable.Engine[*sql.Tx]
}

// openShop returns a shop whose engine accepts payments. It sends them from engine.Start on.
func openShop(ctx context.Context, db *sql.DB, client *quickstream.Client) (shop, error) {
	store, off := sqlite.DB(db), resolve.ServiceRetriesOff() // a setting of your facility
	if err := durable.MigrateUp(ctx, store); err != nil {
		return shop{}, err
	}
	engine, err := durable.New(ctx, store, client, durable.Options[*sql.Tx]{Installation: "shop-production", ServiceRetries: &off, OnOutcome: markOrder})
	return shop{db, engine}, err
}

// markOrder is notified of what became of a payment. What a person has to check stays so until they have decided.
func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	w, state := change.Write, "check"
	switch {
	case !w.IsPayment():
		return nil // a refund, a void, a capture
	case w.Paid() && w.State == durable.StateApproved:
		state = "paid"
	case w.MayPayAgain() && w.State != durable.StateVoided && w.State != durable.StateReturned: // a job charges what is open
		state = "open"
	}
	_, err := tx.ExecContext(ctx, `UPDATE orders SET state = CASE WHEN $1 = 'paid' AND amount <> $2 THEN 'check' ELSE $1 END, paid_by = $3
		WHERE id = $4 AND (state = 'open' OR paid_by = $3 OR $1 = 'paid')`, state, w.Amount.StringFixed(2), w.ID, w.Order)
	return err
}

// pay answers the form of an order. The form has the attempt's id since it was rendered.
func (s shop) pay(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 20*time.Second)
	defer cancel()
	switch payment, err := s.charge(ctx, r.FormValue("order"), r.FormValue("attempt"), r.FormValue("token")); {
	case payment.Paid():
		fmt.Fprint(w, "It is paid.")
	case payment.MayPayAgain() || errors.Is(err, quickstream.ErrInvalid) || errors.Is(err, sql.ErrNoRows):
		fmt.Fprint(w, "This attempt took nothing. You can try again.") // with the id of another attempt
	default:
		fmt.Fprint(w, "We are finding out. Do not pay again.") // and log err
	}
}

// charge returns the payment of an order: of this attempt, or the one that the order has already.
func (s shop) charge(ctx context.Context, order, attempt, token string) (payment durable.Write, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return payment, err
	}
	defer tx.Rollback() // after Commit it does nothing
	var amount decimal.Decimal
	if err = tx.QueryRowContext(ctx, "SELECT amount FROM orders WHERE id = $1", order).Scan(&amount); err != nil {
		return payment, err
	}
	payment, _, err = s.engine.Pay(ctx, tx, durable.NewWrite{ID: attempt, Order: order}, quickstream.PayParams{
		SupplierBusinessCode: "SANDBOX01", Source: quickstream.FromSingleUseToken(token), PrincipalAmount: amount, Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order, // the customer's address
	})
	if err != nil {
		return payment, err
	}
	if err = tx.Commit(); err != nil { // from here on it is sent, whatever happens
		return payment, err
	}
	return s.engine.Wait(ctx, attempt)
}

// The example ends here.

// TestExampleIsShown: what the README shows is the example, which runs, and is no longer than sixty lines.
func TestExampleIsShown(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	_, program, found := strings.Cut(read("example_test.go"), "// shop is a backend")
	require.True(t, found)
	program, _, _ = strings.Cut("// shop is a backend"+program, "\n// The example ends here.")
	assert.Contains(t, read("../README.md"), "```go\n"+program+"```\n")
	lines := 0
	for line := range strings.Lines(program) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "//") {
			lines++
		}
	}
	assert.LessOrEqual(t, lines, 60)
}

// TestExample: an order is paid once, however often its form is sent.
func TestExample(t *testing.T) {
	box, client := sandboxtest.New(t)
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "CREATE TABLE orders (id TEXT PRIMARY KEY, amount TEXT, state TEXT DEFAULT 'open', paid_by TEXT DEFAULT ''); INSERT INTO orders (id, amount) VALUES ('A', '49.95'), ('B', '49.95')")
	require.NoError(t, err)
	s, err := openShop(t.Context(), db, client)
	require.NoError(t, err)
	require.NoError(t, s.engine.Start(t.Context()))
	defer func() { require.NoError(t, s.engine.Stop(context.WithoutCancel(t.Context()))) }()
	send := func(order, attempt, card string) string {
		token, err := sandboxtest.CardToken(t.Context(), client, card)
		require.NoError(t, err)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/pay", strings.NewReader(url.Values{"order": {order}, "attempt": {attempt}, "token": {token}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.pay(w, r)
		return w.Body.String()
	}
	state := func(order string) (state string) {
		require.NoError(t, db.QueryRowContext(t.Context(), "SELECT state FROM orders WHERE id = ?", order).Scan(&state))
		return state
	}
	for range 2 {
		assert.Equal(t, "It is paid.", send("A", "A/1", sandbox.CardAttempted))
	}
	assert.Equal(t, "It is paid.", send("A", "A/2", sandbox.CardAttempted), "by another attempt")
	assert.Equal(t, "This attempt took nothing. You can try again.", send("B", "B/1", "4111111111444496"))
	assert.Equal(t, "open", state("B"))
	assert.Equal(t, "It is paid.", send("B", "B/2", sandbox.CardAttempted))
	assert.Equal(t, []string{"paid", "paid"}, []string{state("A"), state("B")})
	charged := 0
	for _, entry := range box.Ledger() {
		if entry.Outcome == "approved" {
			charged++
		}
	}
	assert.Equal(t, 2, charged)
}
