// Command compare measures the library beside what else a merchant could use,
// and prints one table. It fails when a row is over its gate.
//
//	go -C bench run ./compare             # all rows, a minute or two
//	go -C bench run ./compare -quick      # fewer rounds, under a minute
//	go -C bench run ./compare -row P1,P2  # some rows
//	go -C bench run ./compare -cpu        # processor time where there is no network
//
// Everything happens on this machine: requests are answered without a network or
// over the loopback interface.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/bench/measure"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	holds, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
	}
	if err != nil || !holds {
		os.Exit(1)
	}
}

// scale says how thoroughly to measure.
type scale struct {
	quick bool
	// cpu measures processor time where nothing is waited for. On a busy machine
	// that is steadier; it counts what the collector does on other cores too.
	cpu bool
}

// plan returns the plan for cases that fit into short slices.
func (s scale) plan() measure.Plan {
	p := measure.Plan{Rounds: 40, Slice: 25 * time.Millisecond}
	if s.quick {
		p.Rounds = 9
	}
	if s.cpu {
		p.Clock = measure.CPU()
	}
	return p
}

// long returns the plan for cases that take longer than such a slice.
func (s scale) long() measure.Plan {
	p := measure.Plan{Rounds: 9, Slice: 100 * time.Millisecond}
	if s.quick {
		p.Rounds = 3
	}
	return p
}

// pages is how many pages a list has: 10,000 transactions, or fewer.
func (s scale) pages() int {
	if s.quick {
		return 20
	}
	return 100
}

// group is a row, or several that come from one measurement.
type group struct {
	rows    string
	measure func(ctx context.Context, s scale) ([]line, error)
}

func groups() []group {
	return []group{
		{"P1,P2", calls},
		{"P4", load},
		{"P8", verifying},
		{"P9", receiving},
		{"P10,P11", reports},
		{"P12", downloads},
		{"P13", iterating},
		{"P14", prefetching},
		{"P15", crowds},
		{"P16", lostConnections},
		{"P17", memory},
	}
}

// run reports whether every row that was asked for holds.
func run(ctx context.Context, args []string, out, progress io.Writer) (bool, error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(progress)
	var s scale
	flags.BoolVar(&s.quick, "quick", false, "measure fewer rounds, for less than a minute")
	flags.BoolVar(&s.cpu, "cpu", false, "measure processor time in the rows without a network, P1 to P11: steadier on a busy machine")
	var known []string
	for _, g := range groups() {
		known = append(known, strings.Split(g.rows, ",")...)
	}
	only := flags.String("row", strings.Join(known, ","), "measure these rows only")
	child := flags.Bool("child", false, "play the service, as a process that this command starts itself")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if *child {
		return true, serveParent(ctx, os.Stdin, out)
	}
	wanted := strings.Split(strings.ToUpper(*only), ",")
	for _, row := range wanted {
		if !slices.Contains(known, row) {
			return false, fmt.Errorf("there is no row %s; the rows are %s", row, strings.Join(known, ", "))
		}
	}
	var lines []line
	for _, g := range groups() {
		if !slices.ContainsFunc(wanted, func(row string) bool { return slices.Contains(strings.Split(g.rows, ","), row) }) {
			continue
		}
		start := time.Now()
		measured, err := g.measure(ctx, s)
		if err != nil {
			return false, fmt.Errorf("%s: %w", g.rows, err)
		}
		if _, err := fmt.Fprintf(progress, "%s: %.1f s\n", g.rows, time.Since(start).Seconds()); err != nil {
			return false, err
		}
		lines = append(lines, slices.DeleteFunc(measured, func(l line) bool { return !slices.Contains(wanted, l.row) })...)
	}
	_, err := fmt.Fprintf(out, "%s %s/%s, %d processors, %s, -cpu=%t\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), time.Now().Format(time.DateOnly), s.cpu)
	if err != nil {
		return false, err
	}
	return table(out, lines)
}
