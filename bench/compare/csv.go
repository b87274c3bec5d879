package main

import (
	"bytes"
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
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/bench/measure"
	"github.com/quickstream-go/quickstream/bench/report"
	"github.com/quickstream-go/quickstream/internal/reporttest"
)

// reportSize is the length of the reports that are read again and again.
const reportSize = 2 << 20

func fieldWays() map[string]report.Read {
	return map[string]report.Read{"fields": report.Fields, "encoding/csv": report.StandardFields}
}

func typedWays() map[string]report.Read {
	return map[string]report.Read{
		"borrowed": report.Borrowed, "owned": report.Owned, "csvutil": report.CSVUtil,
		"csvutil cents": report.CSVUtilCents, "encoding/csv typed": report.StandardTyped, "gocsv": report.GoCSV,
	}
}

// reports compares reading a report from memory: P10 cell by cell, P11 typed.
func reports(ctx context.Context, s scale) ([]line, error) {
	generated, records := reporttest.Generate(reportSize)
	var cases []measure.Case
	for _, ways := range []map[string]report.Read{fieldWays(), typedWays()} {
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
	var failed error
	// What is allocated for each record, and not once for a report.
	allocs := func(read report.Read) float64 {
		count := func(size int64) (float64, int64) {
			generated, records := reporttest.Generate(size)
			return testing.AllocsPerRun(3, func() {
				again := *generated
				failed = errors.Join(failed, read(&again, new(report.Tally)))
			}), records
		}
		few, fewRecords := count(reportSize / 8)
		many, manyRecords := count(reportSize)
		return (many - few) / float64(manyRecords-fewRecords)
	}
	times := func(row, what, mine, peer string, g gate) line {
		return ratio(row, what+": times as fast", r.Took(mine), r.Took(peer), r.Ratio(peer, mine), g)
	}
	lines := []line{
		times("P10", "fields / encoding/csv ReuseRecord", "fields", "encoding/csv", gate{2.4, atLeast}),
		counted("P10", "fields, allocations per record", allocs(report.Fields), allocs(report.StandardFields), "allocs", gate{0, atMost}),
		times("P11", "typed rows, borrowed / csvutil", "borrowed", "csvutil", gate{4.5, atLeast}),
		times("P11", "typed rows, owned / csvutil", "owned", "csvutil", gate{2.4, atLeast}),
		counted("P11", "typed rows, borrowed, allocations per record", allocs(report.Borrowed), allocs(report.CSVUtil), "allocs", gate{}),
		times("P11", "typed rows, borrowed / csvutil with integers", "borrowed", "csvutil cents", gate{}),
		times("P11", "typed rows, borrowed / encoding/csv by hand", "borrowed", "encoding/csv typed", gate{}),
		times("P11", "typed rows, borrowed / gocsv", "borrowed", "gocsv", gate{}),
	}
	lines[2].what += fmt.Sprintf(" (%.0f MB/s)", float64(reportSize)/r.Took("borrowed").Seconds()/1e6)
	if records == 0 {
		failed = errors.Join(failed, errors.New("the report has no records"))
	}
	for _, way := range []string{"borrowed", "owned"} {
		peak, err := peakOf(ctx, way, s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, counted("P11", "typed rows, "+way+", peak RSS", peak, math.NaN(), "MB", gate{16, atMost}))
	}
	return lines, failed
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
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/quickstream-go/quickstream/bench/rss", "-way", way, "-size", strconv.Itoa(megabytes), "-peak")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("command rss: %w", err)
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}

// downloads compares reading a report while it arrives over TLS.
func downloads(ctx context.Context, s scale) ([]line, error) {
	const size = 4 << 20
	generated, records := reporttest.Generate(size)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		again := *generated
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.Copy(w, &again) // the reader will notice
	}))
	defer server.Close()
	client := plainClient{server.Client()}
	download := func(read report.Read) func() error {
		return func() error {
			resp, err := client.do(ctx, server.URL)
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
		}
	}
	ways := map[string]report.Read{"borrowed": report.Borrowed, "owned": report.Owned, "csvutil": report.CSVUtil}
	if err := report.Same(reportSize, ways); err != nil {
		return nil, err
	}
	var cases []measure.Case
	for name, read := range ways {
		cases = append(cases, measure.Case{Name: name, Do: download(read)})
	}
	plan := s.plan()
	plan.Slice, plan.Clock = 60*time.Millisecond, nil // the server's time counts too
	r, err := plan.Run(cases...)
	if err != nil {
		return nil, err
	}
	return []line{
		ratio("P12", "typed report from TLS, borrowed / csvutil: times as fast", r.Took("borrowed"), r.Took("csvutil"), r.Ratio("csvutil", "borrowed"), gate{3, atLeast}),
		ratio("P12", "typed report from TLS, owned / csvutil: times as fast", r.Took("owned"), r.Took("csvutil"), r.Ratio("csvutil", "owned"), gate{}),
	}, nil
}
