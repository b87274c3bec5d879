package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/csvreport"
)

// Compare holds the service's report of a settlement date against the books, and
// returns the differences: none on a good day.
func (s *Shop) Compare(ctx context.Context, date quickstream.Date) ([]string, error) {
	reported, err := s.reported(ctx, date)
	if err != nil {
		return nil, err
	}
	booked := s.booked(date)
	var differences []string
	for receipt, entry := range reported {
		if booked[receipt] != entry {
			differences = append(differences, fmt.Sprintf("%s: reported %s, booked %q", receipt, entry, booked[receipt]))
		}
	}
	for receipt, entry := range booked {
		if _, there := reported[receipt]; !there {
			differences = append(differences, fmt.Sprintf("%s: booked %s, not reported", receipt, entry))
		}
	}
	slices.Sort(differences)
	return differences, nil
}

// booked returns what the books have for a settlement date, by receipt number.
func (s *Shop) booked(date quickstream.Date) map[string]string {
	booked := map[string]string{}
	for _, row := range s.Store.Rows() {
		seen := row.State.Seen
		switch {
		case row.Status() != Done:
		case row.Kind == KindVoid:
			delete(booked, seen.ReceiptNumber) // the payment's, which came before
		case seen.SettlementDate == date:
			booked[seen.ReceiptNumber] = entry(string(row.Kind), decimal.New(row.Cents, -2))
		}
	}
	return booked
}

// reported returns what the service reports for a settlement date.
func (s *Shop) reported(ctx context.Context, date quickstream.Date) (map[string]string, error) {
	var file bytes.Buffer
	_, err := s.Client.Transactions.AwaitReport(ctx, &file, quickstream.ReportParams{
		SettlementDate: date, TransactionStatus: quickstream.TransactionStatusApproved, SupplierBusinessCode: s.Business,
	}, quickstream.ReportWait{})
	if err != nil {
		return nil, err
	}
	report, err := csvreport.NewReader(&file)
	if err != nil {
		return nil, err
	}
	reported := map[string]string{}
	for line, err := range csvreport.Decode[reportLine](report) {
		if err != nil {
			return nil, err
		}
		reported[line.Receipt] = entry(line.Type, line.Principal)
	}
	return reported, nil
}

// reportLine has the columns that are compared, under the names that the sandbox
// gives them. The service publishes none of these: take those of your own reports.
type reportLine struct {
	Receipt   string          `csv:"Receipt Number"`
	Type      string          `csv:"Transaction Type"`
	Principal decimal.Decimal `csv:"Principal Amount"`
}

func entry(kind string, amount decimal.Decimal) string { return kind + " " + amount.StringFixed(2) }
