package store

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Every answer has the policy that keeps pages from talking to anybody but the shop and
// the service, errors and files too.
func TestPolicy(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("beans")
	for _, path := range []string{"/", "/checkout/" + id, "/orders/" + id, "/customers/", "/nowhere", "/static/checkout.js", "/static/style.css"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.web.URL+path, nil)
		require.NoError(t, err)
		answer, err := b.http.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		policy := answer.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self' " + w.config.Service, "form-action 'self'", "frame-ancestors 'none'"} {
			assert.Contains(t, policy, part, path)
		}
		assert.NotContains(t, policy, "unsafe", path)
		assert.Equal(t, "no-store", answer.Header.Get("Cache-Control"), path)
	}
}

var (
	formsPattern  = regexp.MustCompile(`(?s)<form.*?</form>`)
	fieldPattern  = regexp.MustCompile(`<input[^>]*data-quickstream-api[^>]*>`)
	inlinePattern = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script>`)
)

// The card's fields are in no form and have no name, so that no browser can send them to the
// shop, with JavaScript or without.
func TestCardFieldsAreInNoForm(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	page := b.get("/checkout/" + b.order("beans")).body
	fields := fieldPattern.FindAllString(page, -1)
	assert.Len(t, fields, 5)
	for _, field := range fields {
		assert.NotContains(t, field, " name=")
		assert.NotContains(t, field, " form=")
	}
	forms := formsPattern.FindAllString(page, -1)
	assert.NotEmpty(t, forms)
	assert.NotContains(t, strings.Join(forms, ""), "data-quickstream-api")
}

// The pages keep to their own policy, those of the back office too: no styles and no scripts in
// them.
func TestNothingInline(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("beans")
	b.pay(id, sandbox.CardChallenge)
	_, agreement := b.agree()
	for _, path := range []string{"/", "/checkout/" + id, "/orders/" + id, "/customers/", agreement, "/nowhere", "/office"} {
		assert.NotRegexp(t, inlinePattern, b.get(path).body, path)
	}
}

// Only what is sold each month can be agreed to.
func TestOnlyMonthlyProductsAreCollected(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("beans")
	assert.Equal(t, http.StatusNotFound, b.post("/payto", "order", id, "name", "Alex Example", "payid", payID).status)
	assert.Empty(t, w.box.Agreements())
}
