package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/bench/measure"
	"github.com/quickstream-go/quickstream/bench/report"
	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// reportSize is the length of the reports that are read again and again.
const reportSize = 2 << 20

func typedWays() map[string]report.Read {
	return map[string]report.Read{"borrowed": report.Borrowed, "owned": report.Owned, "csvutil": report.CSVUtil}
}

// reports compares reading a report from memory: P10 cell by cell, P11 typed.
func reports(ctx context.Context, s scale) ([]line, error) {
	generated, _ := reporttest.Generate(reportSize)
	var cases []measure.Case
	for _, ways := range []map[string]report.Read{{"fields": report.Fields, "encoding/csv": report.StandardFields}, typedWays()} {
		if err := report.Same(reportSize, ways); err != nil {
			return nil, err
		}
		for name, read := range ways {
			cases = append(cases, measure.Case{Name: name, Do: func() error {
				again := *generated
				return read(&again, new(report.Tally))
			}})
		}
	}
	r, err := s.plan().Run(cases...)
	if err != nil {
		return nil, err
	}
	lines := []line{
		faster("P10", "fields / encoding/csv ReuseRecord", r, "fields", "encoding/csv").atLeast(2.4),
		counted("P10", "fields, allocations per record", allocations(report.Fields), allocations(report.StandardFields), "allocs").atMost(0),
		faster("P11", "typed rows, borrowed / csvutil", r, "borrowed", "csvutil").atLeast(4.5),
		faster("P11", "typed rows, owned / csvutil", r, "owned", "csvutil").atLeast(2.4),
	}
	for _, way := range []string{"borrowed", "owned"} {
		peak, err := peakOf(ctx, way, s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, counted("P11", "typed rows, "+way+", peak RSS", peak, math.NaN(), "MB").atMost(16))
	}
	return lines, nil
}

// allocations returns what is allocated for each record, and not once for a report. Where
// reading fails it is no number.
func allocations(read report.Read) float64 {
	count := func(size int64) (allocs, records float64) {
		generated, n := reporttest.Generate(size)
		var failed error
		allocs = testing.AllocsPerRun(3, func() {
			again := *generated
			failed = errors.Join(failed, read(&again, new(report.Tally)))
		})
		if failed != nil {
			return math.NaN(), float64(n)
		}
		return allocs, float64(n)
	}
	few, fewRecords := count(reportSize / 8)
	many, manyRecords := count(reportSize)
	return (many - few) / (manyRecords - fewRecords)
}

// peakOf returns the megabytes that a process of its own occupied in which a long
// report was read. It is command rss, because what the peers' packages set up when
// a program starts that is linked with them would count too.
func peakOf(ctx context.Context, way string, s scale) (float64, error) {
	megabytes := 512
	if s.quick {
		megabytes = 64
	}
	//nolint:gosec // a command of this module
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/quickstream-go/quickstream/bench/rss", "-way", way, "-size", strconv.Itoa(megabytes))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("command rss: %w", err)
	}
	_, peak, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(string(out)), " MB"), "peak RSS ")
	return strconv.ParseFloat(peak, 64)
}

// downloads compares reading a report while it arrives over TLS.
func downloads(ctx context.Context, s scale) ([]line, error) {
	generated, records := reporttest.Generate(4 << 20)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		again := *generated
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.Copy(w, &again) // the reader will notice
	}))
	defer server.Close()
	var cases []measure.Case
	for name, read := range typedWays() {
		cases = append(cases, measure.Case{Name: name, Do: func() error {
			resp, err := plainClient{server.Client()}.do(ctx, server.URL)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			var t report.Tally
			if err := read(resp.Body, &t); err != nil {
				return err
			}
			if t.Records != records {
				return fmt.Errorf("%d records of %d", t.Records, records)
			}
			return nil
		}})
	}
	plan := s.plan()
	plan.Slice, plan.Clock = 60*time.Millisecond, nil // the server's time counts too
	r, err := plan.Run(cases...)
	if err != nil {
		return nil, err
	}
	return []line{faster("P12", "typed report from TLS, borrowed / csvutil", r, "borrowed", "csvutil").atLeast(3)}, nil
}
