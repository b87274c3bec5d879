package store

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	visa     = "4242424242424242"
	noFunds  = "4111111111444496"
	nobody   = "4017950000000009"
	approved = "approved"
)

// A declined order says what can be done, and is paid by another card.
func TestDeclinedThenAnotherCard(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("beans")
	b.pay(id, noFunds)
	page := b.becomes("/orders/"+id, "declined", 0)
	assert.Contains(t, page.body, "not enough money")
	assert.Contains(t, page.body, `href="/checkout/`+id+`"`)
	assert.Equal(t, "/checkout/"+id, b.get("/checkout/"+id).path)
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	assert.Equal(t, 1, w.charged(id))
}

// An order is paid once: if a button is pressed twice, if two tabs send a token each, and if a
// card in one tab and a bank account in another are two ways to pay. Then it is not paid again.
func TestPaidOnce(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	for _, name := range []string{"one form twice", "two tabs", "two ways"} {
		id, token := b.order("beans"), b.token(visa)
		first := b.payment
		b.get("/checkout/" + id) // in another tab
		form := func() {
			fields := []string{"payment", first, "token", token, "street", "1 Example Street", "city", "Sydney", "state", "NSW", "postcode", "2000"}
			assert.Equal(t, "/orders/"+id, b.post("/orders/"+id+"/pay", fields...).path, name)
		}
		both(form, map[string]func(){
			"one form twice": form,
			"two tabs":       func() { b.pay(id, "5163200000000008") },
			"two ways": func() {
				assert.Equal(t, "/orders/"+id, b.post("/orders/"+id+"/pay", "name", "Alex Example", "payid", payID).path)
			},
		}[name])
		for _, agreement := range w.box.Agreements() {
			require.NoError(t, w.box.Payer(agreement.Token, sandbox.ConfirmAgreement))
		}
		b.becomes("/orders/"+id, approved, 10*time.Second)
		form()
		assert.Equal(t, "/orders/"+id, b.get("/checkout/"+id).path)
		w.clock.Jump(time.Hour)
		assert.Equal(t, 1, w.charged(id), name)
	}
}

// A form that comes again after its payment was declined charges nothing, whatever card it has: it
// shows the decline. One with the id of another order is not taken.
func TestFormComesAgain(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	other := b.order("cup")
	foreign := b.payment
	id := b.order("beans")
	b.pay(id, noFunds)
	b.becomes("/orders/"+id, "declined", 0)
	assert.Equal(t, "declined", b.pay(id, visa).state())
	assert.Contains(t, b.pay(id, visa, "payment", foreign).body, "Choose how to pay")
	assert.Zero(t, w.charged(id)+w.charged(other))
	assert.Len(t, w.box.Ledger().Order(id), 1)
}

func both(one, other func()) {
	var wait sync.WaitGroup
	wait.Go(one)
	wait.Go(other)
	wait.Wait()
}

// An order whose outcome the service does not know cannot be paid again, and its page turns
// into the outcome by itself: it is read again when a stream says that something has changed.
func TestUnknownTurnsIntoTheOutcome(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("pot")
	w.box.NextTransactionFor(id, sandbox.Erred().ThenAfter(time.Minute, sandbox.Approved()))
	b.pay(id, visa)
	page := b.becomes("/orders/"+id, "unknown", 0)
	assert.Contains(t, page.body, "do not pay again")
	assert.Equal(t, "/orders/"+id, b.get("/checkout/"+id).path, "it cannot be paid again")
	b.pay(id, "5163200000000008")
	changed := b.changes(t.Context())
	require.True(t, changed(), "once as it begins")
	w.clock.Jump(48 * time.Hour) // it is looked up again the next day
	for page.state() != approved {
		require.True(t, changed())
		page = b.get("/orders/" + id)
	}
	assert.Equal(t, 1, w.charged(id))
}

// Nothing is done for a form of another site, of no page of the shop, or of another session.
func TestForeignForms(t *testing.T) {
	w := newWorld(t)
	b, other := w.browser(), w.browser()
	id, token := b.order("beans"), b.token(visa)
	own := http.Header{"Origin": {w.web.URL}, "Sec-Fetch-Site": {"same-origin"}}
	for name, send := range map[string]struct {
		form   string
		header http.Header
	}{
		"no form token":          {"", own},
		"another session's":      {other.form, own},
		"another site":           {b.form, http.Header{"Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"}}},
		"another port":           {b.form, http.Header{"Origin": {"http://127.0.0.1:1"}, "Sec-Fetch-Site": {"same-site"}}},
		"an old browser, abroad": {b.form, http.Header{"Origin": {"https://elsewhere.example"}}},
	} {
		page := b.send("/orders/"+id+"/pay", url.Values{"form": {send.form}, "token": {token}, "street": {"1 Example Street"}, "city": {"Sydney"}, "state": {"NSW"}, "postcode": {"2000"}}, send.header)
		assert.Equal(t, http.StatusForbidden, page.status, name)
	}
	assert.Zero(t, w.charged(id))
	assert.Equal(t, "new", b.get("/orders/"+id).state())
}

// Nobody sees or pays another visitor's order.
func TestAnotherVisitorsOrder(t *testing.T) {
	w := newWorld(t)
	b, other := w.browser(), w.browser()
	id := b.order("beans")
	for _, path := range []string{"/orders/" + id, "/checkout/" + id} {
		assert.Equal(t, http.StatusNotFound, other.get(path).status, path)
	}
	assert.Equal(t, http.StatusNotFound, other.pay(id, visa).status)
	assert.Zero(t, w.charged(id))
}

// The session's cookie is not readable by scripts and does not come along from elsewhere.
func TestCookie(t *testing.T) {
	w := newWorld(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.web.URL+"/", nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	cookies := answer.Cookies()
	require.Len(t, cookies, 1)
	assert.True(t, cookies[0].HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)

	r.Header.Set("Sec-Fetch-Site", "cross-site")
	answer, err = http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	assert.Empty(t, answer.Cookies(), "a link from elsewhere must not replace a session whose cookie it does not bring")
}

// No card number comes to the shop, is stored by it or logged.
func TestNoCardNumbers(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	numbers := []string{visa, noFunds, nobody, sandbox.CardChallenge}
	for _, number := range numbers {
		id := b.order("beans")
		b.pay(id, number, "save", "1")
		b.get("/orders/" + id)
	}
	b.get("/customers/")
	w.close()
	defer w.open()
	held := w.everything()
	assert.Contains(t, held, "token=", "what browsers send was seen")
	for _, number := range numbers {
		assert.NotContains(t, held, number)
	}
}
