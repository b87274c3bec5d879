// Command bench measures what durable payments cost beside a plain insert and commit in
// the same database, how fast the inbox acknowledges while the API is away, and what
// many open payments change, and how many bytes a payment is (rows P19). It fails when a row is over its gate.
//
//	go -C durable/internal/enginetest run ./bench # SQLite
//	DURABLE_TEST_POSTGRES=postgres://… go -C durable/internal/enginetest run ./bench
//	go -C durable/internal/enginetest run ./bench -overload overload.svg
//
// The database that the variable names is emptied. The last command takes four minutes: it draws what
// comes of a service that hangs for one.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "how many open payments there are in the row about growth")
	rounds := flag.Int("rounds", 40, "how often each thing is measured, in turn")
	bytesOnly := flag.Bool("bytes", false, "only bytes, the inbox and Health")
	picture := flag.String("overload", "", "measure only what a service does that hangs, and draw it into this file, as SVG")
	flag.Parse()
	work := func(ctx context.Context) error { return run(ctx, *rows, *rounds, *bytesOnly) }
	if *picture != "" {
		work = func(ctx context.Context) error { return overload(ctx, *picture) }
	}
	if err := work(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rows, rounds int, bytesOnly bool) error {
	dir, err := os.MkdirTemp("", "durable")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, err := sqlite.Open(filepath.Join(dir, "shop.db"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	err = report(ctx, "SQLite", subject[*sql.Tx]{sqlite.DB(db)}, rows, rounds, bytesOnly)
	if address := os.Getenv("DURABLE_TEST_POSTGRES"); address != "" {
		pool, openErr := pgxpool.New(ctx, address)
		if openErr != nil {
			return errors.Join(err, openErr)
		}
		defer pool.Close()
		if _, openErr = pool.Exec(ctx, "DROP SCHEMA IF EXISTS quickstream CASCADE; DROP TABLE IF EXISTS plain, copied"); openErr != nil {
			return errors.Join(err, openErr)
		}
		err = errors.Join(err, report(ctx, "PostgreSQL", subject[pgx.Tx]{postgres.Pgx(pool)}, rows, rounds, bytesOnly))
	}
	return err
}

// row prints one result, and returns an error when it is over its gate.
func row(id, database, what, got, gate string, holds bool) error {
	word := "yes"
	if !holds {
		word = "NO"
	}
	fmt.Printf("%-4s  %-10s  %-58s  %-26s  %-10s  %s\n", id, database, what, got, gate, word)
	if !holds {
		return fmt.Errorf("%s: %s: %s, gate %s", database, what, got, gate)
	}
	return nil
}

// quantile returns one of sorted times: 0.5 is the median.
func quantile(times []time.Duration, q float64) time.Duration {
	return times[min(len(times)-1, int(q*float64(len(times))))]
}
