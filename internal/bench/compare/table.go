package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
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
	Row, What string
	Value     float64 // a ratio, or with a unit something counted
	Unit      string  `json:",omitempty"`
	Gate      string  `json:",omitempty"` // "<=" or ">=", and nothing for a line that is there for comparison
	Bound     float64
}

// slower says how many times as long one case took as another.
func slower(row, what string, t times, ours, peer string) line {
	return line{Row: row, What: what, Value: t.ratio(ours, peer)}
}

// faster says how many times as fast one case was as another.
func faster(row, what string, t times, ours, peer string) line {
	return slower(row, what+": times as fast", t, peer, ours)
}

func counted(row, what, unit string, value float64) line {
	return line{Row: row, What: what, Unit: unit, Value: value}
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
	if l.Gate == "" {
		return ""
	}
	missed := ""
	if !l.holds() {
		missed = " MISSED"
	}
	return l.Gate + " " + l.quantity(l.Bound) + missed
}

func (l line) quantity(v float64) string {
	if l.Unit == "" {
		return fmt.Sprintf("%.3gx", v)
	}
	return fmt.Sprintf("%.4g %s", v, l.Unit)
}

// sideBySide returns each line of the last run, which has the most, behind the same line of the
// runs before it. It is nil in a run that has none.
func sideBySide(runs []results) (all [][]*line) {
	for _, last := range runs[len(runs)-1].Lines {
		same := make([]*line, len(runs))
		for i, r := range runs {
			if at := slices.IndexFunc(r.Lines, func(l line) bool { return l.Row == last.Row && l.What == last.What }); at >= 0 {
				same[i] = &r.Lines[at]
			}
		}
		all = append(all, same)
	}
	return all
}

// table writes what some runs have found.
func table(w io.Writer, runs ...results) {
	heads := "\nrow\twhat"
	for _, r := range runs {
		must(fmt.Fprintln(w, r))
		heads += "\t" + r.Go + "\tgate"
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	must(fmt.Fprintln(t, heads))
	for _, same := range sideBySide(runs) {
		last := same[len(same)-1]
		text := last.Row + "\t" + last.What
		for _, l := range same {
			if l == nil {
				text += "\t-\t"
			} else {
				text += "\t" + l.quantity(l.Value) + "\t" + l.verdict()
			}
		}
		must(fmt.Fprintln(t, text))
	}
	check(t.Flush())
}
