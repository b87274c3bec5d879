package quickstream_test

import (
	"context"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// exampleSandbox starts a simulator of the service, which takes the service's
// place in the examples, and a client of it. It shows what happened at once; the
// simulator's default is to let a while pass, as the service may.
func exampleSandbox(opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client) {
	opts = append([]sandbox.Option{sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.LookupLag, a.AgreementLookupLag = 0, 0
	})}, opts...)
	box := sandbox.New(opts...)
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		panic(err)
	}
	return box, client
}

// exampleClock stands at 10:00 on 1 July 2026 in Sydney until it is advanced.
func exampleClock() *sandbox.Clock {
	return sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC))
}

// The vendor's public test cards. The last two digits decide.
const (
	visaCard       = "4242424242424242"
	mastercardCard = "5163200000000008"
	noFundsCard    = "4111111111444496"
)

// tokenFromBrowser stands in for the service's script in the customer's browser,
// which makes a single-use token so that no card details reach the merchant.
func tokenFromBrowser(client *quickstream.Client, cardNumber string) string {
	token, err := sandboxtest.CardToken(context.Background(), client, cardNumber)
	if err != nil {
		panic(err)
	}
	return token
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
	payment, err := client.Transactions.Pay(context.Background(), orderParams(order, amount, tokenFromBrowser(client, cardNumber)))
	if err != nil {
		panic(err)
	}
	return payment
}

// registeredCustomer is a customer who was registered before.
func registeredCustomer(client *quickstream.Client, number, name string) *quickstream.Customer {
	customer, err := client.Customers.Create(context.Background(), quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: name})
	if err != nil {
		panic(err)
	}
	return customer
}
