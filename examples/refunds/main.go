// Command refunds gives money back in the two ways there are: a void before the
// settlement cut-off, and refunds after it.
package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() { demo.Main("refunds", run) }

func run(ctx context.Context, s *demo.Shop) error {
	fmt.Println("A payment that is taken back before the cut-off.")
	payment, err := pay(ctx, s, "ORDER-1", "30.00")
	if err != nil {
		return err
	}
	fmt.Printf("   paid %s, voidable %t, refundable %t\n", payment.TotalAmount, payment.Voidable, payment.Refundable)
	if !payment.Voidable {
		return fmt.Errorf("the payment cannot be voided")
	}
	voided, err := s.Client.Transactions.Void(ctx, payment.ReceiptNumber)
	if _, err = demo.Expect(voided, err, quickstream.OutcomeVoided); err != nil {
		return err
	}
	fmt.Println("   voided: it appears on no statement")

	fmt.Println("A payment that is refunded after the cut-off, in two parts.")
	payment, err = pay(ctx, s, "ORDER-2", "80.00")
	if err != nil {
		return err
	}
	s.Clock.Advance(25 * time.Hour)                                      // a day can have 25 hours
	payment, err = s.Client.Transactions.Get(ctx, payment.ReceiptNumber) // Refundable changes with time
	if err != nil {
		return err
	}
	for _, amount := range []string{"50.00", "30.00"} {
		refund, err := s.Client.Transactions.Refund(ctx, refundOf(payment, amount))
		if refund, err = demo.Expect(refund, err, quickstream.OutcomeApproved); err != nil {
			return err
		}
		fmt.Printf("   refunded %s, receipt %s\n", refund.TotalAmount, refund.ReceiptNumber)
	}
	_, err = s.Client.Transactions.Refund(ctx, refundOf(payment, "80.01"))
	if err := demo.Refused("more than was paid", err); err != nil {
		return err
	}
	_, err = s.Client.Transactions.Refund(ctx, refundOf(payment, "0.01"))
	if err := demo.Refused("more than is left", err); err != nil {
		return err
	}

	total := decimal.Zero
	for refund, err := range s.Client.Transactions.Refunds(payment.ReceiptNumber).All(ctx) {
		if err != nil {
			return err
		}
		total = total.Add(refund.PrincipalAmount.Amount)
	}
	fmt.Printf("   the service lists refunds of %s\n", total.StringFixed(2))
	if !total.Equal(payment.PrincipalAmount.Amount) {
		return fmt.Errorf("%s were refunded", total)
	}
	return nil
}

func pay(ctx context.Context, s *demo.Shop, reference, amount string) (*quickstream.Transaction, error) {
	token, err := sandboxtest.CardToken(ctx, s.Client, demo.Visa)
	if err != nil {
		return nil, err
	}
	payment, err := s.Client.Transactions.Pay(ctx, demo.Payment(token, reference, amount))
	return demo.Expect(payment, err, quickstream.OutcomeApproved)
}

func refundOf(payment *quickstream.Transaction, amount string) quickstream.RefundParams {
	return quickstream.RefundParams{
		Original: payment, PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
	}
}
