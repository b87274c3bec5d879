package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// A request that cannot be right is never sent, and all that is wrong with it is
// reported at once.
func ExampleValidationError() {
	box, client := exampleSandbox()
	defer box.Close()

	params := orderParams("ORDER-1", "49.955", tokenFromBrowser(client, visaCard))
	params.Currency, params.StoredCredential = "", nil
	_, err := client.Transactions.Pay(context.Background(), params)

	if invalid, ok := errors.AsType[*quickstream.ValidationError](err); ok {
		for _, finding := range invalid.Findings {
			fmt.Printf("%s: %s [%s]\n", finding.Path, finding.Message, finding.Rule)
		}
	}
	fmt.Println(len(box.Ledger()), "payments")
	// Output:
	// principalAmount: must not have more than two decimals or 32 digits [transaction.principalAmount.decimals]
	// currency: is required [transaction.currency.required]
	// storedCredentialData: is required for cards [transaction.storedCredentialData.required]
	// 0 payments
}

// A rule of this package that is wrong for a merchant never stops his payments:
// its id switches it off, and the service decides.
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

// A refusal of the service says what it did not like. Messages have to be asked
// for, because they may repeat what was sent.
func ExampleAPIError() {
	box, client := exampleSandbox()
	defer box.Close()
	registeredCustomer(client, "C-1001", "Ann Example")

	_, err := client.Customers.Create(context.Background(), quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Bob Example"})

	switch refused, ok := errors.AsType[*quickstream.APIError](err); {
	case !ok:
		fmt.Println("not an answer of the service:", err)
	case errors.Is(err, quickstream.ErrInvalid):
		for _, field := range refused.Fields() {
			fmt.Println("refused:", field.FieldName)
		}
		fmt.Println("for the customer:", refused.CustomerMessage() != "")
		fmt.Println("for support:", refused.TraceCode != "", "for logs:", refused.DeveloperMessage() != "", "whole:", len(refused.RawBody()) > 0)
	case errors.Is(err, quickstream.ErrRateLimited):
		fmt.Println("again in", refused.RetryAfter)
	}
	// Output:
	// refused: customerNumber
	// for the customer: true
	// for support: true for logs: true whole: true
}

// While a program is written, its errors can show the messages of the service. What is
// not a word of letters is left out, and a client of a production environment is not
// made at all.
func ExampleWithDevelopmentErrors() {
	box := sandbox.New()
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithDevelopmentErrors())
	if err != nil {
		fmt.Println(err)
		return
	}
	registeredCustomer(client, "C-1001", "Ann Example")
	_, err = client.Customers.Create(context.Background(), quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Bob Example"})
	_, said, _ := strings.Cut(err.Error(), "; it says: ")
	fmt.Println(said)

	_, err = quickstream.NewClient(quickstream.ProductionAU, sandboxtest.Keys(box), quickstream.WithDevelopmentErrors())
	fmt.Println(err)
	// Output:
	// customerNumber: belongs to another customer; One or more fields are not valid.; Please check your details and try again.
	// quickstream: WithDevelopmentErrors is not for a production environment: what payers typed would get into errors and logs
}

// The answer to a payment is lost after the service has taken the money. The
// error is neither a success nor a failure: it says what to look for, and paying
// again is not among the ways to find out.
func ExampleUnknownOutcomeError() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	token := tokenFromBrowser(client, visaCard)
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}); err != nil {
		fmt.Println(err)
		return
	}

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

// A 503 in the service's own words means "not processed": the payment can be made
// again, by public advice after 20 seconds.
func ExampleReason() {
	box, client := exampleSandbox()
	defer box.Close()
	token := tokenFromBrowser(client, visaCard)
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Times: 1, Kind: sandbox.Status(503, sandbox.ServiceError)}); err != nil {
		fmt.Println(err)
		return
	}

	_, err := client.Transactions.Pay(context.Background(), orderParams("ORDER-1", "49.95", token))
	if api, ok := errors.AsType[*quickstream.APIError](err); ok {
		fmt.Println(api.Reason, api.Reason == quickstream.ReasonUnavailable)
	}
	fmt.Println(errors.Is(err, quickstream.ErrUnavailable), errors.Is(err, quickstream.ErrOutcomeUnknown))

	payment, err := client.Transactions.Pay(context.Background(), orderParams("ORDER-1", "49.95", token))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status)
	// Output:
	// unavailable true
	// true false
	// Approved
}

// Trouble on the way says of which kind it is and what usually helps. For a
// write it means that nothing was sent.
func ExampleNetworkError() {
	box, client := exampleSandbox()
	defer box.Close()
	if err := box.Inject(sandbox.Fault{Kind: sandbox.Unreachable(sandbox.UntrustedCertificate)}); err != nil {
		fmt.Println(err)
		return
	}

	err := client.Check(context.Background())
	if trouble, ok := errors.AsType[*quickstream.NetworkError](err); ok {
		fmt.Println(trouble.Kind)
		fmt.Println(trouble.Kind.Hint())
	}
	// Output:
	// certificate
	// the server's certificate is not trusted; update this machine's root certificates or use WithRootCAs
}

// A read that was answered with something else than the contract says: here by a
// page of HTML in place of JSON.
func ExampleDecodeError() {
	box, client := exampleSandbox()
	defer box.Close()
	if err := box.Inject(sandbox.Fault{Kind: sandbox.Garbage(sandbox.HTML)}); err != nil {
		fmt.Println(err)
		return
	}

	err := client.Check(context.Background(), quickstream.WithMaxAttempts(1))
	if odd, ok := errors.AsType[*quickstream.DecodeError](err); ok {
		fmt.Println(odd)
		fmt.Println(len(odd.RawBody()) > 0)
	}
	// Output:
	// quickstream: Check (GET /businesses): the answer (200 OK) could not be decoded: it is HTML or XML, and the service answers with JSON; look at the environment's address, and at proxies on the way
	// true
}

// Where everything but an approval is the same, a transaction that is not
// approved can be turned into an error.
func ExampleRequireApproved() {
	box, client := exampleSandbox()
	defer box.Close()

	params := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, noFundsCard))
	payment, err := quickstream.RequireApproved(client.Transactions.Pay(context.Background(), params))

	fmt.Println(err)
	if declined, ok := errors.AsType[*quickstream.DeclinedError](err); ok {
		fmt.Println(declined.Transaction == payment, payment.PrincipalAmount.Amount.Equal(decimal.RequireFromString("49.95")))
	}
	// Output:
	// quickstream: the transaction is declined (response code 51); next: read the retries first
	// true true
}
