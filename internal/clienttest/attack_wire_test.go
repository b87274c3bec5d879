package clienttest_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// Attacks on what lies between two messages, by a gateway or by whoever is in its place.

// pipelining starts a service that refuses every payment, and sends an approval along for
// whoever comes next.
func pipelining(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for reader := bufio.NewReader(conn); ; {
					r, err := http.ReadRequest(reader)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(conn, "HTTP/1.1 422 X\r\nContent-Length: 26\r\n\r\n"+`{"developerMessage":"No."}`+created(approvedBody))
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// overtake makes a call, and another one on its connection at the moment at which that is
// free again and net/http has not looked at what is left over.
func overtake(t *testing.T, first, second func(context.Context)) {
	t.Helper()
	var calls sync.WaitGroup
	taken := make(chan struct{})
	take := sync.OnceFunc(func() { close(taken) })
	free := sync.OnceFunc(func() {
		calls.Go(func() {
			defer take()
			second(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteHeaders: take}))
		})
		<-taken
	})
	first(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{PutIdleConn: func(error) { free() }}))
	calls.Wait()
}

// TestAttackSecondAnswer: a second answer behind the first is never the next call's, which
// would be a payment approved before it was sent.
func TestAttackSecondAnswer(t *testing.T) {
	quiet(t)
	address := pipelining(t)
	client, err := quickstream.NewClient(quickstream.CustomURL(address), testKeys())
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	ends := make(chan string, 2)
	pay := func(ctx context.Context) {
		_, err := client.Transactions.Pay(ctx, payment(), quickstream.WithoutResend())
		ends <- ending(err)
	}
	overtake(t, pay, pay)
	assert.Equal(t, answered, <-ends)
	assert.Equal(t, answered, <-ends, "it has an answer of its own")
}

// TestAttackCutHead: an answer that ends within its status line or its header says nothing,
// and one that is no HTTP says nothing either.
func TestAttackCutHead(t *testing.T) {
	whole := created(approvedBody)
	head := strings.Index(whole, "\r\n\r\n") + 3
	for n := 0; n <= head; n += 5 {
		attacked(t, whole[:n], raw(t, whole[:n]))
	}
	for name, answer := range map[string]string{
		"TLS": "\x16\x03\x01 hello\r\n\r\n", "HTTP/0.9": approvedBody, "HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "no status": "HTTP/1.1 OK\r\n\r\n",
		"four digits": strings.Replace(whole, "201", "2010", 1), "a sign": strings.Replace(whole, "201", "+201", 1),
		"folded": strings.Replace(whole, "\r\n", "\r\n X: 1\r\n", 1),
	} {
		attacked(t, name, raw(t, answer))
	}
}

// TestSwitchingProtocols: an answer whose body is the connection, which stays open and
// which no context ends, is none.
func TestSwitchingProtocols(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { // it ends with the client's side of the connection
				defer conn.Close()
				if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				_, _ = io.WriteString(conn, "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	client, err := quickstream.NewClient(quickstream.CustomURL("http://"+listener.Addr().String()), quickstream.Keys{Secret: quickstream.NewSecretKey("k")},
		quickstream.WithoutResend())
	require.NoError(t, err)
	_, err = client.Transactions.Void(t.Context(), "1")
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	require.Error(t, client.Check(t.Context(), quickstream.WithMaxAttempts(1)))
}

// TestAttackCookies: what a service sets is not sent back to it, so that it cannot tell
// who comes again.
func TestAttackCookies(t *testing.T) {
	var cookies []string
	setting := func(w http.ResponseWriter, r *http.Request) {
		cookies = append(cookies, r.Header.Get("Cookie"))
		w.Header().Set("Set-Cookie", "session=1; Path=/")
		w.WriteHeader(http.StatusInternalServerError)
	}
	client, _ := server(t, setting, plain, quickstream.WithRetryWait(1, 1))
	_, err := client.Transactions.Get(t.Context(), "R-1")
	assert.Equal(t, answered, ending(err))
	_, err = client.Transactions.Pay(t.Context(), payment())
	assert.Equal(t, unknown, ending(err))
	assert.Equal(t, []string{"", "", "", ""}, cookies)
}

// TestAttackHints: no header of an answer, or of one before it, leads the client anywhere.
func TestAttackHints(t *testing.T) {
	var elsewhere atomic.Int64
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(stranger.Close)
	hosts := []string{}
	client, _ := server(t, func(w http.ResponseWriter, r *http.Request) {
		hosts = append(hosts, r.Host)
		for name, value := range map[string]string{
			"Link": "<" + stranger.URL + "/x>; rel=preload", "Alt-Svc": `h2="` + stranger.Listener.Addr().String() + `"; persist=1`, "Refresh": "0; url=" + stranger.URL,
			"Content-Location": stranger.URL, "Location": stranger.URL + "/x", "Strict-Transport-Security": "max-age=31536000", "Retry-After": "0",
			"Connection": "keep-alive", "Proxy-Authenticate": "Basic", "WWW-Authenticate": "Negotiate", "Upgrade": "h2c",
		} {
			w.Header().Set(name, value)
		}
		w.WriteHeader(http.StatusProcessing)
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, approvedBody)
	}, plain)
	for range 3 {
		_, err := client.Transactions.Pay(t.Context(), payment())
		assert.NoError(t, err)
	}
	require.Len(t, hosts, 3)
	assert.Equal(t, "quickstream.Client("+hosts[2]+")", client.String())
	assert.Zero(t, elsewhere.Load())
}

// TestAttackCodings: an answer in a coding that nobody asked for, or wrapped more than
// once, is no answer that can be read.
func TestAttackCodings(t *testing.T) {
	once := zipped(t, []byte(approvedBody))
	for name, c := range map[string]struct {
		coding string
		body   []byte
	}{
		"not compressed": {"gzip", []byte(approvedBody)}, "half of it": {"gzip", once[:len(once)/2]}, "without its end": {"gzip", once[:len(once)-4]},
		"twice": {"gzip", zipped(t, once)}, "twice and said so": {"gzip, gzip", zipped(t, once)}, "another": {"br", once}, "none": {"identity", once},
		"and more": {"gzip", append(once[:len(once):len(once)], "more"...)},
	} {
		attacked(t, name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", c.coding)
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write(c.body)
		})
	}
}
