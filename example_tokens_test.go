package quickstream_test

import (
	"context"
	"errors"
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

// The browser's profile requests 3D Secure: authenticate the card before you charge or store it.
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

// Some cardholders are challenged. Ignore the browser's result, and authenticate again.
func ExampleSingleUseTokensService_Authenticate_challenge() {
	ctx := context.Background()
	box, client := exampleSandbox()
	defer box.Close()
	token := profiledToken(client, sandbox.CardChallenge)

	result, err := client.SingleUseTokens.Authenticate(ctx, token, authenticationFor("49.95"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.TransStatus.Next())
	check(box.AnswerChallenge(token, sandbox.ThreeDSAuthenticated)) // the cardholder
	result, err = client.SingleUseTokens.Authenticate(ctx, token, authenticationFor("49.95"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.TransStatus.Next())
	// Output:
	// show challenge
	// proceed
}

// A facility without 3D Secure returns its own error. Never pay without authentication because of
// it.
func ExampleSingleUseTokensService_Authenticate_notEnabled() {
	box, client := exampleSandbox(sandbox.WithoutThreeDS())
	defer box.Close()

	_, err := client.SingleUseTokens.Authenticate(context.Background(), profiledToken(client, visaCard), authenticationFor("49.95"))
	fmt.Println(errors.Is(err, quickstream.ErrThreeDSNotEnabled), errors.Is(err, quickstream.ErrUnavailable))
	// Output: true false
}

// An unknown result means stop.
func ExampleTransStatus_Next() {
	for _, status := range []quickstream.TransStatus{"Y", "A", "C", "N", "R", "U", "?"} {
		fmt.Print(status, ": ", status.Next(), "\n")
	}
	// Output:
	// Y: proceed
	// A: proceed
	// C: show challenge
	// N: stop
	// R: stop
	// U: stop
	// ?: stop
}
