// Command compare measures the library beside the alternatives of a merchant, and prints one table.
// It fails when a row misses its gate. Nothing leaves the machine.
//
// All cases of a row run in one process, in slices of 25 ms or more, in an order that rotates. A ratio compares
// what two cases took in the same round, and is the median over the rounds. Before a decoder is timed, it is
// checked to produce the values of its peers.
//
//   - P1b has two peers, with Go 1.27 only: encoding/json/v2, and its UnmarshalRead into a pooled buffer.
//   - P2 is a call whose answer is nearly empty, less the decoding of that answer.
//   - P4, P13 and P14 have the service in a child process, whose processor time does not count.
//   - P14 has pages of 100 transactions, and 10 ms for each at the service and at the caller.
//   - P17 is the peak of the heap for the worst bodies, as a multiple of their size.
//
// The stored results come from go run ./compare with the version of Go in their names; -plot draws plot.svg.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	holds, err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
	}
	if err != nil || !holds {
		os.Exit(1)
	}
}

// must returns v. An error ends the program: a comparison that fails has no result.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// run reports whether every row that was asked for holds.
func run(ctx context.Context, args []string, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "measure fewer rounds, for less than a minute")
	only := flags.String("row", "", "measure this row only, and those that are measured with it")
	plot := flags.String("plot", "", "draw the ratios into this file too")
	child := flags.Bool("child", false, "play the service, as a process that this command starts itself")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if *child {
		serveParent(ctx, os.Stdin, out)
		return true, nil
	}
	start := time.Now()
	p := plan{rounds: 40, slice: 25 * time.Millisecond, clock: func() time.Duration { return time.Since(start) }}
	if *quick {
		p.rounds = 9
	}
	found := results{
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(),
		Date: time.Now().Format(time.DateOnly),
	}
	for _, group := range []struct {
		rows    string
		measure func(context.Context, plan) []line
	}{
		{"P1 P1b P2", calls},
		{"P4", load},
		{"P8 P9", notifications},
		{"P10 P11", reports},
		{"P12", downloads},
		{"P13", iterating},
		{"P14", prefetching},
		{"P15", crowds},
		{"P16", lostConnections},
		{"P17", memory},
	} {
		if *only == "" || slices.Contains(strings.Fields(group.rows), *only) {
			found.Lines = append(found.Lines, group.measure(ctx, p)...)
		}
	}
	if found.Lines == nil {
		return false, fmt.Errorf("there is no row %s", *only)
	}
	found.table(out)
	if *plot != "" {
		check(os.WriteFile(*plot, []byte(found.plot()), 0o600))
	}
	return !slices.ContainsFunc(found.Lines, func(l line) bool { return !l.holds() }), nil
}
