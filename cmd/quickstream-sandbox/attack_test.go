package main

import (
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
)

// naive guards as the command once did: the control endpoints only, by a lenient
// reading of the host and against writes only.
func (b *bench) naive(r *http.Request) int {
	lenient := func(hostport string) bool {
		host := hostport
		if h, _, err := net.SplitHostPort(hostport); err == nil {
			host = h
		}
		if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			return ip.IsLoopback()
		}
		return host == "localhost" || strings.HasSuffix(host, ".localhost")
	}
	inner := b.handler.(guard)
	w := httptest.NewRecorder()
	switch {
	case !strings.HasPrefix(r.URL.Path, controlPath+"/"):
		inner.service.ServeHTTP(w, r)
	case !lenient(r.Host):
		w.WriteHeader(http.StatusForbidden)
	default:
		http.NewCrossOriginProtection().Handler(inner.control).ServeHTTP(w, r)
	}
	return w.Code
}

// A page reaches this port under a name of its own, or under one that a lenient reading
// takes for a loopback: no host but a loopback's is answered, on no path.
func TestAttackRow10HostNames(t *testing.T) {
	b := newBench(t)
	for host, deceives := range map[string]bool{
		"[127.0.0.1": true, "127.0.0.1]": true, "[127.0.0.1]": true, "[127.0.0.1]:8642": true, "::1": true, "[::1": true, "::1]:8642": false,
		"evil.example#.localhost": true, "evil.example/.localhost": true, "a@b.localhost": true, ".localhost": true, "-.localhost": true,
		"localhost:": true, "localhost:99999": true, "localhost:http": true, "127.0.0.1:-1": true, "[::1%25eth0]": true, "[::1]x": false,
		"127.0.0.1:8642:1": false, "localhost.": false, "127.1": false, "0x7f.0.0.1": false, "2130706433": false, "0.0.0.0": false, "[::]": false,
		"localhost.evil.example": false, "127.0.0.1.evil.example": false, "192.0.2.1:8642": false, "": false,
	} {
		for _, path := range []string{"/_sandbox/clock", "/rest/v1/", "/"} {
			r := newRequest("GET", path, "")
			r.Host = host
			assert.Equal(t, http.StatusForbidden, b.send(r).Code, "%s at %q", path, host)
		}
		r := newRequest("GET", "/_sandbox/clock", "")
		r.Host = host
		assert.Equal(t, deceives, b.naive(r) == http.StatusOK, "the naive guard at %q", host)
	}
	assert.Empty(t, b.box.Requests(), "and the service has seen none of them")
	r := newRequest("GET", "/rest/v1/", "")
	r.Host = "evil.example"
	assert.Equal(t, http.StatusUnauthorized, b.naive(r))
	assert.Len(t, b.box.Requests(), 1, "the naive guard lets the service record strangers")

	for _, host := range []string{"127.0.0.1", "127.8.9.1:1", "[::1]", "[::1]:8642", "LocalHost:8642", "a-b.quickstream.localhost:80"} {
		r := newRequest("GET", "/_sandbox/clock", "")
		r.Host = host
		assert.Equal(t, http.StatusOK, b.send(r).Code, host)
	}
}

// Another site in the same browser reads what the service has recorded, or has it do
// something: it gets no answer, from the service or the control endpoints.
func TestAttackRow10OtherSites(t *testing.T) {
	b := newBench(t)
	strangers := map[string]http.Header{
		"another site":      {"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}},
		"another port":      {"Origin": {"http://127.0.0.1:3000"}, "Sec-Fetch-Site": {"same-site"}},
		"another scheme":    {"Origin": {"https://127.0.0.1:8642"}},
		"a sandboxed frame": {"Origin": {"null"}},
		"an empty origin":   {"Origin": {""}},
		"two origins":       {"Origin": {"http://127.0.0.1:8642", "https://evil.example"}},
		"an image":          {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"image"}},
		"a link":            {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}},
		"a frame":           {"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}},
		"what is yet to be": {"Sec-Fetch-Site": {"quite-near"}},
	}
	from := func(method, path, body string, h http.Header) *http.Request {
		r := newRequest(method, path, body)
		r.Header = h.Clone()
		return r
	}
	for name, header := range strangers {
		for _, path := range []string{"/", "/_sandbox", "/_sandbox/", "/_sandbox/requests", "/_sandbox/payer", "/_sandbox/ledger", "/rest/v1/", "/elsewhere"} {
			assert.Equal(t, http.StatusForbidden, b.send(from("GET", path, "", header)).Code, "%s reads %s", name, path)
		}
		assert.Equal(t, http.StatusForbidden, b.send(from("POST", "/_sandbox/clock", `{"advance":"1h"}`, header)).Code, name)
		assert.Equal(t, http.StatusForbidden, b.send(from("POST", "/rest/v1/transactions", "{}", header)).Code, name)
		assert.Equal(t, http.StatusForbidden, b.send(from("OPTIONS", "/rest/v1/single-use-tokens", "", header)).Code, name)
		assert.Equal(t, http.StatusOK, b.naive(from("GET", "/_sandbox/requests", "", header)), "the naive guard lets %s read", name)
	}
	assert.Empty(t, b.box.Requests())
	for _, own := range []http.Header{{}, {"Origin": {"http://127.0.0.1:8642"}, "Sec-Fetch-Site": {"same-origin"}}, {"Sec-Fetch-Site": {"none"}}} {
		assert.Equal(t, http.StatusOK, b.send(from("GET", "/_sandbox/requests", "", own)).Code)
		assert.Equal(t, http.StatusUnauthorized, b.send(from("GET", "/rest/v1/", "", own)).Code)
	}
}

// An origin that may call the service may not control the sandbox, and no other comes in
// behind it. The naive guard looks at the first origin alone.
func TestAttackRow10AllowedOrigins(t *testing.T) {
	b := newBench(t)
	allowed := http.Header{"Origin": {"http://shop.localhost:3000"}, "Sec-Fetch-Site": {"same-site"}}
	for _, origins := range [][]string{{"http://other.example", "http://shop.localhost:3000"}, {"*"}} {
		inner := b.handler.(guard)
		inner.origins = origins
		get := func(path string, h http.Header) int {
			r := newRequest("GET", path, "")
			r.Header = h.Clone()
			w := httptest.NewRecorder()
			inner.ServeHTTP(w, r)
			return w.Code
		}
		assert.Equal(t, http.StatusUnauthorized, get("/rest/v1/", allowed))
		assert.Equal(t, http.StatusForbidden, get("/_sandbox/requests", allowed))
		both := http.Header{"Origin": append(allowed["Origin"], "https://evil.example")}
		assert.Equal(t, http.StatusForbidden, get("/rest/v1/", both))
		assert.True(t, slices.Contains(origins, both.Get("Origin")) || slices.Contains(origins, "*"), "the naive guard allows it")
		assert.Equal(t, http.StatusForbidden, get("/rest/v1/", http.Header{"Sec-Fetch-Site": {"cross-site"}}), "who says no origin has none that is allowed")
	}
}

// What a shop's pages may do is not for its other requests, nor for other sites. The naive
// guard compares how a Referer begins.
func TestAttackRow10Shops(t *testing.T) {
	const shop = "http://127.0.0.1:8080"
	box := sandbox.New(sandbox.WithShop(shop))
	t.Cleanup(box.Close)
	handler, err := newHandler(t.Context(), box, liveclock.New())
	require.NoError(t, err)
	code := func(method, path string, h http.Header) (int, string) {
		r := newRequest(method, path, "")
		r.Header = h
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Content-Security-Policy")
	}
	leads := func(from string) http.Header {
		return http.Header{"Referer": {from}, "Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}
	}
	status, policy := code("GET", "/_shop/challenge", leads(shop+"/checkout/1"))
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, policy, "frame-ancestors "+shop)
	status, policy = code("GET", sandbox.PayerPage, leads(shop+"/"))
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, policy, "frame-ancestors 'none'")
	status, _ = code("GET", "/rest/v1/quickstream-api-1.0.min.js", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}})
	assert.Equal(t, http.StatusOK, status)

	for from, deceives := range map[string]bool{
		"": false, "null": false, "https://evil.example/": false, "https://127.0.0.1:8080/": false,
		shop + ".evil.example/": true, shop + "1/": true, shop + "@evil.example/": true,
	} {
		assert.Equal(t, deceives, strings.HasPrefix(from, shop), "the naive guard with %q", from)
		for _, path := range []string{"/_shop/challenge", sandbox.PayerPage, "/_sandbox/challenge", "/_sandbox/", "/rest/v1/"} {
			status, _ = code("GET", path, leads(from))
			assert.Equal(t, http.StatusForbidden, status, "%s from %q", path, from)
		}
	}
	for _, path := range []string{"/_sandbox/challenge", "/_sandbox/payer", "/_sandbox/", "/_sandbox/ledger", "/rest/v1/transactions"} {
		for _, h := range []http.Header{leads(shop + "/"), {"Origin": {shop}, "Sec-Fetch-Site": {"same-site"}}} {
			for _, method := range []string{"GET", "POST"} {
				status, _ = code(method, path, h)
				assert.Equal(t, http.StatusForbidden, status, "%s %s", method, path)
			}
		}
	}
	assert.Empty(t, box.Requests())
}

// No answer of this port may be framed, or be taken for another kind of content. What
// the service answers without the guard may be.
func TestAttackRow10FramesAndSniffing(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{
		"/", "/_sandbox/", "/_sandbox/help", "/_sandbox/payer", "/_sandbox/challenge", "/_sandbox/live.js", "/_sandbox/clock", "/_sandbox/nowhere", "/rest/v1/", "/rest/v1/nowhere", "/nowhere",
	} {
		h := b.send(newRequest("GET", path, "")).Header()
		assert.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		assert.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", path)
		assert.NotContains(t, h.Get("Content-Security-Policy"), "unsafe", path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
	}
	naive := httptest.NewRecorder()
	b.handler.(guard).service.ServeHTTP(naive, newRequest("GET", "/rest/v1/", ""))
	assert.Empty(t, naive.Header().Get("Content-Security-Policy"))
}

// largestWrite is how much an answer holds at once.
type largestWrite struct {
	*httptest.ResponseRecorder
	most int
}

func (w *largestWrite) Write(p []byte) (int, error) {
	w.most = max(w.most, len(p))
	return len(p), nil
}

// Bodies that grow when they are written as JSON do not make one large text, as the naive
// list of them does.
func TestAttackRow10BodiesReadBack(t *testing.T) {
	b := newBench(t)
	for range 12 {
		b.send(newRequest("POST", "/rest/v1/transactions", strings.Repeat("\x01", 128<<10)))
	}
	w := &largestWrite{ResponseRecorder: httptest.NewRecorder()}
	b.handler.ServeHTTP(w, newRequest("GET", "/_sandbox/requests", ""))
	assert.Less(t, w.most, 1<<20)

	naive := &largestWrite{ResponseRecorder: httptest.NewRecorder()}
	var all []any
	list, err := (&control{box: b.box}).requests(nil)
	require.NoError(t, err)
	for r := range list.(iter.Seq[any]) {
		all = append(all, r)
	}
	writeJSON(naive, http.StatusOK, all)
	assert.Greater(t, naive.most, 4<<20)
}
