package checkout_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/pages/checkout"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestNobodyIsChargedTwice(t *testing.T) {
	worlds := sandboxtest.WorldsOptions{N: 20, Seed: 1, Operation: "POST /transactions"}
	sandboxtest.Worlds(t, worlds, func(t *testing.T, run sandboxtest.Run) {
		token, err := sandboxtest.CardToken(t.Context(), run.Client, "4242424242424242")
		if err != nil {
			t.Fatal(err)
		}
		shop := checkout.Shop{Client: run.Client, Business: sandbox.DefaultBusiness, Intents: table{}}
		order := checkout.Order{Number: "ORDER-1", Amount: decimal.RequireFromString("49.95"), IP: netip.MustParseAddr("203.0.113.10")}
		outcome, err := shop.Pay(t.Context(), order, token)

		charged := len(run.Box.Ledger().Charged(order.Number))
		paid := err == nil && outcome == quickstream.OutcomeApproved
		notPaid := err == nil && outcome == quickstream.OutcomeDeclined || err != nil && !errors.Is(err, quickstream.ErrOutcomeUnknown)
		if charged > 1 || paid && charged == 0 || notPaid && charged == 1 {
			t.Errorf("charged %d times, and the program believes %s: %v", charged, outcome, err)
		}
	})
}
