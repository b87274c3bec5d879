package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"syscall"
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

// TestRewrittenAddress: a RoundTripper that sends through a gateway and writes to
// the request's address does so once for each attempt.
func TestRewrittenAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		do(t, func(r *http.Request) (*http.Response, error) {
			r.URL.Host, r.URL.Path = "gateway.invalid", "/gateway"+r.URL.Path
			seen = append(seen, r.Host+" "+r.URL.String())
			return nil, syscall.ECONNRESET
		}, func(c *Call) { c.Class, c.Key, c.Limits.MaxAttempts = Keyed, "mine", 3 })
		const each = "h.invalid https://gateway.invalid/gateway/"
		assert.Equal(t, []string{each, each, each}, seen)
	})
}

// TestClientTimeoutLeavesNothing: net/http's client waits for the end of an answer
// before it lets go of its timer.
func TestClientTimeoutLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := runtime.NumGoroutine()
		failing := inner(func(*http.Request) (*http.Response, error) { return answer(500, "x"), nil })
		result := New(HTTPConfig{Client: &http.Client{Transport: failing, Timeout: time.Hour}}, nil).Do(t.Context(), Call{
			Method: "GET", URL: &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}, Authorise: authorised,
			Limits: &Limits{MaxAttempts: 3, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second, ResendWindow: ResendWindow},
		})
		assert.Equal(t, 3, result.Attempts)
		synctest.Wait()
		assert.LessOrEqual(t, runtime.NumGoroutine(), before)
	})
}

// TestClientTimeoutIsATimeout, however net/http words it.
func TestClientTimeoutIsATimeout(t *testing.T) {
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, fmt.Errorf("request canceled")} {
		synctest.Test(t, func(t *testing.T) {
			hang := inner(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, err })
			result := New(HTTPConfig{Client: &http.Client{Transport: hang, Timeout: time.Second}}, nil).Do(t.Context(), Call{
				Method: "POST", URL: &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}, Authorise: authorised, Class: Post,
				Limits: &Limits{MaxAttempts: 1, AttemptTimeout: time.Minute},
			})
			assert.Equal(t, KindTimeout, result.Kind, "%v", err)
			assert.Equal(t, Unknown, result.End)
		})
	}
}

// TestEarlyAnswer: an answer that comes while the upload goes on is read to its
// end. Ending the upload first would end the connection.
func TestEarlyAnswer(t *testing.T) {
	const size, body = 64 << 20, `{"developerMessage":"why"}`
	for status, want := range map[int]CallResult{401: Answered, 201: Success} {
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
		call := Call{
			Method: "POST", URL: &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/"}, Class: Post, Authorise: authorised,
			Upload: &Upload{Content: io.LimitReader(strings.NewReader(strings.Repeat("x", size)), size), Length: size, ContentType: "text/csv"},
			Limits: &Limits{MaxAttempts: 1, AttemptTimeout: time.Minute}, Decode: func(int, []byte) error { return nil },
		}
		result := New(HTTPConfig{Client: &http.Client{Transport: &http.Transport{}}}, nil).Do(t.Context(), call)
		close(uploading)
		assert.NoError(t, listener.Close())
		assert.Equal(t, want, result.End, status)
		assert.Equal(t, status, result.Status)
		assert.Equal(t, body, string(result.Body), status)
	}
}
