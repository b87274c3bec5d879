package quickstream_test

import (
	"context"
	"fmt"

	"github.com/quickstream-go/quickstream"
)

// Create a customer under the merchant's own number, which is unique.
func ExampleCustomersService_Create() {
	box, client := exampleSandbox()
	defer box.Close()

	customer, err := client.Customers.Create(context.Background(), quickstream.CreateCustomerParams{
		CustomerNumber: "C-1001",
		CustomerName:   "Ann Example",
		EmailAddress:   "ann@example.com",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(customer.CustomerNumber, customer.CustomerID != "") // store the CustomerID
	// Output: C-1001 true
}

// Get reads a customer by the service's identifier. Extra has the members without a Go field.
func ExampleCustomersService_Get() {
	box, client := exampleSandbox()
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID

	customer, err := client.Customers.Get(context.Background(), customerID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(customer.CustomerName, customer.Status)
	fmt.Println(len(customer.Extra()) > 0, len(customer.Raw()) > 0)
	// Output:
	// Ann Example ENABLED
	// true true
}

// Find a customer by the merchant's own number, for example after the answer to Create was lost.
func ExampleCustomersService_GetByNumber() {
	box, client := exampleSandbox()
	defer box.Close()
	registeredCustomer(client, "C-1001", "Ann Example")

	customer, err := client.Customers.GetByNumber(context.Background(), "C-1001")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(customer.CustomerName)
	// Output: Ann Example
}

// The loop reads the list page by page.
func ExampleCustomersService_List() {
	box, client := exampleSandbox()
	defer box.Close()
	registeredCustomer(client, "C-1001", "Ann Example")
	registeredCustomer(client, "C-1002", "Bob Sample")
	registeredCustomer(client, "C-1003", "Cy Example")

	list := client.Customers.List(quickstream.ListCustomersParams{CustomerName: "example"})
	for customer, err := range list.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(customer.CustomerNumber, customer.CustomerName)
	}
	// Unordered output:
	// C-1001 Ann Example
	// C-1003 Cy Example
}

// Update changes the given members only.
func ExampleCustomersService_Update() {
	box, client := exampleSandbox()
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID

	customer, err := client.Customers.Update(context.Background(), customerID, quickstream.UpdateCustomerParams{
		PhoneNumber: new("+61400000000"),
		Enabled:     new(false),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(customer.CustomerName, customer.PhoneNumber, customer.Status)
	// Output: Ann Example +61400000000 DISABLED
}
