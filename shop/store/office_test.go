package store

import (
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// staff is a browser of somebody who has logged in.
func (w *world) staff() *browser {
	w.Helper()
	b := w.browser()
	b.get("/office/login")
	page := b.post("/office/login", "password", w.config.Password, "to", "/office/")
	require.Equal(w, "/office/", page.path, page.body)
	b.get("/office/")
	return b
}

// until waits until a page says something.
func (b *browser) until(path, text string) shown {
	b.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		page := b.get(path)
		if strings.Contains(page.body, text) {
			return page
		}
		require.Less(b, time.Now(), deadline, "%s does not say %q: %s", path, text, page.body)
		<-time.After(50 * time.Millisecond)
	}
}

// Nothing of the back office is shown or done without the password.
func TestLogin(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	for _, r := range w.shop.officeRoutes() {
		method, path, _ := strings.Cut(r.pattern, " ")
		if path == "/office" || path == "/office/login" || path == "/metrics" {
			continue
		}
		path = strings.NewReplacer("{$}", "", "{order}", "x", "{write}", "x").Replace(path)
		if method == http.MethodPost {
			assert.Equal(t, http.StatusForbidden, b.post(path).status, r.pattern)
			continue
		}
		assert.Contains(t, b.get(path).path, "/office/login?to=", r.pattern)
	}
	b.get("/office/login")
	assert.Contains(t, b.post("/office/login", "password", "q").body, "That is not the password.")
	b.get("/office/login?to=/office/figures")
	assert.Equal(t, "/office/figures", b.post("/office/login", "password", "p", "to", "/office/figures").path)
	b.get("/office/")
	assert.Equal(t, "/office/login", b.post("/office/logout").path)
	assert.Contains(t, b.get("/office/").path, "/office/login")
}

// The login leads to no other site, and its cookie is for no script and no other site.
func TestLoginStaysHere(t *testing.T) {
	w := newWorld(t)
	for _, to := range []string{"//evil.example/office/", "https://evil.example/office/", "/", "/office/login", "\\\\evil.example", "/office/../orders/x", "javascript:x"} {
		assert.Contains(t, []string{"/office/", "/office/../orders/x"}, officePath(to), to)
	}
	b := w.browser()
	assert.Equal(t, "/office/", b.post("/office/login", "password", "p", "to", "//evil.example/office/").path)
	assert.Equal(t, "shop_office=x; Path=/office/; HttpOnly; SameSite=Strict", w.shop.officeCookie("x", 0).String())
}

// Wrong passwords take their time, however many are given at once, and keep nobody else out.
func TestWrongPasswords(t *testing.T) {
	w := newWorld(t)
	var given sync.WaitGroup
	for range 20 {
		b := w.browser()
		b.get("/office/login")
		given.Go(func() {
			begun := time.Now()
			assert.Equal(t, http.StatusForbidden, b.post("/office/login", "password", "q").status)
			assert.GreaterOrEqual(t, time.Since(begun), wrongTakes)
		})
	}
	w.staff()
	given.Wait()
	w.staff()
}

// A form of the back office is its own page's, and a login's own.
func TestOfficeForms(t *testing.T) {
	w := newWorld(t)
	b, other := w.staff(), w.staff()
	b.form, other.form = other.form, b.form
	assert.Equal(t, http.StatusForbidden, b.post("/office/logout").status)
	b.form = other.form
	assert.Equal(t, http.StatusForbidden, b.send("/office/logout", map[string][]string{"form": {b.form}}, http.Header{"Origin": {"http://evil.example"}}).status)
	assert.Equal(t, "/office/login", b.post("/office/logout").path)
}

// Money goes back in parts, never more than was paid, and once for a form.
func TestGiveBack(t *testing.T) {
	w := newWorld(t)
	customer, b := w.browser(), w.staff()
	id := customer.paid("pot")
	path := "/office/orders/" + id
	w.clock.Jump(48 * time.Hour) // a payment that has settled
	assert.Contains(t, b.get(path).body, `value="$64.00"`)
	for _, wrong := range []string{"", "0", "-1", "1.005", "x", "1e400", "1e1", "+5", ".5.1"} {
		assert.Equal(t, http.StatusUnprocessableEntity, b.post(path+"/give-back", "amount", wrong, "id", id+"-back-1").status, wrong)
	}
	assert.Contains(t, b.post(path+"/give-back", "amount", "64.01", "id", id+"-back-1").body, "more than is left")
	both(
		func() { b.post(path+"/give-back", "amount", "10.50", "id", id+"-back-1") },
		func() { b.post(path+"/give-back", "amount", "10.50", "id", id+"-back-1") },
	)
	b.until(path, "up to $53.50")
	assert.Equal(t, http.StatusUnprocessableEntity, b.post(path+"/give-back", "amount", "10.50", "id", id+"-back-1").status, "an old page")
	b.post(path+"/give-back", "amount", "$53.50", "id", id+"-back-2")
	b.until(path, "All of it was given back.")
	b.until("/office/returned", "$64.00 was given back.")
	customer.until("/orders/"+id, "given $64.00 back")
	lines := w.lines(id)
	w.has(lines, kindPerson, "give back $10.50")
	w.has(lines, kindOutcome, "Refund: approved")
	w.has(lines, kindLookUp, "GET /transactions/{receiptNumber}") // whether to void or to refund
}

// All of it is voided where that can still be done, in the payment's trace.
func TestGiveAllBack(t *testing.T) {
	w := newTracedWorld(t)
	customer, b := w.browser(), w.staff()
	id := customer.paid("pot")
	b.get("/office/orders/" + id)
	b.post("/office/orders/"+id+"/give-back", "amount", "64", "id", id+"-back-1")
	customer.becomes("/orders/"+id, "voided", 0)
	b.until("/office/returned", "$64.00 was given back.")
	w.has(w.lines(id), kindOutcome, "Reverse: approved")
	names := w.traceWith("Transactions.Void")
	assert.Contains(t, names, "Transactions.Get")
	assert.Contains(t, names, "Transactions.Pay")
	assert.Contains(t, names, "POST /orders/{order}/pay")
}

var writePattern = regexp.MustCompile(`/office/writes/([^/]+)/decide`)

// What nobody can find out is for a person, with evidence, and the person's word counts.
func TestDecide(t *testing.T) {
	w := newWorld(t)
	customer, b := w.browser(), w.staff()
	id := customer.order("pot")
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit()}))
	customer.pay(id, visa)
	customer.becomes("/orders/"+id, "unknown", 0)
	w.box.ClearFaults()
	w.waitsForPerson(id)
	page := b.until("/office/", "1 payment waits for a person")
	assert.Contains(t, page.body, "/office/orders/"+id)
	assert.Contains(t, customer.becomes("/orders/"+id, "person", 0).body, "ask the shop, and say the number of your order: "+id)
	assert.Contains(t, customer.get("/").body, "somebody is looking into it")
	found := writePattern.FindStringSubmatch(b.until("/office/person", id).body)
	require.NotNil(t, found)
	decide := "/office/writes/" + found[1] + "/decide"
	b.get("/office/orders/" + id)
	assert.Contains(t, b.post(decide, "verdict", "not_sent", "by", "Robin").body, "say who decides, and why")
	assert.Contains(t, b.post(decide, "verdict", "approved", "by", "Robin", "note", "x").body, "has a receipt number")
	assert.Contains(t, b.post(decide, "verdict", "bogus", "by", "Robin", "note", "x").body, "choose what became of it")
	page = b.post(decide, "verdict", "not_sent", "by", "Robin", "note", "Support has no such payment")
	assert.Contains(t, page.body, "Decided by Robin: Support has no such payment")
	assert.Contains(t, b.post(decide, "verdict", "not_sent", "by", "Robin", "note", "again").body, "something has happened")
	assert.Contains(t, b.get("/office/person").body, "Nothing waits for a person.")
	assert.Equal(t, http.StatusNotFound, b.post("/office/writes/x/decide", "verdict", "not_sent", "by", "Robin", "note", "x").status)
	customer.becomes("/orders/"+id, "unsent", 0)
	assert.Zero(t, w.charged(id))
}

// What a person takes for the payment is read from the service, and has to be it.
func TestDecideByReceipt(t *testing.T) {
	w := newWorld(t)
	customer, b := w.browser(), w.staff()
	paid := func(item, card, state string) string {
		id := customer.order(item)
		customer.pay(id, card)
		customer.becomes("/orders/"+id, state, 0)
		return w.box.Ledger().Order(id)[0].Receipt
	}
	same, other, declined := paid("pot", visa, approved), paid("cup", visa, approved), paid("pot", noFunds, "declined")
	id := customer.order("pot")
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit()}))
	customer.pay(id, visa)
	w.box.ClearFaults()
	w.waitsForPerson(id)
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}", Kind: sandbox.ResetBeforeCommit()}))
	found := writePattern.FindStringSubmatch(b.until("/office/person", id).body)
	require.NotNil(t, found)
	b.get("/office/orders/" + id)
	decided := func(receipt string) shown {
		return b.post("/office/writes/"+found[1]+"/decide", "verdict", "approved", "by", "Robin", "note", "Seen in the portal", "receipt", receipt)
	}
	assert.Contains(t, decided(same).body, "Not done: the service cannot be asked about the receipt now")
	w.box.ClearFaults()
	for receipt, why := range map[string]string{
		"<script>": "Not done: ", "1": "Not done: the service has no transaction with that receipt number.",
		same: "is another order&#39;s.", other: "is not of 64.00 AUD.", declined: "was not approved: the service says &#34;Declined&#34;.",
	} {
		page := decided(receipt)
		assert.Equal(t, http.StatusUnprocessableEntity, page.status, receipt)
		assert.Contains(t, page.body, why, receipt)
	}
	// Somebody has taken the payment in the service's portal.
	token, err := sandboxtest.CardToken(t.Context(), w.client, visa)
	require.NoError(t, err)
	params := w.shop.params(order{ID: id, Amount: 6400})
	params.Source, params.ECI, params.IPAddress = quickstream.FromSingleUseToken(token), quickstream.ECIInternet, netip.MustParseAddr("203.0.113.7")
	params.SupplierBusinessCode = sandbox.DefaultBusiness
	params.StoredCredential = &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	taken, err := w.client.Transactions.Pay(t.Context(), params)
	require.NoError(t, err)
	w.clock.Jump(time.Hour) // until the service shows it
	assert.Contains(t, decided(taken.ReceiptNumber).body, "Decided by Robin: Seen in the portal")
	customer.becomes("/orders/"+id, approved, 0)
}

// waitsForPerson lets time pass until a payment is for a person.
func (w *world) waitsForPerson(order string) {
	w.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		list, err := w.shop.written(w.Context(), "order_id = ? AND "+forPerson, order)
		require.NoError(w, err)
		if len(list) > 0 {
			return
		}
		require.Less(w, time.Now(), deadline, "it does not become a person's")
		w.clock.Jump(2 * time.Hour)
		<-time.After(50 * time.Millisecond)
	}
}

// The list holds each payment, and an order is found by its receipt.
func TestFind(t *testing.T) {
	w := newWorld(t)
	customer, b := w.browser(), w.staff()
	id := customer.paid("pot")
	never := customer.order("beans")
	page := b.get("/office/")
	assert.Contains(t, page.body, id)
	assert.NotContains(t, page.body, never)
	assert.Equal(t, "/office/orders/"+id, b.get("/office/find?number="+w.box.Ledger().Order(id)[0].Receipt).path)
	assert.Equal(t, "/office/orders/"+id, b.get("/office/find?number="+id).path)
	assert.Equal(t, http.StatusNotFound, b.get("/office/find?number=1").status)
}

// The list shows the newest payments, says so, and counts all of them.
func TestNewestPayments(t *testing.T) {
	w := newWorld(t)
	b := w.staff()
	_, err := w.shop.db.ExecContext(t.Context(), `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 103)
		INSERT INTO shop_order (id, visitor, item, amount, state, created) SELECT 'order-' || n, 'v', 'Cup', 1250, iif(n > 2, 'approved', 'declined'), n FROM n`)
	require.NoError(t, err)
	page := b.get("/office/")
	assert.Contains(t, page.body, "103 payments, 101 approved, 2 declined. The newest 100 are shown.")
	assert.Contains(t, page.body, "order-103<")
	assert.NotContains(t, page.body, "order-3<")
}

// Each day is compared once it is over, however long nobody was there to do it. Days with
// differences stay, and one that somebody asks for is shown first.
func TestComparison(t *testing.T) {
	w := newWorld(t)
	customer, b := w.browser(), w.staff()
	b.until("/office/comparison", "No differences")
	begun := w.shop.today()
	id := customer.paid("pot")
	p, err := w.shop.engine.PaymentOf(t.Context(), id)
	require.NoError(t, err)
	_, err = w.shop.db.ExecContext(t.Context(), "UPDATE quickstream_write SET amount = 600 WHERE order_id = ?", id)
	require.NoError(t, err)
	w.clock.Jump(20 * 24 * time.Hour)
	require.Eventually(t, func() bool {
		dates, err := w.shop.uncompared(t.Context())
		return err == nil && len(dates) == 0 && w.shop.today().Compare(begun.AddDays(20)) >= 0
	}, 10*time.Second, 50*time.Millisecond, "all days are compared")
	page := b.until("/office/comparison", "1 difference")
	assert.Contains(t, page.body, "settled on <span class=\"whole\">"+p.SettlesOn.String())
	assert.Contains(t, page.body, id)
	assert.Equal(t, 8, strings.Count(page.body, "Payments settled on"), "the last week, and the day with the difference")
	old := begun.AddDays(9).String()
	assert.NotContains(t, page.body, old)
	for _, asked := range []string{old, w.shop.today().String()} {
		path := b.post("/office/comparison", "date", asked).path
		page = b.until(path, "settled on <span class=\"whole\">"+asked)
		_, first, _ := strings.Cut(page.body, "Payments settled on ")
		assert.True(t, strings.HasPrefix(first, "<span class=\"whole\">"+asked), asked)
	}
	for _, wrong := range []string{"2999-01-01", begun.AddDays(-9).String(), "x", ""} {
		page = b.post("/office/comparison", "date", wrong)
		assert.Equal(t, http.StatusUnprocessableEntity, page.status, wrong)
		assert.Contains(t, page.body, "Not done: choose a day from ", wrong)
	}
	_, err = w.shop.db.ExecContext(t.Context(), "UPDATE shop_comparison SET failed = 1, begun = 0 WHERE date = ?", old)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return !strings.Contains(b.get("/office/comparison").body, "could not be read")
	}, 10*time.Second, 50*time.Millisecond, "it is read again")
}
