package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/quickstream-go/quickstream/bench/measure"
)

// line is a line of the table.
type line struct {
	row, what  string
	ours, peer string
	// value is what the gate judges: a ratio, or with a unit something counted.
	value float64
	unit  string
	gate  string // "<=" or ">=", and nothing for a line that is there for comparison
	bound float64
}

func (l line) atMost(bound float64) line {
	l.gate, l.bound = "<=", bound
	return l
}

func (l line) atLeast(bound float64) line {
	l.gate, l.bound = ">=", bound
	return l
}

// holds reports whether the value keeps to the gate. What is no number does not.
func (l line) holds() bool {
	return l.gate == "" || l.gate == "<=" && l.value <= l.bound || l.gate == ">=" && l.value >= l.bound
}

func (l line) quantity(v float64) string {
	if l.unit == "" {
		return fmt.Sprintf("%.3gx", v)
	}
	return fmt.Sprintf("%.4g %s", v, l.unit)
}

// slower says how many times as long one case took as another.
func slower(row, what string, r *measure.Rounds, ours, peer string) line {
	return line{row: row, what: what, ours: short(r.Took(ours)), peer: short(r.Took(peer)), value: r.Ratio(ours, peer)}
}

// faster says how many times as fast one case was as another.
func faster(row, what string, r *measure.Rounds, ours, peer string) line {
	l := slower(row, what+": times as fast", r, ours, peer)
	l.value = r.Ratio(peer, ours)
	return l
}

// counted is about something that is counted. A peer that is no number is none.
func counted(row, what string, ours, peer float64, unit string) line {
	l := line{row: row, what: what, ours: fmt.Sprintf("%.4g", ours), value: ours, unit: unit}
	if !math.IsNaN(peer) {
		l.peer = fmt.Sprintf("%.4g", peer)
	}
	return l
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
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(t, "row\twhat\tours\tpeer\tratio\tgate\tholds")
	for _, l := range lines {
		gate, verdict := "", ""
		if l.gate != "" {
			gate, verdict = l.gate+" "+l.quantity(l.bound), "yes"
		}
		if !l.holds() {
			verdict, all = "NO", false
		}
		_, failed := fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", l.row, l.what, l.ours, l.peer, l.quantity(l.value), gate, verdict)
		err = errors.Join(err, failed)
	}
	return all, errors.Join(err, t.Flush())
}
