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

// The payments with a registered account.
func ExampleTransactionsService_ByAccount() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	accountToken := registeredCard(box, client, registeredCustomer(client, "C-1001", "Ann Example").CustomerID)
	for _, reference := range []string{"FEE-1", "FEE-2"} {
		must(client.Transactions.Pay(ctx, monthlyFee(quickstream.FromAccount(accountToken), reference)))
	}

	fmt.Println(summary(client.Transactions.ByAccount(accountToken)))
	// Output:
	// FEE-2 Approved 9.90 AUD
	// FEE-1 Approved 9.90 AUD
}

// summary has the reference, status and amount of each transaction of a list.
func summary(list quickstream.List[quickstream.Transaction]) string {
	var lines []string
	for transaction, err := range list.All(context.Background()) {
		if err != nil {
			return err.Error()
		}
		lines = append(lines, fmt.Sprint(transaction.PaymentReferenceNumber, " ", transaction.Status, " ", transaction.TotalAmount))
	}
	return strings.Join(lines, "\n")
}

// The most recent transactions of the current settlement date, latest first.
func ExampleTransactionsService_List() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)
	madeOrder(client, "ORDER-2", "10.00", noFundsCard)

	fmt.Println(summary(client.Transactions.List(quickstream.ListTransactionsParams{SupplierBusinessCode: sandbox.DefaultBusiness})))
	// Output:
	// ORDER-2 Declined 10.00 AUD
	// ORDER-1 Approved 49.95 AUD
}

// A reference finds payments, their refunds and others with it, ignoring case. Compare it again.
func ExampleTransactionsService_ByReference() {
	box, client := exampleSandbox()
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)
	paidOrder(client, "order-1", "10.00", visaCard)

	for transaction, err := range client.Transactions.ByReference("ORDER-1").All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(transaction.TotalAmount, transaction.PaymentReferenceNumber == "ORDER-1")
	}
	// Output:
	// 10.00 AUD false
	// 49.95 AUD true
}

// List the transactions that settle on a Sydney date.
func ExampleTransactionsService_BySettlementDate() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)
	clock.Advance(9 * time.Hour) // to 19:00, after the cut-off
	paidOrder(client, "ORDER-2", "10.00", visaCard)

	fmt.Println(summary(client.Transactions.BySettlementDate(quickstream.NewDate(2026, time.July, 2))))
	// Output: ORDER-2 Approved 10.00 AUD
}

// List payments by the first six and last three digits of a card, as for a telephone enquiry.
func ExampleTransactionsService_ByCreditCard() {
	box, client := exampleSandbox()
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)
	paidOrder(client, "ORDER-2", "10.00", mastercardCard)

	fmt.Println(summary(client.Transactions.ByCreditCard("424242", "242")))
	// Output: ORDER-1 Approved 49.95 AUD
}

// The bank accounts of the examples.
func bankAccount() quickstream.BankAccountDetails {
	return quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465")}
}

func nzBankAccount() quickstream.NZBankAccountDetails {
	return quickstream.NZBankAccountDetails{
		AccountName: "Kim Lee", BankCode: "12", BranchCode: "3405", AccountNumber: quickstream.NewSecret("0000001"), AccountSuffix: "00",
	}
}

// paidFrom is an order of 49.95 that was paid from a bank account.
func paidFrom(client *quickstream.Client, source quickstream.AccountSource, currency quickstream.Currency) *quickstream.Transaction {
	return must(client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: source,
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: currency,
		PaymentReferenceNumber: "ORDER-1",
	}))
}

// List the payments from an Australian bank account. The request's address contains its number.
func ExampleTransactionsService_ByBankAccount() {
	box, client := exampleSandbox()
	defer box.Close()
	paidFrom(client, quickstream.FromBankAccount(bankAccount()), quickstream.CurrencyAUD)

	fmt.Println(summary(client.Transactions.ByBankAccount("032-002", quickstream.NewSecret("123465"))))
	// Output: ORDER-1 Approved* 49.95 AUD
}

// List the payments from a New Zealand bank account, without its suffix.
func ExampleTransactionsService_ByNZBankAccount() {
	box, client := exampleSandbox()
	defer box.Close()
	paidFrom(client, quickstream.FromNZBankAccount(nzBankAccount()), quickstream.CurrencyNZD)

	fmt.Println(summary(client.Transactions.ByNZBankAccount("12", "3405", quickstream.NewSecret("0000001"))))
	// Output: ORDER-1 Approved* 49.95 NZD
}

// Suspended transactions are completed or cancelled in the service's portal.
func ExampleTransactionsService_Suspended() {
	box, client := exampleSandbox()
	defer box.Close()
	box.NextTransaction(sandbox.Suspended())
	held := madeOrder(client, "ORDER-1", "49.95", visaCard)

	month := quickstream.YearMonth{Year: held.TransactionTime.Year(), Month: held.TransactionTime.Month()}
	fmt.Println(summary(client.Transactions.Suspended(quickstream.MonthParams{SupplierBusinessCode: sandbox.DefaultBusiness, Month: month})))
	// Output: ORDER-1 Suspended 49.95 AUD
}

// The refunds of a payment, latest first.
func ExampleTransactionsService_Refunds() {
	ctx := context.Background()
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	receipt := paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber
	clock.Advance(24 * time.Hour)
	for _, amount := range []string{"20.00", "5.00"} {
		must(client.Transactions.Refund(ctx, quickstream.RefundParams{
			OriginalReceiptNumber: receipt, PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
		}))
	}

	for refund, err := range client.Transactions.Refunds(receipt).All(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(refund.Status, refund.PrincipalAmount)
	}
	// Output:
	// Approved 5.00 AUD
	// Approved 20.00 AUD
}

// After a soft decline the service may have retried. Read the retries before you pay again.
func ExampleTransactionsService_Retries() {
	box, client := exampleSandbox()
	defer box.Close()
	box.NextTransaction(sandbox.Declined("01"), sandbox.Approved())
	payment := madeOrder(client, "ORDER-1", "49.95", visaCard)
	must(box.RetryPayment(payment.ReceiptNumber)) // the service, on its schedule

	fmt.Println(summary(client.Transactions.Retries(payment.ReceiptNumber)))
	// Output: ORDER-1 Approved 49.95 AUD
}

// Read a whole list before you conclude that a transaction is not in it.
func ExampleList_ReadAll() {
	box, client := exampleSandbox()
	defer box.Close()
	box.NextTransaction(sandbox.Declined("01"), sandbox.Approved())
	payment := madeOrder(client, "ORDER-1", "49.95", visaCard)
	must(box.RetryPayment(payment.ReceiptNumber)) // the service, on its schedule

	retries, err := client.Transactions.Retries(payment.ReceiptNumber).ReadAll(context.Background())
	fmt.Println(len(retries), err)
	// Output: 1 <nil>
}

// List approved payments that the customers' banks returned.
func ExampleTransactionsService_Returned() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	payment := paidFrom(client, quickstream.FromBankAccount(bankAccount()), quickstream.CurrencyAUD)
	check(box.ReturnPayment(payment.ReceiptNumber, "6")) // the customer's bank

	fmt.Println(summary(client.Transactions.Returned(quickstream.ReturnedParams{Date: quickstream.NewDate(2026, time.July, 1)})))
	// Output: ORDER-1 Declined 49.95 AUD
}
