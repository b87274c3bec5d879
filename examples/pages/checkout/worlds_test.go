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

		belief := "not paid"
		switch {
		case errors.Is(err, quickstream.ErrOutcomeUnknown):
			belief = "unknown"
		case err == nil && outcome == quickstream.OutcomeApproved:
			belief = "paid"
		}
		charged := len(run.Box.Ledger().Charged(order.Number))
		if charged > 1 || belief == "paid" && charged == 0 || belief == "not paid" && charged == 1 {
			t.Errorf("charged %d times, and the program believes %s: %v", charged, belief, err)
		}
	})
}
