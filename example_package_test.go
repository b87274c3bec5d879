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
)

// A card payment from beginning to end, with everything that can come of it. A
// simulator in the same process takes the service's place; with the service, the
// environment is quickstream.TestAU, and the keys are the merchant's.
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

	payment, err := quickstream.RequireApproved(client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source:               quickstream.FromSingleUseToken(token.SingleUseTokenID, quickstream.AccountTypeCreditCard),
		PrincipalAmount:      decimal.RequireFromString("49.95"),
		Currency:             quickstream.CurrencyAUD,
		ECI:                  quickstream.ECIInternet,
		IPAddress:            netip.MustParseAddr("203.0.113.7"), // the customer's
		StoredCredential:     &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}))
	switch {
	case err == nil:
		fmt.Println("paid", payment.TotalAmount) // store the ReceiptNumber
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		fmt.Println("hold the order, and look with Transactions.Resume") // and do not pay again
	default:
		fmt.Println("nothing was paid:", err) // declined, refused or never sent
	}
	// Output: paid 49.95 AUD
}
