package quickstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Pay with a single-use token from the customer's browser. A decline is an outcome, not an error.
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
	if err != nil {
		fmt.Println(err)
		return
	}
	switch outcome, err := payment.Outcome(); {
	case err != nil:
		fmt.Println("hold the order:", err) // and do not pay again
	case outcome == quickstream.OutcomeApproved:
		fmt.Println("paid", payment.TotalAmount, "settles on", payment.SettlementDate) // store the ReceiptNumber
	default:
		fmt.Println(outcome, "- next:", payment.NextStep().Text())
	}
	// Output: paid 49.95 AUD settles on 2026-07-01
}

// Store the intent right before the payment is sent, so that it can be looked up after a crash.
func ExampleTransactionsService_Pay_intent() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()

	var stored []byte // in a database
	store := quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) (err error) {
		stored, err = json.Marshal(intent)
		return err
	})
	_, err := client.Transactions.Pay(ctx, orderParams("", "49.95", tokenFromBrowser(client, visaCard)), store)
	fmt.Println(err) // say that the process ends here, and another one goes on

	var intent quickstream.Intent
	if err := json.Unmarshal(stored, &intent); err != nil {
		fmt.Println(err)
		return
	}
	payment, err := client.Transactions.Resume(ctx, intent)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status)
	// Output:
	// <nil>
	// Approved
}

// While the service remembers an idempotency key, a repeated request gets the first one's result.
func ExampleWithIdempotencyKey() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	params := orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard))

	first, err := client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey("order-1-attempt-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := client.Transactions.Pay(ctx, params, quickstream.WithIdempotencyKey("order-1-attempt-1"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(first.ReceiptNumber == again.ReceiptNumber, len(box.Ledger().Charged("C-1001")))
	// Output: true 1
}

// The service adds the business's surcharge on cards.
func ExampleTransactionsService_Pay_surcharge() {
	box, client := exampleSandbox(sandbox.WithBusiness(sandbox.DefaultBusiness, "Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}))
	defer box.Close()

	payment, err := client.Transactions.Pay(context.Background(), orderParams("ORDER-1", "100.00", tokenFromBrowser(client, visaCard)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.PrincipalAmount, "+", payment.SurchargeAmount, "=", payment.TotalAmount)
	// Output: 100.00 AUD + 1.10 AUD = 101.10 AUD
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

// A payment from an Australian bank account is approved first. The customer's bank can return it
// for some days.
func ExampleFromBankAccount() {
	box, client := exampleSandbox()
	defer box.Close()

	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source: quickstream.FromBankAccount(quickstream.BankAccountDetails{
			AccountName: "Kim Lee", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465"),
		}),
		PrincipalAmount: decimal.RequireFromString("49.95"),
		Currency:        quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status, payment.MayBeReturned())
	// Output: Approved* true
}

// A payment from a New Zealand bank account.
func ExampleFromNZBankAccount() {
	box, client := exampleSandbox()
	defer box.Close()

	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source: quickstream.FromNZBankAccount(quickstream.NZBankAccountDetails{
			AccountName: "Kim Lee", BankCode: "12", BranchCode: "3405",
			AccountNumber: quickstream.NewSecret("0000001"), AccountSuffix: "00",
		}),
		PrincipalAmount: decimal.RequireFromString("49.95"),
		Currency:        quickstream.CurrencyNZD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment.Status, payment.TotalAmount)
	// Output: Approved* 49.95 NZD
}

// Send a member that has no Go field. This service refuses it.
func ExampleWithExtraField() {
	box, client := exampleSandbox()
	defer box.Close()

	_, err := client.Transactions.Pay(
		context.Background(), orderParams("ORDER-1", "49.95", tokenFromBrowser(client, visaCard)),
		quickstream.WithExtraField("storedCredentialData.newMember", "value"),
	)
	fmt.Println(err != nil)
	sent := box.Requests()[1]
	fmt.Println(sent.Operation, sent.Status)
	// Output:
	// true
	// POST /transactions 422
}

// Refund a payment after it has settled. With Original the refund is checked before sending.
func ExampleTransactionsService_Refund() {
	ctx := context.Background()
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	receipt := paidOrder(client, "ORDER-1", "49.95", visaCard).ReceiptNumber
	clock.Advance(24 * time.Hour)

	payment, err := client.Transactions.Get(ctx, receipt)
	if err != nil {
		fmt.Println(err)
		return
	}
	params := quickstream.RefundParams{
		Original:        payment,
		PrincipalAmount: decimal.RequireFromString("20.00"),
		Currency:        quickstream.CurrencyAUD,
	}
	refund, err := client.Transactions.Refund(ctx, params)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(refund.TransactionType, refund.Status, refund.TotalAmount)

	params.PrincipalAmount = decimal.RequireFromString("49.96")
	_, err = client.Transactions.Refund(ctx, params)
	fmt.Println(err)
	// Output:
	// REFUND Approved 20.00 AUD
	// quickstream: Transactions.Refund: nothing was sent: principalAmount must not be more than the payment with its surcharge [refund.principalAmount.payment]
}

// Void a card payment before its settlement cut-off, instead of refunding it.
func ExampleTransactionsService_Void() {
	ctx := context.Background()
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	payment := paidOrder(client, "ORDER-1", "49.95", visaCard)
	fmt.Println("voidable:", payment.Voidable, "refundable:", payment.Refundable)

	voided, err := client.Transactions.Void(ctx, payment.ReceiptNumber)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(voided.Status, len(box.Ledger().Charged("C-1001")))
	// Output:
	// voidable: true refundable: false
	// Voided 0
}

// A transaction that has not ended returns an error with its outcome so far. Do not pay again.
func ExampleTransaction_Outcome() {
	box, client := exampleSandbox()
	defer box.Close()
	box.NextTransaction(sandbox.Approved(), sandbox.Declined("51"), sandbox.Rejected("QA"), sandbox.Erred(), sandbox.Suspended())

	for range 5 {
		outcome, err := paidOrder(client, "", "49.95", visaCard).Outcome()
		fmt.Println(outcome, "- hold it:", errors.Is(err, quickstream.ErrOutcomeUnknown))
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
		payment := paidOrder(client, "", "49.95", visaCard)
		fmt.Println(payment.Status, "-", payment.NextStep().Text())
	}
	// Output:
	// Approved - nothing
	// Declined - read the retries first
	// Declined - pay again, with corrected details or another account
	// Declined - hold and resolve
	// Suspended - complete or cancel it in the portal
}

// An approved card payment stays approved; a bank account payment can be returned.
func ExampleTransaction_MayBeReturned() {
	box, client := exampleSandbox()
	defer box.Close()

	fmt.Println(paidOrder(client, "ORDER-1", "49.95", visaCard).MayBeReturned())
	// Output: false
}

// Stored transactions keep members without a Go field, which Extra returns by path.
func ExampleTransaction() {
	transaction := &quickstream.Transaction{}
	err := transaction.UnmarshalJSON([]byte(`{"receiptNumber": "1000000001", "status": "Approved", "summaryCode": "0", "loyalty": {"points": 49}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	stored, err := transaction.MarshalJSON()
	if err != nil {
		fmt.Println(err)
		return
	}
	read := &quickstream.Transaction{}
	if err := read.UnmarshalJSON(stored); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Status, string(read.Extra()["loyalty"]), len(read.Raw()) > 0)
	// Output: Approved {"points":49} true
}
