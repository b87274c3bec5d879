// Command chaos takes payments, refunds and voids from a service that fails in every way a
// network, a gateway and the service itself can fail, with workers that crash in the middle.
// Then it compares what the merchant knows with the service's own ledger: no order was
// charged twice, and no payment was lost.
//
// The service is the sandbox in this process. merchant.go is the code to copy: store an intent,
// send it once, and let the resolve package say when to look for what was not answered. With
// -naive it is the code that many shops have.
//
// If that does not hold, the program ends with a status other than zero, and prints the flags
// that run it again. By default there is one worker, so that the same flags give the same result.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/quickstream-go/quickstream/internal/oracle"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

type config struct {
	oracle.Options
	workers       int
	resend, naive bool
}

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer, args []string) error {
	var c config
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.IntVar(&c.Orders, "payments", 8, "number of orders to be paid in each world")
	flags.Uint64Var(&c.Seed, "seed", 1, "decides the orders, their outcomes, the faults and the crashes")
	flags.Float64Var(&c.Faults, "faults", 0.3, "three times the share of orders that meet a fault")
	flags.IntVar(&c.workers, "workers", 1, "orders worked on at a time; with one, the same flags find the same")
	flags.BoolVar(&c.resend, "resend", true, "send lost payments again with their idempotency key")
	flags.BoolVar(&c.naive, "naive", false, "run the client that many shops have: a new key for every attempt, and pay again after a time-out")
	number := flags.Int("worlds", 100, "run in so many worlds, which differ in all that the contract leaves open; 0 is the whole set that covers them")
	text := flags.String("world", "", "run in this world, as it was printed")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	world, err := worlds.Parse(*text)
	if err != nil {
		return err
	}
	list := worlds.Generate(c.Seed, *number)
	if *text != "" {
		list = slices.Values([]worlds.World{world})
	}
	if c.Orders < 1 || c.workers < 1 || c.Faults < 0 || c.Faults > 1 {
		return errors.New("-payments and -workers have to be at least 1, and -faults from 0 to 1")
	}
	c.Flags = fmt.Sprintf("-workers %d -resend=%t -naive=%t", c.workers, c.resend, c.naive)

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
	if err := inParallel(4*runtime.GOMAXPROCS(0), runs, func(c config) error {
		report := runWorld(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		sum.Add(report)
		return nil
	}); err != nil {
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
	report := r.Judge(m.words())
	if err != nil {
		report.Complain(oracle.Broken, fmt.Sprintf("%v\n      %s", err, c.Options))
	}
	for _, text := range m.notTaken {
		report.Complain(oracle.NotTaken, text+"\n      "+c.Options.String())
	}
	return report
}

// inParallel does the jobs, some at a time.
func inParallel[T any](workers int, jobs iter.Seq[T], do func(job T) error) error {
	var running sync.WaitGroup
	var mu sync.Mutex
	var failed error
	free := make(chan struct{}, workers)
	for job := range jobs {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			if err := do(job); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
	running.Wait()
	return failed
}
