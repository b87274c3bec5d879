// Command bench measures durable beside a plain insert and commit: payments accepted and settled a second by 1, 16 and 64
// callers, with the service beside it on the same machine, on SQLite, and on PostgreSQL if DURABLE_TEST_POSTGRES names a
// server. Durability settings are as New checks them.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	if err := measure(ctx, "SQLite", file, sqlite.DB(file)); err != nil {
		return err
	}
	server := os.Getenv("DURABLE_TEST_POSTGRES")
	if server == "" {
		return nil
	}
	pool, err := pgxpool.New(ctx, server)
	if err != nil {
		return err
	}
	defer pool.Close()
	name := fmt.Sprintf("bench_%d", time.Now().Unix())
	if _, err := pool.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return err
	}
	defer func() { _, _ = pool.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)") }()
	config := pool.Config()
	config.ConnConfig.Database, config.MaxConns = name, 40
	shop, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return err
	}
	defer shop.Close()
	return measure(ctx, "PostgreSQL", stdlib.OpenDBFromPool(shop), postgres.SQL(shop))
}

func measure(ctx context.Context, name string, db *sql.DB, store durable.Database[*sql.Tx]) error {
	if err := durable.MigrateUp(ctx, store); err != nil {
		return err
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE plain (id text PRIMARY KEY, state text)"); err != nil {
		return err
	}
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }))
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{Secret: quickstream.NewSecretKey(box.Keys().Secret), Publishable: quickstream.NewPublishableKey(box.Keys().Publishable)},
		quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	customer, err := client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	off := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, store, client, durable.Options[*sql.Tx]{
		Installation: "bench", ServiceRetries: &off, Workers: 16, OnOutcome: func(context.Context, *sql.Tx, durable.OutcomeChange) error { return nil },
	})
	if err != nil {
		return err
	}
	card := sandboxtest.Card(sandbox.CardAttempted)
	account, err := client.Accounts.Register(ctx, customer.CustomerID, quickstream.RegisterAccountParams{Card: &card})
	if err != nil {
		return err
	}
	params := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromAccount(account.AccountToken), PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
	var number atomic.Int64
	commit := func(do func(tx *sql.Tx, id string) error) (string, error) {
		id := fmt.Sprint("order ", number.Add(1))
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return id, err
		}
		defer func() { _ = tx.Rollback() }()
		if err := do(tx, id); err != nil {
			return id, err
		}
		return id, tx.Commit()
	}
	plain := func() error {
		_, err := commit(func(tx *sql.Tx, id string) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO plain (id, state) VALUES ($1, 'x')", id)
			return err
		})
		return err
	}
	pay := func() (string, error) {
		return commit(func(tx *sql.Tx, id string) error {
			_, _, err := engine.Pay(ctx, tx, durable.NewWrite{ID: id, Order: id}, params)
			return err
		})
	}
	insert, _, err := rate(1, 2*time.Second, plain)
	if err != nil {
		return err
	}
	for _, callers := range []int{1, 64} {
		accepted, _, err := rate(callers, 2*time.Second, func() error { _, err := pay(); return err })
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d callers: accepted %.0f/s, %.2fx of a plain insert and commit (%.0f/s)\n", name, callers, accepted, accepted/insert, insert)
	}
	for _, table := range []string{"quickstream.write", store.Dialect().Jobs} { // accepted payments must not count as settled ones
		if err := emptyTable(ctx, store, table); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, "VACUUM"); err != nil { // nor slow them down
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	defer func() { _ = engine.Stop(ctx) }()
	used := processor()
	begun := time.Now()
	<-time.After(idle)
	fmt.Printf("%s: idle: %.1f %% of a core, the service's with it\n", name, 100*(processor()-used).Seconds()/time.Since(begun).Seconds())
	for _, callers := range []int{1, 16, 64} {
		settled, waits, err := rate(callers, 5*time.Second, func() error {
			id, err := pay()
			if err == nil {
				_, err = engine.Wait(ctx, id)
			}
			return err
		})
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d callers: settled %.0f/s, p50 %s, p99 %s\n", name, callers, settled, waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)*99/100].Round(time.Millisecond))
	}
	begun = time.Now()
	if _, err := engine.Health(ctx); err != nil {
		return err
	}
	fmt.Printf("%s: Health %s\n", name, time.Since(begun).Round(100*time.Microsecond))
	return nil
}

// idle is how long the benchmark watches an engine that has nothing to do.
const idle = 30 * time.Second

// processor returns the processor time of this process.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func emptyTable(ctx context.Context, store durable.Database[*sql.Tx], table string) error {
	tx, err := store.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM "+table); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// rate returns how often callers do something in a second, and how long each call took, sorted.
func rate(callers int, during time.Duration, do func() error) (float64, []time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var group sync.WaitGroup
	begun := time.Now()
	for range callers {
		group.Go(func() {
			for time.Since(begun) < during {
				at := time.Now()
				err := do()
				mu.Lock()
				all = append(all, time.Since(at))
				if err != nil {
					failed = err
				}
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	slices.Sort(all)
	return float64(len(all)) / time.Since(begun).Seconds(), all, failed
}
