package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

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
			Progress: func(p quickstream.ReportProgress) {
				if p.Bytes == 0 {
					fmt.Printf("   question %d: the report is not ready\n", p.Attempts)
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
	// For the scheme there is not even an assumption: the name is the sandbox's own,
	// and has to be replaced by that of your reports.
	scheme, err := report.Column("Card Scheme")
	if err != nil {
		return nil, 0, err
	}
	if err := showColumns(report); err != nil {
		return nil, 0, err
	}
	found := books{}
	for row, err := range report.Rows() {
		if err != nil {
			return nil, 0, err
		}
		receipt, e, err := read(row, scheme)
		if err != nil {
			return nil, 0, err
		}
		if _, twice := found[receipt]; twice || e.SettlementDate != date {
			return nil, 0, fmt.Errorf("record %d does not belong there", row.Record())
		}
		found[receipt] = e
	}
	fmt.Printf("   %d records, %d bytes\n", report.Records(), report.InputOffset())
	return found, report.InputOffset(), nil
}

// read returns a record as an entry. A column that the report does not have is an
// error, and never an empty value.
func read(row *csvreport.Row, schemeColumn csvreport.Column) (receipt string, e entry, err error) {
	t := row.Transaction()
	receipt, err1 := t.ReceiptNumber()
	kind, err2 := t.TransactionType()
	status, err3 := t.Status()
	date, err4 := t.SettlementDate()
	total, err5 := t.TotalAmount()
	scheme, err6 := row.Text(schemeColumn)
	return receipt, entry{
		group{quickstream.CardScheme(scheme), quickstream.TransactionType(kind), quickstream.TransactionStatus(status)}, date, total.StringFixed(2),
	}, errors.Join(err1, err2, err3, err4, err5, err6)
}

// showColumns says what is taken for granted about the report.
func showColumns(report *csvreport.Reader) error {
	fmt.Printf("   read as %q, with %d columns\n", report.Report(), len(report.Columns()))
	if report.Report() != csvreport.TransactionsV2 {
		return errors.New("the report is not known by its published column, Supplier Business Code")
	}
	var assumed []string
	for _, field := range []csvreport.Field{
		csvreport.ReceiptNumber, csvreport.TransactionType, csvreport.Status, csvreport.SettlementDate, csvreport.TotalAmount,
	} {
		column, err := report.Field(field)
		if err != nil {
			return err
		}
		assumed = append(assumed, column.Name())
	}
	fmt.Printf("   assumed columns: %s; of the sandbox only: Card Scheme\n", strings.Join(assumed, ", "))
	return nil
}
