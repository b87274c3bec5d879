package quickstream_test

import (
	"context"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// scheduled returns a recurring payment from the service's portal, and its customer.
func scheduled(box *sandbox.Sandbox, client *quickstream.Client) (paymentScheduleID, customerID string) {
	customerID = registeredCustomer(client, "C-1001", "Ann Example").CustomerID
	registeredCard(box, client, customerID)
	return must(box.CreateSchedule(sandbox.Schedule{CustomerID: customerID, Amount: 990, Frequency: sandbox.Monthly})), customerID
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
