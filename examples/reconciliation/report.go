package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
)

// download reads the report of a date while it arrives: neither side holds more
// than a record of it, whatever its size.
func download(ctx context.Context, s *demo.Shop, date quickstream.Date) (books, error) {
	reader, writer := io.Pipe()
	written := make(chan int64, 1)
	go func() {
		n, err := s.Client.Transactions.AwaitReport(ctx, writer, quickstream.ReportParams{
			SettlementDate: date, SupplierBusinessCode: sandbox.DefaultBusiness,
			ExcludePreauths: new(true), // they take no money
		}, quickstream.ReportWait{
			Interval: time.Millisecond, // a minute, were it not for the sandbox's clock
			Progress: func(requests int, written int64) {
				if written == 0 {
					fmt.Printf("   question %d: the report is not ready\n", requests)
					s.Clock.Advance(time.Minute)
				}
			},
		})
		writer.CloseWithError(err) // nil is the end of the report
		written <- n
	}()
	found, read, err := parse(reader, date)
	reader.CloseWithError(err) // the download stops where the reading did
	if n := <-written; err == nil && n != read {
		err = fmt.Errorf("%d bytes arrived, and %d were read", n, read)
	}
	return found, err
}

// parse reads a report to its end, and says how long it is.
func parse(src io.Reader, date quickstream.Date) (books, int64, error) {
	report, err := csvreport.NewReader(src, csvreport.WithStrictSeparators())
	if err != nil {
		return nil, 0, err
	}
	if _, err := report.Column(csvreport.SupplierBusinessCode); err != nil {
		return nil, 0, fmt.Errorf("not known by its published column: %w", err)
	}
	fmt.Printf("   a report with %d columns\n", len(report.Columns()))
	found := books{}
	for line, err := range csvreport.Decode[reportLine](report) {
		if err != nil {
			return nil, 0, err
		}
		if _, twice := found[line.Receipt]; twice || line.SettlementDate != date {
			return nil, 0, fmt.Errorf("record %d does not belong there", report.Records())
		}
		found[line.Receipt] = entry{line.Scheme, line.Type, line.Status, line.SettlementDate, line.Total.StringFixed(2)}
	}
	fmt.Printf("   %d records, %d bytes\n", report.Records(), report.InputOffset())
	return found, report.InputOffset(), nil
}

// reportLine is a record of the report. All names are the sandbox's own: the service
// publishes none of them, so take those of your own reports. A column that the report
// does not have is an error, and never an empty value.
type reportLine struct {
	Receipt        string                        `csv:"Receipt Number"`
	Scheme         quickstream.CardScheme        `csv:"Card Scheme"`
	Type           quickstream.TransactionType   `csv:"Transaction Type"`
	Status         quickstream.TransactionStatus `csv:"Status"`
	SettlementDate quickstream.Date              `csv:"Settlement Date"`
	Total          decimal.Decimal               `csv:"Total Amount"`
}
