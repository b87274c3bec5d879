package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// gate is what a value has to keep to. The zero gate always holds: the line is there
// for comparison.
type gate struct {
	bound float64
	kind  gateKind
}

type gateKind uint8

const (
	none gateKind = iota
	atMost
	atLeast
)

func (g gate) holds(value float64) bool {
	switch g.kind {
	case atMost:
		return value <= g.bound
	case atLeast:
		return value >= g.bound
	default:
		return true
	}
}

// line is a line of the table.
type line struct {
	row, what  string
	ours, peer string
	// value is what the gate judges: a ratio, or with a unit something counted.
	value float64
	unit  string
	gate  gate
}

func (l line) holds() bool {
	return l.gate.kind == none || !math.IsNaN(l.value) && l.gate.holds(l.value)
}

func (l line) quantity(v float64) string {
	if l.unit == "" {
		return fmt.Sprintf("%.3gx", v)
	}
	return fmt.Sprintf("%.4g %s", v, l.unit)
}

// ratio is a line about time: what took so long, against a peer.
func ratio(row, what string, ours, peer time.Duration, value float64, g gate) line {
	return line{row: row, what: what, ours: short(ours), peer: short(peer), value: value, gate: g}
}

// counted is a line about something that is counted.
func counted(row, what string, ours, peer float64, unit string, g gate) line {
	other := ""
	if !math.IsNaN(peer) {
		other = fmt.Sprintf("%.4g", peer)
	}
	return line{row: row, what: what, ours: fmt.Sprintf("%.4g", ours), peer: other, value: ours, unit: unit, gate: g}
}

func short(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%d ns", d)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f us", float64(d)/1e3)
	default:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
}

// table writes the lines and reports whether all of them hold.
func table(w io.Writer, lines []line) (bool, error) {
	all := true
	text := new(strings.Builder)
	fmt.Fprintln(text, "row\twhat\tours\tpeer\tratio\tgate\tholds")
	for _, l := range lines {
		bound, verdict := "", ""
		switch l.gate.kind {
		case atMost:
			bound = "<= " + l.quantity(l.gate.bound)
		case atLeast:
			bound = ">= " + l.quantity(l.gate.bound)
		case none:
		}
		switch {
		case !l.holds():
			verdict, all = "NO", false
		case l.gate.kind != none:
			verdict = "yes"
		}
		fmt.Fprintln(text, strings.Join([]string{l.row, l.what, l.ours, l.peer, l.quantity(l.value), bound, verdict}, "\t"))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, err := io.WriteString(t, text.String())
	return all, errors.Join(err, t.Flush())
}
