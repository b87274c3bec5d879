// Command cardpayment takes card payments over the Internet with 3D Secure. The
// browser makes a token, the server has the cardholder authenticated, and pays
// only on the strength of what the service answers to the server itself.
// server.go is the code to copy; browser.go stands in for the customer.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
)

// without3DS is a business for which 3D Secure is not switched on.
const without3DS = "NO3DS01"

func main() {
	demo.Main("cardpayment", run,
		sandbox.WithBusiness(without3DS, "Without 3D Secure"), sandbox.WithoutThreeDS(without3DS),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.HandleLength = 24 })) // tokens that fit a line
}

// purchase is a customer with a card, and what has to come of it.
type purchase struct {
	reference, title, card string
	answer                 sandbox.TransStatus // the cardholder's, to a challenge
	status                 quickstream.TransStatus
	outcome                quickstream.Outcome // empty where no payment may be made
}

func run(ctx context.Context, s *demo.Shop) error {
	web, err := newBrowser(s)
	if err != nil {
		return err
	}
	shop, err := newServer(s)
	if err != nil {
		return err
	}
	for _, p := range []purchase{
		{"ORDER-1", "Frictionless: the issuer knows the cardholder.", demo.Visa, "", quickstream.TransStatusAuthenticated, quickstream.OutcomeApproved},
		{"ORDER-2", "Attempted: the issuer cannot authenticate, and vouches for the attempt.", sandbox.CardAttempted, "", quickstream.TransStatusAttempted, quickstream.OutcomeApproved},
		{"ORDER-3", "A challenge that the cardholder passes.", sandbox.CardChallenge, sandbox.ThreeDSAuthenticated, quickstream.TransStatusAuthenticated, quickstream.OutcomeApproved},
		{"ORDER-4", "A challenge that is failed, by somebody whose browser claims the contrary.", sandbox.CardChallenge, sandbox.ThreeDSNotAuthenticated, quickstream.TransStatusNotAuthenticated, ""},
		{"ORDER-5", "The cardholder is not authenticated.", sandbox.CardNotAuthenticated, "", quickstream.TransStatusNotAuthenticated, ""},
		{"ORDER-6", "The issuer rejects.", sandbox.CardRejected, "", quickstream.TransStatusRejected, ""},
		{"ORDER-7", "Authentication is not available.", sandbox.CardUnavailable, "", quickstream.TransStatusUnavailable, ""},
		{"ORDER-8", "Authenticated, and still declined: there is no money.", demo.NoFunds, "", quickstream.TransStatusAuthenticated, quickstream.OutcomeDeclined},
	} {
		fmt.Println(p.title)
		shop.orders[p.reference] = order{Reference: p.reference, Business: sandbox.DefaultBusiness, Amount: "49.95"}
		if err := p.buy(ctx, web, shop); err != nil {
			return fmt.Errorf("%s: %w", p.reference, err)
		}
		if err := p.check(s.Box, shop.order(p.reference)); err != nil {
			return fmt.Errorf("%s: %w", p.reference, err)
		}
	}
	if err := refusals(ctx, s, web, shop); err != nil {
		return err
	}
	return showStored(s, shop)
}

// buy goes back and forth between browser and server until the order is paid or
// stopped.
func (p purchase) buy(ctx context.Context, web *browser, shop *server) error {
	token, err := web.token(ctx, sandbox.DefaultBusiness, p.card)
	if err != nil {
		return err
	}
	step, err := shop.submit(ctx, p.reference, token)
	if err == nil && step == quickstream.ThreeDSStepChallenge {
		said, failed := web.showChallenge(token, p.answer)
		if failed != nil {
			return failed
		}
		// The browser would post this to the server, where nobody reads it.
		fmt.Printf("   challenged; the browser now says %s\n", said)
		step, err = shop.submit(ctx, p.reference, token)
	}
	if err != nil {
		return err
	}
	order := shop.order(p.reference)
	fmt.Printf("   the service says %s: %s\n", order.TransStatus, step)
	if order.Intent != nil {
		fmt.Printf("   %s, receipt %s\n", order.Outcome, order.ReceiptNumber)
	}
	return nil
}

// check compares what was stored, and what was really done, with what was
// expected.
func (p purchase) check(box *sandbox.Sandbox, o order) error {
	if o.TransStatus != p.status || o.Outcome != p.outcome {
		return fmt.Errorf("transStatus %q and outcome %q instead of %q and %q", o.TransStatus, o.Outcome, p.status, p.outcome)
	}
	want := 1
	if p.outcome == "" {
		want = 0
	}
	return checkPayments(box, p.reference, want)
}

// refusals are a second payment for a paid order, and a business without 3D Secure: that is for its
// administrator to mend, and never a reason to pay without authentication.
func refusals(ctx context.Context, s *demo.Shop, web *browser, shop *server) error {
	fmt.Println("The customer of the first order goes back and pays again.")
	token, err := web.token(ctx, sandbox.DefaultBusiness, demo.Visa)
	if err != nil {
		return err
	}
	if _, err = shop.submit(ctx, "ORDER-1", token); !errors.Is(err, errBegun) {
		return fmt.Errorf("a second payment should have been refused: %v", err) //nolint:errorlint // there may be none
	}
	if err := checkPayments(s.Box, "ORDER-1", 1); err != nil {
		return err
	}

	fmt.Println("3D Secure is not enabled for another business.")
	if token, err = web.token(ctx, without3DS, demo.Visa); err != nil {
		return err
	}
	shop.orders["ORDER-9"] = order{Reference: "ORDER-9", Business: without3DS, Amount: "49.95"}
	if _, err = shop.submit(ctx, "ORDER-9", token); !errors.Is(err, quickstream.ErrThreeDSNotEnabled) {
		return fmt.Errorf("authentication without 3D Secure should have failed: %v", err) //nolint:errorlint // as above
	}
	return checkPayments(s.Box, "ORDER-9", 0)
}

// checkPayments counts the payments of an order in the sandbox's ledger, which
// tells what was done whatever anyone was told.
func checkPayments(box *sandbox.Sandbox, reference string, want int) error {
	made := 0
	for _, entry := range box.Ledger() {
		if entry.PaymentReferenceNumber == reference {
			made++
		}
	}
	fmt.Printf("   payments made: %d\n", made)
	if made != want {
		return fmt.Errorf("%d payments were made for %s instead of %d", made, reference, want)
	}
	return nil
}
