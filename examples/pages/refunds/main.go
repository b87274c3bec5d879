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
	store := func(_ context.Context, intent quickstream.Intent) error {
		fmt.Println("store", intent.Reference)
		return nil
	}
	if _, err := refund(ctx, client, payment.ReceiptNumber, "RETURN-77", decimal.RequireFromString("5.00"), store); err != nil {
		return err
	}
	refunded, err := refunded(ctx, client, payment.ReceiptNumber)
	fmt.Println("refunded so far", refunded)
	return err
}

// refund gives back an amount of a payment. The reference is unique for each refund. store inserts a row under it:
// if there is one already, its error ends the call before anything is sent.
func refund(ctx context.Context, client *quickstream.Client, receipt, reference string, amount decimal.Decimal,
	store func(context.Context, quickstream.Intent) error,
) (*quickstream.Transaction, error) {
	return client.Transactions.Refund(ctx, quickstream.RefundParams{
		OriginalReceiptNumber: receipt, PrincipalAmount: amount, Currency: quickstream.CurrencyAUD,
		FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: reference},
	}, quickstream.WithBeforeSend(store))
}

// refunded adds up what was refunded, in the portal too. A refund that has not ended counts.
func refunded(ctx context.Context, client *quickstream.Client, receipt string) (sum decimal.Decimal, err error) {
	for refund, err := range client.Transactions.Refunds(receipt).All(ctx) {
		if err != nil {
			return sum, err
		}
		switch outcome := refund.Outcome(); {
		case outcome.Final() && outcome != quickstream.OutcomeApproved:
		case refund.PrincipalAmount == nil:
			return sum, errors.New("a refund shows no amount")
		default:
			sum = sum.Add(refund.PrincipalAmount.Amount)
		}
	}
	return sum, nil
}
