package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// A page reaches this port under a name of its own, or under one that a lenient reading
// takes for a loopback: no host but a loopback's is answered, on no path.
func TestAttackRow10HostNames(t *testing.T) {
	b := newBench(t)
	for _, host := range []string{
		"[127.0.0.1", "127.0.0.1]", "[127.0.0.1]", "[127.0.0.1]:8642", "::1", "[::1", "::1]:8642",
		"evil.example#.localhost", "evil.example/.localhost", "a@b.localhost", ".localhost", "-.localhost", "quickstream.localhost", "a-b.quickstream.localhost:80",
		"localhost:", "localhost:99999", "localhost:http", "127.0.0.1:-1", "[::1%25eth0]", "[::1]x",
		"127.0.0.1:8642:1", "localhost.", "127.1", "0x7f.0.0.1", "2130706433", "0.0.0.0", "[::]", "host.docker.internal:8642",
		"evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1:8642", "",
	} {
		for _, path := range []string{"/_sandbox/clock", "/rest/v1/", "/"} {
			r := newRequest("GET", path, "")
			r.Host = host
			assert.Equal(t, http.StatusForbidden, b.send(r).Code, "%s at %q", path, host)
		}
	}
	assert.Empty(t, b.box.Requests(), "and the service has seen none of them")
	for _, host := range []string{"127.0.0.1", "127.8.9.1:1", "[::1]", "[::1]:8642", "LocalHost:8642", "[::ffff:127.0.0.1]:80"} {
		r := newRequest("GET", "/_sandbox/clock", "")
		r.Host = host
		assert.Equal(t, http.StatusOK, b.send(r).Code, host)
	}
}

// With -host exactly the named hosts are answered: none below, above or like them, and none
// that only resolves to the same address.
func TestAttackRow10NamedHosts(t *testing.T) {
	b := newBench(t)
	named := b.handler.(guard)
	require.NoError(t, named.hosts.add("sandbox,Host.docker.internal,192.0.2.1"))
	require.NoError(t, named.hosts.add("fd00::1"))
	code := func(host string, h http.Header) int {
		r := newRequest("GET", "/_sandbox/clock", "")
		r.Host, r.Header = host, h
		w := httptest.NewRecorder()
		named.ServeHTTP(w, r)
		return w.Code
	}
	for _, host := range []string{"sandbox", "SANDBOX:8642", "host.docker.internal:1", "192.0.2.1:8642", "[fd00::1]:8642", "localhost"} {
		assert.Equal(t, http.StatusOK, code(host, nil), host)
		assert.Equal(t, http.StatusOK, code(host, http.Header{"Origin": {"http://" + host}, "Sec-Fetch-Site": {"same-origin"}}), host)
		assert.Equal(t, http.StatusForbidden, code(host, http.Header{"Origin": {"http://evil.example"}}), host)
		assert.Equal(t, http.StatusForbidden, code(host, http.Header{"Sec-Fetch-Site": {"cross-site"}}), host)
	}
	for _, host := range []string{
		"sandbox.evil.example", "a.sandbox", "sandbox.", "sandbox:", "sandbox:x", "sandbox:1:2", "[sandbox]", "docker.internal", "192.0.2.10", "192.0.2.1.evil.example",
		"[fd00::2]", "[fd00::1%25eth0]", "fd00::1", "sandbox@evil.example", "evil.example", "*", "",
	} {
		assert.Equal(t, http.StatusForbidden, code(host, nil), host)
	}
	for _, bad := range []string{"*", "", "sandbox:8642", "http://sandbox", "a,,b", ".example", "a b", "fe80::1%eth0", "a/b"} {
		assert.Error(t, new(hosts).add(bad), bad)
	}
}

// A token is needed for all that controls the sandbox, is no way round the other checks, and is
// not for the service.
func TestAttackRow10Token(t *testing.T) {
	b := newBench(t)
	locked := b.handler.(guard)
	locked.token = "a token that nobody guesses"
	answer := func(method, path string, change func(*http.Request)) *httptest.ResponseRecorder {
		r := newRequest(method, path, "")
		change(r)
		w := httptest.NewRecorder()
		locked.ServeHTTP(w, r)
		return w
	}
	authorised := map[string]func(*http.Request){
		"basic":  func(r *http.Request) { r.SetBasicAuth(locked.token, "") },
		"bearer": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+locked.token) },
	}
	for name, change := range authorised {
		assert.Equal(t, http.StatusOK, answer("GET", "/_sandbox/ledger", change).Code, name)
		for header, value := range map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"} {
			w := answer("POST", "/_sandbox/clock", func(r *http.Request) { change(r); r.Header.Set(header, value) })
			assert.Equal(t, http.StatusForbidden, w.Code, "a browser adds the token by itself")
		}
		assert.Equal(t, http.StatusForbidden, answer("GET", "/_sandbox/ledger", func(r *http.Request) { change(r); r.Host = "evil.example" }).Code)
		assert.Equal(t, http.StatusUnauthorized, answer("GET", "/rest/v1/", change).Code, "it is no API key")
	}
	strangers := map[string]func(*http.Request){
		"nothing":       func(*http.Request) {},
		"an empty one":  func(r *http.Request) { r.SetBasicAuth("", "") },
		"another":       func(r *http.Request) { r.SetBasicAuth("a token that nobody guessed", "") },
		"its beginning": func(r *http.Request) { r.Header.Set("Authorization", "Bearer a token") },
		"an API key":    func(r *http.Request) { r.SetBasicAuth(b.box.Keys().Secret, "") },
		"as a password": func(r *http.Request) { r.SetBasicAuth("", locked.token) },
		"in the query":  func(r *http.Request) { r.URL.RawQuery = "token=" + locked.token },
	}
	for name, change := range strangers {
		for _, path := range []string{"/", "/_sandbox", "/_sandbox/", "/_sandbox/make", "/_sandbox/requests", "/_sandbox/nowhere"} {
			w := answer("GET", path, change)
			assert.Equal(t, http.StatusUnauthorized, w.Code, "%s reads %s", name, path)
			assert.Contains(t, w.Header().Get("WWW-Authenticate"), "Basic")
		}
		assert.Equal(t, http.StatusUnauthorized, answer("POST", "/_sandbox/clock", change).Code, name)
		assert.Equal(t, http.StatusUnauthorized, answer("DELETE", "/_sandbox/faults", change).Code, name)
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
		for _, path := range []string{"/", "/_sandbox", "/_sandbox/", "/_sandbox/requests", "/_sandbox/ledger", "/rest/v1/", "/elsewhere"} {
			assert.Equal(t, http.StatusForbidden, b.send(from("GET", path, "", header)).Code, "%s reads %s", name, path)
		}
		assert.Equal(t, http.StatusForbidden, b.send(from("POST", "/_sandbox/clock", `{"advance":"1h"}`, header)).Code, name)
		assert.Equal(t, http.StatusForbidden, b.send(from("POST", "/rest/v1/transactions", "{}", header)).Code, name)
		assert.Equal(t, http.StatusForbidden, b.send(from("OPTIONS", "/rest/v1/single-use-tokens", "", header)).Code, name)
	}
	assert.Empty(t, b.box.Requests())
	for _, own := range []http.Header{{}, {"Origin": {"http://127.0.0.1:8642"}, "Sec-Fetch-Site": {"same-origin"}}, {"Sec-Fetch-Site": {"none"}}} {
		assert.Equal(t, http.StatusOK, b.send(from("GET", "/_sandbox/requests", "", own)).Code)
		assert.Equal(t, http.StatusUnauthorized, b.send(from("GET", "/rest/v1/", "", own)).Code)
	}
}

// What a shop's pages may do is not for its other requests, nor for other sites.
func TestAttackRow10Shops(t *testing.T) {
	const shop = "http://127.0.0.1:8080"
	box := sandbox.New(sandbox.WithShop(shop))
	t.Cleanup(box.Close)
	handler, err := newHandler(&control{box: box, clock: sandbox.NewRunningClock(time.Now()), log: slog.New(slog.DiscardHandler)}, guard{})
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
	status, _ = code("GET", "/rest/v1/quickstream-api-1.0.min.js", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}})
	assert.Equal(t, http.StatusOK, status)

	for _, from := range []string{
		"", "null", "https://evil.example/", "https://127.0.0.1:8080/", shop + ".evil.example/", shop + "1/", shop + "@evil.example/",
	} {
		for _, path := range []string{"/_shop/challenge", "/_sandbox/make", "/_sandbox/", "/rest/v1/"} {
			status, _ = code("GET", path, leads(from))
			assert.Equal(t, http.StatusForbidden, status, "%s from %q", path, from)
		}
	}
	for _, path := range []string{"/_sandbox/make", "/_sandbox/", "/_sandbox/ledger", "/rest/v1/transactions"} {
		for _, h := range []http.Header{leads(shop + "/"), {"Origin": {shop}, "Sec-Fetch-Site": {"same-site"}}} {
			for _, method := range []string{"GET", "POST"} {
				status, _ = code(method, path, h)
				assert.Equal(t, http.StatusForbidden, status, "%s %s", method, path)
			}
		}
	}
	assert.Empty(t, box.Requests())
}

// No answer of this port may be framed, or be taken for another kind of content.
func TestAttackRow10FramesAndSniffing(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{
		"/", "/_sandbox/", "/_sandbox/make", "/_sandbox/detail", "/_sandbox/pages.js", "/_sandbox/clock", "/_sandbox/nowhere", "/rest/v1/", "/rest/v1/nowhere", "/nowhere",
	} {
		h := b.send(newRequest("GET", path, "")).Header()
		assert.Contains(t, h.Get("Content-Security-Policy"), "frame-ancestors 'none'", path)
		assert.Contains(t, h.Get("Content-Security-Policy"), "default-src 'none'", path)
		assert.NotContains(t, h.Get("Content-Security-Policy"), "unsafe", path)
		assert.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
		if strings.HasPrefix(path, "/_sandbox") {
			assert.Equal(t, "same-origin", h.Get("Referrer-Policy"), path)
			assert.Equal(t, "same-origin", h.Get("Cross-Origin-Opener-Policy"), path)
			assert.Contains(t, h.Get("Permissions-Policy"), "camera=()", path)
		}
	}
}
