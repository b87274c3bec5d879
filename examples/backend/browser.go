package main

import (
	"context"
	"net/netip"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// Browser stands in for the customer's browser, in which the service's own
// script takes the card: in production no card number reaches this program.
type Browser struct {
	Box    *sandbox.Sandbox
	Client *quickstream.Client // needs the publishable key only
}

// TypeCard returns a single-use token of a card.
func (b Browser) TypeCard(ctx context.Context, number string) (string, error) {
	return sandboxtest.CardToken(ctx, b.Client, number, sandboxtest.ThreeDS)
}

// Visitor is the customer who sits at the browser, and passes every challenge.
func (b Browser) Visitor() Visitor {
	return Visitor{
		IP: netip.MustParseAddr("203.0.113.10"),
		Address: quickstream.ThreeDSAddress{
			Line1: "1 Example Street", City: "Sydney", PostCode: "2000", State: "NSW", Country: "036",
		},
		Challenge: func(token string) error { return b.Box.AnswerChallenge(token, sandbox.ThreeDSAuthenticated) },
	}
}
