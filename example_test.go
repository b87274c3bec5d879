package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// A card payment from beginning to end, with every outcome. A simulator in the same process
// replaces the service; for the service, use quickstream.TestAU and the merchant's keys.
func Example() {
	box := sandbox.New()
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{
		Secret:      quickstream.NewSecretKey(box.Keys().Secret),
		Publishable: quickstream.NewPublishableKey(box.Keys().Publishable),
	}, quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	// The customer's browser does this, so that no card details reach the merchant.
	token, err := client.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account: quickstream.CardDetails{
			CardNumber: quickstream.NewSecret("4242424242424242"), Expiry: quickstream.YearMonth{Year: 2035, Month: time.March},
			CVN: quickstream.NewSecret("123"),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source:               quickstream.FromSingleUseToken(token.SingleUseTokenID, quickstream.AccountTypeCreditCard),
		PrincipalAmount:      decimal.RequireFromString("49.95"),
		Currency:             quickstream.CurrencyAUD,
		ECI:                  quickstream.ECIInternet,
		IPAddress:            netip.MustParseAddr("203.0.113.7"), // the customer's
		StoredCredential:     &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	})
	switch {
	case err == nil:
		fmt.Println("paid", payment.TotalAmount) // store the ReceiptNumber
	case errors.Is(err, quickstream.ErrDeclined):
		fmt.Println("not paid, another card:", err)
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		fmt.Println("hold the order, and give the error to resolve.After") // and do not pay again
	default:
		fmt.Println("this call took nothing:", err) // refused or never sent
	}
	// Output: paid 49.95 AUD
}

// must and check are for the steps around an example that do not fail.
func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// exampleSandbox starts a simulator for the examples, and a client of it.
func exampleSandbox(opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client) {
	box := sandbox.New(opts...)
	return box, must(quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(box.Now)))
}

// exampleClient starts a simulator, and a client of it with options.
func exampleClient(opts ...quickstream.ClientOption) (*sandbox.Sandbox, *quickstream.Client) {
	box := sandbox.New()
	opts = append(opts, quickstream.WithHTTPClient(box.HTTPClient()))
	return box, must(quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), opts...))
}

// exampleClock shows 10:00 on 1 July 2026 in Sydney until it is advanced.
func exampleClock() *sandbox.Clock {
	return sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))
}

// The vendor's public test cards. The last two digits decide.
const (
	visaCard       = "4242424242424242"
	mastercardCard = "5163200000000008"
	noFundsCard    = "4111111111444496"
)

// tokenFromBrowser stands in for the service's script in the customer's browser, which keeps card
// details away from the merchant.
func tokenFromBrowser(client *quickstream.Client, cardNumber string) string {
	return must(sandboxtest.CardToken(context.Background(), client, cardNumber))
}

// orderParams describes the payment of an order by a single-use token.
func orderParams(order, amount, token string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		CustomerReferenceNumber: "C-1001", PaymentReferenceNumber: order,
	}
}

// paidOrder is an order that was paid by card.
func paidOrder(client *quickstream.Client, order, amount, cardNumber string) *quickstream.Transaction {
	return must(client.Transactions.Pay(context.Background(), orderParams(order, amount, tokenFromBrowser(client, cardNumber))))
}

// madeOrder is the payment of an order, whatever its outcome.
func madeOrder(client *quickstream.Client, order, amount, cardNumber string) *quickstream.Transaction {
	payment, err := client.Transactions.Pay(context.Background(), orderParams(order, amount, tokenFromBrowser(client, cardNumber)))
	if declined, ok := errors.AsType[*quickstream.DeclinedError](err); ok {
		return declined.Transaction
	}
	if pending, ok := errors.AsType[*quickstream.PendingError](err); ok {
		return pending.Transaction
	}
	if unknown, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok && unknown.Transaction != nil {
		return unknown.Transaction
	}
	return must(payment, err)
}

// registeredCustomer is a customer who was registered before.
func registeredCustomer(client *quickstream.Client, number, name string) *quickstream.Customer {
	return must(client.Customers.Create(context.Background(), quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: name}))
}
