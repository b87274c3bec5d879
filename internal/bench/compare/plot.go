package main

import (
	_ "embed"
	"math"
	"slices"
	"strings"
	"text/template"
)

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
