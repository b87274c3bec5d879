package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// What the card's bank says decides whether anything is charged.
func TestAuthentication(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	for _, tt := range []struct {
		name, number, says string
		charged            int
	}{
		{"authenticated", visa, "Paid, thank you", 1},
		{"attempted", sandbox.CardAttempted, "Paid, thank you", 1},
		{"not authenticated", sandbox.CardNotAuthenticated, "did not confirm", 0},
		{"rejected", sandbox.CardRejected, "did not confirm", 0},
		{"unavailable", sandbox.CardUnavailable, "did not confirm", 0},
	} {
		id := b.order("cup")
		page := b.pay(id, tt.number)
		if tt.charged > 0 {
			page = b.becomes("/orders/"+id, approved, 0)
		}
		assert.Contains(t, page.body, tt.says, tt.name)
		assert.Equal(t, tt.charged, w.charged(id), tt.name)
	}
}

// The bank asks the customer, and the shop asks the service what was answered.
func TestChallenge(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	for answer, tt := range map[sandbox.TransStatus]struct {
		path    string
		charged int
	}{
		sandbox.ThreeDSAuthenticated:    {"/orders/", 1},
		sandbox.ThreeDSNotAuthenticated: {"/checkout/", 0},
	} {
		id := b.order("cup")
		page := b.pay(id, sandbox.CardChallenge)
		assert.Equal(t, "challenge", page.state())
		assert.Equal(t, "challenge", b.get("/orders/"+id).state(), "a reload shows it again")

		page = b.post("/orders/" + id + "/authenticated")
		assert.Equal(t, "challenge", page.state(), "what the browser says counts for nothing")
		assert.Zero(t, w.charged(id))

		open := w.box.Challenges()
		require.Len(t, open, 1)
		require.NoError(t, w.box.AnswerChallenge(open[0].SingleUseTokenID, answer))
		page = b.post("/orders/" + id + "/authenticated")
		assert.Contains(t, page.path, tt.path+id)
		if tt.charged > 0 {
			b.becomes("/orders/"+id, approved, 0)
		}
		assert.Equal(t, tt.charged, w.charged(id))
	}
}

// A token lives for ten minutes. Who takes longer enters the card again.
func TestExpiredDuringTheChallenge(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("cup")
	b.pay(id, sandbox.CardChallenge)
	w.clock.Jump(11 * time.Minute)
	page := b.post("/orders/" + id + "/authenticated")
	assert.Contains(t, page.path, "/checkout/"+id)
	assert.Contains(t, page.body, "Enter the card again")
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	assert.Equal(t, 1, w.charged(id))
}

// A facility without 3D Secure is no reason to pay without it.
func TestNotEnabled(t *testing.T) {
	w := newWorld(t, sandbox.WithoutThreeDS())
	b := w.browser()
	id := b.order("cup")
	assert.Contains(t, b.pay(id, visa).body, "we take none")
	assert.Zero(t, w.charged(id))
}

// While the bank asks in one tab the order is paid in another: the first shows the payment.
func TestPaidDuringTheChallenge(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("cup")
	b.pay(id, sandbox.CardChallenge)
	b.get("/checkout/" + id)
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	for _, challenge := range w.box.Challenges() {
		require.NoError(t, w.box.AnswerChallenge(challenge.SingleUseTokenID, sandbox.ThreeDSAuthenticated))
	}
	assert.Equal(t, approved, b.post("/orders/"+id+"/authenticated").state())
	assert.Equal(t, 1, w.charged(id))
}
