// Package sandboxtest gives tests a sandbox and a client of it.
//
// # Worlds
//
// [Worlds] runs a test in many worlds, each with other answers to the questions that the
// public contract leaves open, and with another fault.
//
// # Chaos
//
// [Chaos] calls a merchant's function once for each of many orders, concurrently, while calls
// fail in every way that a network, a gateway and the service can fail:
//
//	sandboxtest.Chaos(t, sandboxtest.ChaosOptions{Seed: 1, Settle: shop.settle}, shop.pay)
//
// Then it lets a week pass and compares what the function returned with the sandbox's ledger.
// The ledger is read by order and not by idempotency key, because a second charge under
// another key is still a second charge.
//
// Chaos works inside and outside testing/synctest. Inside, the function can wait for days.
// The service may carry out a payment up to 20 hours after its caller has given up.
package sandboxtest

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// Open starts a sandbox and returns it with a client, which has the settings of [Client]. It is for
// programs: tests use [New]. Close the sandbox at the end.
func Open(opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client, error) {
	box := sandbox.New(opts...)
	client, err := newClient(box)
	return box, client, err
}

// New starts a sandbox that ends with the test, and returns it with a client, which has the settings of [Client].
// Nothing leaves the process. It works inside a testing/synctest bubble too.
func New(t testing.TB, opts ...sandbox.Option) (*sandbox.Sandbox, *quickstream.Client) {
	t.Helper()
	box := sandbox.New(opts...)
	t.Cleanup(box.Close)
	return box, Client(t, box)
}

// Client returns a client of the sandbox with both keys and the options. It pays to [sandbox.DefaultBusiness] in
// Australian dollars, and takes declines for final ([quickstream.WithFinalDeclines]), unless an option or a call
// says otherwise. It uses the sandbox's clock. [sandbox.Clock.Advance] waits for a write of the client that is
// under way ([sandbox.Sandbox.HoldClock]), unless you give the client an observer of your own.
func Client(t testing.TB, box *sandbox.Sandbox, opts ...quickstream.ClientOption) *quickstream.Client {
	t.Helper()
	client, err := newClient(box, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func newClient(box *sandbox.Sandbox, opts ...quickstream.ClientOption) (*quickstream.Client, error) {
	opts = append([]quickstream.ClientOption{
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(box.Now), quickstream.WithObserver(holding(box)),
		quickstream.WithSupplierBusinessCode(sandbox.DefaultBusiness), quickstream.WithCurrency(quickstream.CurrencyAUD),
		quickstream.WithFinalDeclines(true),
	}, opts...)
	return quickstream.NewClient(quickstream.CustomURL(box.URL()), Keys(box), opts...)
}

// Keys returns the sandbox's keys in the type of the client.
func Keys(box *sandbox.Sandbox) quickstream.Keys {
	keys := box.Keys()
	return quickstream.Keys{
		Secret:      quickstream.NewSecretKey(keys.Secret),
		Publishable: quickstream.NewPublishableKey(keys.Publishable),
	}
}

// Card returns a card with one of the vendor's public test numbers; the sandbox accepts no others.
// 4242424242424242 is approved, and 4111111111444496 is declined for insufficient funds.
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

type releaseKey struct{}

// holding returns an observer that holds the clock during each write of a client: between two attempts
// no request is under way.
func holding(box *sandbox.Sandbox) quickstream.Observer {
	return quickstream.Observer{
		Start: func(ctx context.Context, call quickstream.CallInfo) context.Context {
			release := func() {}
			if call.Method != http.MethodGet {
				release = box.HoldClock()
			}
			return context.WithValue(ctx, releaseKey{}, release)
		},
		End: func(ctx context.Context, _ quickstream.CallInfo, _ quickstream.EndInfo) {
			if release, ok := ctx.Value(releaseKey{}).(func()); ok {
				release()
			}
		},
	}
}
