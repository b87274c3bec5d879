package durable

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

type answering string

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(a))), Request: r}, nil
}

// TestEmptyInOwnWords: only the service's own 404 says that a list is empty.
func TestEmptyInOwnWords(t *testing.T) {
	for body, empty := range map[string]bool{
		`{"developerMessage":"none"}`: true, `{"errors":[{"fieldName":"settlementDate"}]}`: true, `{"errors":{"detail":"Not Found"}}`: false,
		`{"data":[{"fieldName":"path"}]}`: false, `[{"fieldName":"path"}]`: false, `{"customerMessage":"c","requestUrl":"https://h.invalid/other"}`: false, "": false, "<html>": false,
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("S")},
			quickstream.WithHTTPClient(&http.Client{Transport: answering(body)}))
		require.NoError(t, err)
		read := 0
		for _, err := range pages(t.Context(), client.Transactions.BySettlementDate(quickstream.NewDate(2026, 6, 10))) {
			require.ErrorIs(t, err, quickstream.ErrNotFound)
			read++
		}
		assert.Equal(t, empty, read == 0, body)
	}
}
