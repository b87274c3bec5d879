package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// monthlyBill describes an agreement to pay up to 100.00 every month.
func monthlyBill(reference string) quickstream.CreateAgreementParams {
	return quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PayeeReference: reference,
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeUtility, Description: "Electricity",
			StartDate: quickstream.NewDate(2026, time.July, 1), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("100.00")),
		},
		Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1001", Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
		},
	}
}

// sentAgreement is an agreement that waits for its payer.
func sentAgreement(client *quickstream.Client, customerID string) *quickstream.Agreement {
	return must(client.PayTo.Create(context.Background(), customerID, monthlyBill("BILL-1001")))
}

// activeAgreement is an agreement that its payer has confirmed.
func activeAgreement(box *sandbox.Sandbox, client *quickstream.Client) *quickstream.Agreement {
	token := sentAgreement(client, registeredCustomer(client, "C-1001", "Ann Example").CustomerID).AgreementToken
	check(box.Payer(token, sandbox.ConfirmAgreement))
	return readAgreement(client, token)
}

// readAgreement is a current agreement.
func readAgreement(client *quickstream.Client, token string) *quickstream.Agreement {
	return must(client.PayTo.Get(context.Background(), token))
}

// Ask the payer to agree to payments, in their banking app. Payments are possible once a
// notification says that the agreement is active.
func ExamplePayToService_Create() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID

	agreement, err := client.PayTo.Create(context.Background(), customerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		PayeeReference:       "BILL-1001", // what a lost agreement is found by
		RespondByTimeMinutes: new(int64(24 * 60)),
		Payment: quickstream.AgreementPaymentParams{
			Purpose:          quickstream.PayToPurposeUtility,
			Description:      "Electricity",
			StartDate:        quickstream.NewDate(2026, time.July, 1),
			AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency:            quickstream.PayToFrequencyMonthly,
			Type:                 quickstream.PayToAgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("100.00")),
		},
		Payer: quickstream.PayToPayerParams{
			Type:      quickstream.PayerTypePerson,
			ID:        "C-1001",
			Name:      "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail,
			PayID:     quickstream.NewSecret("ann@example.com"),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, member := range agreement.Differences() {
		fmt.Println("not as requested:", member)
	}
	fmt.Println(agreement.Status, agreement.RespondByTime) // store the AgreementToken
	// Output: PENDING 2026-07-02T10:00:00+1000
}

// Get returns the current agreement. The payer's account and PayID are masked.
func ExamplePayToService_Get() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken

	agreement, err := client.PayTo.Get(context.Background(), token)
	if err != nil {
		fmt.Println(err)
		return
	}
	terms := agreement.PaymentTerms
	fmt.Println(agreement.Status, terms.Frequency, "at most", terms.MaximumPaymentAmount)
	// Output: ACTIVE MNTH at most 100.00 AUD
}

// List the active agreements of a customer.
func ExamplePayToService_List() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	active := activeAgreement(box, client)
	customerID := active.PayerDetails.CustomerID
	sentAgreement(client, customerID)

	list := client.PayTo.List(customerID, quickstream.ListAgreementsParams{Status: quickstream.AgreementStatusActive})
	for agreement, err := range list.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(agreement.PayeeReference, agreement.Status, agreement.AgreementToken == active.AgreementToken)
	}
	// Output: BILL-1001 ACTIVE true
}

// The answer to Create is lost. Look the agreement up before you send another one to the payer.
func ExamplePayToService_Resume() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID
	check(box.Inject(sandbox.Fault{Operation: "POST /customers/{customerId}/payto-agreements", Kind: sandbox.ResetAfterCommit()}))

	_, err := client.PayTo.Create(ctx, customerID, monthlyBill("BILL-1001"))
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}
	agreement, err := client.PayTo.Resume(ctx, *lost.Intent)
	if err != nil {
		fmt.Println("not found yet; look again later:", err)
		return
	}
	fmt.Println(agreement.PayeeReference, agreement.Status)
	// Output: BILL-1001 PENDING
}

// A payment on an agreement is often pending at first. Wait for its notification, or read it again
// later.
func ExampleFromPayTo() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreementToken := activeAgreement(box, client).AgreementToken

	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source: quickstream.FromPayTo(quickstream.PayToPayment{
			AgreementToken: agreementToken, RemittanceInformation1: "Invoice 4711",
		}),
		PrincipalAmount: decimal.RequireFromString("49.95"),
		Currency:        quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status, "-", payment.NextStep().Text())
	// Output: Pending - wait
}

// A single purchase needs no earlier agreement: the payment creates one, and the payer confirms
// both.
func ExampleFromPayToWithAgreement() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()

	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source: quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{
			SupplierBusinessCode: sandbox.DefaultBusiness,
			Purpose:              quickstream.PayToPurposeRetail,
			Description:          "Order 4711",
			Payer: quickstream.PayToPayerParams{
				Type: quickstream.PayerTypePerson, ID: "C-1001", Name: "Ann Example",
				PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
			},
			FinalPayment: new(true), // no payment follows this one
		}),
		PrincipalAmount: decimal.RequireFromString("49.95"),
		Currency:        quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status)
	// Output: Pending
}
