package browsertest

import (
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	visa    = "4242424242424242"
	noFunds = "4111111111444496"
)

// The bank asks in a frame, and only its word counts: who says no, or takes too long, is
// charged nothing and can try again, and a customer may come back to the question.
func TestChallenge(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.charged(order, 0)
	p.answer("N")
	p.noticed("Nothing was charged")
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.machine.Forward(t.Context(), 11*time.Minute)
	p.answer("Y")
	p.noticed("That took longer than the card's details are kept")
	p.charged(order, 0)
	p.pay(sandbox.CardChallenge)
	p.becomes("challenge")
	p.visit("/orders/" + order)
	p.answer("Y")
	p.becomes("approved")
	p.says("Paid, thank you")
	p.charged(order, 1)
}
