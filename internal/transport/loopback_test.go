package transport

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/loopback"
)

// TestPlainHTTPStaysHere: a name that leads to another machine gets no byte, and a proxy is not even
// asked about, on every connection that the client makes itself.
func TestPlainHTTPStaysHere(t *testing.T) {
	var arrived, elsewhere atomic.Int32
	here := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer here.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer proxy.Close()
	throughProxy, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	for name, config := range map[string]HTTPConfig{
		"own client":                   {},
		"a caller's without transport": {Client: &http.Client{}},
	} {
		config.Loopback, config.Proxy = true, http.ProxyURL(throughProxy)
		send := func(address string) *Result {
			transport := New(config, nil)
			defer transport.CloseIdleConnections()
			return transport.Do(t.Context(), newCall(func(c *Call) {
				c.URL, err = url.Parse(address)
				require.NoError(t, err)
			}))
		}
		_, port, err := net.SplitHostPort(here.Listener.Addr().String())
		require.NoError(t, err)
		assert.Equal(t, Success, send("http://localhost:"+port).End, name)
		result := send("http://192.0.2.1:80/") // what a name resolves to is judged in the same place
		assert.Equal(t, NetworkFailed, result.End, name)
		assert.Equal(t, NeverSent, result.Reason)
		assert.ErrorIs(t, result.Err, loopback.ErrElsewhere)
	}
	assert.EqualValues(t, 2, arrived.Load())
	assert.Zero(t, elsewhere.Load(), "the proxy was used")
}
