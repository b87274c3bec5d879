package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// A shop writes its order and the payment in one transaction. The engine sends the payment
// after the commit, and OnOutcome marks the order as paid in the transaction that stores
// the outcome. The order stays paid when its refund is declined.
func Example() {
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.RefundBeforeCutOff = true }))
	defer box.Close()
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := sell(context.Background(), box, filepath.Join(dir, "shop.db")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the customer sees: approved
	// the order: paid
	// the same again is the same payment: true
	// the refund: declined
	// the order: paid
}

// markOrder is the shop's OnOutcome. What is to be checked stays so until a person has changed it.
func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	switch w := change.Write.(type) {
	case durable.Payment:
		return markPayment(ctx, tx, w)
	case durable.FollowUp: // not the order's payment
		if w.Operation != quickstream.OperationRefund && w.Operation != durable.OperationReverse {
			return nil // a void, a capture
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO refunds (id, order_id, amount, state) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET state = excluded.state`, w.ID, w.Order, w.Amount.StringFixed(2), w.Text()) // the console's has no row yet
		return err
	default: // an agreement, a registration
		return nil
	}
}

func markPayment(ctx context.Context, tx *sql.Tx, p durable.Payment) error {
	var amount decimal.Decimal
	var currency quickstream.Currency
	var paidBy string
	order := tx.QueryRowContext(ctx, "SELECT amount, currency, paid_by FROM orders WHERE id = ?", p.Order)
	if err := order.Scan(&amount, &currency, &paidBy); err != nil {
		return err
	}
	state := p.Text()
	switch {
	case p.State == durable.StateDoubleCharged:
		state = "check" // a person decides which payment to refund
	case p.Paid() && p.Amount.Equal(amount) && p.Currency == currency:
		state, paidBy = "paid", p.ID
	case p.Paid():
		state, paidBy = "check", p.ID // another amount
	case paidBy != p.ID && (paidBy != "" || p.ReplacedBy != ""):
		return nil // another payment has paid the order, or has replaced this one
	default:
		paidBy = ""
	}
	_, err := tx.ExecContext(ctx, "UPDATE orders SET state = ?, paid_by = ? WHERE id = ? AND state <> 'check'", state, paidBy, p.Order)
	return err
}

func sell(ctx context.Context, box *sandbox.Sandbox, file string) error {
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	db, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := durable.MigrateUp(ctx, sqlite.DB(db)); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, shopTables); err != nil {
		return err
	}
	retries := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, sqlite.DB(db), client, durable.Options[*sql.Tx]{
		Installation: "shop-example", ServiceRetries: &retries, OnOutcome: markOrder,
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	defer func() { _ = engine.Stop(ctx) }()

	token, err := sandboxtest.CardToken(ctx, client, sandbox.CardAttempted) // by the service's script in the browser, in earnest
	if err != nil {
		return err
	}
	params := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token),
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
	}
	attempt := durable.NewWrite{ID: "attempt-7", Order: "ORDER-1"} // made with the form, and posted with it
	pay := func() (payment durable.Payment, created bool, err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return payment, false, err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id, amount, currency) VALUES ('ORDER-1', '49.95', 'AUD') ON CONFLICT DO NOTHING"); err != nil {
			return payment, false, err
		}
		if payment, created, err = engine.Pay(ctx, tx, attempt, params); err != nil {
			return payment, false, err // durable.ErrOrderOpen: another attempt has paid the order, or may
		}
		return payment, created, tx.Commit()
	}
	if _, _, err := pay(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	write, err := engine.Wait(waiting, attempt.ID)
	if err != nil {
		return err // durable.ErrInProgress: tell the customer that it takes longer
	}
	fmt.Println("the customer sees:", write.Common().Text())
	if err := printOrder(ctx, db); err != nil {
		return err
	}
	payment, created, err := pay()
	if err != nil {
		return err
	}
	fmt.Println("the same again is the same payment:", !created && payment.Paid())

	box.NextTransaction(sandbox.Declined("51"))
	if err := refund(ctx, db, engine, payment); err != nil {
		return err
	}
	return printOrder(ctx, db)
}

const shopTables = `
	CREATE TABLE orders (id TEXT PRIMARY KEY, amount TEXT NOT NULL, currency TEXT NOT NULL,
		state TEXT NOT NULL DEFAULT 'open', paid_by TEXT NOT NULL DEFAULT '');
	CREATE TABLE refunds (id TEXT PRIMARY KEY, order_id TEXT NOT NULL, amount TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open')`

func refund(ctx context.Context, db *sql.DB, engine *durable.Engine[*sql.Tx], payment durable.Payment) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	line := durable.NewWrite{ID: "refund-1"} // made when the refund is decided
	if _, err := tx.ExecContext(ctx, "INSERT INTO refunds (id, order_id, amount) VALUES (?, ?, ?)", line.ID, payment.Order, payment.Amount.StringFixed(2)); err != nil {
		return err
	}
	if _, _, err := engine.Refund(ctx, tx, line, payment.ID, quickstream.RefundParams{PrincipalAmount: payment.Amount, Currency: payment.Currency}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	if _, err := engine.Wait(waiting, line.ID); err != nil {
		return err
	}
	var state string
	err = db.QueryRowContext(ctx, "SELECT state FROM refunds WHERE id = ?", line.ID).Scan(&state)
	fmt.Println("the refund:", state)
	return err
}

func printOrder(ctx context.Context, db *sql.DB) error {
	var state string
	err := db.QueryRowContext(ctx, "SELECT state FROM orders WHERE id = 'ORDER-1'").Scan(&state)
	fmt.Println("the order:", state)
	return err
}
