package clienttest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
)

// visits returns a handler that keeps the paths of the requests, and answers as handle does.
func visits(kept *[]string, handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*kept = append(*kept, r.URL.Path)
		handle(w, r)
	}
}

// redirecting sends a payment, and a look-up by account, to a service that redirects them
// to a stranger, whose port is PORT, or to itself. Neither may be followed.
func redirecting(t *testing.T, start func(*httptest.Server), status int, location string) {
	t.Helper()
	var here, elsewhere []string // the paths of requests
	stranger := httptest.NewServer(visits(&elsewhere, func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(stranger.Close)
	_, port, _ := strings.Cut(stranger.Listener.Addr().String(), ":")
	location = strings.ReplaceAll(location, "PORT", port)
	client, _ := server(t, visits(&here, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/rest/v1/transactions") {
			w.Header().Set("Location", location)
			w.WriteHeader(status)
		}
	}), start)
	_, err := client.Transactions.Pay(t.Context(), payment())
	assert.Equal(t, unknown, ending(err), "%d to %q", status, location)
	assert.NotContains(t, fmt.Sprintf("%+v", err), "canary", "%d to %q", status, location)
	_, err = client.Transactions.ByBankAccount("032-999", quickstream.NewSecret("999994")).First(t.Context())
	assert.Equal(t, answered, ending(err), "%d to %q", status, location)
	assert.NotContains(t, fmt.Sprintf("%+v", err), "canary", "%d to %q", status, location)
	if assert.Len(t, here, 2, "%d to %q", status, location) {
		assert.Equal(t, "/rest/v1/transactions", here[0])
		assert.Equal(t, "/rest/v1/transactions/for-bank-account", here[1])
	}
	assert.Empty(t, elsewhere, "%d to %q", status, location)
}

// TestAttackRedirects: no redirect is followed, of a payment or of a look-up, whatever its
// status: to another host, port or path, or out of TLS. net/http sends the next host the
// card, the API key, or the query in a Referer, or makes a GET of a payment.
func TestAttackRedirects(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, location := range []string{
			"http://localhost:PORT/x", "//localhost:PORT/x", "http://127.0.0.1:PORT/x", "//127.0.0.1:PORT/x", "/rest/v1/elsewhere", "?again",
			"http://canary:canary@localhost:PORT/x",
		} {
			redirecting(t, plain, status, location)
		}
		redirecting(t, secure, status, "http://127.0.0.1:PORT/x")
	}
}
