package main

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// page is what a page shows, as it was sent.
func (b *bench) page(path string, values ...any) string {
	b.t.Helper()
	w := b.send(newRequest("GET", controlPath+fmt.Sprintf(path, values...), ""))
	require.Equal(b.t, http.StatusOK, w.Code)
	return w.Body.String()
}

// list is a list of the page of activity.
func (b *bench) list(id string) string {
	b.t.Helper()
	_, list, found := strings.Cut(b.page("/"), `<ol id="`+id+`">`)
	require.True(b.t, found)
	list, _, _ = strings.Cut(list, "</ol>")
	return list
}

// form sends a form of a page.
func (b *bench) form(path string, values url.Values) *httptest.ResponseRecorder {
	r := newRequest("POST", "/_sandbox"+path, values.Encode())
	r.Header = http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://127.0.0.1:8642"},
	}
	return b.send(r)
}

// done sends a form that does what it says, and leads back to its page.
func (b *bench) done(path, do, with string, more ...string) {
	b.t.Helper()
	values := url.Values{"do": {do}, "with": {with}}
	for i := 0; i < len(more); i += 2 {
		values.Set(more[i], more[i+1])
	}
	w := b.form(path, values)
	assert.Equal(b.t, []any{http.StatusSeeOther, "/_sandbox" + path}, []any{w.Code, w.Header().Get("Location")}, w.Body.String())
}

func TestActivity(t *testing.T) {
	b := newBench(t)
	b.subscribe(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	receipt := b.pay("ORDER-7")["receiptNumber"].(string)
	assert.Regexp(t, `(?s)<li id="tx-`+receipt+`".*10\.50 AUD.*ORDER-7`, b.list("ledger"))
	assert.Regexp(t, `(?s)POST /transactions.*PAYMENT.*ORDER-7.*10\.50 AUD.*<b class="outcome approved">Approved`, b.list("rows"))
	id := b.trigger("payto.agreement.confirmed")
	assert.Regexp(t, `(?s)<li id="delivery-`+id+`".*<b class="status done">delivered.*answered 200.*ORDER-7`, b.list("rows"), "the newest first")
	b.control(200, "POST", "/clock", `{"advance":"36h"}`)
	assert.Contains(t, b.page("/"), `<time id="clock">`+time.Now().UTC().Add(36*time.Hour).Format("2006-01-02"))
	assert.NotContains(t, b.page("/?find=order-8"), "ORDER-7")
	assert.Contains(t, b.page("/?find=order-7"), "ORDER-7")
	b.control(200, "POST", "/faults", `{"operation":"POST /transactions","nth":1,"kind":"StatusAfterCommit","status":502}`)
	b.service(502, "POST", "/transactions", b.box.Keys().Secret, payment("ORDER-9"))
	assert.Regexp(t, `(?s)502.*ORDER-9.*processed, although the answer does not say so.*fault: StatusAfterCommit`, b.list("rows"))
	for range rowsShown {
		b.pay("MANY")
	}
	assert.Equal(t, rowsShown, strings.Count(b.list("ledger"), "MANY,"))
	assert.NotContains(t, b.list("ledger"), receipt, "the newest are shown")
}

// A page without requests says what to do first, with a command that does it.
func TestTheEmptyPage(t *testing.T) {
	b := newBench(t)
	command := regexp.MustCompile(`(?s)id="start"><code>(.*?)</code>`).FindStringSubmatch(html.UnescapeString(b.page("/")))
	require.NotNil(t, command)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	sh := &shell{t: t, vars: map[string]string{"QUICKSTREAM_ENVIRONMENT": server.URL + servicePath, "QUICKSTREAM_SECRET_KEY": b.box.Keys().Secret}}
	assert.Contains(t, sh.run(command[1]), `"status":"Approved"`)
	assert.Len(t, b.box.Ledger().Charged("ORDER-1"), 1)
}

func TestTheFormsOfThePages(t *testing.T) {
	b := newBench(t)
	handler, posted := receiver(t, "s")
	b.subscribe(handler)
	b.done("/simulate", "advance", "2h")
	assert.InDelta(t, 2*time.Hour, time.Until(b.c.clock.Now()), float64(time.Minute))
	b.done("/simulate", "event", "payto.agreement.expired")
	b.done("/", "redeliver", b.box.Deliveries()[0].ID)
	assert.Equal(t, []string{"payto.agreement.expired", "payto.agreement.expired"}, []string{<-posted, <-posted})
	for do, with := range map[string]string{"advance": "<soon>", "event": "payto.nothing", "redeliver": "nobody", "fault": "none", "outcome": "lost", "pay": "4000", "": ""} {
		w := b.form("/simulate", url.Values{"do": {do}, "with": {with}})
		assert.NotEqual(t, http.StatusSeeOther, w.Code, do)
		assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"), "nothing of it is markup")
		assert.NotEmpty(t, w.Body.String(), do)
	}
}

// What the page says of a card, an outcome and a fault is so.
func TestWhatCanBeSimulated(t *testing.T) {
	b := newBench(t)
	cards := map[string]sandbox.TestCard{}
	for _, card := range sandbox.TestCards() {
		cards[card.Number] = card
	}
	page := b.page("/simulate")
	shown := regexp.MustCompile(`value="([0-9]{16})"><code>([0-9 ]{19})</code> <b class="(\w+)">\w+ ?([0-9]*)`).FindAllStringSubmatch(page, -1)
	assert.Len(t, shown, 10)
	for _, card := range shown {
		assert.Equal(t, []string{card[1], cards[card[1]].DeclineCode}, []string{strings.ReplaceAll(card[2], " ", ""), card[4]})
		b.done("/simulate", "pay", card[1])
		ledger := b.box.Ledger()
		assert.Equal(t, card[3], ledger[len(ledger)-1].Outcome)
	}
	shown = regexp.MustCompile(`<td><code>([0-9 ]{19})</code></td><td><b>(\w)`).FindAllStringSubmatch(page, -1)
	assert.Len(t, shown, 6)
	for _, card := range shown {
		assert.Equal(t, card[2], string(cards[strings.ReplaceAll(card[1], " ", "")].ThreeDS))
	}
	for _, outcome := range regexp.MustCompile(`<option value="((\w+).*?)"`).FindAllStringSubmatch(page, -1) {
		b.done("/simulate", "outcome", outcome[1])
		b.done("/simulate", "pay", "4242424242424242")
		ledger := b.box.Ledger()
		assert.Equal(t, outcome[2], ledger[len(ledger)-1].Outcome)
	}
	faults := regexp.MustCompile(`value="(\w+)" aria-pressed`).FindAllStringSubmatch(page, -1)
	assert.Len(t, faults, 7)
	for _, fault := range faults {
		on := `value="` + fault[1] + `" aria-pressed="true"`
		b.done("/simulate", "fault", fault[1])
		assert.Contains(t, b.page("/simulate"), on)
		if fault[1] != "HangAfterCommit" {
			assert.Equal(t, http.StatusOK, b.form("/simulate", url.Values{"do": {"pay"}, "with": {"4242424242424242"}}).Code, "it says what went wrong")
			assert.NotContains(t, b.page("/simulate"), `aria-pressed="true"`, "the payment has met it")
		}
	}
	b.done("/simulate", "clear-faults", "all")
	assert.NotContains(t, b.page("/simulate"), "Switch off")
	b.control(200, "POST", "/faults", `{"kind":"RateLimited"}`)
	assert.Contains(t, b.page("/simulate"), "A program has switched on 1 fault.")
}

// What was sent and answered can be seen, with numbers masked as the service masks them.
func TestTheDetail(t *testing.T) {
	b := newBench(t)
	b.subscribe(http.NotFoundHandler())
	receipt := b.pay("ORDER-7")["receiptNumber"].(string)
	page := b.page("/detail?request=%d", b.box.Requests()[0].Number)
	for _, part := range []string{"POST /rest/v1/transactions", "Authorization: secret", "Answer: 201", receipt, "&#34;cardNumber&#34;: &#34;424242...242&#34;,\n", "&#34;expiryDateMonth&#34;: &#34;02&#34;,\n    &#34;expiryDateYear&#34;: &#34;99&#34;", "The service processed the request."} {
		assert.Contains(t, page, part)
	}
	assert.NotContains(t, page, "4242424242424242")
	assert.NotContains(t, page, b.box.Keys().Secret)
	for check, fault := range map[string]sandbox.DeliveryFault{
		`The signature is valid`: {}, "no signature matches": {Tampered: true}, "timestamp too old": {Shift: -24 * time.Hour}, "timestamp too far in the future": {Shift: 6 * time.Minute},
	} {
		b.box.NextDelivery(fault)
		page = b.page("/detail?delivery=%s", b.trigger("payto.agreement.declined"))
		assert.Contains(t, page, check)
		assert.Contains(t, page, "X-Webhook-Signature: <code>t=", check)
		assert.Contains(t, page, "&#34;eventType&#34;: &#34;payto.agreement.declined&#34;", check)
	}
	for _, query := range []string{"", "request=0", "request=99", "request=x", "delivery=x"} {
		assert.Contains(t, b.page("/detail?%s", query), "no such request or delivery", query)
	}
}

// What anybody sends is shown as text, and not in full where it may be a card number
// or a key. The JSON of the ledger, which programs read, is the naive twin.
func TestAttackRow10WhatThePageShows(t *testing.T) {
	b := newBench(t)
	const markup = `<img src=x onerror=alert(1)>`
	hidden := []string{"4242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242", b.box.Keys().Secret, b.box.Keys().Publishable}
	for _, bad := range append(hidden, markup) {
		b.pay(bad)
		r := newRequest("GET", "/rest/v1/"+url.PathEscape(bad), "")
		r.Header.Set("Idempotency-Key", bad)
		b.send(r)
	}
	naive := b.send(newRequest("GET", "/_sandbox/ledger", "")).Body.String()
	page := b.list("rows") + b.list("ledger")
	for _, r := range b.box.Requests() {
		page += b.page("/detail?request=%d", r.Number)
	}
	shown := html.UnescapeString(page)
	for _, secret := range hidden {
		assert.Contains(t, naive, secret)
		assert.NotContains(t, shown, secret)
		assert.NotContains(t, shown, url.PathEscape(secret))
	}
	assert.NotContains(t, page, "<img")
	assert.Contains(t, shown, markup)
	assert.Contains(t, shown, "424242...242")
	assert.NotRegexp(t, regexp.MustCompile(`[0-9]{13}`), shown)
	assert.Less(t, len((&pages{control: &control{box: b.box}}).veiled(strings.Repeat("ü", 1<<16))), 120)
}

// subscribe posts events to a handler, signed with the secret s in real time.
func (b *bench) subscribe(to http.Handler) {
	b.t.Helper()
	require.NoError(b.t, b.box.Subscribe(sandbox.Subscription{Handler: to, Secret: "s", Scheme: signature.AssumedHMAC{}, Clock: time.Now}))
}
