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

// TestAttack15WrongLength: what is shorter or longer than it says is no success, though the
// part that came looks like one.
func TestAttack15WrongLength(t *testing.T) {
	quiet(t)
	with := func(length int, body string) http.HandlerFunc {
		return raw(t, fmt.Sprintf("HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", length, body))
	}
	for name, c := range map[string]struct {
		handle  http.HandlerFunc
		receipt string
	}{
		"shorter":     {with(100, approvedBody), "R-1"},
		"cut":         {with(100, `{"receiptNumber":"R-1",`), "R-1"},
		"longer":      {with(30, approvedBody), "R-1"},
		"nothing":     {with(0, approvedBody), ""},
		"negative":    {with(-1, approvedBody), ""},
		"two lengths": {raw(t, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} "), ""},
	} {
		assert.Equal(t, c.receipt, attacked(t, name, c.handle).ReceiptNumber, name)
	}
}

// TestAttack16TruncatedChunk: the same where the length is that of a part.
func TestAttack16TruncatedChunk(t *testing.T) {
	chunk := func(size int, body string) http.HandlerFunc {
		return raw(t, fmt.Sprintf("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s", size, body))
	}
	for name, handle := range map[string]http.HandlerFunc{
		"within a chunk":  chunk(255, approvedBody),
		"after a chunk":   chunk(len(approvedBody), approvedBody),
		"within its end":  chunk(len(approvedBody), approvedBody+"\r\n0"),
		"before the last": chunk(len(approvedBody), approvedBody+"\r\n0\r\n"),
		"of a wrong size": chunk(5, approvedBody+"\r\n0\r\n\r\n"),
	} {
		lost := attacked(t, name, handle)
		if name != "of a wrong size" {
			assert.Equal(t, "R-1", lost.ReceiptNumber, name)
		}
	}
}

// TestAttack17HTMLWithSuccess: the page of a gateway is no transaction, whatever its status.
func TestAttack17HTMLWithSuccess(t *testing.T) {
	for _, status := range []int{200, 201, 202} {
		page := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>Please try again later</html>")
		}
		attacked(t, "page", page)
		client, _ := server(t, page, plain)
		_, err := client.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
		assert.Equal(t, decoding, ending(err), status)
	}
}

// TestAttack18NothingWithSuccess: without a body nothing was said, and with 204 none counts.
func TestAttack18NothingWithSuccess(t *testing.T) {
	quiet(t)
	for name, handle := range map[string]http.HandlerFunc{
		"200 without a body": raw(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
		"closed at once":     raw(t, "HTTP/1.1 200 OK\r\n\r\n"),
		"blank":              raw(t, "HTTP/1.1 200 OK\r\n\r\n \r\n"),
		"null":               raw(t, created("null")),
		"204 with a body":    raw(t, strings.Replace(created(approvedBody), "201 Created", "204 No Content", 1)),
		"205 with a body":    raw(t, strings.Replace(created("null"), "201 Created", "205 Reset Content", 1)),
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
	wide := "\xfe\xff"
	for _, b := range []byte(approvedBody) {
		wide += "\x00" + string(b)
	}
	for name, body := range map[string]string{
		"application/json": "<html>Approved</html>", "application/json; charset=utf-16": wide, "text/csv": "receiptNumber,status\r\nR-1,Approved\r\n",
		"application/xml": "<transaction><status>Approved</status></transaction>", "application/x-www-form-urlencoded": "receiptNumber=R-1&status=Approved",
		"multipart/mixed; boundary=b": "--b\r\n\r\n" + approvedBody + "\r\n--b--",
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
