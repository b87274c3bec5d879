package clienttest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// visit is a request that a server got, as far as it gives something away.
type visit struct{ method, path, body, authorization, key, referer string }

// visits returns a handler that keeps what it gets, and answers as handle does.
func visits(kept *[]visit, handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*kept = append(*kept, visit{
			method: r.Method, path: r.URL.Path, body: string(body), authorization: r.Header.Get("Authorization"),
			key: r.Header.Get("Idempotency-Key"), referer: r.Header.Get("Referer"),
		})
		handle(w, r)
	}
}

const plainCard = `{"creditCard":{"cardNumber":"4242424242424242"}}`

// plainRequest is what a program sends that uses net/http alone.
func plainRequest(t *testing.T, method, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(plainCard))
	require.NoError(t, err)
	r.SetBasicAuth("SECRET_KEY_1", "")
	r.Header.Set("Idempotency-Key", "key-1")
	return r
}

// redirecting sends a payment, and a look-up by account, to a service that redirects them
// to a stranger, whose port is PORT, or to itself. Neither may be followed. It returns the
// requests after the redirect that net/http's client makes of one of its own.
func redirecting(t *testing.T, start func(*httptest.Server), status int, location, method, query string) []visit {
	t.Helper()
	var here, elsewhere []visit
	stranger := httptest.NewServer(visits(&elsewhere, func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(stranger.Close)
	_, port, _ := strings.Cut(stranger.Listener.Addr().String(), ":")
	location = strings.ReplaceAll(location, "PORT", port)
	var service *httptest.Server
	client, _ := server(t, visits(&here, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/rest/v1/transactions") && r.URL.RawQuery != "again" {
			w.Header().Set("Location", location)
			w.WriteHeader(status)
		}
	}), func(s *httptest.Server) { start(s); service = s })
	_, err := client.Transactions.Pay(t.Context(), payment())
	assert.Equal(t, unknown, ending(err), "%d to %q", status, location)
	assert.NotContains(t, fmt.Sprintf("%+v", err), "canary", "%d to %q", status, location)
	_, err = client.Transactions.ByBankAccount("032-999", quickstream.NewSecret("999994")).First(t.Context())
	assert.Equal(t, answered, ending(err), "%d to %q", status, location)
	assert.NotContains(t, fmt.Sprintf("%+v", err), "canary", "%d to %q", status, location)
	if assert.Len(t, here, 2, "%d to %q", status, location) {
		assert.Equal(t, "/rest/v1/transactions", here[0].path)
		assert.Equal(t, "/rest/v1/transactions/for-bank-account", here[1].path)
	}
	assert.Empty(t, elsewhere, "%d to %q", status, location)

	resp, err := service.Client().Do(plainRequest(t, method, service.URL+"/rest/v1/transactions"+query))
	require.NoError(t, err)
	resp.Body.Close()
	return append(here[3:], elsewhere...)
}

// TestAttack01RedirectToAnotherHost: a 307 or 308 would have the card sent once more, to a
// host that nobody chose. It is the answer, and the outcome unknown.
func TestAttack01RedirectToAnotherHost(t *testing.T) {
	for _, status := range []int{307, 308} {
		for _, location := range []string{"http://localhost:PORT/x", "//localhost:PORT/x"} {
			naive := redirecting(t, plain, status, location, http.MethodPost, "")
			require.Len(t, naive, 1, "net/http falls for it")
			assert.Equal(t, plainCard, naive[0].body)
			assert.Equal(t, "key-1", naive[0].key)
		}
	}
}

// TestAttack02RedirectToAnotherPort: who listens at another port of the same host, or at
// another path of the same service, gets neither the card nor the API key.
func TestAttack02RedirectToAnotherPort(t *testing.T) {
	for _, location := range []string{"http://127.0.0.1:PORT/x", "//127.0.0.1:PORT/x", "/rest/v1/elsewhere", "?again"} {
		naive := redirecting(t, plain, 307, location, http.MethodPost, "")
		require.Len(t, naive, 1, "net/http falls for it")
		assert.Equal(t, plainCard, naive[0].body)
		assert.Equal(t, "Basic U0VDUkVUX0tFWV8xOg==", naive[0].authorization, "and sends the key along")
	}
}

// TestAttack03RedirectToAGet: a 301, 302 or 303 makes a GET of a payment for net/http, and
// what that answers would be taken for the payment's answer.
func TestAttack03RedirectToAGet(t *testing.T) {
	for _, status := range []int{301, 302, 303} {
		naive := redirecting(t, plain, status, "http://127.0.0.1:PORT/x", http.MethodPost, "")
		require.Len(t, naive, 1, "net/http falls for it")
		assert.Equal(t, http.MethodGet, naive[0].method)
		assert.Equal(t, "key-1", naive[0].key)
		assert.Equal(t, "Basic U0VDUkVUX0tFWV8xOg==", naive[0].authorization)
	}
}

// TestAttack04RedirectToPlainHTTP: a redirect does not lead out of TLS.
func TestAttack04RedirectToPlainHTTP(t *testing.T) {
	for _, status := range []int{301, 307, 308} {
		naive := redirecting(t, secure, status, "http://127.0.0.1:PORT/x", http.MethodPost, "")
		require.Len(t, naive, 1, "net/http falls for it")
		assert.NotEmpty(t, naive[0].authorization, "the key is readable on the way")
	}
}

// TestAttack05RedirectOfALookUp: a look-up has an account number in its query, which
// net/http tells the next host in a Referer.
func TestAttack05RedirectOfALookUp(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		naive := redirecting(t, plain, status, "http://localhost:PORT/x", http.MethodGet, "?accountNumber=999994")
		require.Len(t, naive, 1, "net/http falls for it")
		assert.Contains(t, naive[0].referer, "accountNumber=999994")
	}
}

// TestAttackUserInfoInALocation: an address that brings its own user and password is neither
// followed nor repeated in an error.
func TestAttackUserInfoInALocation(t *testing.T) {
	naive := redirecting(t, plain, 307, "http://canary:canary@localhost:PORT/x", http.MethodPost, "")
	require.Len(t, naive, 1, "net/http falls for it")
	assert.Equal(t, "Basic Y2FuYXJ5OmNhbmFyeQ==", naive[0].authorization, "and is told who it is")
	assert.Equal(t, plainCard, naive[0].body)
}
