// Command compare measures the library beside what else a merchant could use,
// and prints one table. It fails when a row is over its gate.
//
//	go -C internal/bench run ./compare             # all rows, a minute or two
//	go -C internal/bench run ./compare -quick      # fewer rounds, under a minute
//	go -C internal/bench run ./compare -row P1,P2  # some rows
//	go -C internal/bench run ./compare -json FILE  # the results into a file too
//	go -C internal/bench run ./compare -figures    # the plot and the figures in README.md, from results/*.json
//
// Everything happens on this machine: requests are answered without a network or
// over the loopback interface.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	holds, err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
	}
	if err != nil || !holds {
		os.Exit(1)
	}
}

// must returns v. A comparison that fails has no result, so that it ends the program.
func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// group is a row, or several that come from one measurement.
type group struct {
	rows    []string
	measure func(ctx context.Context, p plan) []line
}

func groups() []group {
	return []group{
		{append([]string{"P1", "P2"}, ifV2("P1b")...), calls},
		{[]string{"P4"}, load},
		{[]string{"P8", "P9"}, notifications},
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
	var known []string
	for _, g := range groups() {
		known = append(known, g.rows...)
	}
	quick := flags.Bool("quick", false, "measure fewer rounds, for less than a minute")
	only := flags.String("row", strings.Join(known, ","), "measure these rows only")
	jsonFile := flags.String("json", "", "write what was found into this file too")
	figure := flags.Bool("figures", false, "measure nothing: write results/plot.svg and the figures in README.md from results/*.json")
	child := flags.Bool("child", false, "play the service, as a process that this command starts itself")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	switch {
	case *child:
		return true, serveParent(ctx, os.Stdin, out)
	case *figure:
		figures(".")
		return true, nil
	}
	p := plan{rounds: 40, slice: 25 * time.Millisecond, clock: wall()}
	if *quick {
		p.rounds = 9
	}
	wanted := strings.Split(*only, ",")
	for _, row := range wanted {
		if !slices.Contains(known, row) {
			return false, fmt.Errorf("there is no row %s; the rows are %s", row, strings.Join(known, ", "))
		}
	}
	found := results{
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU(),
		Date: time.Now().Format(time.DateOnly), Quick: *quick,
	}
	for _, g := range groups() {
		rows := slices.DeleteFunc(g.rows, func(row string) bool { return !slices.Contains(wanted, row) })
		if len(rows) == 0 {
			continue
		}
		must(fmt.Fprintln(progress, "measuring", strings.Join(rows, " and ")))
		for _, l := range g.measure(ctx, p) {
			if slices.Contains(rows, l.Row) {
				found.Lines = append(found.Lines, l)
			}
		}
	}
	table(out, found)
	holds := !slices.ContainsFunc(found.Lines, func(l line) bool { return !l.holds() })
	if *jsonFile == "" {
		return holds, nil
	}
	text := must(json.MarshalIndent(found, "", "\t"))
	return holds, errors.Join(os.MkdirAll(filepath.Dir(*jsonFile), 0o750), os.WriteFile(*jsonFile, append(text, '\n'), 0o600))
}
