package durable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
)

// ReportColumns names the columns of a merchant's transaction report, which the service
// does not publish. Take them from a report of your own. The first four are required.
// A name that the report does not have is an error, and so is one that it has twice.
type ReportColumns struct {
	ReceiptNumber   string
	Status          string
	SummaryCode     string
	PrincipalAmount string

	Currency               string
	ResponseCode           string
	TransactionType        string
	OriginalReceiptNumber  string
	PaymentReferenceNumber string
	// Intent is the column of the metadata in which payments carry the id of their
	// intent: metadata_ and the name of [quickstream.WithIntentMetadata].
	Intent string
}

// Names returns the columns, and that of the engine's own metadata: what to ask a report
// for, by [quickstream.ReportParams].
func (c ReportColumns) Names() []string {
	names := []string{
		c.ReceiptNumber, c.Status, c.SummaryCode, c.PrincipalAmount, c.Currency, c.ResponseCode, c.TransactionType,
		c.OriginalReceiptNumber, c.PaymentReferenceNumber, c.Intent, "metadata_" + installationMember, "metadata_" + orderMember,
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// CompareReport is [Engine.Compare] by a transaction report of the date, which
// [quickstream.TransactionsService.AwaitReport] downloads: give it the whole report. It
// compares what the columns say; the payment's transaction is read from the service only
// where they differ.
func (e *Engine[TTx]) CompareReport(ctx context.Context, date quickstream.Date, report io.Reader, columns ReportColumns) error {
	return e.counted(ctx, date, func(ctx context.Context, date quickstream.Date, n *tally) error {
		return e.compareReport(ctx, date, report, columns, n)
	})
}

func (e *engine) compareReport(ctx context.Context, date quickstream.Date, report io.Reader, columns ReportColumns, n *tally) error {
	reader, err := csvreport.NewReader(report)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	cells, err := columns.bind(reader)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	c, err := e.comparison(ctx, date, n)
	if err != nil {
		return err
	}
	var page []*quickstream.Transaction
	for row, err := range reader.Rows() {
		if err != nil { // damage: nothing can be said of what follows
			return fmt.Errorf("durable: %w", err)
		}
		t, err := cells.read(row)
		if err != nil {
			if err := c.differ(ctx, Difference{Kind: Unreadable, Date: date, Err: err}); err != nil {
				return err
			}
			continue
		}
		if page = append(page, t); len(page) == reportPage {
			if err := c.page(ctx, page, time.Time{}); err != nil {
				return err
			}
			page = page[:0]
		}
	}
	if err := c.page(ctx, page, time.Time{}); err != nil {
		return err
	}
	return c.here(ctx)
}

// reportPage is how many records of a report are compared in one transaction.
const reportPage = 100

// downloadAndCompare compares by a report that is downloaded first: one that breaks off
// has to be discarded.
func (e *engine) downloadAndCompare(ctx context.Context, date quickstream.Date, n *tally) (err error) {
	file, err := os.CreateTemp("", "quickstream-report-*.csv")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	params := quickstream.ReportParams{SettlementDate: date, Columns: e.report.Names()}
	if _, err := e.client.Transactions.AwaitReport(ctx, file, params, quickstream.ReportWait{}); err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return e.compareReport(ctx, date, file, *e.report, n)
}

// cell puts a cell of a record into a transaction.
type cell func(row *csvreport.Row, t *quickstream.Transaction) error

type cells []cell

// bind returns what reads the columns.
func (c ReportColumns) bind(reader *csvreport.Reader) (cells, error) {
	if c.ReceiptNumber == "" || c.Status == "" || c.SummaryCode == "" || c.PrincipalAmount == "" {
		return nil, errors.New("the columns of the receipt number, the status, the summary code and the principal amount are required")
	}
	var all cells
	var failed error
	text := func(name string, put func(t *quickstream.Transaction, text string)) {
		if name == "" {
			return
		}
		column, err := reader.Column(name)
		failed = errors.Join(failed, err)
		all = append(all, func(row *csvreport.Row, t *quickstream.Transaction) error {
			text, err := row.Text(column)
			put(t, text)
			return err
		})
	}
	text(c.ReceiptNumber, func(t *quickstream.Transaction, s string) { t.ReceiptNumber = s })
	text(c.Status, func(t *quickstream.Transaction, s string) { t.Status = quickstream.TransactionStatus(s) })
	text(c.SummaryCode, func(t *quickstream.Transaction, s string) { t.SummaryCode = quickstream.SummaryCode(s) })
	text(c.Currency, func(t *quickstream.Transaction, s string) { t.PrincipalAmount.Currency = quickstream.Currency(s) })
	text(c.ResponseCode, func(t *quickstream.Transaction, s string) { t.ResponseCode = s })
	text(c.TransactionType, func(t *quickstream.Transaction, s string) { t.TransactionType = quickstream.TransactionType(s) })
	text(c.OriginalReceiptNumber, func(t *quickstream.Transaction, s string) { t.OriginalReceiptNumber = s })
	text(c.PaymentReferenceNumber, func(t *quickstream.Transaction, s string) { t.PaymentReferenceNumber = s })
	amount, err := reader.Column(c.PrincipalAmount)
	all = append(all, func(row *csvreport.Row, t *quickstream.Transaction) (err error) {
		t.PrincipalAmount.Amount, err = row.Decimal(amount)
		return err
	})
	return all, errors.Join(failed, err)
}

// read reads a record. Without a receipt number it is nobody's.
func (c cells) read(row *csvreport.Row) (*quickstream.Transaction, error) {
	t := &quickstream.Transaction{PrincipalAmount: &quickstream.Amount{}, Metadata: maps.Collect(row.Metadata())}
	for _, cell := range c {
		if err := cell(row, t); err != nil {
			return nil, err
		}
	}
	if t.ReceiptNumber == "" {
		return nil, fmt.Errorf("record %d has no receipt number", row.Record())
	}
	return t, nil
}
