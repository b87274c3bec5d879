// Command threedsecure is the program of docs/3d-secure.md.
package main

import (
	"context"
	"fmt"
	"log"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// pay is called with the browser's token, and again after a challenge. It never reads a result
// that the browser claims.
func pay(ctx context.Context, client *quickstream.Client, token string) (quickstream.ThreeDSStep, error) {
	amount := decimal.RequireFromString("49.95")
	result, err := client.SingleUseTokens.Authenticate(ctx, token, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount, Currency: quickstream.CurrencyAUD, Email: "ann@example.com",
		BillingAddress: quickstream.ThreeDSAddress{Line1: "1 George St", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
	})
	if err != nil {
		return quickstream.ThreeDSStepStop, err // without an authentication there is no payment
	}
	step := result.TransStatus.Next()
	if step != quickstream.ThreeDSStepProceed {
		return step, nil
	}
	_, err = client.Transactions.Pay(ctx, quickstream.PayParams{
		CustomerReferenceNumber: "ORDER-1042", ThreeDS2: new(true),
		Source:          quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount: amount, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.10"),
	})
	return step, err
}

func run(ctx context.Context) error {
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	token, err := sandboxtest.CardToken(ctx, client, sandbox.CardChallenge, sandboxtest.ThreeDS) // the browser's, with its profile
	if err != nil {
		return err
	}
	step, err := pay(ctx, client, token)
	fmt.Println("first:", step, err)
	if err := box.AnswerChallenge(token, sandbox.ThreeDSAuthenticated); err != nil { // the cardholder, in the bank's frame
		return err
	}
	step, err = pay(ctx, client, token)
	fmt.Println("then:", step, err)
	return nil
}
