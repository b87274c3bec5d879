// Command chaos takes payments, refunds and voids from a service that fails in every way a
// network, a gateway and the service itself can fail, with workers that crash in the middle.
// Then it holds what the merchant knows against the service's own ledger: no order was
// charged twice, and nothing was lost.
//
// The service is the sandbox in this process. merchant.go is the code to copy: store an intent,
// send it once, and let the resolve package say when to look for what was not answered. With
// -naive it is the code that many shops have.
//
// The program ends with a status other than zero when anything does not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"

	"github.com/quickstream-go/quickstream/internal/oracle"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

type config struct {
	oracle.Options
	workers, worlds        int
	world                  string
	resend, naive, verbose bool
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
	flags.IntVar(&c.Orders, "payments", 0, "number of orders to be paid; 0 is 2000, and 8 in each of many worlds")
	flags.Uint64Var(&c.Seed, "seed", 1, "decides the orders, their outcomes, the faults and the crashes")
	flags.Float64Var(&c.Faults, "faults", 0.3, "share of requests that meet a fault; in worlds a third of it is the share of orders that do")
	flags.IntVar(&c.workers, "workers", 64, "orders worked on at a time")
	flags.BoolVar(&c.resend, "resend", true, "send lost payments again with their idempotency key; false runs against a service that ignores keys")
	flags.BoolVar(&c.naive, "naive", false, "run the client that many shops have: a new key for every attempt, and pay again after a time-out")
	flags.IntVar(&c.worlds, "worlds", -1, "run in so many worlds, which differ in all that the contract leaves open; 0 is the whole set that covers them")
	flags.StringVar(&c.world, "world", "", "run in this world, as it was printed")
	flags.BoolVar(&c.verbose, "v", false, "print the report of each world as it ends")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if c.Orders == 0 {
		c.Orders = 2000
		if c.world != "" || c.worlds >= 0 {
			c.Orders = 8
		}
	}
	if c.Orders < 1 || c.workers < 1 || c.Faults < 0 || c.Faults > 1 {
		return errors.New("-payments and -workers have to be at least 1, and -faults from 0 to 1")
	}
	list := worlds.Generate(c.Seed, max(c.worlds, 0))
	switch {
	case c.world != "":
		world, err := worlds.Parse(c.world)
		if err != nil {
			return err
		}
		list = slices.Values([]worlds.World{world})
	case c.worlds < 0:
		c.Mixed = true
		list = slices.Values([]worlds.World{{}})
		c.Sandbox = append(c.Sandbox, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			if !c.resend {
				a.KeyLifetime = 0
			}
		}))
	}
	return runWorlds(ctx, w, c, list)
}

// runWorlds takes payments in many worlds, some at a time, and writes what the oracle says.
func runWorlds(ctx context.Context, w io.Writer, c config, list iter.Seq[worlds.World]) error {
	var sum oracle.Report
	var mu sync.Mutex
	runs := func(yield func(config) bool) { // each with orders of its own
		c := c
		for c.World = range list {
			if !yield(c) {
				return
			}
			c.Seed++
		}
	}
	err := inParallel(ctx, 2*runtime.GOMAXPROCS(0), runs, func(ctx context.Context, c config) error {
		report := runWorld(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		sum.Add(report)
		if !c.verbose {
			return nil
		}
		_, err := fmt.Fprintf(w, "%s\n%s\n", c.World, report)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%d orders in each world, seed %d, re-sending %t\n%s", c.Orders, c.Seed, c.resend, &sum); err != nil {
		return err
	}
	return sum.Err()
}

// runWorld runs the merchant's program in one world to its end.
func runWorld(ctx context.Context, c config) *oracle.Report {
	r := oracle.New(c.Options)
	defer r.Box.Close()
	m, err := openShop(ctx, r, c)
	if err == nil {
		err = m.workAll(ctx, c.workers)
	}
	writes, unread := m.words()
	report := r.Judge(writes)
	if err = errors.Join(err, unread); err != nil {
		report.Complain(oracle.Broken, fmt.Sprintf("%v\n      %s", err, c.Options))
	}
	for _, text := range m.notTaken {
		report.Complain(oracle.NotTaken, text+"\n      "+c.Options.String())
	}
	return report
}

// inParallel does the jobs, until one fails in a way that was not foreseen.
func inParallel[T any](ctx context.Context, workers int, jobs iter.Seq[T], do func(ctx context.Context, job T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	free := make(chan struct{}, workers)
	for job := range jobs {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-free }()
			if err := do(ctx, job); err != nil {
				cancel(err)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
