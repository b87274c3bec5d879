package quickstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Pay with a single-use token from the customer's browser. An error says what to do with the order.
func ExampleTransactionsService_Pay() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()

	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode:    sandbox.DefaultBusiness,
		Source:                  quickstream.FromSingleUseToken(tokenFromBrowser(client, visaCard), quickstream.AccountTypeCreditCard),
		PrincipalAmount:         decimal.RequireFromString("49.95"),
		Currency:                quickstream.CurrencyAUD,
		ECI:                     quickstream.ECIInternet,
		IPAddress:               netip.MustParseAddr("203.0.113.7"), // the customer's
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		CustomerReferenceNumber: "C-1001",
		PaymentReferenceNumber:  "ORDER-1", // what a lost payment is found by
		Metadata:                map[string]string{"basket": "4711"},
	})
	switch {
	case err == nil:
		fmt.Println("paid", payment.TotalAmount, "settles on", payment.SettlementDate) // store the ReceiptNumber
	case errors.Is(err, quickstream.ErrDeclined):
		fmt.Println("not paid:", err) // another card
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		fmt.Println("hold the order:", err) // and do not pay again
	default:
		fmt.Println("this call took nothing:", err)
	}
	// Output: paid 49.95 AUD settles on 2026-07-01
}

// While the service remembers an idempotency key, a repeated request gets the first one's result.
func ExampleWithIdempotencyKey() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	params := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard))

	first := must(client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey("order-1-attempt-1")))
	again, err := client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey("order-1-attempt-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(first.ReceiptNumber == again.ReceiptNumber, len(box.Ledger().Charged("C-1001")))
	// Output: true 1
}

// A server in scope of PCI DSS can pay with a card's details. They print without
// their secrets.
func ExampleFromCard() {
	box, client := exampleSandbox()
	defer box.Close()

	params := orderParams("ORDER-1", "49.95", "")
	params.Source = quickstream.FromCard(quickstream.CardDetails{
		CardholderName: "Ann Example",
		CardNumber:     quickstream.NewSecret(mastercardCard),
		Expiry:         quickstream.YearMonth{Year: 2035, Month: time.March},
		CVN:            quickstream.NewSecret("123"),
	})
	payment, err := client.Transactions.Pay(context.Background(), params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status, payment.CreditCard.CardScheme, payment.CreditCard.MaskedCardNumber4Digits)
	// Output: Approved MASTERCARD 516320...0008
}

// Refund a payment after it has settled.
func ExampleTransactionsService_Refund() {
	ctx := context.Background()
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	receipt := paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber
	clock.Advance(24 * time.Hour)

	refund, err := client.Transactions.Refund(ctx, quickstream.RefundParams{
		OriginalReceiptNumber: receipt,
		PrincipalAmount:       decimal.RequireFromString("20.00"),
		Currency:              quickstream.CurrencyAUD,
		// Optional: the business of the payment.
		FollowUpDetails: quickstream.FollowUpDetails{SupplierBusinessCode: sandbox.DefaultBusiness},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(refund.TransactionType, refund.Status, refund.TotalAmount)
	// Output: REFUND Approved 20.00 AUD
}

// Void a card payment before its settlement cut-off, instead of refunding it.
func ExampleTransactionsService_Void() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	payment := paidOrder(client, "ORDER-1", "49.95", visaCard) // which is Voidable, and not Refundable yet

	voided, err := client.Transactions.Void(context.Background(), payment.ReceiptNumber)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(voided.Status, len(box.Ledger().Charged("C-1001")))
	// Output: Voided 0
}

// A transaction that was read says how it ended. If that is not final, do not pay again.
func ExampleTransaction_Outcome() {
	box, client := exampleSandbox()
	defer box.Close()
	box.NextTransaction(sandbox.Approved(), sandbox.Declined("51"), sandbox.Rejected("QA"), sandbox.Erred(), sandbox.Suspended())

	for range 5 {
		outcome := madeOrder(client, "", "49.95", visaCard).Outcome()
		fmt.Println(outcome, "- hold it:", !outcome.Final())
	}
	// Output:
	// approved - hold it: false
	// declined - hold it: false
	// rejected - hold it: false
	// unknown - hold it: true
	// suspended - hold it: true
}

// The next step depends on outcome and response code, not on the status: the second to the fourth
// are all declined.
func ExampleTransaction_NextStep() {
	box, client := exampleSandbox()
	defer box.Close()
	box.NextTransaction(sandbox.Approved(), sandbox.Declined("01"), sandbox.Declined("54"), sandbox.Erred(), sandbox.Suspended())

	for range 5 {
		payment := madeOrder(client, "", "49.95", visaCard)
		fmt.Println(payment.Status, "-", payment.NextStep())
	}
	// Output:
	// Approved - none
	// Declined - check_retries
	// Declined - pay_again
	// Declined - resolve
	// Suspended - review_in_portal
}

// An approved card payment stays approved; a bank account payment can be returned.
func ExampleTransaction_MayBeReturned() {
	box, client := exampleSandbox()
	defer box.Close()

	fmt.Println(paidOrder(client, "ORDER-1", "49.95", visaCard).MayBeReturned())
	// Output: false
}

// Get returns the latest state of a transaction, by the receipt number that the
// merchant stored.
func ExampleTransactionsService_Get() {
	box, client := exampleSandbox()
	defer box.Close()
	receipt := paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber

	payment, err := client.Transactions.Get(context.Background(), receipt)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.PaymentReferenceNumber, payment.Status, payment.CreditCard.MaskedCardNumber4Digits)
	// Output: ORDER-1 Approved 424242...4242
}

// The service makes a report on the first request. When it is ready, it is written as it arrives.
// Package csvreport reads it.
func ExampleTransactionsService_DownloadReport() {
	ctx := context.Background()
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)
	madeOrder(client, "ORDER-2", "10.00", noFundsCard)

	params := quickstream.ReportParams{
		SettlementDate: quickstream.NewDate(2026, time.July, 1),
		Columns:        []string{"Payment Reference Number", "Status"},
	}
	_, err := client.Transactions.DownloadReport(ctx, io.Discard, params)
	fmt.Println(errors.Is(err, quickstream.ErrReportNotReady))

	clock.Advance(time.Hour)
	var report strings.Builder // a file, in earnest
	if _, err := client.Transactions.DownloadReport(ctx, &report, params); err != nil {
		fmt.Println(err) // what was written has to be discarded
		return
	}
	fmt.Println(strings.ReplaceAll(report.String(), "\r\n", "\n"))
	// Output:
	// true
	// Payment Reference Number,Status
	// ORDER-1,Approved
	// ORDER-2,Declined
}

// AwaitReport repeats the request every minute until the report is ready or the context ends.
func ExampleTransactionsService_AwaitReport() {
	clock := exampleClock()
	made := sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ReportGeneration = 0 }) // the report is there at once
	box, client := exampleSandbox(sandbox.WithClock(clock), made)
	defer box.Close()
	paidOrder(client, "ORDER-1", "49.95", visaCard)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()

	var report bytes.Buffer
	written, err := client.Transactions.AwaitReport(ctx, &report, quickstream.ReportParams{
		SettlementDate: quickstream.NewDate(2026, time.July, 1),
	}, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(written == int64(report.Len()), strings.Count(report.String(), "ORDER-1"))
	// Output: true 1
}
