package store

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ends lets all sessions be this old.
func (w *world) ends(age time.Duration) {
	w.Helper()
	_, err := w.shop.db.ExecContext(w.Context(), "UPDATE shop_session SET seen = ?", micros(time.Now().Add(-age)))
	require.NoError(w, err)
}

// A browser whose session has ended comes back to its orders by one press, and to no stored card. No other browser does,
// no other site presses for it, and after some time it is not known any more.
func TestComeBack(t *testing.T) {
	w := newWorld(t)
	b, other := w.browser(), w.browser()
	b.storeCard()
	id := b.order("pot")
	own, elsewhere := http.Header{"Origin": {w.web.URL}}, http.Header{"Origin": {"https://elsewhere.example"}}
	w.ends(sessionFor + time.Hour)
	assert.Contains(t, b.get("/orders/"+id).body, `action="/orders/`+id+`/back"`)
	assert.NotContains(t, other.get("/orders/"+id).body, "/back")
	assert.Equal(t, http.StatusForbidden, other.send("/orders/"+id+"/back", url.Values{}, own).status)
	assert.Equal(t, http.StatusForbidden, b.send("/orders/"+id+"/back", url.Values{}, elsewhere).status)
	assert.Equal(t, http.StatusForbidden, b.get("/orders/"+id).status, "nothing was done for the others")
	for range 2 {
		assert.Equal(t, "new", b.send("/orders/"+id+"/back", url.Values{}, own).state())
	}
	assert.NotRegexp(t, cardPattern, b.get("/checkout/"+id).body)
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	assert.Equal(t, 1, w.charged(id))
	w.ends(returnFor + time.Hour)
	assert.NotContains(t, b.get("/orders/"+id).body, "/back")
	assert.Equal(t, http.StatusForbidden, b.send("/orders/"+id+"/back", url.Values{}, own).status)
}
