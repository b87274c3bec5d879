package store

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

var cardPattern = regexp.MustCompile(`name="card" value="([^"]+)"`)

// storeCard pays an order and stores the card, and returns the shop's id of it.
func (b *browser) storeCard() string {
	b.Helper()
	id := b.order("beans")
	b.pay(id, visa, "save", "1")
	b.becomes("/orders/"+id, approved, 0)
	next := b.order("beans")
	for deadline := time.Now().Add(30 * time.Second); ; {
		if found := cardPattern.FindStringSubmatch(b.get("/checkout/" + next).body); found != nil {
			return found[1]
		}
		require.Less(b, time.Now(), deadline, "the card was not stored")
		<-time.After(50 * time.Millisecond)
	}
}

// A stored card pays with one click, as long as it is stored, and only for its owner.
func TestStoredCard(t *testing.T) {
	w := newWorld(t)
	b, other := w.browser(), w.browser()
	card := b.storeCard()
	assert.Contains(t, b.get("/customers/").body, "VISA ending in 242, until 12/99")

	id := b.order("pot")
	both(
		func() { b.post("/orders/"+id+"/pay", "card", card) },
		func() { b.post("/orders/"+id+"/pay", "card", card) },
	)
	b.becomes("/orders/"+id, approved, 0)
	assert.Equal(t, 1, w.charged(id))

	theirs := other.order("pot")
	assert.Contains(t, other.post("/orders/"+theirs+"/pay", "card", card).body, "not stored any more")
	other.post("/customers/cards/" + card + "/remove")
	assert.Contains(t, b.get("/customers/").body, "ending in 242", "nobody removes another's card")

	b.post("/customers/cards/" + card + "/remove")
	assert.NotContains(t, b.get("/customers/").body, "ending in 242")
	last := b.order("pot")
	assert.Contains(t, b.post("/orders/"+last+"/pay", "card", card).body, "not stored any more")
	assert.Zero(t, w.charged(theirs)+w.charged(last))
}

// A service that does not answer keeps nobody from the shop's pages: what is read of it is
// waited for a moment only.
func TestServiceDown(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "GET /accounts/{accountToken}", Kind: sandbox.HangBeforeCommit()}))
	b.storeCard()
	assert.Contains(t, b.get("/customers/").body, "Your stored card")
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", Kind: sandbox.ResetBeforeCommit()}))
	id := b.order("beans")
	page := b.post("/orders/"+id+"/pay", "token", "T", "street", "1 Example Street", "city", "Sydney", "state", "NSW", "postcode", "2000")
	assert.Contains(t, page.body, "does not answer")
	assert.Equal(t, "new", b.get("/orders/"+id).state())
}

// Without a choice nothing is charged, and a card that is not to be stored is not.
func TestNotStored(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("beans")
	assert.Contains(t, b.post("/orders/"+id+"/pay").body, "Choose how to pay")
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	w.clock.Jump(time.Hour)
	assert.NotContains(t, b.get("/customers/").body, "ending in")
	assert.Equal(t, http.StatusNotFound, b.post("/orders", "item", "nothing").status)
}
