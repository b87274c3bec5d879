package clienttest_test

import (
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// Real sockets on this machine, for what connections in memory cannot show. Every
// client here uses the client's own transport.

// server starts a server and returns a client of it, and counts its connections.
func server(t *testing.T, handler http.HandlerFunc, start func(*httptest.Server), opts ...quickstream.ClientOption) (*quickstream.Client, *atomic.Int64) {
	t.Helper()
	connections := new(atomic.Int64)
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	start(s)
	t.Cleanup(s.Close)
	if s.TLS != nil && opts == nil {
		pool := x509.NewCertPool()
		pool.AddCert(s.Certificate())
		opts = append(opts, quickstream.WithRootCAs(pool))
	}
	client, err := quickstream.NewClient(quickstream.CustomURL(s.URL+"/rest/v1"), testKeys(), opts...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client, connections
}

func plain(s *httptest.Server)  { s.Start() }
func secure(s *httptest.Server) { s.StartTLS() }
func http2(s *httptest.Server)  { s.EnableHTTP2 = true; s.StartTLS() }

func networkKind(t *testing.T, err error) quickstream.NetworkKind {
	t.Helper()
	failed, ok := errors.AsType[*quickstream.NetworkError](err)
	require.True(t, ok, "%v", err)
	return failed.Kind
}

func TestNotTLS(t *testing.T) {
	client, _ := server(t, func(http.ResponseWriter, *http.Request) {}, plain)
	address := strings.TrimSuffix(strings.TrimPrefix(client.String(), "quickstream.Client("), ")")
	client, err := quickstream.NewClient(quickstream.CustomURL("https://"+address), testKeys())
	require.NoError(t, err)
	_, err = client.Transactions.Pay(t.Context(), payment(), quickstream.WithMaxAttempts(1))
	assert.Equal(t, quickstream.NetworkKindTLS, networkKind(t, err))
}

// closedPort is an address that nothing listens on.
func closedPort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return "http://" + listener.Addr().String()
}

func TestRefusedPort(t *testing.T) {
	client, err := quickstream.NewClient(quickstream.CustomURL(closedPort(t)), testKeys(), quickstream.WithRetryWait(1, 1))
	require.NoError(t, err)
	var resp quickstream.Response
	_, err = client.Transactions.Pay(t.Context(), payment(), quickstream.WithResponseInto(&resp))
	assert.Equal(t, quickstream.NetworkKindConnectionRefused, networkKind(t, err))
	assert.Equal(t, 3, resp.Attempts, "it may pass")
}

// raw answers with bytes of its own and closes the connection.
func raw(t *testing.T, answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if assert.NoError(t, err) {
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
		}
	}
}

// TestConnectionsAreReused: whatever is answered, the connection that is there
// serves the next call.
func TestConnectionsAreReused(t *testing.T) {
	const rounds = 4
	kinds := []func(http.ResponseWriter){
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, approvedBody) },
		func(w http.ResponseWriter) { w.WriteHeader(404) },
		func(w http.ResponseWriter) { w.WriteHeader(204) },
		func(w http.ResponseWriter) { w.WriteHeader(202); _, _ = io.WriteString(w, "{}") },
		func(w http.ResponseWriter) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, strings.Repeat("x", 100<<10))
		},
		func(w http.ResponseWriter) { // chunked
			w.WriteHeader(422)
			for range 3 {
				_, _ = io.WriteString(w, strings.Repeat(" ", 3000))
				_ = http.NewResponseController(w).Flush()
			}
		},
		func(w http.ResponseWriter) { // chunked, with an end of its own
			_, _ = io.WriteString(w, approvedBody)
			_ = http.NewResponseController(w).Flush()
		},
		func(w http.ResponseWriter) { w.WriteHeader(503); _, _ = io.WriteString(w, errorBody) },
		func(w http.ResponseWriter) { w.WriteHeader(429) },
		func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(307) },
	}
	for name, start := range map[string]func(*httptest.Server){"HTTP": plain, "TLS": secure, "HTTP/2": http2} {
		served := 0
		client, connections := server(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			kinds[served%len(kinds)](w)
			served++
		}, start)
		for range rounds * len(kinds) {
			_, _ = client.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
			_, _ = client.Transactions.Pay(t.Context(), payment())
			_ = client.PayTo.Recall(t.Context(), "A-1")
		}
		// One, but net/http gives a connection up when the goroutine that wrote to it
		// does not get its turn for 50 ms. A kind that costs one costs 3*rounds.
		assert.Less(t, connections.Load(), int64(rounds), name)
		assert.Equal(t, 3*rounds*len(kinds), served, name)
	}
}

// TestManyCallersKeepTheirConnections: what net/http does by default would pay a
// new handshake for most calls.
func TestManyCallersKeepTheirConnections(t *testing.T) {
	const callers = 32
	var together sync.WaitGroup
	client, connections := server(t, func(w http.ResponseWriter, _ *http.Request) {
		together.Done()
		together.Wait() // all of them are under way at once
		w.WriteHeader(http.StatusNotFound)
	}, secure)
	round := func() {
		together.Add(callers)
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				_, err := client.Transactions.Get(t.Context(), "R-1")
				assert.ErrorIs(t, err, quickstream.ErrNotFound)
			})
		}
		wg.Wait()
	}
	round()
	warm := connections.Load()
	assert.EqualValues(t, callers, warm)
	for range 5 {
		round()
	}
	// Two idle ones per host would make it 150; for one or two, see above.
	assert.Less(t, connections.Load(), warm+callers/4, "new connections once warm")
}

// TestOwnTransportSpeaksHTTP1, even to a server that would rather not: there a
// connection carries one request at a time.
func TestOwnTransportSpeaksHTTP1(t *testing.T) {
	client, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "HTTP/1.1", r.Proto)
		assert.Equal(t, "key-1", r.Header.Get("Idempotency-Key"))
		user, _, _ := r.BasicAuth()
		assert.Equal(t, "SECRET_KEY_1", user)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, approvedBody)
	}, http2)
	tx, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithIdempotencyKey("key-1"))
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(tx))
}

// TestReadsThatWereSentOnce say so, though their last attempt was not sent.
func TestReadsThatWereSentOnce(t *testing.T) {
	box, _ := sandboxtest.New(t)
	client := sandboxtest.Client(t, box, quickstream.WithRetryWait(time.Millisecond, time.Millisecond))
	require.NoError(t, box.Inject(sandbox.Fault{Kind: sandbox.ResetAfterCommit(), Nth: 1}, sandbox.Fault{Kind: sandbox.Unreachable(sandbox.ConnectionRefused), Nth: 2, Times: 9}))
	_, err := client.Transactions.Get(t.Context(), "R-1")
	assert.Equal(t, quickstream.NetworkKindConnectionRefused, networkKind(t, err))
	assert.NotErrorIs(t, err, quickstream.ErrNotSent)
}
