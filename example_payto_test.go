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
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Electricity",
			StartDate: quickstream.NewDate(2026, time.July, 1), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("100.00")),
		},
		Payer: quickstream.AgreementPayerParams{
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
		Payment: quickstream.AgreementPaymentDetails{
			Purpose:          quickstream.AgreementPurposeUtility,
			Description:      "Electricity",
			StartDate:        quickstream.NewDate(2026, time.July, 1),
			AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency:            quickstream.AgreementFrequencyMonthly,
			Type:                 quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("100.00")),
		},
		Payer: quickstream.AgreementPayerParams{
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
func ExamplePayToService_Collect() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreementToken := activeAgreement(box, client).AgreementToken

	payment, err := client.PayTo.Collect(context.Background(), quickstream.CollectParams{
		SupplierBusinessCode:   sandbox.DefaultBusiness,
		AgreementToken:         agreementToken,
		RemittanceInformation1: "Invoice 4711",
		PrincipalAmount:        decimal.RequireFromString("49.95"),
		Currency:               quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status, "-", payment.NextStep())
	// Output: Pending - wait
}

// A single purchase needs no earlier agreement: the payment creates one, and the payer confirms
// both.
func ExamplePayToService_Collect_newAgreement() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()

	payment, err := client.PayTo.Collect(context.Background(), quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		FinalPayment:         new(true), // no payment follows this one
		NewAgreement: &quickstream.NewAgreementParams{
			SupplierBusinessCode: sandbox.DefaultBusiness,
			Purpose:              quickstream.AgreementPurposeRetail,
			Description:          "Order 4711",
			Payer: quickstream.AgreementPayerParams{
				Type: quickstream.PayerTypePerson, ID: "C-1001", Name: "Ann Example",
				PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
			},
		},
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

// Withdraw an agreement that the payer has not answered.
func ExamplePayToService_Recall() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := sentAgreement(client, registeredCustomer(client, "C-1001", "Ann Example").CustomerID).AgreementToken

	if err := client.PayTo.Recall(context.Background(), token); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: CANCELLED
}

// Suspend payments on an agreement. The code says why.
func ExamplePayToService_Suspend() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken

	err := client.PayTo.Suspend(context.Background(), token, quickstream.AgreementReason{
		Code:        quickstream.AgreementReasonUnsuccessful,
		Description: "Seven unsuccessful collections",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: SUSPENDED
}

// Reactivate a suspended agreement. No reason is needed.
func ExamplePayToService_Reactivate() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken
	check(client.PayTo.Suspend(ctx, token, quickstream.AgreementReason{Code: quickstream.AgreementReasonInitiatingParty}))

	if err := client.PayTo.Reactivate(ctx, token, quickstream.AgreementReason{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: ACTIVE
}

// End an agreement for good.
func ExamplePayToService_Cancel() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken

	err := client.PayTo.Cancel(context.Background(), token, quickstream.AgreementReason{Code: quickstream.AgreementReasonContractCancelled})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: CANCELLED
}

// After a lost answer, the agreement shows whether it is as requested, but not which call made it
// so. A bilateral change is pending until the payer agrees, and not as requested.
func ExamplePayToService_ResumeChange() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken
	check(box.Inject(sandbox.Fault{Operation: "PATCH /payto-agreements/{agreementToken}", Kind: sandbox.ResetAfterCommit()}))

	err := client.PayTo.Cancel(ctx, token, quickstream.AgreementReason{Code: quickstream.AgreementReasonContractCancelled})
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}
	state, err := client.PayTo.ResumeChange(ctx, *lost.Intent)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("as requested:", state.AsRequested, state.Agreement.Status)
	// Output: as requested: true CANCELLED
}

// Change texts immediately, in a copy of the current ones. Texts that are emptied are removed.
func ExamplePayToService_AmendUnilaterally() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreement := activeAgreement(box, client) // as it was just read

	details, err := agreement.Details()
	if err != nil {
		fmt.Println(err)
		return
	}
	details.Description = "Electricity and gas"
	details.PayeeReference = ""
	if err := client.PayTo.AmendUnilaterally(context.Background(), details); err != nil {
		fmt.Println(err)
		return
	}
	amended := readAgreement(client, agreement.AgreementToken)
	fmt.Printf("%q %q\n", amended.PaymentDetails.Description, amended.PayeeReference)
	// Output: "Electricity and gas" ""
}

// Terms change only if the payer agrees.
func ExamplePayToService_AmendBilaterally() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreement := activeAgreement(box, client)

	terms, err := agreement.Terms()
	if err != nil {
		fmt.Println(err)
		return
	}
	terms.MaximumPaymentAmount = new(decimal.RequireFromString("150.00"))
	if err := client.PayTo.AmendBilaterally(context.Background(), terms); err != nil {
		fmt.Println(err)
		return
	}
	asked := readAgreement(client, agreement.AgreementToken)
	fmt.Println(asked.PaymentTerms.MaximumPaymentAmount, asked.HasPendingBilateralAmendment)
	// Output: 100.00 AUD true
}

// Withdraw an amendment that the payer has not answered.
func ExamplePayToService_RecallAmendment() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreement := activeAgreement(box, client)
	terms := must(agreement.Terms())
	terms.MaximumPaymentAmount = new(decimal.RequireFromString("150.00"))
	check(client.PayTo.AmendBilaterally(ctx, terms))

	if err := client.PayTo.RecallAmendment(ctx, agreement.AgreementToken); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, agreement.AgreementToken).HasPendingBilateralAmendment)
	// Output: false
}
