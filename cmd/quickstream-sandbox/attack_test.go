package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// here is how a browser calls this port.
const here = "127.0.0.1:8642"

// asked is how a handler answers a request of a browser or of a program.
func asked(handler http.Handler, method, path, host string, header http.Header) *httptest.ResponseRecorder {
	r := newRequest(method, path, "")
	r.Host = host
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

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
			assert.Equal(t, http.StatusForbidden, asked(b.handler, "GET", path, host, nil).Code, "%s at %q", path, host)
		}
	}
	assert.Empty(t, b.box.Requests(), "and the service has seen none of them")
	for _, host := range []string{"127.0.0.1", "127.8.9.1:1", "[::1]", "[::1]:8642", "LocalHost:8642", "[::ffff:127.0.0.1]:80"} {
		assert.Equal(t, http.StatusOK, asked(b.handler, "GET", "/_sandbox/clock", host, nil).Code, host)
	}
}

// With -host exactly the named hosts are answered: none below, above or like them, and none
// that only resolves to the same address.
func TestAttackRow10NamedHosts(t *testing.T) {
	named := newBench(t).handler.(guard)
	require.NoError(t, named.hosts.add("sandbox,Host.docker.internal,192.0.2.1"))
	require.NoError(t, named.hosts.add("fd00::1"))
	code := func(host string, h http.Header) int { return asked(named, "GET", "/_sandbox/clock", host, h).Code }
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
	basic := func(user, password string) http.Header {
		r := newRequest("GET", "/", "")
		r.SetBasicAuth(user, password)
		return r.Header
	}
	for _, h := range []http.Header{basic(locked.token, ""), {"Authorization": {"Bearer " + locked.token}}} {
		assert.Equal(t, http.StatusOK, asked(locked, "GET", "/_sandbox/ledger", here, h).Code)
		assert.Equal(t, http.StatusForbidden, asked(locked, "GET", "/_sandbox/ledger", "evil.example", h).Code)
		assert.Equal(t, http.StatusUnauthorized, asked(locked, "GET", "/rest/v1/", here, h).Code, "it is no API key")
		for name, value := range map[string]string{"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"} {
			other := h.Clone()
			other.Set(name, value)
			assert.Equal(t, http.StatusForbidden, asked(locked, "POST", "/_sandbox/clock", here, other).Code, "a browser adds the token by itself")
		}
	}
	for name, h := range map[string]http.Header{
		"nothing": {}, "an empty one": basic("", ""), "another": basic("a token that nobody guessed", ""), "its beginning": {"Authorization": {"Bearer a token"}},
		"an API key": basic(b.box.Keys().Secret, ""), "as a password": basic("", locked.token),
	} {
		for _, path := range []string{"/", "/_sandbox", "/_sandbox/", "/_sandbox/simulate", "/_sandbox/requests", "/_sandbox/nowhere", "/_sandbox/ledger?token=a+token+that+nobody+guesses"} {
			w := asked(locked, "GET", path, here, h)
			assert.Equal(t, http.StatusUnauthorized, w.Code, "%s reads %s", name, path)
			assert.Contains(t, w.Header().Get("WWW-Authenticate"), "Basic")
		}
		assert.Equal(t, http.StatusUnauthorized, asked(locked, "POST", "/_sandbox/clock", here, h).Code, name)
		assert.Equal(t, http.StatusUnauthorized, asked(locked, "DELETE", "/_sandbox/faults", here, h).Code, name)
	}
}

// Another site in the same browser reads what the service has recorded, or has it do
// something: it gets no answer, from the service or the control endpoints.
func TestAttackRow10OtherSites(t *testing.T) {
	b := newBench(t)
	for name, header := range map[string]http.Header{
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
	} {
		for _, request := range []string{
			"GET /", "GET /_sandbox", "GET /_sandbox/", "GET /_sandbox/requests", "GET /_sandbox/ledger", "GET /rest/v1/", "GET /elsewhere",
			"POST /_sandbox/clock", "POST /_sandbox/simulate", "POST /rest/v1/transactions", "OPTIONS /rest/v1/single-use-tokens",
		} {
			method, path, _ := strings.Cut(request, " ")
			assert.Equal(t, http.StatusForbidden, asked(b.handler, method, path, here, header).Code, "%s: %s", name, request)
		}
	}
	assert.Empty(t, b.box.Requests())
	for _, own := range []http.Header{{}, {"Origin": {"http://127.0.0.1:8642"}, "Sec-Fetch-Site": {"same-origin"}}, {"Sec-Fetch-Site": {"none"}}} {
		assert.Equal(t, http.StatusOK, asked(b.handler, "GET", "/_sandbox/requests", here, own).Code)
		assert.Equal(t, http.StatusUnauthorized, asked(b.handler, "GET", "/rest/v1/", here, own).Code)
	}
}

// What a shop's pages may do is not for its other requests, nor for other sites.
func TestAttackRow10Shops(t *testing.T) {
	const shop = "http://127.0.0.1:8080"
	b := newBench(t, sandbox.WithShop(shop))
	leads := func(from string) http.Header {
		return http.Header{"Referer": {from}, "Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}
	}
	challenge := asked(b.handler, "GET", "/_shop/challenge", here, leads(shop+"/checkout/1"))
	assert.Equal(t, http.StatusOK, challenge.Code)
	assert.Contains(t, challenge.Header().Get("Content-Security-Policy"), "frame-ancestors "+shop)
	script := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}
	assert.Equal(t, http.StatusOK, asked(b.handler, "GET", "/rest/v1/quickstream-api-1.0.min.js", here, script).Code)

	for _, from := range []string{
		"", "null", "https://evil.example/", "https://127.0.0.1:8080/", shop + ".evil.example/", shop + "1/", shop + "@evil.example/",
	} {
		for _, path := range []string{"/_shop/challenge", "/_sandbox/simulate", "/_sandbox/", "/rest/v1/"} {
			assert.Equal(t, http.StatusForbidden, asked(b.handler, "GET", path, here, leads(from)).Code, "%s from %q", path, from)
		}
	}
	for _, path := range []string{"/_sandbox/simulate", "/_sandbox/", "/_sandbox/ledger", "/rest/v1/transactions"} {
		for _, h := range []http.Header{leads(shop + "/"), {"Origin": {shop}, "Sec-Fetch-Site": {"same-site"}}} {
			for _, method := range []string{"GET", "POST"} {
				assert.Equal(t, http.StatusForbidden, asked(b.handler, method, path, here, h).Code, "%s %s", method, path)
			}
		}
	}
	assert.Empty(t, b.box.Requests())
}

// No answer of this port may be framed, or be taken for another kind of content.
func TestAttackRow10FramesAndSniffing(t *testing.T) {
	b := newBench(t)
	for _, path := range []string{
		"/", "/_sandbox/", "/_sandbox/simulate", "/_sandbox/detail", "/_sandbox/pages.js", "/_sandbox/clock", "/_sandbox/nowhere", "/rest/v1/", "/rest/v1/nowhere", "/nowhere",
	} {
		h := asked(b.handler, "GET", path, here, nil).Header()
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
