package main

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
)

// results are what one run has found.
type results struct {
	Go, System, Date string
	Processors       int
	Lines            []line
}

// line is a line of the table.
type line struct {
	Row, What string
	Value     float64 // a ratio, or with a unit something counted
	Unit      string
	Gate      string // "<=" or ">=", and nothing for a line that is there for comparison
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

// ifV2 returns its arguments with a Go whose encoding/json runs on json/v2, and otherwise nil.
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

// holds reports whether the value keeps to the gate. NaN does not.
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
	}
	return l.Gate + " " + l.quantity(l.Bound) + " MISSED"
}

func (l line) quantity(v float64) string {
	if l.Unit == "" {
		return fmt.Sprintf("%.3gx", v)
	}
	return fmt.Sprintf("%.4g %s", v, l.Unit)
}

// table writes what a run has found.
func (r results) table(w io.Writer) {
	must(fmt.Fprintf(w, "%s %s, %d processors, %s\n\n", r.Go, r.System, r.Processors, r.Date))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range r.Lines {
		must(fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", l.Row, l.What, l.quantity(l.Value), l.verdict()))
	}
	check(t.Flush())
}

//go:embed plot.svg.tmpl
var plotForm string

// plot draws the lines that are ratios, on a logarithmic scale, beside their gates.
func (r results) plot() string {
	r.Lines = slices.DeleteFunc(slices.Clone(r.Lines), func(l line) bool { return l.Unit != "" })
	const row = 20
	form := template.Must(template.New("").Funcs(template.FuncMap{
		"x":        func(ratio float64) int { return 500 + int(100*math.Log10(min(60, max(0.02, ratio))/0.02)) },
		"y":        func(i int) int { return 60 + row*i },
		"quantity": line.quantity,
		"verdict":  line.verdict,
		"ticks":    func() []float64 { return []float64{0.03, 0.1, 0.3, 1, 3, 10, 30} },
	}).Parse(plotForm))
	var b strings.Builder
	check(form.Execute(&b, map[string]any{"Run": r, "Height": 60 + row*len(r.Lines)}))
	return b.String()
}
