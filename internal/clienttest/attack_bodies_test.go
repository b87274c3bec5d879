package clienttest_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

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

func compressed(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(body)
	}
}

// TestAttack12CompressedBomb: what an answer grows to is bounded, and a receipt before that
// is kept.
func TestAttack12CompressedBomb(t *testing.T) {
	const size = 12
	parts := [][]byte{[]byte(strings.TrimSuffix(approvedBody, "}") + `,"x":"`)}
	for range size {
		parts = append(parts, bytes.Repeat([]byte("a"), 1<<20))
	}
	bomb := zipped(t, append(parts, []byte(`"}`))...)
	require.Less(t, len(bomb), 128<<10)
	assert.Equal(t, "R-1", attacked(t, "bomb", compressed(bomb)).ReceiptNumber)
}

// TestAttack13HugeHeader: a header has at most 64 KiB.
func TestAttack13HugeHeader(t *testing.T) {
	huge := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Huge", strings.Repeat("x", n))
			_, _ = io.WriteString(w, approvedBody)
		}
	}
	attacked(t, "65 KiB", huge(65<<10))
	attacked(t, "9 MiB", huge(9<<20))
}

// drip is a body that never ends.
type drip struct{ request *http.Request }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		return copy(p, " "), nil
	case <-d.request.Context().Done():
		return 0, d.request.Context().Err()
	}
}

func (drip) Close() error { return nil }

// TestAttack14EndlessBody: a byte every second does not keep a call beyond its limits.
func TestAttack14EndlessBody(t *testing.T) {
	slowly := service(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 201, Header: http.Header{}, Body: drip{r}, ContentLength: -1}, nil
	})
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := clientOf(t, slowly).Transactions.Pay(t.Context(), payment())
		assert.Equal(t, unknown, ending(err))
		assert.Equal(t, 30*time.Second, time.Since(begun))
		begun = time.Now()
		_, err = clientOf(t, slowly).Transactions.Get(t.Context(), "R-1")
		assert.Equal(t, network, ending(err))
		assert.LessOrEqual(t, time.Since(begun), 106*time.Second)
	})
}

// TestAttack15CutBody: what is shorter or longer than it says is no success, though the
// part that came looks like one.
func TestAttack15CutBody(t *testing.T) {
	quiet(t)
	with := func(length int, body string) http.HandlerFunc {
		return raw(t, fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", length, body))
	}
	chunk := func(size int, body string) http.HandlerFunc {
		return raw(t, fmt.Sprintf("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", size, body))
	}
	for name, handle := range map[string]http.HandlerFunc{
		"shorter":         with(100, approvedBody),
		"cut":             with(100, `{"receiptNumber":"R-1",`),
		"longer":          with(30, approvedBody),
		"within a chunk":  chunk(255, approvedBody),
		"before the last": chunk(len(approvedBody), approvedBody+"\r\n0\r\n"),
	} {
		assert.Equal(t, "R-1", attacked(t, name, handle).ReceiptNumber, name)
	}
}

// TestAttack18NothingWithSuccess: without a body nothing was said, and with 204 none counts.
func TestAttack18NothingWithSuccess(t *testing.T) {
	quiet(t)
	for name, handle := range map[string]http.HandlerFunc{
		"200 without a body": raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
		"202 with a page":    raw(t, strings.Replace(created("<html>Please try again later</html>"), "201 Created", "202 Accepted", 1)),
		"204 with a body":    raw(t, strings.Replace(created(approvedBody), "201 Created", "204 No Content", 1)),
		"304":                raw(t, strings.Replace(created(approvedBody), "201 Created", "304 Not Modified", 1)),
	} {
		assert.Empty(t, attacked(t, name, handle).ReceiptNumber, name)
	}
}

// TestAttack19WrongContentType: what a body is decides, and not what it is called.
func TestAttack19WrongContentType(t *testing.T) {
	called := func(name, body string) http.HandlerFunc {
		return raw(t, strings.Replace(created(body), "\r\n", "\r\nContent-Type: "+name+"\r\n", 1))
	}
	for name, body := range map[string]string{
		"application/json": "<html>Approved</html>", "application/x-www-form-urlencoded": "receiptNumber=R-1&status=Approved",
	} {
		attacked(t, name, called(name, body))
	}
	for _, name := range []string{"text/html", "", "application/json; charset=utf-16"} {
		client, _ := server(t, called(name, approvedBody), plain)
		tx, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
		require.NoError(t, err, name)
		assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(tx), name)
	}
}
