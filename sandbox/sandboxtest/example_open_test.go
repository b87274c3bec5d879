package sandboxtest_test

import (
	"context"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func ExampleOpen() {
	box, client, err := sandboxtest.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer box.Close()
	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"), ECI: quickstream.ECIPhone,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.TotalAmount)
	// Output: 49.95 AUD
}
