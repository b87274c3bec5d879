package quickstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// manyCustomers is a simulator with pages of five items and so many customers, and a client of it.
func manyCustomers(n int) (*sandbox.Sandbox, *quickstream.Client) {
	box, client := exampleSandbox(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.PageSize = 5 }))
	for i := range n {
		registeredCustomer(client, fmt.Sprintf("C-10%02d", i), "Ann Example")
	}
	return box, client
}

// All yields the items of all pages. A failed page is an error, never the end of the list.
func ExampleList_All() {
	box, client := manyCustomers(7)
	defer box.Close()

	count := 0
	for _, err := range client.Customers.List(quickstream.ListCustomersParams{}).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		count++
	}
	fmt.Println(count)
	// Output: 7
}

// Stop a long list and resume it another day from the stored cursor. Protect the cursor like an
// account number, because it may contain one.
func ExampleList_From() {
	ctx := context.Background()
	box, client := manyCustomers(7)
	defer box.Close()
	list := client.Customers.List(quickstream.ListCustomersParams{})

	var stored string
	for page, err := range list.Pages(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("first day:", len(page.Data))
		stored = page.Next.Text()
		break
	}
	for page, err := range list.From(quickstream.ParseCursor(stored)).Pages(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("another day:", len(page.Data))
	}
	// Output:
	// first day: 5
	// another day: 2
}

// Each page is a request. It keeps the other members of the answer.
func ExampleList_Pages() {
	box, client := manyCustomers(7)
	defer box.Close()

	for page, err := range client.Customers.List(quickstream.ListCustomersParams{}).Pages(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(page.Data), "more:", !page.Next.IsZero(), "links:", len(page.Links) > 0 && page.Links[0].Href() != "")
	}
	// Output:
	// 5 more: true links: true
	// 2 more: false links: true
}

// First returns the first item. An empty list has none.
func ExampleList_First() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)

	payment, err := client.Transactions.ByReference("ORDER-1").First(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.PaymentReferenceNumber, payment.Status)
	_, err = client.Transactions.ByReference("ORDER-2").First(ctx)
	fmt.Println(errors.Is(err, quickstream.ErrNotFound))
	// Output:
	// ORDER-1 Approved
	// true
}

// Test code that takes a list without a service.
func ExampleListOf() {
	numbersOf := func(customers quickstream.List[quickstream.Customer]) (numbers []string, err error) {
		for customer, err := range customers.All(context.Background()) {
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, customer.CustomerNumber)
		}
		return numbers, nil
	}
	fmt.Println(numbersOf(quickstream.ListOf(
		&quickstream.Customer{CustomerNumber: "C-1001"}, &quickstream.Customer{CustomerNumber: "C-1002"},
	)))
	fmt.Println(numbersOf(quickstream.List[quickstream.Customer]{}))
	// Output:
	// [C-1001 C-1002] <nil>
	// [] <nil>
}

// Read the next page while a slow loop works on this one.
func ExampleList_Prefetch() {
	box, client := manyCustomers(12)
	defer box.Close()

	var numbers []string
	for customer, err := range client.Customers.List(quickstream.ListCustomersParams{}).Prefetch().All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		numbers = append(numbers, customer.CustomerNumber)
	}
	fmt.Println(len(numbers))
	// Output: 12
}
