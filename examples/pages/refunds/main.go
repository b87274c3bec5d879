// Command refunds is the program of docs/refunds.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
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
	box := sandbox.New(sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now))
	if err != nil {
		return err
	}
	payment, err := quickstream.RequireApproved(client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, CustomerReferenceNumber: "ORDER-1042", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("80.00"), Currency: quickstream.CurrencyAUD,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))
	if err != nil {
		return err
	}
	fmt.Println("before the cut-off: voidable", payment.Voidable, "refundable", payment.Refundable)

	clock.Advance(25 * time.Hour)
	payment, err = client.Transactions.Get(ctx, payment.ReceiptNumber) // both change with time
	if err != nil {
		return err
	}
	fmt.Println("after it: voidable", payment.Voidable, "refundable", payment.Refundable)
	keep := func(_ context.Context, intent quickstream.Intent) error {
		fmt.Println("store", intent.Reference) // INSERT, before the first byte
		return nil
	}
	refund, err := quickstream.RequireApproved(client.Transactions.Refund(ctx, quickstream.RefundParams{
		Original: payment, PaymentReferenceNumber: "RETURN-77", // unique for each refund
		PrincipalAmount: decimal.RequireFromString("5.00"), Currency: quickstream.CurrencyAUD,
	}, quickstream.WithBeforeSend(keep)))
	if err != nil {
		return err
	}
	fmt.Println("refunded", refund.TotalAmount)

	left := decimal.RequireFromString("80.00")
	for refund, err := range client.Transactions.Refunds(payment.ReceiptNumber).All(ctx) {
		if err != nil {
			return err
		}
		outcome, err := refund.Outcome()
		switch {
		case err != nil:
			return err
		case outcome == quickstream.OutcomeDeclined:
		case refund.PrincipalAmount == nil:
			return errors.New("a refund shows no amount")
		default: // also one whose money is not back yet
			left = left.Sub(refund.PrincipalAmount.Amount)
		}
	}
	fmt.Println("left to refund", left.StringFixed(2))
	return nil
}
