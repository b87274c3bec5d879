package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Make one client for an environment and keep it. Making it sends nothing.
func ExampleNewClient() {
	client, err := quickstream.NewClient(
		quickstream.TestAU,
		quickstream.Keys{
			Secret:      quickstream.NewSecretKey("<SECRET_API_KEY>"),
			Publishable: quickstream.NewPublishableKey("<PUBLISHABLE_API_KEY>"),
		},
		quickstream.WithAttemptTimeout(20*time.Second), // of one attempt
		quickstream.WithTimeout(time.Minute),           // of a call with all its attempts
		quickstream.WithMaxAttempts(3),
		quickstream.WithRetryWait(time.Second, 5*time.Second),
		quickstream.WithProxy(http.ProxyFromEnvironment), // without it, no proxy
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseIdleConnections()
	fmt.Println("one client for all goroutines")
	// Output: one client for all goroutines
}

// Do calls operations that have no method, or decodes an answer differently. It refuses a write
// that has a method.
func ExampleClient_Do() {
	box, client := exampleSandbox()
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID

	var customer struct {
		Status string `json:"status"`
	}
	err := client.Do(context.Background(), quickstream.Request{
		Method: http.MethodGet, Route: "/customers/{customerId}", Path: []string{customerID},
	}, &customer)
	fmt.Println(customer.Status, err)

	err = client.Do(context.Background(), quickstream.Request{Method: http.MethodPost, Route: "/transactions", Body: map[string]any{}}, nil)
	fmt.Println(errors.Is(err, quickstream.ErrInvalid))
	// Output:
	// ENABLED <nil>
	// true
}

// Root shows the facility of the address and the key.
func ExampleClient_Root() {
	box, client := exampleSandbox()
	defer box.Close()

	root, err := client.Root(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(root.CommunityName)
	// Output: Sandbox Community
}

// Check tests address, network and secret key before the first payment.
func ExampleClient_Check() {
	box, client := exampleSandbox()
	defer box.Close()

	fmt.Println(client.Check(context.Background()))
	// Output: <nil>
}

// A client needs no closing; unused connections can be closed.
func ExampleClient_CloseIdleConnections() {
	box, client := exampleSandbox()
	defer box.Close()

	client.CloseIdleConnections()
	fmt.Println(client.Check(context.Background())) // connects again
	// Output: <nil>
}

// An observer counts and times calls. It sees route templates and no values.
func ExampleWithObserver() {
	metrics := quickstream.Observer{
		End: func(_ context.Context, call quickstream.CallInfo, end quickstream.EndInfo) {
			fmt.Println(call.Operation, call.Method, call.Route, end.Result, end.StatusCode, end.Attempts)
		},
	}
	box, client := exampleClient(quickstream.WithObserver(metrics))
	defer box.Close()
	_, _ = client.Transactions.Get(context.Background(), "1000000001")
	// Output: Transactions.Get GET /transactions/{receiptNumber} answered 404 1
}

// Renew a secret key with the key itself, while it is valid.
func ExampleAPIKeysService_Renew() {
	box, client := exampleSandbox()
	defer box.Close()
	before := box.Keys().Secret

	key, err := client.APIKeys.Renew(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	stored := key.Reveal() // where keys are kept, and nowhere else
	fmt.Println(key.Key, stored != before)
	// Output: [redacted] true
}
