package quickstream_test

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// preauthorised is an earlier pre-authorisation.
func preauthorised(client *quickstream.Client, amount, cardNumber string) *quickstream.Transaction {
	return must(client.Transactions.Preauthorise(context.Background(), quickstream.PreauthoriseParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(tokenFromBrowser(client, cardNumber)),
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))
}

// Reserve an amount on a card. It can be captured once.
func ExampleTransactionsService_Preauthorise() {
	box, client := exampleSandbox()
	defer box.Close()

	preauth, err := client.Transactions.Preauthorise(context.Background(), quickstream.PreauthoriseParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source:               quickstream.FromSingleUseToken(tokenFromBrowser(client, visaCard)),
		PrincipalAmount:      decimal.RequireFromString("200.00"),
		Currency:             quickstream.CurrencyAUD,
		ECI:                  quickstream.ECIInternet,
		IPAddress:            netip.MustParseAddr("203.0.113.7"),
		StoredCredential:     &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(preauth.TransactionType, preauth.Status, preauth.PrincipalAmount)
	// Output: PREAUTH Approved 200.00 AUD
}

// Capture at most double the reserved amount.
func ExampleTransactionsService_Capture() {
	box, client := exampleSandbox()
	defer box.Close()
	preauth := preauthorised(client, "200.00", visaCard)

	capture, err := client.Transactions.Capture(context.Background(), quickstream.CaptureParams{
		OriginalReceiptNumber: preauth.ReceiptNumber,
		PrincipalAmount:       decimal.RequireFromString("180.00"),
		Currency:              quickstream.CurrencyAUD,
		StoredCredential:      &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(capture.TransactionType, capture.Status, capture.PrincipalAmount)
	// Output: CAPTURE Approved 180.00 AUD
}

// Release the reserved amount or a part of it.
func ExampleTransactionsService_CancelPreauthorisation() {
	box, client := exampleSandbox()
	defer box.Close()
	preauth := preauthorised(client, "200.00", visaCard)

	cancellation, err := client.Transactions.CancelPreauthorisation(context.Background(), quickstream.CancelPreauthorisationParams{
		OriginalReceiptNumber: preauth.ReceiptNumber,
		Type:                  quickstream.CancellationTypeFull,
		PrincipalAmount:       preauth.PrincipalAmount.Amount, // all of it
		Currency:              quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cancellation.TransactionType, cancellation.Status, cancellation.PrincipalAmount)
	// Output: PREAUTH_CANCELLATION Approved 200.00 AUD
}

// Reserve more, for example for a longer stay.
func ExampleTransactionsService_TopUp() {
	box, client := exampleSandbox()
	defer box.Close()
	preauth := preauthorised(client, "200.00", visaCard)

	topUp, err := client.Transactions.TopUp(context.Background(), quickstream.TopUpParams{
		OriginalReceiptNumber: preauth.ReceiptNumber,
		PrincipalAmount:       decimal.RequireFromString("50.00"), // what is added
		Currency:              quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(topUp.Status, topUp.PrincipalAmount)
	// Output: Approved 50.00 AUD
}

// Extend a pre-authorisation of a Mastercard before it expires.
func ExampleTransactionsService_Extend() {
	box, client := exampleSandbox()
	defer box.Close()
	preauth := preauthorised(client, "200.00", mastercardCard)

	extension, err := client.Transactions.Extend(context.Background(), quickstream.ExtendParams{
		OriginalReceiptNumber: preauth.ReceiptNumber,
		Currency:              quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(extension.Status, extension.PrincipalAmount)
	// Output: Approved 0.00 AUD
}

// Reauthorise a Visa card after its pre-authorisation expired.
func ExampleTransactionsService_Reauthorise() {
	clock := exampleClock()
	box, client := exampleSandbox(sandbox.WithClock(clock))
	defer box.Close()
	preauth := preauthorised(client, "200.00", visaCard)
	clock.Advance(60 * 24 * time.Hour)

	again, err := client.Transactions.Reauthorise(context.Background(), quickstream.ReauthoriseParams{
		OriginalReceiptNumber: preauth.ReceiptNumber,
		PrincipalAmount:       preauth.PrincipalAmount.Amount, // the full amount
		Currency:              quickstream.CurrencyAUD,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Status, again.PrincipalAmount)
	// Output: Approved 200.00 AUD
}

// Verify an account without taking money, for example before you store it.
func ExampleTransactionsService_VerifyAccount() {
	box, client := exampleSandbox()
	defer box.Close()

	verification, err := client.Transactions.VerifyAccount(context.Background(), quickstream.VerifyAccountParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source:               quickstream.FromSingleUseToken(tokenFromBrowser(client, visaCard)),
		ECI:                  quickstream.ECIInternet,
		IPAddress:            netip.MustParseAddr("203.0.113.7"),
		StoredCredential:     &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verification.TransactionType, verification.Status)
	// Output: ACCOUNT_VERIFICATION Approved
}

// The pre-authorisations of a month that can still be captured.
func ExampleTransactionsService_OpenPreauths() {
	box, client := exampleSandbox(sandbox.WithClock(exampleClock()))
	defer box.Close()
	preauthorised(client, "200.00", visaCard)
	preauthorised(client, "80.00", mastercardCard)

	month := quickstream.YearMonth{Year: 2026, Month: time.July}
	for preauth, err := range client.Transactions.OpenPreauths(quickstream.MonthParams{Month: month}).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(preauth.PrincipalAmount, preauth.CreditCard.CardScheme)
	}
	// Output:
	// 80.00 AUD MASTERCARD
	// 200.00 AUD VISA
}
