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

// list is a list of the page of what happens.
func (b *bench) list(id string) string {
	b.t.Helper()
	_, list, found := strings.Cut(b.send(newRequest("GET", "/_sandbox/", "")).Body.String(), `<ol id="`+id+`">`)
	require.True(b.t, found)
	list, _, _ = strings.Cut(list, "</ol>")
	return list
}

func TestThePageChangesAsTheSandboxDoes(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Secret: "s", Scheme: signature.AssumedHMAC{},
	}))
	receipt := b.pay("ORDER-7")["receiptNumber"].(string)
	assert.Regexp(t, `(?s)<li id="tx-`+receipt+`".*10\.50 AUD.*ORDER-7`, b.list("ledger"))
	assert.Regexp(t, `(?s)POST /transactions.*ORDER-7.*10\.5 AUD.*<b class="approved">Approved`, b.list("rows"))
	id := b.trigger("payto.agreement.confirmed")
	assert.Regexp(t, `(?s)<li id="delivery-`+id+`".*<b class="done">.*attempts: 1.*answered 200.*ORDER-7`, b.list("rows"), "the newest first")
	b.control(200, "POST", "/clock", `{"advance":"36h"}`)
	assert.Contains(t, b.send(newRequest("GET", "/_sandbox/", "")).Body.String(), fmt.Sprintf(`data-ahead="%d"`, (36*time.Hour).Milliseconds()))
	for range rowsShown {
		b.pay("MANY")
	}
	assert.Equal(t, rowsShown, strings.Count(b.list("ledger"), ">MANY<"))
	assert.NotContains(t, b.list("ledger"), receipt, "the newest are shown")
}

// form sends a form of a page.
func (b *bench) form(path string, values url.Values) *httptest.ResponseRecorder {
	r := newRequest("POST", "/_sandbox"+path, values.Encode())
	r.Header = http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://127.0.0.1:8642"},
	}
	return b.send(r)
}

func TestTheFormsOfThePages(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, "s")
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{Handler: r, Secret: "s", Scheme: signature.AssumedHMAC{}, Clock: time.Now}))
	page := func() string {
		return html.UnescapeString(b.send(newRequest("GET", "/_sandbox/make", "")).Body.String())
	}
	done := func(path, field, value string) {
		t.Helper()
		w := b.form(path, url.Values{field: {value}})
		assert.Equal(t, []any{http.StatusSeeOther, "/_sandbox" + path}, []any{w.Code, w.Header().Get("Location")}, w.Body.String())
	}
	done("/make", "advance", "2h")
	assert.InDelta(t, 2*time.Hour, time.Until(b.clock.Now()), float64(time.Minute))
	done("/make", "event", "payto.agreement.expired")
	done("/", "redeliver", b.box.Deliveries()[0].ID)
	assert.Equal(t, []string{"payto.agreement.expired", "payto.agreement.expired"}, r.next(2))
	done("/make", "outcome", "declined 51")
	done("/make", "card", "4242424242424242")
	assert.Equal(t, "declined", b.box.Ledger()[0].Outcome)
	for _, f := range pageFaults() {
		assert.Contains(t, page(), f.Sees)
		done("/make", "fault", f.Name)
		assert.Contains(t, page(), f.Kind+" has struck 0 times.", "it is on")
	}
	assert.Contains(t, b.form("/make", url.Values{"card": {"4242424242424242"}}).Body.String(), "is a fault in force?")
	assert.Contains(t, page(), "ResetAfterCommit has struck 1 time.")
	assert.Contains(t, page(), fmt.Sprintf("wait for a call: %d.", len(pageFaults())-1))
	done("/make", "mend", "all")
	assert.Contains(t, page(), "No fault waits for a call.")
	done("/make", "card", "4242424242424242")

	for field, value := range map[string]string{"advance": "<soon>", "event": "payto.nothing", "redeliver": "nobody", "fault": "none", "outcome": "lost", "card": "4000", "": ""} {
		w := b.form("/make", url.Values{field: {value}})
		assert.NotEqual(t, http.StatusSeeOther, w.Code, field)
		assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"), "nothing of it is markup")
		assert.NotEmpty(t, w.Body.String(), field)
	}
}

// A page without requests says what to do first, with a command that does it.
func TestTheEmptyPage(t *testing.T) {
	b := newBench(t)
	page := html.UnescapeString(b.send(newRequest("GET", "/_sandbox/", "")).Body.String())
	assert.Contains(t, page, firstPayment)
	server := httptest.NewServer(b.handler)
	defer server.Close()
	sh := newShell(t, "export QUICKSTREAM_ENVIRONMENT="+server.URL+"/rest/v1\nexport QUICKSTREAM_SECRET_KEY="+b.box.Keys().Secret)
	assert.Contains(t, sh.run(firstPayment), `"status":"Approved"`)
	assert.Len(t, b.box.Ledger().Charged("ORDER-1"), 1)
}

// What was sent and answered can be seen, with numbers masked as the service masks them.
func TestTheDetail(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{Handler: http.NotFoundHandler(), Secret: "s", Scheme: signature.AssumedHMAC{}, Clock: time.Now}))
	receipt := b.pay("ORDER-7")["receiptNumber"].(string)
	detail := func(query string, more ...any) string {
		t.Helper()
		w := b.send(newRequest("GET", fmt.Sprintf("/_sandbox/detail?"+query, more...), ""))
		require.Equal(t, 200, w.Code)
		return w.Body.String()
	}
	page := detail("request=%d", b.box.Requests()[0].Number)
	for _, part := range []string{"POST /rest/v1/transactions", "Authorization: secret", "Answered: 201", receipt, "&#34;cardNumber&#34;: &#34;424242...242&#34;,\n", "&#34;expiryDateMonth&#34;: &#34;02&#34;,\n    &#34;expiryDateYear&#34;: &#34;99&#34;", "It was carried out."} {
		assert.Contains(t, page, part)
	}
	assert.NotContains(t, page, "4242424242424242")
	assert.NotContains(t, page, b.box.Keys().Secret)

	for check, fault := range map[string]sandbox.DeliveryFault{
		`The signature is valid`: {}, "no signature matches": {Tampered: true}, "timestamp too old": {Shift: -24 * time.Hour}, "timestamp too far in the future": {Shift: 6 * time.Minute},
	} {
		b.box.NextDelivery(fault)
		page = detail("delivery=%s", b.trigger("payto.agreement.declined"))
		assert.Contains(t, page, check)
		assert.Contains(t, page, "X-Webhook-Signature: <code>t=", check)
		assert.Contains(t, page, "&#34;eventType&#34;: &#34;payto.agreement.declined&#34;", check)
	}
	for _, query := range []string{"", "request=0", "request=99", "request=x", "delivery=x"} {
		assert.Contains(t, detail(query), "no such request or delivery", query)
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
	var page strings.Builder
	page.WriteString(b.send(newRequest("GET", "/_sandbox/", "")).Body.String())
	for _, r := range b.box.Requests() {
		page.WriteString(b.send(newRequest("GET", fmt.Sprintf("/_sandbox/detail?request=%d", r.Number), "")).Body.String())
	}
	shown := html.UnescapeString(page.String())
	for _, secret := range hidden {
		assert.Contains(t, naive, secret)
		assert.NotContains(t, shown, secret)
		assert.NotContains(t, shown, url.PathEscape(secret))
	}
	assert.NotContains(t, page.String(), "<img")
	assert.Contains(t, shown, markup)
	assert.Contains(t, shown, "424242...242")
	assert.NotRegexp(t, regexp.MustCompile(`[0-9]{13}`), shown)
	assert.Less(t, len((&pages{control: &control{box: b.box}}).veiled(strings.Repeat("ü", 1<<16))), 120)
}
