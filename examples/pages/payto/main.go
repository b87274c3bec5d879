// Command payto is the program of docs/payto.md.
package main

import (
	"context"
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
	box, client, err := sandboxtest.Open(sandbox.WithClock(clock))
	if err != nil {
		return err
	}
	defer box.Close()
	customer, err := client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	agreement, err := client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		PayeeReference: "BROADBAND-1001", // unique: a lost agreement is found by it
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband, monthly",
			StartDate: quickstream.NewDate(2026, time.July, 1), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150.00")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1001", Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
		},
	})
	if err != nil {
		return err
	}
	fmt.Println("the agreement is", agreement.Status) // store the AgreementToken

	if err := box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement); err != nil { // in the payer's banking app
		return err
	}
	agreement, err = client.PayTo.Get(ctx, agreement.AgreementToken) // when a notification tells you
	if err != nil {
		return err
	}
	fmt.Println("the agreement is", agreement.Status)
	payment, err := client.PayTo.Collect(ctx, quickstream.CollectParams{
		CustomerReferenceNumber: "INVOICE-4711",
		AgreementToken:          agreement.AgreementToken,
		RemittanceInformation1:  "Invoice 4711",
		PrincipalAmount:         decimal.RequireFromString("89.90"),
	})
	if err != nil {
		return err
	}
	fmt.Println("the payment is", payment.Status, "- next:", payment.NextStep()) // hold the order, and store the receipt

	clock.Advance(5 * time.Minute) // the payer's bank pays
	payment, err = client.Transactions.Get(ctx, payment.ReceiptNumber)
	if err != nil {
		return err
	}
	fmt.Println("the payment is", payment.Outcome())
	return nil
}
