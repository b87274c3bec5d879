package postgres_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/resolve"
)

// A worker makes the tables, sends the payments that any process has stored, and ends on
// SIGTERM. The example of package sqlite has the order, its payment and an OnOutcome.
func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var markOrder func(ctx context.Context, tx pgx.Tx, change durable.OutcomeChange) error // yours: New refuses nil
	if err := work(ctx, os.Getenv("DATABASE_URL"), markOrder); err != nil {
		fmt.Println(err)
	}
}

func work(ctx context.Context, address string, markOrder func(context.Context, pgx.Tx, durable.OutcomeChange) error) error {
	client, err := quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, address)
	if err != nil {
		return err
	}
	defer pool.Close()
	db := postgres.Pgx(pool)
	if err := durable.MigrateUp(ctx, db); err != nil {
		return err
	}
	retries := resolve.ServiceRetriesOff() // a setting of the facility
	engine, err := durable.New(ctx, db, client, durable.Options[pgx.Tx]{
		Installation: "shop-production", ServiceRetries: &retries, OnOutcome: markOrder,
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return engine.Stop(context.WithoutCancel(ctx)) // waits for what was sent
}
