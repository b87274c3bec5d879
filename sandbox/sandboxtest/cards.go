package sandboxtest

import (
	"context"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Card returns a card with one of the vendor's public test numbers. The sandbox accepts no
// others: 4242424242424242 is approved, and 4111111111444496 is declined for insufficient
// funds. It does not expire in this century.
func Card(number string) quickstream.CardDetails {
	return quickstream.CardDetails{
		CardholderName: "Ann Example", CardNumber: quickstream.NewSecret(number),
		Expiry: quickstream.YearMonth{Year: 2099, Month: time.December}, CVN: quickstream.NewSecret("123"),
	}
}

// CardToken creates a single-use token of a [Card] for [sandbox.DefaultBusiness], as the
// service's script does in the customer's browser, so that no card number reaches the
// merchant. edits, such as [ThreeDS], change the request.
func CardToken(ctx context.Context, client *quickstream.Client, number string, edits ...func(*quickstream.CreateSingleUseTokenParams)) (string, error) {
	params := quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: Card(number)}
	for _, edit := range edits {
		edit(&params)
	}
	token, err := client.SingleUseTokens.Create(ctx, params)
	if err != nil {
		return "", err
	}
	return token.SingleUseTokenID, nil
}

// ThreeDS makes [CardToken] ask for 3D Secure: the cardholder must be authenticated before
// the token is used. The card, such as [sandbox.CardChallenge], decides the result.
func ThreeDS(params *quickstream.CreateSingleUseTokenParams) {
	params.ThreeDS = &quickstream.BrowserProfile{Language: "en-AU", ScreenHeight: 1080, ScreenWidth: 1920, ColorDepth: 24, TZ: -600}
}
