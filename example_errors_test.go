package quickstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// A request that breaks rules is not sent, and one error reports all of them.
func ExampleValidationError() {
	box, client := exampleSandbox()
	defer box.Close()

	params := orderParams("ORDER-1", "49.955", tokenFromBrowser(client, visaCard))
	params.Currency, params.ECI = "", ""
	_, err := client.Transactions.Pay(context.Background(), params)

	if invalid, ok := errors.AsType[*quickstream.ValidationError](err); ok {
		for _, finding := range invalid.Findings {
			fmt.Printf("%s: %s [%s]\n", finding.Path, finding.Message, finding.Rule)
		}
	}
	fmt.Println(len(box.Ledger()), "payments")
	// Output:
	// principalAmount: is required, and must not be negative or have more than two decimals or 32 digits [transaction.principalAmount.money]
	// currency: is required [transaction.currency.required]
	// eci: is required for cards [transaction.eci.required]
	// 0 payments
}

// Switch a rule off by its id if it is wrong for you. The service then decides.
func ExampleWithoutRule() {
	box, client := exampleSandbox()
	defer box.Close()

	params := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard))
	params.SupplierBusinessCode = ""
	_, err := client.Transactions.Pay(context.Background(), params, quickstream.WithoutRule("transaction.supplierBusinessCode.required"))

	refused, ok := errors.AsType[*quickstream.APIError](err)
	fmt.Println(ok && refused.StatusCode == 422)
	// Output: true
}

// Your own gateway limits requests before it passes them on, and answers in its own form.
func ExampleWithRefusal() {
	box, client := exampleClient(quickstream.WithRefusal(func(status int, _ http.Header, body []byte) bool {
		return status == http.StatusTooManyRequests && bytes.Contains(body, []byte(`"message":"no healthy upstream"`))
	}))
	defer box.Close()
	token := tokenFromBrowser(client, visaCard)
	_ = box.Inject(sandbox.Fault{Kind: sandbox.Status(429, sandbox.GatewayError)})

	_, err := client.Transactions.Pay(context.Background(), orderParams("ORDER-1", "49.95", token))

	fmt.Println(errors.Is(err, quickstream.ErrRateLimited), errors.Is(err, quickstream.ErrOutcomeUnknown))
	// Output: true false
}

// Read the reasons of a refusal. Methods return the messages, because they may repeat values of the request.
func ExampleAPIError() {
	box, client := exampleSandbox()
	defer box.Close()
	registeredCustomer(client, "C-1001", "Ann Example")

	_, err := client.Customers.Create(context.Background(), quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Bob Example"})

	if refused, ok := errors.AsType[*quickstream.APIError](err); ok {
		for _, field := range refused.Fields() {
			fmt.Println("refused:", field.FieldName)
		}
		fmt.Println("for the customer:", refused.CustomerMessage() != "")
		fmt.Println("for support:", refused.TraceCode != "", "for logs:", refused.DeveloperMessage() != "", "whole:", len(refused.RawBody()) > 0)
	}
	// Output:
	// refused: customerNumber
	// for the customer: true
	// for support: true for logs: true whole: true
}

// The answer to a payment is lost after the service has taken the money. The error says what to
// look up. Do not pay again.
func ExampleUnknownOutcomeError() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	token := tokenFromBrowser(client, visaCard)
	check(box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}))

	_, err := client.Transactions.Pay(ctx, orderParams("ORDER-1", "49.95", token), quickstream.WithRetryWait(time.Millisecond, time.Millisecond))

	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok {
		fmt.Println("settled:", err)
		return
	}
	fmt.Println(lost.Reference, "after", lost.Attempts, "attempts")
	payment, err := client.Transactions.Resume(ctx, *lost.Intent)
	if err != nil {
		fmt.Println("not settled yet; hold the order and look again:", err)
		return
	}
	fmt.Println("found:", payment.Status)
	fmt.Println("charged", len(box.Ledger().Charged("C-1001")), "time")
	// Output:
	// ORDER-1 after 3 attempts
	// found: Approved
	// charged 1 time
}

// A payment that is not approved is an error, which has the transaction.
func ExampleDeclinedError() {
	box, client := exampleClient(quickstream.WithFinalDeclines(true)) // as the bank says of the facility
	defer box.Close()

	_, err := client.Transactions.Pay(context.Background(), orderParams("ORDER-1", "49.95", tokenFromBrowser(client, noFundsCard)))
	fmt.Println(err)
	if declined, ok := errors.AsType[*quickstream.DeclinedError](err); ok {
		fmt.Println(declined.Transaction.ResponseCode, declined.Transaction.NextStep())
	}
	// Output:
	// quickstream: Transactions.Pay (POST /transactions): the transaction is declined (response code 51); next: pay again
	// 51 pay_again
}
