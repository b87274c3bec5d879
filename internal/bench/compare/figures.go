package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// beforeFigures is the line of README.md after which the figures stand.
const beforeFigures = "<!-- written by: go -C internal/bench run ./compare -figures -->\n"

// figures writes what the runs in results/*.json of a folder have found: the plot, and the end of
// README.md.
func figures(folder string) {
	runs := readRuns(folder)
	readme := filepath.Join(folder, "README.md")
	text, _, found := strings.Cut(string(must(os.ReadFile(readme))), beforeFigures) //nolint:gosec // of the caller's folder
	if !found || len(runs) == 0 {
		check(fmt.Errorf("no place for figures in %s, or no results/*.json beside it", readme))
	}
	check(os.WriteFile(readme, []byte(text+beforeFigures+figuresText(runs)), 0o600)) //nolint:gosec // of the caller's folder
	check(os.WriteFile(filepath.Join(folder, "results", "plot.svg"), []byte(plot(runs)), 0o600))
}

// readRuns returns the runs in the order of their files' names.
func readRuns(folder string) (runs []results) {
	for _, file := range must(filepath.Glob(filepath.Join(folder, "results", "*.json"))) {
		var r results
		check(json.Unmarshal(must(os.ReadFile(file)), &r)) //nolint:gosec // of the caller's folder
		runs = append(runs, r)
	}
	return runs
}

func figuresText(runs []results) string {
	var b strings.Builder
	b.WriteString("\n![The ratios beside their gates](results/plot.svg)\n\n```\n")
	table(&b, runs...)
	return b.String() + "```\n"
}

//go:embed plot.svg.tmpl
var plotForm string

// plot draws the lines that are ratios, on a logarithmic scale, beside their gates.
func plot(runs []results) string {
	ratios := slices.DeleteFunc(sideBySide(runs), func(same []*line) bool { return same[len(same)-1].Unit != "" })
	row := 11*len(runs) + 9
	form := template.Must(template.New("").Funcs(template.FuncMap{
		"x":        func(ratio float64) int { return 500 + int(100*math.Log10(min(60, max(0.02, ratio))/0.02)) },
		"y":        func(i, run int) int { return 60 + row*i + 11*run },
		"colour":   func(run int) string { return []string{"#1f6feb", "#d1570a", "#1a7f37"}[run%3] },
		"last":     func(same []*line) *line { return same[len(same)-1] },
		"quantity": (*line).quantity,
		"verdict":  (*line).verdict,
		"ticks":    func() []float64 { return []float64{0.03, 0.1, 0.3, 1, 3, 10, 30} },
	}).Parse(plotForm))
	var b strings.Builder
	check(form.Execute(&b, map[string]any{"Runs": runs, "Rows": ratios, "Height": 60 + row*len(ratios)}))
	return b.String()
}
