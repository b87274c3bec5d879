package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/quickstream-go/quickstream/bench/measure"
)

// results are what one run has found, as -json writes it.
type results struct {
	Go, System, Date string
	Processors       int
	Quick            bool
	Lines            []line
}

func (r results) String() string {
	return fmt.Sprintf("%s %s, %d processors, %s, -quick=%t", r.Go, r.System, r.Processors, r.Date, r.Quick)
}

// line is a line of the table.
type line struct {
	Row, What  string
	Ours, Peer string
	// Value is what the gate judges: a ratio, or with a unit something counted.
	Value float64
	Unit  string `json:",omitempty"`
	Gate  string `json:",omitempty"` // "<=" or ">=", and nothing for a line that is there for comparison
	Bound float64
}

// ifV2 returns what there is only with a Go whose encoding/json runs on json/v2.
func ifV2[T any](all ...T) []T {
	if !onV2 {
		return nil
	}
	return all
}

// atMost sets a gate. Of two bounds, the second is for a Go whose encoding/json runs on json/v2.
func (l line) atMost(bounds ...float64) line {
	l.Gate, l.Bound = "<=", bounds[0]
	if onV2 {
		l.Bound = bounds[len(bounds)-1]
	}
	return l
}

func (l line) atLeast(bound float64) line {
	l.Gate, l.Bound = ">=", bound
	return l
}

// holds reports whether the value keeps to the gate. What is no number does not.
func (l line) holds() bool {
	return l.Gate == "" || l.Gate == "<=" && l.Value <= l.Bound || l.Gate == ">=" && l.Value >= l.Bound
}

// verdict returns the gate, and whether the value keeps to it.
func (l line) verdict() string {
	switch {
	case l.Gate == "":
		return ""
	case l.holds():
		return l.Gate + " " + l.quantity(l.Bound)
	default:
		return l.Gate + " " + l.quantity(l.Bound) + " MISSED"
	}
}

func (l line) quantity(v float64) string {
	if l.Unit == "" {
		return fmt.Sprintf("%.3gx", v)
	}
	return fmt.Sprintf("%.4g %s", v, l.Unit)
}

// slower says how many times as long one case took as another.
func slower(row, what string, r measure.Rounds, ours, peer string) line {
	return line{Row: row, What: what, Ours: short(r.Took(ours)), Peer: short(r.Took(peer)), Value: r.Ratio(ours, peer)}
}

// faster says how many times as fast one case was as another.
func faster(row, what string, r measure.Rounds, ours, peer string) line {
	l := slower(row, what+": times as fast", r, ours, peer)
	l.Value = r.Ratio(peer, ours)
	return l
}

// counted is about something that is counted, of a peer too where there is one.
func counted(row, what, unit string, ours float64, peer ...float64) line {
	l := line{Row: row, What: what, Ours: fmt.Sprintf("%.4g", ours), Value: ours, Unit: unit}
	if len(peer) > 0 {
		l.Peer = fmt.Sprintf("%.4g", peer[0])
	}
	return l
}

// short returns a time with three digits.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// table writes what was found, and reports whether all gates hold.
func table(w io.Writer, found results) bool {
	all := true
	must(fmt.Fprintf(w, "%s\n\n", found))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	must(fmt.Fprintln(t, "row\twhat\tours\tpeer\tratio\tgate"))
	for _, l := range found.Lines {
		all = all && l.holds()
		must(fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", l.Row, l.What, l.Ours, l.Peer, l.quantity(l.Value), l.verdict()))
	}
	check(t.Flush())
	return all
}
