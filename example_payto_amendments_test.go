package quickstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// An agreement that the payer has not answered is taken back.
func ExamplePayToService_Recall() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := sentAgreement(client, registeredCustomer(client, "C-1001", "Ann Example").CustomerID).AgreementToken

	if err := client.PayTo.Recall(ctx, token); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	fmt.Println(errors.Is(client.PayTo.Recall(ctx, token), quickstream.ErrInvalid)) // nothing is pending any more
	// Output:
	// CANCELLED
	// true
}

// No payments are taken while an agreement is suspended. The code says why.
func ExamplePayToService_Suspend() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken

	err := client.PayTo.Suspend(context.Background(), token, quickstream.StatusReason{
		Code:        quickstream.ReasonUnsuccessfulCollected,
		Description: "Seven unsuccessful collections",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: SUSPENDED
}

// A suspended agreement is made active again. No reason is needed.
func ExamplePayToService_Reactivate() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken
	if err := client.PayTo.Suspend(ctx, token, quickstream.StatusReason{Code: quickstream.ReasonInitiatingParty}); err != nil {
		fmt.Println(err)
		return
	}

	if err := client.PayTo.Reactivate(ctx, token, quickstream.StatusReason{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output: ACTIVE
}

// An agreement is ended for good. A code that cannot be used for that is found
// before anything is sent.
func ExamplePayToService_Cancel() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken

	err := client.PayTo.Cancel(ctx, token, quickstream.StatusReason{Code: quickstream.ReasonFinalCollection})
	if invalid, ok := errors.AsType[*quickstream.ValidationError](err); ok {
		fmt.Println(invalid.Findings[0].Rule)
	}
	if err := client.PayTo.Cancel(ctx, token, quickstream.StatusReason{Code: quickstream.ReasonContractCancelled}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, token).Status)
	// Output:
	// statusAmendment.reasonCode.status
	// CANCELLED
}

// After a lost answer the agreement tells whether it is as desired, and not whose
// call made it so.
func ExamplePayToService_ReconcileStatus() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	token := activeAgreement(box, client).AgreementToken
	err := box.Inject(sandbox.Fault{Operation: "PATCH /payto-agreements/{agreementToken}", Kind: sandbox.ResetAfterCommit()})
	if err != nil {
		fmt.Println(err)
		return
	}

	err = client.PayTo.Cancel(ctx, token, quickstream.StatusReason{Code: quickstream.ReasonContractCancelled})
	fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown))

	state, err := client.PayTo.ReconcileStatus(ctx, token, quickstream.AgreementStatusCancelled)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(state.Desired, state.Agreement.Status)
	// Output:
	// true
	// true CANCELLED
}

// Texts are changed at once, in a copy of what stands. What is not edited stays,
// and what is emptied is removed.
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

// A lost amendment is found by comparing the agreement with what was wanted.
func ExamplePayToService_ReconcileUnilateral() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreement := activeAgreement(box, client)
	err := box.Inject(sandbox.Fault{Operation: "PATCH /payto-agreements/{agreementToken}", Kind: sandbox.ResetBeforeCommit()})
	if err != nil {
		fmt.Println(err)
		return
	}

	details, err := agreement.Details()
	if err != nil {
		fmt.Println(err)
		return
	}
	details.Description = "Electricity and gas"
	err = client.PayTo.AmendUnilaterally(ctx, details)
	fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown))

	state, err := client.PayTo.ReconcileUnilateral(ctx, details)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("as desired:", state.Desired)
	// Output:
	// true
	// as desired: false
}

// Terms change only if the payer agrees. Until then the old ones hold.
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
	if err := box.Agreement(agreement.AgreementToken).AnswerAmendment(true); err != nil { // the payer
		fmt.Println(err)
		return
	}
	agreed := readAgreement(client, agreement.AgreementToken)
	fmt.Println(agreed.PaymentTerms.MaximumPaymentAmount, agreed.HasPendingBilateralAmendment)
	// Output:
	// 100.00 AUD true
	// 150.00 AUD false
}

// While the payer has not answered, a lost amendment shows as pending.
func ExamplePayToService_ReconcileBilateral() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreement := activeAgreement(box, client)
	err := box.Inject(sandbox.Fault{Operation: "PATCH /payto-agreements/{agreementToken}", Kind: sandbox.ResetAfterCommit()})
	if err != nil {
		fmt.Println(err)
		return
	}

	terms, err := agreement.Terms()
	if err != nil {
		fmt.Println(err)
		return
	}
	terms.MaximumPaymentAmount = new(decimal.RequireFromString("150.00"))
	err = client.PayTo.AmendBilaterally(ctx, terms)
	fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown))

	state, err := client.PayTo.ReconcileBilateral(ctx, terms)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("as desired:", state.Desired, "pending:", state.Agreement.HasPendingBilateralAmendment)
	// Output:
	// true
	// as desired: false pending: true
}

// An amendment that the payer has not answered is taken back.
func ExamplePayToService_RecallAmendment() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	agreement := activeAgreement(box, client)
	terms, err := agreement.Terms()
	if err != nil {
		fmt.Println(err)
		return
	}
	terms.MaximumPaymentAmount = new(decimal.RequireFromString("150.00"))
	if err := client.PayTo.AmendBilaterally(ctx, terms); err != nil {
		fmt.Println(err)
		return
	}

	if err := client.PayTo.RecallAmendment(ctx, agreement.AgreementToken); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(readAgreement(client, agreement.AgreementToken).HasPendingBilateralAmendment)
	// Output: false
}
