package clienttest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// created is a success as it goes over the wire.
func created(body string) string {
	return fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// leaving starts a service that carries out every write and closes the connection in place
// of an answer, where it served a read before: elsewhere it answers. It returns its address
// and counts the writes.
func leaving(t *testing.T) (address string, writes *atomic.Int64) {
	t.Helper()
	writes = new(atomic.Int64)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	serve := func(conn net.Conn) {
		defer conn.Close()
		used := false
		for reader := bufio.NewReader(conn); ; used = true {
			r, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			answer := "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
			if r.Method != http.MethodGet {
				writes.Add(1)
				answer = created(approvedBody)
				if used {
					return
				}
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
	return "http://" + listener.Addr().String(), writes
}

// warm returns a client which has a connection that served a read.
func warm(t *testing.T, address string, opts ...quickstream.ClientOption) *quickstream.Client {
	t.Helper()
	client, err := quickstream.NewClient(quickstream.CustomURL(address), testKeys(), opts...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	_, err = client.Transactions.Get(t.Context(), "R-1")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	return client
}

// TestAttack06ClosedAfterRead: a service carries a payment out and closes a connection that
// served before. The payment is not sent again behind the client's back, whose header for
// the key net/http knows.
func TestAttack06ClosedAfterRead(t *testing.T) {
	address, writes := leaving(t)
	client := warm(t, address)
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
	assert.Equal(t, unknown, ending(err))
	assert.EqualValues(t, 1, writes.Load())
}

// TestAttack07ClosedWithoutAKey: of a change without a key the end of the connection is no
// failure that may be tried again.
func TestAttack07ClosedWithoutAKey(t *testing.T) {
	address, writes := leaving(t)
	client := warm(t, address)
	_, err := client.Customers.Update(t.Context(), "C-1", quickstream.UpdateCustomerParams{CustomerName: new("Cy")})
	assert.Equal(t, unknown, ending(err))
	assert.EqualValues(t, 1, writes.Load())
}

// TestAttack08BodyThatCannotBeReadAgain: also on a transport of the caller's no write has
// what net/http needs in order to send it again.
func TestAttack08BodyThatCannotBeReadAgain(t *testing.T) {
	address, writes := leaving(t)
	client := warm(t, address, quickstream.WithHTTPClient(&http.Client{Transport: new(http.Transport)}))
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
	assert.Equal(t, unknown, ending(err))
	assert.EqualValues(t, 1, writes.Load())
	for _, op := range operations() {
		_, err := op.call(t.Context(), clientOf(t, func(r *http.Request) (*http.Response, error) {
			assert.Nil(t, r.GetBody, op.name)
			return answer(422, ""), nil
		}), "ID-1")
		assert.Error(t, err, op.name)
	}
}
