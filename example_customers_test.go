package quickstream_test

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
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

// Get reads a customer by the service's identifier.
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
	fmt.Println(len(customer.Raw()) > 0)
	// Output:
	// Ann Example ENABLED
	// true
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

// registeredCard is the account token of a registered card, the customer's default account.
func registeredCard(box *sandbox.Sandbox, client *quickstream.Client, customerID string) string {
	account := must(client.Accounts.Register(context.Background(), customerID, quickstream.RegisterAccountParams{
		SingleUseTokenID: tokenFromBrowser(client, visaCard),
	}))
	check(box.Portal(account.AccountToken, sandbox.MakeAccountDefault))
	return account.AccountToken
}

// monthlyFee describes a payment by the merchant with a stored card.
func monthlyFee(source quickstream.AccountSource, reference string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: source,
		PrincipalAmount: decimal.RequireFromString("9.90"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIRecurring,
		StoredCredential: &quickstream.StoredCredentialData{
			EntryMode: quickstream.EntryModeStoredCredential, Usage: quickstream.CredentialUsageRecurring,
		},
		PaymentReferenceNumber: reference,
	}
}

// Register the account of a single-use token for a customer, and pay with its account token from
// then on.
func ExampleAccountsService_Register() {
	box, client := exampleSandbox()
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID

	account, err := client.Accounts.Register(context.Background(), customerID, quickstream.RegisterAccountParams{
		SingleUseTokenID: tokenFromBrowser(client, visaCard),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.AccountType, account.CardScheme, account.CardNumber) // store the AccountToken
	// Output: CREDIT_CARD VISA 424242...242
}

// Register the account of a single-use token without a customer, and pay with it.
func ExampleAccountsService_RegisterWithoutCustomer() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()

	account, err := client.Accounts.RegisterWithoutCustomer(ctx, tokenFromBrowser(client, visaCard))
	if err != nil {
		fmt.Println(err)
		return
	}
	payment, err := client.Transactions.Pay(ctx, monthlyFee(quickstream.FromAccount(account.AccountToken), "FEE-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status, account.CustomerID == "")
	// Output: Approved true
}

// The accounts of a customer, newest first.
func ExampleAccountsService_List() {
	box, client := exampleSandbox()
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID
	registeredCard(box, client, customerID)

	for account, err := range client.Accounts.List(customerID).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(account.AccountType, account.MaskedCardNumber4Digits, account.DefaultAccount)
	}
	// Output: CREDIT_CARD 424242...4242 true
}

// Get returns a registered account, masked.
func ExampleAccountsService_Get() {
	box, client := exampleSandbox()
	defer box.Close()
	accountToken := registeredCard(box, client, registeredCustomer(client, "C-1001", "Ann Example").CustomerID)

	account, err := client.Accounts.Get(context.Background(), accountToken)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.CardholderName, account.ExpiryDateMonth+"/"+account.ExpiryDateYear)
	// Output: Ann Example 12/99
}

// scheduled returns a recurring payment from the service's portal, and its customer.
func scheduled(box *sandbox.Sandbox, client *quickstream.Client) (paymentScheduleID, customerID string) {
	customerID = registeredCustomer(client, "C-1001", "Ann Example").CustomerID
	registeredCard(box, client, customerID)
	return must(box.CreateSchedule(sandbox.Schedule{CustomerID: customerID, Amount: 990})), customerID
}

// A recurring payment is made by the service itself.
func ExampleRecurringPaymentsService_Get() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	id, _ := scheduled(box, client)

	payment, err := client.RecurringPayments.Get(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status)
	// Output: ACTIVE
}

// The recurring payments of a customer.
func ExampleRecurringPaymentsService_List() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	id, customerID := scheduled(box, client)

	for payment, err := range client.RecurringPayments.List(customerID).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(payment.PaymentScheduleID == id, payment.Status)
	}
	// Output: true ACTIVE
}

// List the payments of a schedule so far.
func ExampleRecurringPaymentsService_Transactions() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	id, _ := scheduled(box, client)
	clock.Advance(62 * 24 * time.Hour)

	for transaction, err := range client.RecurringPayments.Transactions(id).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(transaction.SettlementDate, transaction.Status, transaction.TotalAmount)
	}
	// Output:
	// 2026-09-01 Approved 9.90 AUD
	// 2026-08-01 Approved 9.90 AUD
	// 2026-07-01 Approved 9.90 AUD
}

// Register a PayID to which a customer pays one invoice.
func ExamplePayIDsService_Register() {
	box, client := exampleSandbox()
	defer box.Close()
	customerID := registeredCustomer(client, "C-1001", "Ann Example").CustomerID

	err := client.PayIDs.Register(context.Background(), customerID, quickstream.RegisterPayIDParams{
		PayID: quickstream.NewSecret("invoice-1042@pay.example.com"), Use: quickstream.PayIDUseSingle,
		PaymentAmount: new(decimal.RequireFromString("49.95")),
	})
	fmt.Println(err)
	// Output: <nil>
}
