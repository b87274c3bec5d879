package main

import (
	"context"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// browser stands in for the customer's, in which the service's own script runs.
// It has the publishable key, with which nobody can pay.
type browser struct {
	shop   *demo.Shop
	client *quickstream.Client
}

func newBrowser(s *demo.Shop) (*browser, error) {
	client, err := demo.Connect(s.Box, quickstream.Keys{Publishable: quickstream.NewPublishableKey(s.Box.Keys().Publishable)})
	return &browser{s, client}, err
}

// token takes the card number where the customer types it in, and lets the
// merchant have a token in its place. The profile of the browser asks for 3D
// Secure.
func (b *browser) token(ctx context.Context, business, card string) (string, error) {
	return sandboxtest.CardToken(ctx, b.client, card, sandboxtest.ThreeDS, func(p *quickstream.CreateSingleUseTokenParams) {
		p.SupplierBusinessCode = business
	})
}

// showChallenge has the cardholder answer in the issuer's frame, and returns the
// result that the browser reports to the merchant: whatever it likes.
func (b *browser) showChallenge(token string, answer sandbox.TransStatus) (quickstream.TransStatus, error) {
	return quickstream.TransStatusAuthenticated, b.shop.Box.AnswerChallenge(token, answer)
}
