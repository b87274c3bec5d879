package transport

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNoAnswer: a RoundTripper that breaks its contract after a payment was sent
// must not end the process.
func TestNoAnswer(t *testing.T) {
	result := do(t, func(*http.Request) (*http.Response, error) { return nil, nil }, nil) //nolint:nilnil // on purpose
	assert.Equal(t, Unknown, result.End)
	assert.ErrorIs(t, result.Err, errNoAnswer)

	result = do(t, func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: 201}, nil }, nil)
	assert.Equal(t, Success, result.End)
	assert.Empty(t, result.Body)
}

// TestWrongLength: some RoundTrippers announce the length before decompression.
func TestWrongLength(t *testing.T) {
	const body = `{"receiptNumber":"1"}`
	announced := func(n int64) *Result {
		return do(t, func(*http.Request) (*http.Response, error) {
			resp := answer(201, body)
			resp.ContentLength = n
			return resp, nil
		}, nil)
	}
	for _, n := range []int64{-1, 0, 1, int64(len(body)) - 1, int64(len(body))} {
		assert.Equal(t, body, string(announced(n).Body), n)
		assert.Equal(t, Success, announced(n).End, n)
	}
	short := announced(int64(len(body)) + 1)
	assert.Equal(t, body, string(short.Body), "it may hold a receipt number")
	assert.Equal(t, Unknown, short.End)
	assert.ErrorIs(t, short.Err, io.ErrUnexpectedEOF)
}

// TestClientTimeoutLeavesNothing: net/http's client waits for the end of an answer
// before it lets go of its timer.
func TestClientTimeoutLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := inner(func(*http.Request) (*http.Response, error) { return answer(500, "x"), nil })
		result := doBy(t.Context(), &http.Client{Transport: failing, Timeout: time.Hour}, nil, func(c *Call) { c.Class, c.Limits.MaxAttempts = Read, 3 })
		assert.Equal(t, 3, result.Attempts)
		synctest.Wait()
		stacks := make([]byte, 1<<20)
		assert.NotContains(t, string(stacks[:runtime.Stack(stacks, true)]), "net/http.setRequestCancel")
	})
}

// TestEarlyAnswer: an answer that comes while the upload goes on is read to its
// end. Ending the upload first would end the connection. A success is none: half of the file is
// missing.
func TestEarlyAnswer(t *testing.T) {
	const size, body = 64 << 20, `{"developerMessage":"why"}`
	for status, want := range map[int]CallResult{401: Answered, 201: Unknown} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		uploading := make(chan struct{})
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			from := bufio.NewReader(conn)
			for line := ""; line != "\r\n" && err == nil; {
				line, err = from.ReadString('\n')
			}
			_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n", status, len(body))
			_, _ = io.CopyN(io.Discard, from, size/2) // the client has long seen the head of the answer
			_, _ = io.WriteString(conn, body)
			<-uploading
		}()
		result := doBy(t.Context(), &http.Client{Transport: &http.Transport{}}, nil, func(c *Call) {
			c.URL = &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/"}
			c.Upload = &Upload{Content: io.LimitReader(strings.NewReader(strings.Repeat("x", size)), size), Length: size, ContentType: "text/csv"}
		})
		close(uploading)
		assert.NoError(t, listener.Close())
		assert.Equal(t, want, result.End, status)
		assert.Equal(t, status, result.Status)
		assert.Equal(t, body, string(result.Body), status)
	}
}
