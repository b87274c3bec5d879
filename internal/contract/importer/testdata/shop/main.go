// Command shop takes one payment in a sandbox and prints how it ended and what
// the client called itself.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	box, client, err := sandboxtest.Open()
	if err != nil {
		log.Fatal(err)
	}
	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"), ECI: quickstream.ECIPhone,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payment.TotalAmount, payment.Status, box.Requests()[0].Header.Get("User-Agent"))
}
