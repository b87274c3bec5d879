package quickstream_test

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Create a token with the publishable key: by the service's script in the browser, or like this if
// card details may reach the server. Use it once, within ten minutes.
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

// profiledToken is a single-use token with a browser profile, for authentication.
func profiledToken(client *quickstream.Client, cardNumber string) string {
	return must(client.SingleUseTokens.Create(context.Background(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account: quickstream.CardDetails{
			CardNumber: quickstream.NewSecret(cardNumber), Expiry: quickstream.YearMonth{Year: 2035, Month: time.March},
		},
		ThreeDS: &quickstream.BrowserProfile{Language: "en-AU", ScreenHeight: 1080, ScreenWidth: 1920, ColorDepth: 24, TZ: -600},
	})).SingleUseTokenID
}

// authenticationFor describes the authentication of a card that will be paid with.
func authenticationFor(amount string) quickstream.AuthenticateParams {
	return quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment,
		Purpose:         quickstream.ThreeDSPurposePayment,
		PrincipalAmount: new(decimal.RequireFromString(amount)),
		BillingAddress:  quickstream.ThreeDSAddress{Line1: "1 Example Street", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
	}
}

// Authenticate the card before you pay. Act on the result's Next: only ThreeDSStepProceed permits a
// payment.
func ExampleSingleUseTokensService_Authenticate() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	token := profiledToken(client, visaCard)

	result, err := client.SingleUseTokens.Authenticate(ctx, token, authenticationFor("49.95"))
	if err != nil {
		fmt.Println(err)
		return
	}
	switch result.TransStatus.Next() {
	case quickstream.ThreeDSStepProceed:
		params := orderParams("ORDER-1", "49.95", token)
		params.ThreeDS2 = new(true)
		payment, err := client.Transactions.Pay(ctx, params)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(payment.Status)
	case quickstream.ThreeDSStepChallenge:
		fmt.Println("show the challenge in the browser, and authenticate again afterwards")
	case quickstream.ThreeDSStepStop:
		fmt.Println("inform the cardholder, and take no payment")
	}
	// Output: Approved
}

// List the merchant's businesses, whose codes payments need.
func ExampleBusinessesService_List() {
	box, client := exampleSandbox(sandbox.WithBusiness("SHOP", "Shop"))
	defer box.Close()

	for business, err := range client.Businesses.List().All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(business.SupplierBusinessCode)
	}
	// Unordered output:
	// SANDBOX01
	// SHOP
}

// Get returns one business.
func ExampleBusinessesService_Get() {
	box, client := exampleSandbox(sandbox.WithBusiness("SHOP", "Shop"))
	defer box.Close()

	business, err := client.Businesses.Get(context.Background(), "SHOP")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(business.SupplierBusinessName)
	// Output: Shop
}

// surcharging has a business with a surcharge on Visa cards.
func surcharging() sandbox.Option {
	return sandbox.WithBusiness("SHOP", "Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110})
}

// surchargeOf finds the surcharge on a scheme's cards.
func surchargeOf(list quickstream.List[quickstream.CardSurcharge], scheme quickstream.CardScheme) string {
	for surcharge, err := range list.All(context.Background()) {
		if err != nil {
			return err.Error()
		}
		if surcharge.CardScheme == scheme {
			return surcharge.SurchargePercentage + " %"
		}
	}
	return "not accepted"
}

// Show the surcharge before the customer pays.
func ExampleBusinessesService_CardSurcharges() {
	box, client := exampleSandbox(surcharging())
	defer box.Close()

	fmt.Println(surchargeOf(client.Businesses.CardSurcharges("SHOP"), quickstream.CardSchemeVisa))
	// Output: 1.10 %
}

// The same with the publishable key.
func ExampleBusinessesService_PublicCardSurcharges() {
	box, client := exampleSandbox(surcharging())
	defer box.Close()

	fmt.Println(surchargeOf(client.Businesses.PublicCardSurcharges("SHOP"), quickstream.CardSchemeVisa))
	// Output: 1.10 %
}

// Show the surcharge of one card before the payment.
func ExampleBusinessesService_QueryCardSurcharge() {
	box, client := exampleSandbox(surcharging())
	defer box.Close()

	surcharge, err := client.Businesses.QueryCardSurcharge(context.Background(), "SHOP", quickstream.NewSecret("4242424242424242"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(surcharge.CardScheme, surcharge.CardType, surcharge.SurchargePercentage, "%")
	// Output: VISA CREDIT 1.10 %
}

// Show the logos of the cards that a business accepts.
func ExampleBusinessesService_AcceptedCards() {
	box, client := exampleSandbox()
	defer box.Close()

	for card, err := range client.Businesses.AcceptedCards(sandbox.DefaultBusiness).All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(card.CardScheme)
	}
	// Output:
	// VISA
	// MASTERCARD
	// AMEX
	// DINERS
	// JCB
	// UNIONPAY
}

// Six digits show the scheme while the customer types the rest.
func ExampleBusinessesService_CardScheme() {
	box, client := exampleSandbox()
	defer box.Close()

	prefix, err := client.Businesses.CardScheme(context.Background(), "340000")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prefix.CardScheme)
	// Output: AMEX
}
