package quickstream_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// A token is made with the publishable key: by the service's script in the
// browser, or like this where card details may reach the server. It can be used
// once, within ten minutes.
func ExampleSingleUseTokensService_Create() {
	box, client := exampleSandbox(sandbox.WithBusiness("SHOP", "Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}))
	defer box.Close()

	token, err := client.SingleUseTokens.Create(context.Background(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: "SHOP",
		Account: quickstream.CardDetails{
			CardholderName: "Ann Example",
			CardNumber:     quickstream.NewSecret(visaCard),
			Expiry:         quickstream.YearMonth{Year: 2035, Month: time.March},
			CVN:            quickstream.NewSecret("123"),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	card := token.CreditCard
	fmt.Println(card.CardScheme, card.CardNumber, card.SurchargePercentage+" %")
	// Output: VISA 424242...242 1.10 %
}

// Bank accounts are tokenised too. The token shows a masked account.
func ExampleSingleUseTokensService_Create_bankAccount() {
	box, client := exampleSandbox()
	defer box.Close()

	token, err := client.SingleUseTokens.Create(context.Background(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account: quickstream.BankAccountDetails{
			AccountName: "Kim Lee", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465"),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(token.AccountType, token.BankAccount.AccountName, token.BankAccount.AccountNumber)
	// Output: DIRECT_DEBIT Kim Lee xxxxxx465
}

// The browser's profile asks for 3D Secure: the card then has to be
// authenticated before it is charged or stored.
func ExampleSingleUseTokensService_Create_threeDSecure() {
	box, client := exampleSandbox()
	defer box.Close()

	token, err := client.SingleUseTokens.Create(context.Background(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account: quickstream.CardDetails{
			CardNumber: quickstream.NewSecret(visaCard), Expiry: quickstream.YearMonth{Year: 2035, Month: time.March},
		},
		ThreeDS: &quickstream.BrowserProfile{
			JavaEnabled: false, Language: "en-AU", ScreenHeight: 1080, ScreenWidth: 1920, ColorDepth: 24, TZ: -600,
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(token.CreditCard.ThreeDS2AuthRequired)
	// Output: true
}

// Too many tokens in a short time are refused.
func ExampleSingleUseTokensService_Create_quota() {
	box, client := exampleSandbox(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 1 }))
	defer box.Close()
	tokenFromBrowser(client, visaCard)

	_, err := client.SingleUseTokens.Create(context.Background(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account:              quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465")},
	})
	fmt.Println(errors.Is(err, quickstream.ErrRateLimited))
	// Output: true
}

// Secrets show themselves to nobody: not to fmt, not to a logger, not to an
// encoder.
func ExampleSecret() {
	number := quickstream.NewSecret(visaCard)
	fmt.Printf("%v %+v %#v %s\n", number, quickstream.CardDetails{CardNumber: number}, number, number)
	fmt.Println(number.Equal(quickstream.NewSecret(visaCard)))
	// Output:
	// [redacted] {CardholderName: CardNumber:[redacted] Expiry: CVN: WalletProvider: Cryptogram:} [redacted] [redacted]
	// true
}
