// Command firstpayment is the first program of the README.
package main

import (
	"context"
	"fmt"
	"log"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := pay(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func pay(ctx context.Context) error {
	box := sandbox.New() // the service, simulated in this process
	defer box.Close()
	// For the real service: quickstream.NewClient(quickstream.TestAU, quickstream.KeysFromEnv())
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	token, err := sandboxtest.CardToken(ctx, client, "4242424242424242") // stands in for the customer's browser
	if err != nil {
		return err
	}
	payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode:    sandbox.DefaultBusiness,
		Source:                  quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount:         decimal.RequireFromString("49.95"),
		Currency:                quickstream.CurrencyAUD,
		ECI:                     quickstream.ECIInternet,
		IPAddress:               netip.MustParseAddr("203.0.113.10"), // the customer's
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		CustomerReferenceNumber: "ORDER-1042",
		PaymentReferenceNumber:  "ORDER-1042-1", // unique; for look-ups, prevents no second payment
	})
	if err != nil {
		return err // the customer may have been charged: see "Unknown outcomes"
	}
	outcome, err := payment.Outcome()
	if err != nil {
		return err // not final: hold the order
	}
	fmt.Println(outcome, payment.ReceiptNumber) // approved or declined; a decline is not an error
	return nil
}
