package transport

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSuccessBeforeTheWholeFile: a service that answers 201 to a part of a file has not seen the
// rest, so the outcome is unknown. A refusal needs no more of it.
func TestSuccessBeforeTheWholeFile(t *testing.T) {
	const length = 100
	for name, test := range map[string]struct {
		read   int64
		status int
		want   CallResult
	}{
		"all":            {length, 201, Success},
		"all but a byte": {length - 1, 201, Unknown},
		"nothing":        {0, 201, Unknown},
		"refused":        {0, 422, Answered},
	} {
		decoded := false
		result := do(t, func(r *http.Request) (*http.Response, error) {
			_, err := io.CopyN(io.Discard, r.Body, test.read)
			return answer(test.status, `{"status":"422","developerMessage":"x","traceCode":"T"}`), err
		}, func(c *Call) {
			c.Upload = &Upload{Content: bytes.NewReader(make([]byte, length)), Length: length, ContentType: "text/plain"}
			c.Decode = func(int, []byte) error { decoded = true; return nil }
		})
		assert.Equal(t, test.want, result.End, name)
		assert.Equal(t, test.want == Success, decoded, name)
		assert.Equal(t, test.want == Unknown, result.Err != nil, name)
	}
}

// TestSuccessBeforeTheWholeFileOnAConnection is the same with sockets, where the file goes on being
// read after the answer: the service that has taken it all is believed, each time.
func TestSuccessBeforeTheWholeFileOnAConnection(t *testing.T) {
	const length = 64 << 20 // more than the buffers of sockets
	hasty := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !hasty {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	transport := New(HTTPConfig{}, nil)
	defer transport.CloseIdleConnections()
	send := func(length int64) *Result {
		return transport.Do(t.Context(), newCall(func(c *Call) {
			var err error
			c.URL, err = url.Parse(server.URL)
			require.NoError(t, err)
			c.Upload = &Upload{Content: io.LimitReader(zeros{}, length), Length: length, ContentType: "text/plain"}
		}))
	}
	assert.Equal(t, Unknown, send(length).End)
	hasty = false
	for range 200 {
		require.Equal(t, Success, send(5000).End)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
