// Command payto is the program of docs/payto.md.
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
	box, client, err := sandboxtest.Open(sandbox.WithClock(clock))
	if err != nil {
		return err
	}
	defer box.Close()
	agreement, err := agree(ctx, client, "C-1001", "BROADBAND-1001")
	if err != nil {
		return err
	}
	fmt.Println("the agreement is", agreement.Status)
	if err := box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement); err != nil { // in the payer's banking app
		return err
	}
	payment, err := collect(ctx, client, agreement.AgreementToken, "INVOICE-4711")
	if err != nil {
		return err
	}
	fmt.Println("the payment is", payment.Status, "- next:", payment.NextStep())
	clock.Advance(5 * time.Minute) // the payer's bank pays
	payment, err = client.Transactions.Get(ctx, payment.ReceiptNumber)
	if err != nil {
		return err
	}
	fmt.Println("the payment is", payment.Outcome())
	return nil
}

// agree asks a payer for an agreement. Store its AgreementToken.
func agree(ctx context.Context, client *quickstream.Client, number, reference string) (*quickstream.Agreement, error) {
	customer, err := client.Customers.GetByNumber(ctx, number)
	if errors.Is(err, quickstream.ErrNotFound) {
		customer, err = client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: "Ann Example"})
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the customer: %s", quickstream.ErrNotSent, err.Error()) // no agreement was made
	}
	return client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		PayeeReference: reference, // unique: a lost agreement is found by it
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband, monthly",
			StartDate: quickstream.NewDate(2026, time.July, 1), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150.00")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: number, Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
		},
	})
}

// collect takes a payment, after the payer has confirmed. A nil error means accepted: hold the order, store the receipt.
func collect(ctx context.Context, client *quickstream.Client, token, invoice string) (*quickstream.Transaction, error) {
	agreement, err := client.PayTo.Get(ctx, token)
	if err != nil {
		return nil, fmt.Errorf("%w: the agreement: %w", quickstream.ErrNotSent, err)
	}
	if agreement.Status != quickstream.AgreementStatusActive {
		return nil, fmt.Errorf("%w: the agreement is %s", quickstream.ErrNotSent, agreement.Status)
	}
	return client.PayTo.Collect(ctx, quickstream.CollectParams{
		AgreementToken: token, PrincipalAmount: decimal.RequireFromString("89.90"),
		CustomerReferenceNumber: invoice, RemittanceInformation1: "Broadband, July",
	})
}
