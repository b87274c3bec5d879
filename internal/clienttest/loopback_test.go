package clienttest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestPlainHTTPUsesNoProxy: a key that goes to this machine in plain text goes nowhere else.
func TestPlainHTTPUsesNoProxy(t *testing.T) {
	asked := 0
	proxy := quickstream.WithProxy(func(*http.Request) (*url.URL, error) {
		asked++
		return url.Parse("http://192.0.2.1:3128")
	})
	client, connections := server(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"links":[{"rel":"help"}]}`)) }, plain, proxy)
	_, err := client.Root(t.Context())
	require.NoError(t, err)
	assert.Zero(t, asked)
	assert.EqualValues(t, 1, connections.Load())
}
