// Command rss reads a long report and prints how much memory that took at its peak.
//
//	go -C internal/bench run ./rss                       # 1 GB, rows that are borrowed
//	go -C internal/bench run ./rss -way owned -size 256  # megabytes
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/quickstream-go/quickstream/internal/bench/report"
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
	flags := flag.NewFlagSet("rss", flag.ContinueOnError)
	way := flags.String("way", "borrowed", "borrowed or owned")
	size := flags.Int64("size", 1000, "megabytes to read")
	if err := flags.Parse(args); err != nil {
		return err
	}
	read := map[string]report.Read{"borrowed": report.Borrowed, "owned": report.Owned}[*way]
	if read == nil {
		return fmt.Errorf("no way of reading is called %q; there are borrowed and owned", *way)
	}
	generated, records := reporttest.Generate(*size * megabyte)
	var t report.Tally
	if err := read(generated, &t); err != nil {
		return err
	}
	if t.Records != records {
		return fmt.Errorf("%d records of %d", t.Records, records)
	}
	peak, err := peakRSS()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d MB, %d records, peak RSS %.2f MB\n", *way, *size, records, float64(peak)/megabyte)
	return err
}

// peakRSS returns the most memory that this process has occupied so far, in bytes. It asks
// Linux: what getrusage says there goes back to before exec, and so to the parent process.
func peakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0, errors.New("the system does not tell the peak of memory")
	}
	return kilobytes << 10, nil
}
