// Command rawhttp is the program of docs/coming-from.md.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"strings"

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

const body = `{"transactionType": "PAYMENT", "supplierBusinessCode": "SANDBOX01", "principalAmount": 49.95, "currency": "AUD",
	"eci": "PHONE", "storedCredentialData": {"entryMode": "MANUAL"}, "customerReferenceNumber": "BY-HAND",
	"creditCard": {"cardNumber": "4242424242424242", "expiryDateMonth": "03", "expiryDateYear": "2035", "cardholderName": "Ann Example", "cvn": "123"}}`

// byHand posts a payment as programs do that are written in an afternoon: after an error it posts again.
func byHand(ctx context.Context, box *sandbox.Sandbox) error {
	var err error
	for range 2 {
		var request *http.Request
		request, err = http.NewRequestWithContext(ctx, http.MethodPost, box.URL()+"/transactions", strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.SetBasicAuth(box.Keys().Secret, "")
		var response *http.Response
		if response, err = box.HTTPClient().Do(request); err == nil {
			fmt.Println("by hand:", response.Status)
			return response.Body.Close()
		}
	}
	return err
}

func run(ctx context.Context) error {
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	lost := sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1}
	if err := box.Inject(lost); err != nil {
		return err
	}
	if err := byHand(ctx, box); err != nil {
		return err
	}
	box.ClearFaults()
	if err := box.Inject(lost); err != nil {
		return err
	}
	payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
		CustomerReferenceNumber: "BY-CLIENT", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"),
	})
	if err != nil {
		return err
	}
	fmt.Println("by the client:", payment.Status)
	for _, order := range []string{"BY-HAND", "BY-CLIENT"} {
		fmt.Println(order, "was charged", len(box.Ledger().Charged(order)), "times")
	}
	return nil
}
