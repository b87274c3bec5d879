// Command reconciliation compares a settlement date with the merchant's own
// records: it waits for the service's CSV report, reads it while it is downloaded,
// and ends in an error on any difference.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	demo.Main("reconciliation", run, sandbox.WithBusiness(sandbox.DefaultBusiness, "Example Shop",
		sandbox.Surcharge{Scheme: "VISA", BasisPoints: 75}, sandbox.Surcharge{Scheme: "AMEX", BasisPoints: 180}))
}

// entry is one transaction, as either side has it.
type entry struct {
	Scheme         quickstream.CardScheme
	Type           quickstream.TransactionType
	Status         quickstream.TransactionStatus
	SettlementDate quickstream.Date
	Total          string // with the surcharge
}

// books are the entries of one side by receipt number.
type books map[string]entry

// record enters what the service answered.
func (b books) record(t *quickstream.Transaction, err error, want quickstream.Outcome) (*quickstream.Transaction, error) {
	if t, err = demo.Expect(t, err, want); err != nil {
		return nil, err
	}
	if t.CreditCard == nil || t.TotalAmount == nil {
		return nil, fmt.Errorf("%s lacks its card or its amount", t.ReceiptNumber)
	}
	b[t.ReceiptNumber] = entry{
		t.CreditCard.CardScheme, t.TransactionType, t.Status, t.SettlementDate, t.TotalAmount.Amount.StringFixed(2),
	}
	return t, nil
}

func run(ctx context.Context, s *demo.Shop) error {
	fmt.Println("1. Payments and a void today, and refunds of an earlier payment:")
	earlier, err := pay(ctx, s, books{}, demo.Visa, "100.00", quickstream.OutcomeApproved)
	if err != nil {
		return err
	}
	s.Clock.Advance(25 * time.Hour) // to another settlement date, also on the day that has 25 hours
	own := books{}
	date, err := trade(ctx, s, own, earlier)
	if err != nil {
		return err
	}
	if date == earlier.SettlementDate {
		return fmt.Errorf("the earlier payment settles on %s too", date)
	}
	fmt.Printf("   %d transactions, to be settled on %s\n", len(own), date)

	fmt.Println("2. The service's report of that date:")
	reported, err := download(ctx, s, date)
	if err != nil {
		return err
	}
	fmt.Println("3. The two compared:")
	fmt.Printf("   settled: %s in the own records, %s in the report\n", own.settled().StringFixed(2), reported.settled().StringFixed(2))
	if err := differences(own, reported); err != nil {
		return err
	}
	fmt.Println("4. A record that is lost would show:")
	for receipt := range own {
		delete(own, receipt)
		break
	}
	lost := differences(own, reported)
	if lost == nil {
		return errors.New("it did not")
	}
	fmt.Printf("   %v\n", lost)
	return nil
}

// trade makes the transactions of a day. It returns their settlement date, which
// the service tells: it is a date in Sydney, and after the cut-off the next one.
func trade(ctx context.Context, s *demo.Shop, own books, earlier *quickstream.Transaction) (date quickstream.Date, err error) {
	var last *quickstream.Transaction
	for _, p := range []struct {
		card, amount string
		want         quickstream.Outcome
	}{
		{demo.Visa, "49.95", quickstream.OutcomeApproved},
		{demo.Visa, "12.50", quickstream.OutcomeApproved},
		{demo.Visa, "1250.00", quickstream.OutcomeApproved},
		{demo.NoFunds, "75.00", quickstream.OutcomeDeclined},
		{demo.Amex, "320.10", quickstream.OutcomeApproved},
		{demo.Mastercard, "8.80", quickstream.OutcomeApproved},
		{demo.Mastercard, "64.00", quickstream.OutcomeApproved},
	} {
		if last, err = pay(ctx, s, own, p.card, p.amount, p.want); err != nil {
			return date, err
		}
	}
	for _, amount := range []string{"40.00", "15.25"} {
		refund, err := s.Client.Transactions.Refund(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: earlier.ReceiptNumber, PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
		})
		if _, err = own.record(refund, err, quickstream.OutcomeApproved); err != nil {
			return date, err
		}
	}
	voided, err := s.Client.Transactions.Void(ctx, last.ReceiptNumber)
	_, err = own.record(voided, err, quickstream.OutcomeVoided)
	return last.SettlementDate, err
}

func pay(ctx context.Context, s *demo.Shop, b books, card, amount string, want quickstream.Outcome) (*quickstream.Transaction, error) {
	token, err := sandboxtest.CardToken(ctx, s.Client, card)
	if err != nil {
		return nil, err
	}
	payment, err := s.Client.Transactions.Pay(ctx, demo.Payment(token, "", amount)) // which gets a unique reference
	return b.record(payment, err, want)
}
