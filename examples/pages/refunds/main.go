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
	box, client, err := sandboxtest.Open(sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	if err != nil {
		return err
	}
	defer box.Close()
	payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
		CustomerReferenceNumber: "ORDER-1042", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("80.00"),
	})
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
	refund, err := client.Transactions.Refund(ctx, quickstream.RefundParams{
		OriginalReceiptNumber: payment.ReceiptNumber,
		PrincipalAmount:       decimal.RequireFromString("5.00"), Currency: quickstream.CurrencyAUD,
		FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "RETURN-77"}, // unique for each refund
	}, quickstream.WithBeforeSend(keep))
	if err != nil {
		return err
	}
	fmt.Println("refunded", refund.TotalAmount)

	left := decimal.RequireFromString("80.00")
	for refund, err := range client.Transactions.Refunds(payment.ReceiptNumber).All(ctx) {
		if err != nil {
			return err
		}
		switch outcome := refund.Outcome(); {
		case outcome.Final() && outcome != quickstream.OutcomeApproved:
		case refund.PrincipalAmount == nil:
			return errors.New("a refund shows no amount")
		default: // also one that has not ended
			left = left.Sub(refund.PrincipalAmount.Amount)
		}
	}
	fmt.Println("left to refund", left.StringFixed(2))
	return nil
}
