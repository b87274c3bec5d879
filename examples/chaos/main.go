// Command chaos takes thousands of payments from a service that fails in every
// way a network, a gateway and the service itself can fail, with workers that
// crash in the middle, and then proves from the service's own ledger that no order
// was charged twice and that no payment was lost.
//
// The service is the sandbox in this process: nothing needs an account or a
// network, and two days of looking for a lost payment take no time. merchant.go
// and pursue.go are the code to copy: store an intent, send it once, and let the
// resolve package say when to look for what was not answered. naive.go is the code
// that many shops have instead; -naive runs it.
//
// The program ends with a status other than zero when anything does not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

type config struct {
	payments, workers, worlds int
	world                     string
	seed                      uint64
	faults                    float64
	resend, naive, verbose    bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, args []string) error {
	var c config
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.IntVar(&c.payments, "payments", 2000, "number of orders to be paid")
	flags.Uint64Var(&c.seed, "seed", 1, "decides the orders, their outcomes, the faults and the crashes")
	flags.Float64Var(&c.faults, "faults", 0.3, "share of requests that meet a fault; in worlds a third of it is the share of orders that do")
	flags.IntVar(&c.workers, "workers", 64, "orders worked on at a time")
	flags.BoolVar(&c.resend, "resend", true, "send lost payments again with their idempotency key; false runs against a service that ignores keys")
	flags.BoolVar(&c.naive, "naive", false, "run the client that many shops have: a new key for every attempt, and pay again after a time-out")
	flags.IntVar(&c.worlds, "worlds", -1, "run in so many worlds, which differ in all that the contract leaves open; 0 is the whole set that covers them")
	flags.BoolVar(&c.verbose, "v", false, "print each world as it ends, with what could not be read in it and what is held")
	flags.StringVar(&c.world, "world", "", "run in this world, as it was printed")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if c.payments < 1 || c.workers < 1 || c.faults < 0 || c.faults > 1 {
		return errors.New("-payments and -workers have to be at least 1, and -faults from 0 to 1")
	}

	if c.world != "" {
		world, err := sandbox.ParseWorld(c.world)
		if err != nil {
			return err
		}
		return runWorlds(ctx, w, c, slices.Values([]sandbox.World{world}))
	}
	if c.worlds >= 0 {
		return runWorlds(ctx, w, c, sandbox.Worlds(c.seed, c.worlds))
	}
	begun := time.Now()
	service, err := open(ctx, c, nil)
	if err != nil {
		return err
	}
	defer service.box.Close()
	table, err := service.fill()
	if err != nil {
		return err
	}

	var work func(ctx context.Context, id string, now time.Time) error
	if c.naive {
		work = newNaiveMerchant(service, table).work
	} else {
		work = newMerchant(service, table).work
	}
	if err := rounds(ctx, service, table, c.workers, work); err != nil {
		return err
	}

	orders, err := table.all()
	if err != nil {
		return err
	}
	result := audit(service, orders, !c.naive)
	if _, err := io.WriteString(w, result.report(c, service, time.Since(begun))); err != nil {
		return err
	}
	return result.err()
}
