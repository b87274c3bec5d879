// Command rss reads a long report and prints how fast that went and how much
// memory it took at its peak. It fails when that is more than the limit.
//
//	go -C bench run ./rss                       # 1 GB, rows that are borrowed
//	go -C bench run ./rss -way owned -size 256  # megabytes
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/bench/report"
	"github.com/quickstream-go/quickstream/internal/reporttest"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rss:", err)
		os.Exit(1)
	}
}

// megabyte is a million bytes.
const megabyte = 1_000_000

func run(args []string, out io.Writer) error {
	ways := map[string]report.Read{"borrowed": report.Borrowed, "owned": report.Owned, "fields": report.Fields}
	flags := flag.NewFlagSet("rss", flag.ContinueOnError)
	way := flags.String("way", "borrowed", "borrowed, owned or fields")
	size := flags.Int64("size", 1000, "megabytes to read")
	limit := flags.Float64("limit", 16, "megabytes that may be occupied")
	only := flags.Bool("peak", false, "print the peak alone, in megabytes, and set no limit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	read, ok := ways[*way]
	if !ok {
		var names []string
		for name := range ways {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("no way of reading is called %q; there are %s", *way, strings.Join(names, ", "))
	}
	generated, records := reporttest.Generate(*size * megabyte)
	var t report.Tally
	start := time.Now()
	if err := read(generated, &t); err != nil {
		return err
	}
	took := time.Since(start)
	if t.Records != records {
		return fmt.Errorf("%d records of %d", t.Records, records)
	}
	bytes, err := report.PeakRSS()
	if err != nil {
		return err
	}
	peak := float64(bytes) / megabyte
	if *only {
		_, err = fmt.Fprintf(out, "%.2f\n", peak)
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d MB, %d records, %.0f MB/s, peak RSS %.1f MB\n", *way, *size, records, float64(*size)/took.Seconds(), peak)
	if err != nil {
		return err
	}
	if peak > *limit {
		return fmt.Errorf("%.1f MB are more than %.1f MB", peak, *limit)
	}
	return nil
}
