// Command firstpayment is the first program of the README.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/shopspring/decimal"
)

func main() {
	box := sandbox.New() // the service, simulated in this process
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		log.Fatal(err)
	}
	payment, err := quickstream.RequireApproved(client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, CustomerReferenceNumber: "ORDER-1042", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")), // on the web: a token from the customer's browser
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))
	if err != nil {
		log.Fatal(err) // not approved is not the same as not paid: see below
	}
	fmt.Println("paid", payment.TotalAmount)
}
