package durable_test

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
// the outcome.
func Example() {
	box := sandbox.New()
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
	if _, err := db.ExecContext(ctx, "CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT)"); err != nil {
		return err
	}
	retries := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, sqlite.DB(db), client, durable.Options[*sql.Tx]{
		ServiceRetries: &retries,
		OnOutcome: func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			state := "open"
			if change.After == durable.StateApproved {
				state = "paid"
			}
			_, err := tx.ExecContext(ctx, "UPDATE orders SET state = ? WHERE id = ?", state, change.Payment.OrderID)
			return err
		},
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
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
	pay := func() (id string, err error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return "", err
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id, state) VALUES ('ORDER-1', 'open') ON CONFLICT DO NOTHING"); err != nil {
			return "", err
		}
		if id, err = engine.Pay(ctx, tx, "ORDER-1", params); err != nil {
			return "", err
		}
		return id, tx.Commit()
	}
	id, err := pay()
	if err != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	payment, err := engine.Wait(waiting, id)
	if err != nil {
		return err // durable.ErrOpen: tell the customer that it takes longer
	}
	fmt.Println("the customer sees:", payment.State)
	var state string
	if err := db.QueryRowContext(ctx, "SELECT state FROM orders WHERE id = 'ORDER-1'").Scan(&state); err != nil {
		return err
	}
	fmt.Println("the order:", state)
	again, err := pay()
	fmt.Println("the same again is the same payment:", again == id)
	return err
}
