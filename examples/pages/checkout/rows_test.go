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

// The order is free after a decline, and after what was not sent. The row of a payment stays when another is refused.
func TestRows(t *testing.T) {
	box, client := sandboxtest.New(t)
	rows := table{}
	shop := checkout.Shop{Client: client, Business: sandbox.DefaultBusiness, Intents: rows}
	order := checkout.Order{Number: "ORDER-1", Amount: decimal.RequireFromString("49.95"), IP: netip.MustParseAddr("203.0.113.10")}
	for _, step := range []struct {
		card  string
		fault int // how many requests find no server
		want  error
		rows  int
	}{
		{card: "4111111111444496", rows: 0},
		{card: "4242424242424242", fault: 3, want: quickstream.ErrNotSent, rows: 0},
		{card: "4242424242424242", rows: 1},
		{card: "4242424242424242", want: quickstream.ErrNotSent, rows: 1},
	} {
		token, err := sandboxtest.CardToken(t.Context(), client, step.card)
		if err != nil {
			t.Fatal(err)
		}
		if step.fault > 0 {
			fault := sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Unreachable(sandbox.ConnectionRefused), Times: step.fault}
			if err := box.Inject(fault); err != nil {
				t.Fatal(err)
			}
		}
		if _, err = shop.Pay(t.Context(), order, token); !errors.Is(err, step.want) || len(rows) != step.rows {
			t.Errorf("card %s: %v, and %d rows", step.card[12:], err, len(rows))
		}
	}
	if charged := box.Ledger().Charged(order.Number); len(charged) != 1 {
		t.Errorf("%d charges", len(charged))
	}
}
