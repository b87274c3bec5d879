package quickstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// The request is lost before the service gets it. Nothing is found yet, which proves nothing: look
// again later.
func ExampleTransactionsService_Resume() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	check(box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit()}))

	order := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard))
	_, err := client.Transactions.Pay(ctx, order, quickstream.WithoutResend())
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}

	_, err = client.Transactions.Resume(ctx, *lost.Intent)
	if open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		fmt.Println("not found yet, and", len(open.Candidates), "candidates; look again within a minute:", time.Until(open.NextLook) <= time.Minute)
	}
	// Output: not found yet, and 0 candidates; look again within a minute: true
}

// A queue holds planned payments, and one worker sends each: the claims of others fail.
func ExampleTransactionsService_Submit() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()

	intent := must(client.Transactions.Plan(ctx, orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard))))
	claimed := false // a row of the database, moved by "update ... where state = 'planned'"
	claim := func(context.Context) error {
		if claimed {
			return errors.New("another worker has it")
		}
		claimed = true
		return nil
	}
	for range 2 {
		payment, err := client.Transactions.Submit(ctx, intent, claim)
		if err != nil {
			fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown)) // the other may have been sent: see Resume
			continue
		}
		fmt.Println(payment.Status)
	}
	// Output:
	// Approved
	// true
}

// Store a planned payment and send it later. If it was provably not sent, its row is planned again, and
// Submit sends the same intent.
func ExampleTransactionsService_Plan() {
	box, client := exampleSandbox()
	defer box.Close()

	intent, err := client.Transactions.Plan(context.Background(),
		orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard)),
		quickstream.WithIntentMetadata("shopIntent"), // the member of metadata that carries its id
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(intent.Operation, intent.Reference, intent.MetadataName)
	// Output:
	// Transactions.Pay ORDER-1 shopIntent
}

// Plan a void by the transaction's receipt number.
func ExampleTransactionsService_PlanVoid() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()

	intent, err := client.Transactions.PlanVoid(ctx, paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber)
	if err != nil {
		fmt.Println(err)
		return
	}
	claim := func(context.Context) error { return nil } // see Submit
	void, err := client.Transactions.Submit(ctx, intent, claim)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(void.Status)
	// Output: Voided
}

// A hook of the client or of a call sees every write that can be lost, right before it is sent. Store
// the intent, so that the payment can be looked up after a crash.
func ExampleWithBeforeSend() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()

	var stored []byte // in a database
	store := quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) (err error) {
		stored, err = json.Marshal(intent)
		return err // with an error, nothing is sent
	})
	_, err := client.Transactions.Pay(ctx, orderParams("", "49.95", tokenFromBrowser(client, visaCard)), store)
	fmt.Println(err) // say that the process ends here, and another one goes on

	var intent quickstream.Intent
	if err := json.Unmarshal(stored, &intent); err != nil {
		fmt.Println(err)
		return
	}
	payment, err := client.Transactions.Resume(ctx, intent)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status)
	// Output:
	// <nil>
	// Approved
}
