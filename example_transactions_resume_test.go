package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The request is lost before the service gets it. Nothing is found yet, which proves nothing: look
// it up again later.
func ExampleTransactionsService_Resume() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit()}); err != nil {
		fmt.Println(err)
		return
	}

	order := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard))
	_, err := client.Transactions.Pay(ctx, order, quickstream.WithoutResend())
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}

	_, err = client.Transactions.Resume(ctx, *lost.Intent)
	if open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		fmt.Println("not found yet, and", len(open.Candidates), "candidates; the next look is in", time.Until(open.NextLook).Round(time.Minute))
	}
	// Output: not found yet, and 0 candidates; the next look is in 1m0s
}

// Do not refund a payment while its void is unknown: both could happen.
func ExampleTransactionsService_Resume_void() {
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
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}

	void, err := client.Transactions.Resume(ctx, *lost.Intent)
	if err != nil {
		fmt.Println("it is not voided:", err)
		return
	}
	fmt.Println(void.Status)
	// Output: Voided
}

// Two refunds of the same amount look alike if the service echoes neither references nor ids. The
// merchant's records distinguish them.
func ExampleWithForeignReceipts() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	records := map[string]string{} // order by receipt
	intent, err := client.Transactions.Plan(ctx, orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard)))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.Transactions.Resume(ctx, intent, quickstream.WithForeignReceipts(func(receiptNumber string) bool {
		order, known := records[receiptNumber]
		return known && order != "ORDER-1"
	}))
	fmt.Println(errors.Is(err, quickstream.ErrOutcomeUnknown)) // nothing was sent yet
	// Output: true
}

// A queue holds planned payments, and one worker sends each: the claims of others fail.
func ExampleTransactionsService_Submit() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()

	intent, err := client.Transactions.Plan(ctx, orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard)))
	if err != nil {
		fmt.Println(err)
		return
	}
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

// Store a planned payment and send it later. Renew it if it was provably not sent: the same request
// as a new intent.
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
	renewed := intent.Renewed()
	fmt.Println(intent.Operation, intent.Reference, intent.MetadataName)
	fmt.Println(renewed.Reference == intent.Reference, renewed.ID == intent.ID, renewed.IdempotencyKey == intent.IdempotencyKey)
	// Output:
	// Transactions.Pay ORDER-1 shopIntent
	// true false false
}

// Plan a void by the transaction's receipt number.
func ExampleTransactionsService_PlanVoid() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()

	intent, err := client.Transactions.PlanVoid(ctx, paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber)
	if err != nil {
		fmt.Println(err)
		return
	}
	claim := func(context.Context) error { return nil } // see Submit
	void, err := client.Transactions.Submit(ctx, intent, claim, quickstream.WithResendWindow(20*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(void.Status)
	// Output: Voided
}

// A hook of the client sees every write that can be lost, right before it is sent.
func ExampleWithBeforeSend() {
	ctx := context.Background()
	box, _ := exampleSandbox()
	defer box.Close()
	keys := sandboxtest.Keys(box)
	client, err := quickstream.NewClient(
		quickstream.CustomURL(box.URL()), keys, quickstream.WithHTTPClient(box.HTTPClient()),
		quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
			fmt.Println("store", intent.Operation, intent.Reference)
			return nil // an error would mean that nothing is sent
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	payment, err := client.Transactions.Pay(ctx, orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status)
	// Output:
	// store Transactions.Pay ORDER-1
	// Approved
}

// A worker that has intents of several kinds asks their operation who can look them up.
func ExampleOperation() {
	for _, intent := range []quickstream.Intent{
		{Operation: quickstream.OperationPay}, {Operation: quickstream.OperationSuspendAgreement}, {Operation: quickstream.OperationCreateAgreement},
	} {
		switch {
		case intent.Operation.IsTransaction():
			fmt.Println(intent.Operation, "is looked up with Transactions.Resume")
		case intent.Operation.IsAgreementChange():
			fmt.Println(intent.Operation, "is looked up with PayTo.ResumeChange")
		case intent.Operation == quickstream.OperationCreateAgreement:
			fmt.Println(intent.Operation, "is looked up with PayTo.Resume")
		}
	}
	// Output:
	// Transactions.Pay is looked up with Transactions.Resume
	// PayTo.Suspend is looked up with PayTo.ResumeChange
	// PayTo.Create is looked up with PayTo.Resume
}
