package transport

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

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
