package sandboxtest_test

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

// checkout is the merchant's code that the examples test.
func checkout(ctx context.Context, client *quickstream.Client, order, token string) (paid bool, err error) {
	_, err = client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), CustomerReferenceNumber: order,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		Source:           quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
	})
	if errors.Is(err, quickstream.ErrDeclined) {
		return false, nil
	}
	return err == nil, err
}

// A test sets how the next payment ends, and reads the charges from the ledger.
func ExampleNew() {
	t := newT() // in a test, its own t
	defer t.end()
	box, client := sandboxtest.New(t)
	box.NextTransaction(sandbox.Declined("54")) // an expired card
	token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242")
	if err != nil {
		t.Fatal(err)
	}

	paid, err := checkout(t.Context(), client, "ORDER-1", token)
	fmt.Println(paid, err)
	fmt.Println("charged", len(box.Ledger().Charged("ORDER-1")), "times")
	// Output:
	// false <nil>
	// charged 0 times
}

// The first answer to a payment is lost after the money was taken. The client sends the
// payment again under the same key, and the customer has paid once.
func ExampleClient() {
	t := newT()
	defer t.end()
	box := sandbox.New()
	defer box.Close()
	client := sandboxtest.Client(t, box, quickstream.WithRetryWait(time.Millisecond, time.Millisecond))
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1}); err != nil {
		t.Fatal(err)
	}
	token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242")
	if err != nil {
		t.Fatal(err)
	}

	paid, err := checkout(t.Context(), client, "ORDER-1", token)
	fmt.Println(paid, err)
	fmt.Println("charged", len(box.Ledger().Charged("ORDER-1")), "time")
	// Output:
	// true <nil>
	// charged 1 time
}

// The number of a card decides how its payment ends.
func ExampleCardToken() {
	t := newT()
	defer t.end()
	_, client := sandboxtest.New(t)
	for _, number := range []string{"4242424242424242", "4111111111444496"} {
		token, err := sandboxtest.CardToken(t.Context(), client, number)
		if err != nil {
			t.Fatal(err)
		}
		paid, err := checkout(t.Context(), client, "ORDER-"+number[12:], token)
		fmt.Println(paid, err)
	}
	// Output:
	// true <nil>
	// false <nil>
}

// The bank challenges the cardholder, who passes and pays.
func ExampleThreeDS() {
	t := newT()
	defer t.end()
	box, client := sandboxtest.New(t)
	token, err := sandboxtest.CardToken(t.Context(), client, sandbox.CardChallenge, sandboxtest.ThreeDS)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		result, err := client.SingleUseTokens.Authenticate(t.Context(), token, quickstream.AuthenticateParams{
			MessageCategory: quickstream.ThreeDSMessageCategoryPayment, Purpose: quickstream.ThreeDSPurposePayment,
			PrincipalAmount: new(decimal.RequireFromString("49.95")), Currency: quickstream.CurrencyAUD,
			BillingAddress: quickstream.ThreeDSAddress{Line1: "1 Example Street", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036"},
		})
		if err != nil {
			t.Fatal(err)
		}
		step := result.TransStatus.Next()
		fmt.Println(step)
		if step == quickstream.ThreeDSStepChallenge {
			if err := box.AnswerChallenge(token, sandbox.TransStatusAuthenticated); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Output:
	// show_challenge
	// proceed
}

// Chaos finds the usual mistake: the program takes a payment whose answer was lost for a
// failed one, and makes it again.
func ExampleChaos() {
	t := newT()
	defer t.end()
	impatient := func(ctx context.Context, client *quickstream.Client, order string) error {
		err := errors.New("not paid")
		for tries := 0; tries < 3 && err != nil; tries++ {
			var token string
			if token, err = sandboxtest.CardToken(ctx, client, "4242424242424242"); err == nil {
				_, err = checkout(ctx, client, order, token)
			}
		}
		return err
	}
	sandboxtest.Chaos(t, sandboxtest.ChaosOptions{Seed: 1, Orders: 50}, impatient)
	fmt.Println("the test fails:", t.failed)
	// Output: the test fails: true
}

// Keys are for a client that is made in another way.
func ExampleKeys() {
	box := sandbox.New()
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithTimeout(time.Minute))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.Check(context.Background()))
	// Output: <nil>
}
