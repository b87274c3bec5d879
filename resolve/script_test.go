package resolve_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// script is a service of which the answers are written down. It finds nothing by reference.
type script struct {
	serve func(path string, firstPage bool) (status int, body string)
}

const none = `{"developerMessage":"nothing was found"}`

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := s.serve(r.URL.Path, r.URL.Query().Get("page") == "")
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

func (s *script) client(t *testing.T) *quickstream.Client {
	t.Helper()
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey("S"), Publishable: quickstream.NewPublishableKey("P")}
	client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), keys, quickstream.WithHTTPClient(&http.Client{Transport: s}), quickstream.WithMaxAttempts(1))
	require.NoError(t, err)
	return client
}

func list(items ...string) string { return `{"data":[` + strings.Join(items, ",") + `]}` }

// followed returns a page with a link to another.
func followed(page string, number int) string {
	return strings.TrimSuffix(page, "}") + fmt.Sprintf(`,"links":[{"rel":"next","href":"?page=%d"}]}`, number)
}
