package clienttest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// pathOperations returns the operations whose identifier stands in the path.
func pathOperations(t *testing.T) []operation {
	t.Helper()
	var found []operation
	for _, op := range operations() {
		var path string
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			path = r.URL.Path
			return answer(404, ""), nil
		})
		_, _ = op.call(t.Context(), client, "ID-1")
		if strings.Contains(path, "/ID-1") {
			found = append(found, op)
		}
	}
	require.Greater(t, len(found), 15)
	return found
}

// TestOddIdentifiersArriveUnchanged: what is odd and harmless is the service's to
// judge.
func TestOddIdentifiersArriveUnchanged(t *testing.T) {
	odd := []string{
		"a b", "a ", " a", ". .", "...", "..a", "a..", "-", "~", "_", "a+b", "a=b&c", "a:b", "a@b", "a,b", "a'b", "(a)", "a!*$", `"a"`, "<a>", "[a]", "{a}", "{receiptNumber}", "a|b", "^`",
		strings.Repeat("x", 255),
	}
	for _, op := range pathOperations(t) {
		for _, id := range odd {
			var seen *url.URL
			client := clientOf(t, func(r *http.Request) (*http.Response, error) {
				var err error
				seen, err = url.ParseRequestURI(r.URL.RequestURI()) // as a server does
				assert.NoError(t, err)
				return answer(404, ""), nil
			})
			_, err := op.call(t.Context(), client, id)
			require.NotNil(t, seen, "%s, %q: %v", op.name, id, err)
			assert.Contains(t, seen.Path, "/"+id, op.name)
			assert.Equal(t, strings.Count(seen.Path, "/"), strings.Count(seen.EscapedPath(), "/"), "%s, %q", op.name, id)
			assert.Contains(t, strings.Split(seen.EscapedPath(), "/"), url.PathEscape(id), op.name)
			assert.True(t, strings.HasPrefix(seen.Path, "/rest/v1/"), op.name)
			assert.Empty(t, seen.RawQuery, "%s, %q", op.name, id)
		}
	}
}

// TestBasePathIsKept: paths hang below the environment's, whatever it looks like.
func TestBasePathIsKept(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.invalid/rest/v1":    "/rest/v1/transactions/R-1",
		"https://api.invalid/rest/v1///": "/rest/v1/transactions/R-1",
		"https://api.invalid":            "/transactions/R-1",
		"https://api.invalid/a%2Fb/v1":   "/a%2Fb/v1/transactions/R-1",
		"https://api.invalid/a b":        "/a%20b/transactions/R-1",
	} {
		var got string
		client, err := quickstream.NewClient(quickstream.CustomURL(base), testKeys(), quickstream.WithHTTPClient(&http.Client{
			Transport: service(func(r *http.Request) (*http.Response, error) {
				got = r.URL.RequestURI()
				return answer(404, ""), nil
			}),
		}))
		require.NoError(t, err, base)
		_, err = client.Transactions.Get(t.Context(), "R-1")
		assert.ErrorIs(t, err, quickstream.ErrNotFound)
		assert.Equal(t, want, got, base)
	}
}
