package checkout_test

import (
	"context"
	"net/netip"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/pages/checkout"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestTheAnswerIsLost(t *testing.T) {
	box, client := sandboxtest.New(t)
	kept := 0
	shop := checkout.Shop{Client: client, Business: sandbox.DefaultBusiness, Keep: func(context.Context, quickstream.Intent) error {
		kept++
		return nil
	}}
	token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242") // stands in for the browser
	if err != nil {
		t.Fatal(err)
	}
	err = box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1})
	if err != nil {
		t.Fatal(err)
	}

	order := checkout.Order{Number: "ORDER-1042", Amount: decimal.RequireFromString("49.95"), IP: netip.MustParseAddr("203.0.113.10")}
	outcome, err := shop.Pay(t.Context(), order, token)

	if err != nil || outcome != quickstream.OutcomeApproved {
		t.Errorf("the payment is %s: %v", outcome, err)
	}
	if charged := box.Ledger().Charged("ORDER-1042"); len(charged) != 1 || kept != 1 {
		t.Errorf("%d charges, %d intents kept", len(charged), kept)
	}
}
