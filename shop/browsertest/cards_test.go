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

// A card that needs no question is paid by at once.
func TestFrictionless(t *testing.T) {
	for name, card := range map[string]string{"authenticated": visa, "attempted": sandbox.CardAttempted} {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			order := p.order("beans")
			p.pay(card)
			p.becomes("approved")
			p.says("Paid, thank you")
			p.charged(order, 1)
		})
	}
}

// The bank asks in a frame, and only its word counts.
func TestChallenge(t *testing.T) {
	t.Run("passed", func(t *testing.T) {
		p := open(t)
		order := p.order("beans")
		p.pay(sandbox.CardChallenge)
		p.becomes("challenge")
		p.charged(order, 0)
		p.answer("Y")
		p.becomes("approved")
		p.charged(order, 1)
	})
	t.Run("failed", func(t *testing.T) {
		p := open(t)
		order := p.order("beans")
		p.pay(sandbox.CardChallenge)
		p.becomes("challenge")
		p.answer("N")
		p.noticed("Nothing was charged")
		p.charged(order, 0)
		p.pay(visa)
		p.becomes("approved")
		p.charged(order, 1)
	})
	t.Run("the customer comes back to it", func(t *testing.T) {
		p := open(t)
		order := p.order("beans")
		p.pay(sandbox.CardChallenge)
		p.becomes("challenge")
		p.visit("/orders/" + order)
		p.answer("Y")
		p.becomes("approved")
		p.charged(order, 1)
	})
	t.Run("the token expires meanwhile", func(t *testing.T) {
		p := open(t)
		order := p.order("beans")
		p.pay(sandbox.CardChallenge)
		p.becomes("challenge")
		p.machine.Forward(t.Context(), 11*time.Minute)
		p.answer("Y")
		p.noticed("That took longer than the card's details are kept")
		p.charged(order, 0)
	})
}

// Without the bank's word nothing is charged, and another card can be used.
func TestNotAuthenticated(t *testing.T) {
	for name, card := range map[string]string{"N": sandbox.CardNotAuthenticated, "R": sandbox.CardRejected, "U": sandbox.CardUnavailable} {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			order := p.order("beans")
			p.pay(card)
			p.noticed("Your bank did not confirm")
			p.charged(order, 0)
		})
	}
	t.Run("not enabled", func(t *testing.T) {
		p := open(t, sandbox.WithoutThreeDS())
		order := p.order("beans")
		p.pay(visa)
		p.noticed("Nothing was charged")
		p.charged(order, 0)
	})
}

// A declined customer learns what to do, and pays by another card.
func TestDeclinedThenAnotherCard(t *testing.T) {
	p := open(t)
	order := p.order("beans")
	p.pay(noFunds)
	p.becomes("declined")
	p.says("not enough money")
	p.charged(order, 0)
	p.submit("#again")
	p.pay(visa)
	p.becomes("approved")
	p.charged(order, 1)
}

// What is wrong with the fields is said beside them, and the shop never hears of it.
func TestWrongDetails(t *testing.T) {
	p := open(t)
	p.expect("422")
	order := p.order("beans")
	p.pay("4242424242424241")
	p.waitFor("document.querySelector('#number-error').innerText.startsWith('Card number is not ') && document.activeElement.id === 'number'")
	p.charged(order, 0)
	p.visit("/checkout/" + order)
	p.pay(visa)
	p.becomes("approved")
	p.charged(order, 1)
}
