package quickstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// The request is lost before the service gets it. It is not found - yet: nothing
// proves that it will not be, and so it is looked for again.
func ExampleTransactionsService_Reconcile() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	params, intent := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard)).Prepare()
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit()}); err != nil {
		fmt.Println(err)
		return
	}

	_, err := client.Transactions.Pay(ctx, params, quickstream.WithIntent(intent), quickstream.WithoutResend())
	fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown))

	found, err := client.Transactions.Reconcile(ctx, intent)
	if err != nil {
		fmt.Println("looking failed, which says nothing:", err)
		return
	}
	switch found.State {
	case quickstream.ReconcileFound:
		fmt.Println(found.Transaction.Outcome())
	case quickstream.ReconcileNotFoundYet:
		fmt.Println("not found yet: hold the order and look again later")
	case quickstream.ReconcileAmbiguous:
		fmt.Println(len(found.Candidates), "match: a person has to look")
	}
	// Output:
	// true
	// not found yet: hold the order and look again later
}

// While a void is unknown the payment is not refunded: both could happen.
func ExampleTransactionsService_ReconcileVoid() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	receipt := paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber
	err := box.Inject(sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: sandbox.ResetAfterCommit()})
	if err != nil {
		fmt.Println(err)
		return
	}

	_, err = client.Transactions.Void(ctx, receipt)
	fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown))

	void, err := client.Transactions.ReconcileVoid(ctx, receipt)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(void.State, void.Transaction.Outcome())
	// Output:
	// true
	// found voided
}
