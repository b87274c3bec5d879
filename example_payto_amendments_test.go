package quickstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

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

	err := client.PayTo.Suspend(context.Background(), token, quickstream.StatusReason{
		Code:        quickstream.ReasonCodeUnsuccessful,
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
	check(client.PayTo.Suspend(ctx, token, quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty}))

	if err := client.PayTo.Reactivate(ctx, token, quickstream.StatusReason{}); err != nil {
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

	err := client.PayTo.Cancel(context.Background(), token, quickstream.StatusReason{Code: quickstream.ReasonCodeContractCancelled})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: CANCELLED
}

// After a lost answer, the agreement shows whether it is as requested, but not whose call made it
// so. A bilateral change is pending until the payer agrees, and not as requested.
func ExamplePayToService_ResumeChange() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken
	check(box.Inject(sandbox.Fault{Operation: "PATCH /payto-agreements/{agreementToken}", Kind: sandbox.ResetAfterCommit()}))

	err := client.PayTo.Cancel(ctx, token, quickstream.StatusReason{Code: quickstream.ReasonCodeContractCancelled})
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
	fmt.Println("as asked:", state.AsAsked, state.Agreement.Status)
	// Output: as asked: true CANCELLED
}

// Plan a change, store it, and let one worker send it later.
func ExamplePayToService_Plan() {
	box, client := exampleSandbox()
	defer box.Close()

	for _, change := range []quickstream.AgreementChange{
		quickstream.ChangingRecall("AGREEMENT-1"),
		quickstream.ChangingStatus("AGREEMENT-1", quickstream.AgreementStatusSuspended, quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty}),
		quickstream.ChangingRecallAmendment("AGREEMENT-1"),
	} {
		intent, err := client.PayTo.Plan(context.Background(), change)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(intent.Operation)
	}
	// Output:
	// PayTo.Recall
	// PayTo.Suspend
	// PayTo.RecallAmendment
}

// The claim lets one worker make the change.
func ExamplePayToService_Submit() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken
	reason := quickstream.StatusReason{Code: quickstream.ReasonCodeContractCancelled}
	intent := must(client.PayTo.Plan(ctx, quickstream.ChangingStatus(token, quickstream.AgreementStatusCancelled, reason)))
	claim := func(context.Context) error { return nil } // move its row, or fail
	if err := client.PayTo.Submit(ctx, intent, claim); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: CANCELLED
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
