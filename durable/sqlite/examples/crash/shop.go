package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const cents = 2490 // of each order

// keepShop is the merchant's program: it places every order, and waits until all are paid.
// It does nothing special after it was killed.
func keepShop(ctx context.Context, file string) error {
	db, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS book (order_id text, state text)"); err != nil {
		return err
	}
	client, err := quickstream.NewClient(quickstream.CustomURL(os.Getenv(addressVariable)),
		quickstream.Keys{Secret: quickstream.NewSecretKey(os.Getenv(keyVariable)), Publishable: quickstream.NewPublishableKey(os.Getenv(publishableVariable))})
	if err != nil {
		return err
	}
	store := sqlite.DB(db)
	if err := durable.MigrateUp(ctx, store); err != nil {
		return err
	}
	off := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, store, client, durable.Options[*sql.Tx]{
		Installation:   "shop-example",
		ServiceRetries: &off,
		LongestPay:     20 * time.Second,
		OnOutcome: func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			p := change.Write
			if !p.IsPayment() {
				return nil // a refund or another follow-up: it is not the order's payment
			}
			state := p.Name()
			if p.Paid() && (!p.Amount.Equal(decimal.New(cents, -2)) || p.Currency != quickstream.CurrencyAUD) {
				state = "check" // by a person: it may be another order's payment
			}
			fmt.Printf("%s: %s\n", p.Order, state)
			_, err := tx.ExecContext(ctx, "INSERT INTO book (order_id, state) VALUES (?, ?)", p.Order, state)
			return err
		},
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	err = sell(ctx, db, client, engine)
	return errors.Join(err, engine.Stop(context.WithoutCancel(ctx)))
}

// sell places the orders one after the other, each in the transaction of its payment.
func sell(ctx context.Context, db *sql.DB, client *quickstream.Client, engine *durable.Engine[*sql.Tx]) error {
	for i := range orders {
		attempt := durable.NewWrite{ID: orderID(i) + ", attempt 1", Order: orderID(i)} // as the order's form has it
		if err := place(ctx, db, client, engine, attempt); err != nil {
			return err
		}
		write, err := engine.Wait(ctx, attempt.ID)
		if err != nil {
			return fmt.Errorf("%s: %w", orderID(i), err)
		}
		if !write.Paid() {
			return fmt.Errorf("%s is %s", orderID(i), write.Text())
		}
	}
	return nil
}

// place stores the payment of an order. If the order was placed before the process was killed, Pay
// returns the stored payment: another token changes nothing.
func place(ctx context.Context, db *sql.DB, client *quickstream.Client, engine *durable.Engine[*sql.Tx], attempt durable.NewWrite) error {
	// The customer's browser does this: the card number stays there.
	token, err := sandboxtest.CardToken(ctx, client, sandbox.CardAttempted)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	_, _, err = engine.Pay(ctx, tx, attempt, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token), PrincipalAmount: decimal.New(cents, -2),
		Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// read counts how often each order is in the books.
func read(ctx context.Context, file string) (map[string]int, error) {
	db, err := sqlite.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	found, err := db.QueryContext(ctx, "SELECT order_id, count(*) FROM book WHERE state = 'approved' GROUP BY order_id")
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	books := map[string]int{}
	for found.Next() {
		var order string
		var n int
		if err := found.Scan(&order, &n); err != nil {
			return nil, err
		}
		books[order] = n
	}
	return books, found.Err()
}
