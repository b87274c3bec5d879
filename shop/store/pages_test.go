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

// Every answer of every route has the headers that keep pages from talking to anybody but the shop and the service:
// pages, files, errors and redirects, with a session and a login and without.
func TestPolicy(t *testing.T) {
	w := newWorld(t)
	b := w.staff()
	id := b.order("beans")
	_, agreement := b.agree()
	clients := []*http.Client{b.http, {}}
	for _, client := range clients {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	paths := strings.NewReplacer("{$}", "", "{order}", id, "/payto/{agreement}", agreement, "{file}", "live.js", "{card}", "none")
	addresses := []string{"GET /nowhere", "POST /nowhere", "GET /office/nowhere", "GET /office/console.js", "GET /office/payment?id=none", "GET /orders/none", "GET /static/none", "GET /office"}
	for _, r := range append(w.shop.routes(), w.shop.officeRoutes()...) {
		if !strings.HasSuffix(r.pattern, "/changes") { // a stream, which has no end
			addresses = append(addresses, paths.Replace(r.pattern))
		}
	}
	for _, address := range addresses {
		for _, client := range clients {
			method, path, _ := strings.Cut(address, " ")
			r, err := http.NewRequestWithContext(t.Context(), method, w.web.URL+path, nil)
			require.NoError(t, err)
			answer, err := client.Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			policy := answer.Header.Get("Content-Security-Policy")
			for _, part := range []string{"default-src 'none'", "script-src 'self'", "form-action 'self'", "frame-ancestors 'none'"} {
				assert.Contains(t, policy, part, address)
			}
			assert.NotContains(t, policy, "unsafe", address)
			if answer.StatusCode == http.StatusOK {
				assert.Equal(t, "no-store", answer.Header.Get("Cache-Control"), address)
			}
			for name, wanted := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Permissions-Policy": "payment=()",
			} {
				assert.Contains(t, answer.Header.Get(name), wanted, "%s of %s", name, address)
			}
		}
	}
}

var (
	formsPattern  = regexp.MustCompile(`(?s)<form.*?</form>`)
	fieldPattern  = regexp.MustCompile(`<input[^>]*(data-quickstream-api|id="expiry")[^>]*>`)
	inlinePattern = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script>`)
)

// The card's fields are in no form and have no name, so that no browser can send them to the
// shop, with JavaScript or without.
func TestCardFieldsAreInNoForm(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	page := b.get("/checkout/" + b.order("beans")).body
	fields := fieldPattern.FindAllString(page, -1)
	assert.Len(t, fields, 6)
	for _, field := range fields {
		assert.NotContains(t, field, " name=")
		assert.NotContains(t, field, " form=")
	}
	forms := formsPattern.FindAllString(page, -1)
	assert.NotEmpty(t, forms)
	assert.NotRegexp(t, fieldPattern, strings.Join(forms, ""))
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
