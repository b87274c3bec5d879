package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestRefundWithoutAnswer: the refund is made, and all its answers are lost. A second click sends nothing.
func TestRefundWithoutAnswer(t *testing.T) {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))
	box, client := sandboxtest.New(t, sandbox.WithClock(clock))
	payment, err := client.Transactions.Pay(t.Context(), quickstream.PayParams{
		Source: quickstream.FromCard(sandboxtest.Card("4242424242424242")), PrincipalAmount: decimal.RequireFromString("80.00"),
		ECI: quickstream.ECIPhone, CustomerReferenceNumber: "ORDER-1042",
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(25 * time.Hour) // it is settled, and can be refunded
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3}); err != nil {
		t.Fatal(err)
	}
	stored := map[string]bool{} // your table
	insert := func(_ context.Context, intent quickstream.Intent) error {
		if stored[intent.Reference] {
			return errors.New("there is a row")
		}
		stored[intent.Reference] = true
		return nil
	}
	_, err = refund(t.Context(), client, payment.ReceiptNumber, "RETURN-77", decimal.RequireFromString("5.00"), insert)
	if !errors.Is(err, quickstream.ErrOutcomeUnknown) {
		t.Error(err)
	}
	if _, err = refund(t.Context(), client, payment.ReceiptNumber, "RETURN-77", decimal.RequireFromString("5.00"), insert); err == nil {
		t.Error("it was sent a second time")
	}
	clock.Advance(time.Hour) // look-ups show it
	if sum, err := refunded(t.Context(), client, payment.ReceiptNumber); err != nil || !sum.Equal(decimal.RequireFromString("5.00")) {
		t.Error(sum, err)
	}
}
