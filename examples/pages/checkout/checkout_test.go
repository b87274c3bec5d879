package checkout_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/pages/checkout"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// table stands for your table of intents. The order is its key.
type table map[string]quickstream.Intent

func (rows table) Insert(_ context.Context, order string, intent quickstream.Intent) error {
	if _, there := rows[order]; there {
		return errors.New("the order has a payment already")
	}
	rows[order] = intent
	return nil
}

func (rows table) Delete(_ context.Context, order string) error {
	delete(rows, order)
	return nil
}

func TestTheAnswerIsLost(t *testing.T) {
	box, client := sandboxtest.New(t)
	shop := checkout.Shop{Client: client, Business: sandbox.DefaultBusiness, Intents: table{}}
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
	if charged := box.Ledger().Charged(order.Number); len(charged) != 1 {
		t.Errorf("%d charges", len(charged))
	}
}
