package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// stream reads what the page is told.
func (b *bench) stream(query string) (next func() news) {
	b.t.Helper()
	server := httptest.NewServer(b.handler)
	b.t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(b.t.Context())
	b.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/_sandbox/live"+query, nil)
	require.NoError(b.t, err)
	resp, err := server.Client().Do(r)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = resp.Body.Close() })
	require.Equal(b.t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func() (told news) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(b.t, json.Unmarshal([]byte(data), &told))
				return told
			}
		}
		return news{}
	}
}

func TestThePageChangesAsTheSandboxDoes(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), Secret: "s", Scheme: signature.AssumedHMAC{},
	}))
	next := b.stream("")
	told := next().Rows
	assert.Equal(t, map[string]string{"ledger": "", "requests": "", "deliveries": ""}, told)
	var ahead int64
	until := func(done func() bool) {
		t.Helper()
		for !done() {
			change := next()
			require.NotNil(t, change.Rows, "the stream has ended")
			ahead = change.Ahead
			for name, rows := range change.Rows {
				assert.NotEqual(t, told[name], rows, "told twice: %s", name)
				told[name] = rows
			}
		}
	}
	shows := func(list, text string) func() bool { return func() bool { return strings.Contains(told[list], text) } }
	receipt := b.pay("ORDER-7")["receiptNumber"].(string)
	until(shows("ledger", `<li id="tx-`+receipt+`">`))
	until(shows("requests", "POST /transactions"))
	assert.Contains(t, told["ledger"], "10.50 AUD")
	assert.Contains(t, told["ledger"], "order ORDER-7")
	id := b.trigger("payto.agreement.confirmed")
	until(shows("deliveries", `<li id="delivery-`+id+`">`))
	until(shows("deliveries", `<b class="done">`))
	assert.Contains(t, told["deliveries"], "200, signature valid, attempts: 1")
	b.control(200, "POST", "/clock", `{"advance":"36h"}`)
	until(func() bool { return ahead == (36 * time.Hour).Milliseconds() })
	for range rowsShown {
		b.pay("MANY")
	}
	until(func() bool { return strings.Count(told["ledger"], "order MANY") == rowsShown })
	assert.NotContains(t, told["ledger"], receipt, "the newest are shown")
}

func TestTheStreamEndsWithTheServer(t *testing.T) {
	clock := liveclock.New()
	box := sandbox.New(sandbox.WithClock(clock.Clock))
	defer box.Close()
	ctx, end := context.WithCancel(t.Context())
	handler, err := newHandler(ctx, &control{box: box, clock: clock, log: slog.New(slog.DiscardHandler)}, guard{})
	require.NoError(t, err)
	b := &bench{t: t, box: box, clock: clock, handler: handler}
	next := b.stream("")
	require.NotNil(t, next().Rows)
	end()
	assert.Nil(t, next().Rows)
}

func TestASilentPageIsTold(t *testing.T) {
	same := news{Ahead: 5}
	_, due := same.message(news{Ahead: 5}, longestSilence)
	assert.False(t, due)
	message, due := same.message(news{Ahead: 5}, longestSilence+1)
	assert.True(t, due)
	assert.Equal(t, ":\n\n", string(message))
	message, due = same.message(news{}, 0)
	assert.True(t, due)
	assert.JSONEq(t, `{"ahead":5,"rows":null}`, strings.TrimPrefix(string(message), "data: "))
}

func TestTheFormsOfThePage(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, "s")
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{Handler: r, Secret: "s", Scheme: signature.AssumedHMAC{}, Clock: time.Now}))
	post := func(want int, values url.Values) string {
		t.Helper()
		q := newRequest("POST", "/_sandbox/", values.Encode())
		q.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://127.0.0.1:8642"}}
		w := b.send(q)
		require.Equal(t, want, w.Code, w.Body.String())
		return w.Header().Get("Location") + w.Body.String()
	}
	assert.Equal(t, "/_sandbox/", post(303, url.Values{"advance": {"2h"}}))
	assert.Equal(t, 2*time.Hour, b.clock.Ahead())
	post(303, url.Values{"event": {"payto.agreement.expired"}})
	post(303, url.Values{"redeliver": {b.box.Deliveries()[0].ID}})
	assert.Equal(t, []string{"payto.agreement.expired", "payto.agreement.expired"}, r.next(2))
	for field, value := range map[string]string{"advance": "<soon>", "event": "payto.nothing", "redeliver": "nobody", "": ""} {
		page := post(422, url.Values{field: {value}})
		assert.Contains(t, page, "<!doctype html>", "the page is there again")
		switch field {
		case "advance":
			assert.Regexp(t, `name="advance" value="&lt;soon&gt;" [^>]*aria-describedby="wrong-advance" aria-invalid="true"`, page)
			assert.Regexp(t, `id="wrong-advance" role="alert">[^<]*write 90s, 48h or 2d12h`, page)
		case "event":
			assert.Regexp(t, `id="wrong-event" role="alert">no event type`, page)
		case "redeliver":
			assert.Regexp(t, `id="state" role="status">sandbox: no delivery`, page)
		}
		q := newRequest("POST", "/_sandbox/", url.Values{field: {value}}.Encode())
		q.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"text/plain"}}
		w := b.send(q)
		assert.Equal(t, "text/plain; charset=utf-8", w.Header().Get("Content-Type"))
		assert.NotEmpty(t, w.Body.String(), "nothing was done")
		assert.NotContains(t, w.Body.String(), "<!doctype", "the script puts it beside the field")
	}
}

func TestFilters(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{Handler: http.NotFoundHandler(), Secret: "s", Scheme: signature.AssumedHMAC{}}))
	b.pay("ORDER-7")
	b.pay("ORDER-8")
	b.service(422, "POST", "/transactions", b.box.Keys().Secret, object{})
	b.control(200, "POST", "/faults", `{"operation":"POST /transactions","nth":1,"kind":"Status","status":502}`)
	b.service(502, "POST", "/transactions", b.box.Keys().Secret, object{"customerReferenceNumber": "ORDER-9"})
	b.trigger("payto.agreement.declined")
	shown := func(query, list string) int {
		t.Helper()
		page := b.send(newRequest("GET", "/_sandbox/?"+query, "")).Body.String()
		return strings.Count(page, `<li id="`+list+`-`)
	}
	assert.Equal(t, []int{2, 6, 1}, []int{shown("", "tx"), shown("", "request"), shown("", "delivery")})
	for query, want := range map[string][]int{
		"find=order-7": {1, 1, 0}, "find=DECLINED": {0, 0, 1}, "find=nowhere": {0, 0, 0}, "show=refused": {2, 1, 1}, "show=failed": {2, 1, 1},
		"show=done": {2, 4, 1}, "show=faults": {2, 1, 1}, "show=unanswered": {2, 0, 1}, "show=refused&find=order-8": {1, 0, 0}, "show=nonsense": {2, 6, 1},
	} {
		assert.Equal(t, want, []int{shown(query, "tx"), shown(query, "request"), shown(query, "delivery")}, query)
	}
	told := b.stream("?show=refused&find=order-8")().Rows
	assert.Contains(t, told["ledger"], "order ORDER-8")
	assert.NotContains(t, told["ledger"]+told["requests"]+told["deliveries"], "ORDER-7")
	assert.Empty(t, told["deliveries"])
	page := b.send(newRequest("GET", `/_sandbox/?show=failed&find=%22%3Eorder`, "")).Body.String()
	assert.Contains(t, page, `value="&#34;&gt;order"`)
	assert.Contains(t, page, `<option selected>failed</option>`)
}

// What was sent and answered can be seen, with numbers masked as the service masks them.
func TestTheInspector(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.box.Subscribe(sandbox.Subscription{Handler: http.NotFoundHandler(), Secret: "s", Scheme: signature.AssumedHMAC{}, Clock: time.Now}))
	receipt := b.pay("ORDER-7")["receiptNumber"].(string)
	inspect := func(query string, more ...any) string {
		t.Helper()
		w := b.send(newRequest("GET", fmt.Sprintf("/_sandbox/inspect?"+query, more...), ""))
		require.Equal(t, 200, w.Code)
		return w.Body.String()
	}
	page := inspect("request=%d", b.box.Requests()[0].Number)
	for _, part := range []string{"POST /transactions", "Authorization: secret", "Answered: 201", receipt, "&#34;cardNumber&#34;: &#34;424242...242&#34;,\n    &#34;expiryDateMonth&#34;: &#34;02&#34;,\n    &#34;expiryDateYear&#34;: &#34;99&#34;", "It was carried out."} {
		assert.Contains(t, page, part)
	}
	assert.NotContains(t, page, "4242424242424242")
	assert.NotContains(t, page, b.box.Keys().Secret)

	for fault, check := range map[string]string{
		"none": `The signature is <b class="done">valid</b>`, "tampered": "no signature matches", "stale 1d": "timestamp too old", "future 6m": "timestamp too far in the future",
	} {
		b.control(200, "POST", "/deliveries/faults", `["`+fault+`"]`)
		page = inspect("delivery=%s", b.trigger("payto.agreement.declined"))
		assert.Contains(t, page, "payto.agreement.declined", fault)
		assert.Contains(t, page, check, fault)
		assert.Contains(t, page, "X-Webhook-Signature: <code>t=", fault)
		assert.Contains(t, page, "&#34;eventType&#34;: &#34;payto.agreement.declined&#34;", fault)
	}
	for _, query := range []string{"", "request=0", "request=99", "request=x", "delivery=x"} {
		assert.Contains(t, inspect(query), "no such request or delivery", query)
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
	for _, path := range []string{"/_sandbox/", "/_sandbox/payer", "/_sandbox/challenge"} {
		page.WriteString(b.send(newRequest("GET", path, "")).Body.String())
	}
	for _, r := range b.box.Requests() {
		page.WriteString(b.send(newRequest("GET", fmt.Sprintf("/_sandbox/inspect?request=%d", r.Number), "")).Body.String())
	}
	told := b.stream("")()
	for _, rows := range told.Rows {
		page.WriteString(rows)
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

// Pages hold to their own policy: no script or style but what is a file.
func TestPagesHaveNothingInline(t *testing.T) {
	b := newBench(t)
	b.agreement()
	for _, path := range []string{"/_sandbox/", "/_sandbox/inspect?request=1", "/_sandbox/inspect", "/_sandbox/payer", "/_sandbox/challenge", "/_sandbox/help"} {
		body := b.send(newRequest("GET", path, "")).Body.String()
		assert.True(t, strings.HasPrefix(body, "<!doctype html>"), path)
		assert.NotRegexp(t, `<style|<script>|<[^>]+ (style|on\w+)=`, body, path)
		assert.Contains(t, body, `<html lang="en">`, path)
		assert.Contains(t, body, `name="viewport"`, path)
		assert.Equal(t, 1, strings.Count(body, "<h1"), path)
		for _, file := range regexp.MustCompile(`(?:src|href)="(/_sandbox/[^"?]*)"`).FindAllStringSubmatch(body, -1) {
			assert.Equal(t, 200, b.send(newRequest("GET", file[1], "")).Code, file[1])
		}
	}
}
