package clienttest_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestStreamsOverSockets sends and receives a few megabytes over real
// connections of a caller's transport, by both versions of HTTP.
func TestStreamsOverSockets(t *testing.T) {
	report := bytes.Repeat([]byte("a,b,c\r\n"), 1<<19)
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		requests := 0
		var received []byte
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			assert.Equal(t, protocol, r.Proto)
			switch r.Method + " " + r.URL.Path {
			case "POST /rest/v1/payment-files":
				part, _, err := r.FormFile("file")
				assert.NoError(t, err)
				received, err = io.ReadAll(part)
				assert.NoError(t, err)
				_, _ = w.Write([]byte(`{"paymentFileId":"1","status":"QUEUED"}`))
			case "GET /rest/v1/payment-files/1/csv":
				_, _ = w.Write(report)
			case "GET /rest/v1/payment-files/2/csv":
				_, _ = w.Write(report[:1<<20])
				panic(http.ErrAbortHandler)
			}
		}))
		server.EnableHTTP2 = protocol == "HTTP/2.0"
		server.StartTLS()
		t.Cleanup(server.Close)
		pool := x509.NewCertPool()
		pool.AddCert(server.Certificate())
		client, err := quickstream.NewClient(
			quickstream.CustomURL(server.URL+"/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("key")},
			quickstream.WithHTTPClient(&http.Client{Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: protocol == "HTTP/2.0",
			}}),
		)
		require.NoError(t, err)

		params := upload("big.csv", "")
		params.Content, params.Size = bytes.NewReader(report), int64(len(report))
		_, err = client.PaymentFiles.Upload(t.Context(), params)
		require.NoError(t, err, protocol)
		assert.True(t, bytes.Equal(report, received), protocol)

		var to bytes.Buffer
		n, err := client.PaymentFiles.DownloadCSV(t.Context(), &to, "1")
		require.NoError(t, err, protocol)
		assert.EqualValues(t, len(report), n)
		assert.True(t, bytes.Equal(report, to.Bytes()), protocol)

		requests = 0
		to.Reset()
		n, err = client.PaymentFiles.DownloadCSV(t.Context(), &to, "2")
		assert.Equal(t, network, ending(err), "%s: %v", protocol, err)
		assert.EqualValues(t, to.Len(), n)
		assert.True(t, bytes.HasPrefix(report, to.Bytes()), "%s: what was written is the report's beginning", protocol)
		if n > 0 {
			assert.Equal(t, 1, requests, protocol)
		}

		client.CloseIdleConnections()
	}
}
