package csvreport_test

import (
	"encoding/csv"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/csvreport"
)

const benchmarkSize = 8 << 20

// A way of reading a report returns how many cells it has seen.
type way func(b *testing.B, report io.Reader) int

func rows(b *testing.B, report io.Reader, use func(*csvreport.Reader, *csvreport.Row)) *csvreport.Reader {
	r, err := csvreport.NewReader(report)
	if err != nil {
		b.Fatal(err)
	}
	for row, err := range r.Rows() {
		if err != nil {
			b.Fatal(err)
		}
		use(r, row)
	}
	return r
}

func fields(b *testing.B, report io.Reader) int {
	n := 0
	rows(b, report, func(*csvreport.Reader, *csvreport.Row) { n += len(generatedColumns) })
	return n
}

func standardRows(b *testing.B, report io.Reader, use func([]string)) {
	r := csv.NewReader(report)
	r.ReuseRecord = true
	for header := true; ; header = false {
		record, err := r.Read()
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		if !header {
			use(record)
		}
	}
}

func standardFields(b *testing.B, report io.Reader) int {
	n := 0
	standardRows(b, report, func(record []string) { n += len(record) })
	return n
}

// typedCells reads three amounts, a date, a time and two booleans of a record, and
// hands the other 23 cells to text.
func typedCells(b *testing.B, columns []csvreport.Column, row *csvreport.Row, text func(csvreport.Column) error) {
	for i, c := range columns {
		var err error
		switch i {
		case 10, 11, 12:
			_, err = row.Cents(c)
		case 14:
			_, err = row.Date(c)
		case 15:
			_, err = row.Timestamp(c)
		case 22, 23:
			_, err = row.Bool(c)
		default:
			err = text(c)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func borrowed(b *testing.B, report io.Reader) int {
	var columns []csvreport.Column
	n := 0
	rows(b, report, func(r *csvreport.Reader, row *csvreport.Row) {
		if columns == nil {
			columns = r.Columns()
		}
		typedCells(b, columns, row, func(c csvreport.Column) error {
			_, err := row.Bytes(c)
			return err
		})
		n += len(columns)
	})
	return n
}

func owned(b *testing.B, report io.Reader) int {
	var columns []csvreport.Column
	var row csvreport.Row
	n := 0
	rows(b, report, func(r *csvreport.Reader, borrowed *csvreport.Row) {
		if columns == nil {
			columns = r.Columns()
		}
		row = borrowed.Clone()
		typedCells(b, columns, &row, func(c csvreport.Column) error {
			_, err := row.Text(c)
			return err
		})
		n += len(columns)
	})
	return n
}

// standardTyped is what is written by hand around encoding/csv.
func standardTyped(b *testing.B, report io.Reader) int {
	n := 0
	standardRows(b, report, func(record []string) {
		for i, cell := range record {
			var err error
			switch i {
			case 10, 11, 12:
				_, err = decimal.NewFromString(cell)
			case 14:
				_, err = time.Parse(time.DateOnly, cell)
			case 15:
				_, err = time.Parse("2006-01-02T15:04:05-0700", cell)
			case 22, 23:
				_, err = strconv.ParseBool(cell)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		n += len(record)
	})
	return n
}

func BenchmarkRead(b *testing.B) {
	for _, bench := range []struct {
		name string
		read way
	}{
		{"fields", fields},
		{"fields/encoding-csv", standardFields},
		{"typed/borrowed", borrowed},
		{"typed/owned", owned},
		{"typed/encoding-csv", standardTyped},
	} {
		b.Run(bench.name, func(b *testing.B) {
			report, _ := generate(benchmarkSize)
			b.SetBytes(benchmarkSize)
			b.ReportAllocs()
			for b.Loop() {
				again := *report
				bench.read(b, &again)
			}
		})
	}
}

// BenchmarkRatio compares with encoding/csv in rounds, so that what else the
// machine does meets both, and reports the median of the rounds.
//
// The two differ most in what they leave to the garbage collector, and how often it
// runs depends on the size of the program's heap. So there are two ratios: one in
// the small heap of a program that streams, and one with the collector off, which
// compares nothing but the reading and is the one to hold a goal against. Both are
// of elapsed time, and mean little while the machine has other work.
func BenchmarkRatio(b *testing.B) {
	const passes = 3 // makes slices long enough to measure
	for _, bench := range []struct {
		name             string
		read, comparison way
	}{
		{"fields", fields, standardFields},
		{"typed-borrowed", borrowed, standardTyped},
		{"typed-owned", owned, standardTyped},
	} {
		for _, collector := range []struct {
			name    string
			percent int
		}{{"small-heap", 100}, {"no-collector", -1}} {
			b.Run(bench.name+"/"+collector.name, func(b *testing.B) {
				defer debug.SetGCPercent(debug.SetGCPercent(collector.percent))
				report, _ := generate(benchmarkSize)
				measure := func(read way) (took time.Duration, cells int) {
					runtime.GC()
					start := time.Now()
					for range passes {
						again := *report
						cells += read(b, &again)
					}
					return time.Since(start), cells
				}
				var ratios []float64
				for b.Loop() {
					took, cells := measure(bench.read)
					other, otherCells := measure(bench.comparison)
					if cells != otherCells {
						b.Fatalf("%d cells, and %d", cells, otherCells)
					}
					ratios = append(ratios, float64(other)/float64(took))
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "x-encoding-csv")
			})
		}
	}
}

// BenchmarkStream reads 256 MB and reports what they occupied.
func BenchmarkStream(b *testing.B) {
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		runtime.GC()
		before := memory()
		report, want := generate(size)
		if cells := borrowed(b, report); int64(cells) != want*int64(len(generatedColumns)) {
			b.Fatalf("%d cells", cells)
		}
		b.ReportMetric(float64(memory().TotalAlloc-before.TotalAlloc)/1e6, "MB-allocated")
	}
}
