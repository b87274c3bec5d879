// Command shop takes one payment in a sandbox and prints how it ended and what
// the client called itself.
package main

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func main() {
	box := sandbox.New()
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{Secret: quickstream.NewSecretKey(box.Keys().Secret)},
		quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		log.Fatal(err)
	}
	payment, err := client.Transactions.Pay(context.Background(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source: quickstream.FromCard(quickstream.CardDetails{
			CardholderName: "Ann Example", CardNumber: quickstream.NewSecret("4242424242424242"),
			Expiry: quickstream.YearMonth{Year: time.Now().Year() + 2, Month: time.June}, CVN: quickstream.NewSecret("123"),
		}),
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.10"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payment.TotalAmount, payment.Status, box.Requests()[0].Header.Get("User-Agent"))
}
