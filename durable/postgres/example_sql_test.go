package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/resolve"
)

// A program that uses database/sql, or a library on it, stores its order and the payment in one
// transaction. It shares the pool with the engine.
func ExampleSQL() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	if err := sell(ctx, stdlib.OpenDBFromPool(pool), postgres.SQL(pool)); err != nil {
		fmt.Println(err)
	}
}

// The pool's connections lead through pgbouncer in transaction mode.
func ExampleWithPooler() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://shop@pgbouncer.example.com:6432/shop?default_query_exec_mode=exec")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	if err := sell(ctx, stdlib.OpenDBFromPool(pool), postgres.SQL(pool, postgres.WithPooler())); err != nil {
		fmt.Println(err)
	}
}

func sell(ctx context.Context, db *sql.DB, payments durable.Database[*sql.Tx]) error {
	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
	if err != nil {
		return err
	}
	var markOrder func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error // yours: New refuses nil
	retries := resolve.ServiceRetriesOff()                                                  // a setting of the facility
	engine, err := durable.New(ctx, payments, client, durable.Options[*sql.Tx]{
		Installation: "shop-production", ServiceRetries: &retries, OnOutcome: markOrder,
	})
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES ($1)", "ORDER-1"); err != nil {
		return err
	}
	var params quickstream.PayParams // of the checkout
	if _, _, err := engine.Pay(ctx, tx, durable.NewWrite{ID: "attempt-1", Order: "ORDER-1"}, params); err != nil {
		return err
	}
	return tx.Commit()
}
