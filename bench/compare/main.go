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
	"log"
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
	rows    []string
	measure func(ctx context.Context, s scale) ([]line, error)
}

func groups() []group {
	return []group{
		{[]string{"P1", "P2"}, calls},
		{[]string{"P4"}, load},
		{[]string{"P8"}, verifying},
		{[]string{"P9"}, receiving},
		{[]string{"P9"}, delivering},
		{[]string{"P10", "P11"}, reports},
		{[]string{"P12"}, downloads},
		{[]string{"P13"}, iterating},
		{[]string{"P14"}, prefetching},
		{[]string{"P15"}, crowds},
		{[]string{"P16"}, lostConnections},
		{[]string{"P17"}, memory},
	}
}

// run reports whether every row that was asked for holds.
func run(ctx context.Context, args []string, out, progress io.Writer) (bool, error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(progress)
	var s scale
	flags.BoolVar(&s.quick, "quick", false, "measure fewer rounds, for less than a minute")
	flags.BoolVar(&s.cpu, "cpu", false, "measure processor time in the rows without a network, P1 to P11: steadier on a busy machine")
	only := flags.String("row", "", "measure these rows only, such as P1,P2")
	child := flags.String("child", "", "what a process that this command starts itself is to do")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	if *child != "" {
		return true, serveParent(ctx, *child, os.Stdin, out)
	}
	wanted := func(string) bool { return true }
	if *only != "" {
		rows := strings.Split(strings.ToUpper(*only), ",")
		known := slices.Concat(rowNames(groups())...)
		for _, row := range rows {
			if !slices.Contains(known, row) {
				return false, fmt.Errorf("there is no row %s; the rows are %s", row, strings.Join(known, ", "))
			}
		}
		wanted = func(row string) bool { return slices.Contains(rows, row) }
	}

	var lines []line
	for _, g := range groups() {
		if !slices.ContainsFunc(g.rows, wanted) {
			continue
		}
		start := time.Now()
		measured, err := g.measure(ctx, s)
		if err != nil {
			return false, fmt.Errorf("%s: %w", strings.Join(g.rows, ", "), err)
		}
		log.New(progress, "", 0).Printf("%s: %.1f s", strings.Join(g.rows, ", "), time.Since(start).Seconds())
		for _, l := range measured {
			if wanted(l.row) {
				lines = append(lines, l)
			}
		}
	}
	clock := "wall clock"
	if s.cpu {
		clock = "processor time in P1 to P11"
	}
	_, err := fmt.Fprintf(out, "%s %s/%s, %d processors, %s, %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), time.Now().Format(time.DateOnly), clock)
	if err != nil {
		return false, err
	}
	return table(out, lines)
}

func rowNames(groups []group) [][]string {
	var names [][]string
	for _, g := range groups {
		names = append(names, g.rows)
	}
	return names
}
