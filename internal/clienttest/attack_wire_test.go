package clienttest_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// Attacks on what lies between two messages, by a gateway or by whoever is in its place.

// attacked pays at a service that answers with handle, and returns what is known of the
// payment: that it was sent once, and nothing else.
func attacked(t *testing.T, name string, handle http.HandlerFunc) *quickstream.UnknownOutcomeError {
	t.Helper()
	client, connections := server(t, handle, plain)
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
	require.Equal(t, unknown, ending(err), "%s: %v", name, err)
	lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
	assert.Equal(t, 1, lost.Attempts, name)
	assert.EqualValues(t, 1, connections.Load(), name)
	return lost
}

// quiet keeps net/http from writing what it finds left over on a connection to the log.
func quiet(t *testing.T) {
	t.Helper()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
}

func zipped(t *testing.T, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	for _, part := range parts {
		_, err := zip.Write(part)
		require.NoError(t, err)
	}
	require.NoError(t, zip.Close())
	return b.Bytes()
}

// created is a success as it goes over the wire.
func created(body string) string {
	return fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// listening starts a service that answers with bytes of its own, and ends a connection in
// place of none. It tells how many requests came on the connection before.
func listening(t *testing.T, respond func(r *http.Request, before int) string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		reader := bufio.NewReader(conn)
		for before := 0; ; before++ {
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			answer := respond(r, before)
			if answer == "" {
				return
			}
			_, _ = io.WriteString(conn, answer)
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return "http://" + listener.Addr().String()
}

// TestAttackResends: a service carries a write out and closes a connection that served before.
// The write is not sent again behind the client's back, by its own transport or by the
// caller's: net/http knows the header for the key, and what it needs in order to send a body
// again.
func TestAttackResends(t *testing.T) {
	var resp quickstream.Response
	for name, opts := range map[string][]quickstream.ClientOption{
		"own": nil, "caller's": {quickstream.WithHTTPClient(&http.Client{Transport: new(http.Transport)})},
	} {
		for kind, write := range map[string]func(*quickstream.Client) error{
			"payment": func(c *quickstream.Client) error {
				return second(c.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend()))
			},
			"other POST": func(c *quickstream.Client) error {
				return second(c.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Cy"}))
			},
			"PUT": func(c *quickstream.Client) error {
				return second(c.Customers.Update(t.Context(), "C-1", quickstream.UpdateCustomerParams{CustomerName: new("Cy")}))
			},
		} {
			var requests atomic.Int64
			address := listening(t, func(r *http.Request, before int) string {
				requests.Add(1)
				switch {
				case before > 0:
					return ""
				case r.Method == http.MethodGet:
					return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
				}
				return created(approvedBody)
			})
			client, err := quickstream.NewClient(quickstream.CustomURL(address), testKeys(), append(opts, quickstream.WithMaxAttempts(1))...)
			require.NoError(t, err)
			t.Cleanup(client.CloseIdleConnections)
			read := func() error {
				return second(client.Transactions.Get(t.Context(), "R-1", quickstream.WithResponseInto(&resp)))
			}
			require.ErrorIs(t, read(), quickstream.ErrNotFound)
			assert.Equal(t, unknown, ending(write(client)), "%s, %s", name, kind)
			assert.EqualValues(t, 2, requests.Load(), "%s, %s", name, kind)

			require.ErrorIs(t, read(), quickstream.ErrNotFound)
			requests.Store(0)
			require.ErrorIs(t, read(), quickstream.ErrNotFound, "a read may be sent again")
			assert.EqualValues(t, requests.Load(), resp.Attempts, "%s: and is counted", name)
		}
	}
	for _, op := range operations() {
		_, err := op.call(t.Context(), clientOf(t, func(r *http.Request) (*http.Response, error) {
			assert.Nil(t, r.GetBody, op.name)
			return answer(422, ""), nil
		}), "ID-1")
		assert.Error(t, err, op.name)
	}
}

// TestAttackBrokenAnswers: the answer to a payment ends early, is no HTTP, comes in a coding
// that nobody asked for, under a header without end, or without a body that counts. The
// outcome is unknown however much of it came and looks like a success.
func TestAttackBrokenAnswers(t *testing.T) {
	quiet(t)
	whole, once := created(approvedBody), zipped(t, []byte(approvedBody))
	head := strings.Index(whole, "\r\n\r\n")
	under := func(header string, body []byte) string {
		return fmt.Sprintf("HTTP/1.1 201 Created\r\n%s\r\nContent-Length: %d\r\n\r\n%s", header, len(body), body)
	}
	chunk := func(size int, body string) string {
		return fmt.Sprintf("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", size, body)
	}
	as := func(status, body string) string { return strings.Replace(created(body), "201 Created", status, 1) }
	length := func(n int, body string) string {
		return fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", n, body)
	}
	for _, answers := range []map[string]string{
		{
			"nothing": "", "a cut status line": whole[:10], "a cut header": whole[:head-5], "a head without its end": whole[:head+2], "no HTTP": approvedBody,
			"200 without a body": as("200 OK", ""), "202 with a page": as("202 Accepted", "<html>Please try again later</html>"),
			"204 with a body": as("204 No Content", approvedBody), "304": as("304 Not Modified", approvedBody),
			"a page": under("Content-Type: application/json", []byte("<html>Approved</html>")), "a form": under("Content-Type: application/x-www-form-urlencoded", []byte("receiptNumber=R-1&status=Approved")),
			"a header of 65 KiB": under("X-Huge: "+strings.Repeat("x", 65<<10), []byte(approvedBody)), "one of 9 MiB": under("X-Huge: "+strings.Repeat("x", 9<<20), []byte(approvedBody)),
			"not compressed": under("Content-Encoding: gzip", []byte(approvedBody)), "compressed twice": under("Content-Encoding: gzip", zipped(t, once)),
			"another coding": under("Content-Encoding: br", once), "two codings": under("Content-Encoding: gzip, gzip", zipped(t, once)), "compressed without a word": under("Content-Encoding: identity", once),
		},
		{
			"shorter": length(100, approvedBody), "cut": length(100, `{"receiptNumber":"R-1",`), "longer": length(30, approvedBody),
			"within a chunk": chunk(255, approvedBody), "before the last chunk": chunk(len(approvedBody), approvedBody+"\r\n0\r\n"),
			"compressed, without its end": under("Content-Encoding: gzip", once[:len(once)-4]), "compressed, and more": under("Content-Encoding: gzip", append(once[:len(once):len(once)], "more"...)),
		},
	} {
		for name, answer := range answers {
			assert.Empty(t, attacked(t, name, raw(t, answer)).ReceiptNumber, name)
		}
	}
	for _, called := range []string{"text/html", "", "application/json; charset=utf-16"} { // what a body is decides, and not what it is called
		client, _ := server(t, raw(t, under("Content-Type: "+called, []byte(approvedBody))), plain)
		tx, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
		require.NoError(t, err, called)
		assert.Equal(t, quickstream.OutcomeApproved, tx.Outcome(), called)
	}
}

// TestAttack12CompressedBomb: what an answer grows to is bounded.
func TestAttack12CompressedBomb(t *testing.T) {
	const size = 12
	parts := [][]byte{[]byte(strings.TrimSuffix(approvedBody, "}") + `,"x":"`)}
	for range size {
		parts = append(parts, bytes.Repeat([]byte("a"), 1<<20))
	}
	bomb := zipped(t, append(parts, []byte(`"}`))...)
	require.Less(t, len(bomb), 128<<10)
	assert.Empty(t, attacked(t, "bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb)
	}).ReceiptNumber)
}

// TestSwitchingProtocols: an answer whose body is the connection, which stays open and
// which no context ends, is none.
func TestSwitchingProtocols(t *testing.T) {
	address := listening(t, func(*http.Request, int) string {
		return "HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
	})
	client, err := quickstream.NewClient(quickstream.CustomURL(address), testKeys(), quickstream.WithoutResend())
	require.NoError(t, err)
	_, err = client.Transactions.Void(t.Context(), "1")
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	require.Error(t, client.Check(t.Context(), quickstream.WithMaxAttempts(1)))
}

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

// TestAttackSecondAnswer: a second answer behind the first is never the next call's, which
// would be a payment approved before it was sent.
func TestAttackSecondAnswer(t *testing.T) {
	quiet(t)
	address := listening(t, func(*http.Request, int) string {
		return "HTTP/1.1 422 X\r\nContent-Length: 26\r\n\r\n" + `{"developerMessage":"No."}` + created(approvedBody)
	})
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
