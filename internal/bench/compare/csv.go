package main

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/bench/report"
)

func typedWays() map[string]report.Read {
	return map[string]report.Read{"borrowed": report.Borrowed, "owned": report.Owned, "csvutil": report.CSVUtil}
}

// reports compares reading a report from memory: P10 cell by cell, P11 typed.
func reports(ctx context.Context, m plan) []line {
	generated := report.Generate(2 << 20)
	reading := func(read report.Read) func() error {
		return func() error { return read(generated.Reader(), new(report.Tally)) }
	}
	cases := []work{{"fields", reading(report.Fields)}, {"encoding/csv", reading(report.StandardFields)}}
	for name, read := range typedWays() {
		cases = append(cases, work{name, reading(read)})
	}
	r := m.run(cases...)
	allocs := testing.AllocsPerRun(3, func() { check(reading(report.Fields)()) })
	perRecord := math.Floor(allocs / float64(generated.Records)) // allocations that are made once for a report round down to none
	return []line{
		faster("P10", "fields / encoding/csv ReuseRecord", r, "fields", "encoding/csv").atLeast(2.4),
		counted("P10", "fields, allocations per record", "allocs", perRecord).atMost(0),
		faster("P11", "typed rows, borrowed / csvutil", r, "borrowed", "csvutil").atLeast(4.4),
		faster("P11", "typed rows, owned / csvutil", r, "owned", "csvutil").atLeast(2.4),
		counted("P11", "typed rows, borrowed, peak RSS", "MB", peakOf(ctx, "borrowed")).atMost(16),
		counted("P11", "typed rows, owned, peak RSS", "MB", peakOf(ctx, "owned")).atMost(16),
	}
}

// peakOf returns the peak memory, in megabytes, of a process of its own that reads a
// long report. The process is command rss: in this program, what the packages of the
// peers set up at the start would count too.
func peakOf(ctx context.Context, way string) (megabytes float64) {
	//nolint:gosec // a command of this module
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/quickstream-go/quickstream/internal/bench/rss", way)
	cmd.Stderr = os.Stderr
	return must(strconv.ParseFloat(strings.TrimSpace(string(must(cmd.Output()))), 64))
}

// downloads compares reading a report while it arrives over TLS.
func downloads(ctx context.Context, m plan) []line {
	generated := report.Generate(4 << 20)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.Copy(w, generated.Reader()) // the reader will notice
	}))
	defer server.Close()
	var cases []work
	for name, read := range typedWays() {
		client := plainClient{server.Client(), func(body io.Reader, _ any) error { return read(body, new(report.Tally)) }}
		cases = append(cases, work{name, func() error { return client.get(ctx, server.URL, nil) }})
	}
	r := m.long().run(cases...)
	return []line{faster("P12", "typed report from TLS, borrowed / csvutil", r, "borrowed", "csvutil").atLeast(3)}
}
