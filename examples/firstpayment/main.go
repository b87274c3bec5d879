// Command firstpayment is the first program of the README.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/shopspring/decimal"
)

func main() {
	_, client, err := sandboxtest.Open() // the service, simulated in this process
	if err != nil {
		log.Fatal(err)
	}
	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")), // on the web: a token from the customer's browser
		PrincipalAmount: decimal.RequireFromString("49.95"), ECI: quickstream.ECIPhone, CustomerReferenceNumber: "ORDER-1042",
	}, quickstream.WithIdempotencyKey("c0ffee00-1042-4000-8000-000000000001")) // a new one for each attempt, stored before it
	switch {
	case err == nil:
		fmt.Println("approved:", payment.TotalAmount)
	case errors.Is(err, quickstream.ErrDeclined):
		fmt.Println("not paid: ask for another card, and make a new key:", err)
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		fmt.Println("hold the order, do not call again, look it up:", err)
	default:
		fmt.Println("this call took nothing:", err)
	}
}
