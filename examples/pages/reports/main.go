// Command reports is the program of docs/reports.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box, client, err := sandboxtest.Open(sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ReportGeneration, a.LookupLag = 0, 0 }))
	if err != nil {
		return err
	}
	defer box.Close()
	var paid *quickstream.Transaction
	for _, card := range []string{"4242424242424242", "4111111111444496"} { // the second has no funds
		payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
			ECI: quickstream.ECIPhone, Source: quickstream.FromCard(sandboxtest.Card(card)), PrincipalAmount: decimal.RequireFromString("49.95"),
		})
		switch {
		case err == nil:
			paid = payment
		case !errors.Is(err, quickstream.ErrDeclined):
			return err
		}
	}
	clock.Advance(24 * time.Hour)
	refund, err := client.Transactions.Refund(ctx, quickstream.RefundParams{OriginalReceiptNumber: paid.ReceiptNumber, PrincipalAmount: decimal.RequireFromString("9.95")})
	if err != nil {
		return err
	}
	for _, date := range []quickstream.Date{paid.SettlementDate, refund.SettlementDate} { // Sydney's; after the cut-off it is a later day
		records, sum, err := settled(ctx, client, date)
		if err != nil {
			return err
		}
		fmt.Println(date, "has", records, "records, settled", sum)
	}
	return nil
}

// line is a record of the report. The names of its columns are the sandbox's: take those of your
// own reports.
type line struct {
	Receipt string                        `csv:"Receipt Number"`
	Type    quickstream.TransactionType   `csv:"Transaction Type"`
	Status  quickstream.TransactionStatus `csv:"Status"`
	Total   decimal.Decimal               `csv:"Total Amount"`
}

// settled adds up what was taken on a settlement date, less what was refunded.
func settled(ctx context.Context, client *quickstream.Client, date quickstream.Date) (records int64, sum decimal.Decimal, err error) {
	reader, writer := io.Pipe() // the report is read while it arrives
	go func() {
		_, err := client.Transactions.AwaitReport(ctx, writer, quickstream.ReportParams{
			SettlementDate: date, SupplierBusinessCode: sandbox.DefaultBusiness,
		}, time.Minute)
		writer.CloseWithError(err) // nil is the end of the report
	}()
	defer reader.CloseWithError(nil) // an early return ends the download
	report, err := csvreport.NewReader(reader, csvreport.WithStrictSeparators())
	if err != nil {
		return 0, sum, err
	}
	for line, err := range csvreport.Decode[line](report) {
		if err != nil {
			return 0, sum, err // the sum is not that of the whole day
		}
		approved := line.Status == quickstream.TransactionStatusApproved || line.Status == quickstream.TransactionStatusApprovedReturnable
		switch {
		case !approved: // a declined payment has an amount too
		case line.Type == quickstream.TransactionTypePayment, line.Type == quickstream.TransactionTypeCapture:
			sum = sum.Add(line.Total)
		case line.Type == quickstream.TransactionTypeRefund:
			sum = sum.Sub(line.Total)
		}
	}
	return report.Records(), sum, nil
}
