package sandbox

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/internal/memnet"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func TestKeysAndOriginOfAServer(t *testing.T) {
	bubble(t, func(c *caller) {
		assert.Equal(t, "SANDBOX_SEC_MINE", c.keys.Secret)
		assert.Regexp(t, `^SANDBOX_PUB_[A-Z2-7]{26}$`, c.keys.Publishable)
		c.must(200, c.get("/businesses/"+DefaultBusiness))
		renewed := c.box.RenewKey(KeySecret, 0)
		assert.NotEqual(t, c.keys.Secret, renewed)
		assert.Equal(t, 401, c.get("/businesses/"+DefaultBusiness).status)
		c.keys.Secret = renewed

		require.NoError(t, c.box.Subscribe(Subscription{Handler: http.NotFoundHandler(), Secret: "s", Scheme: signature.AssumedHMAC{}}))
		c.activeAgreement(c.agreementRequest())
		c.pass(time.Second)
		assert.Contains(t, string(c.box.Deliveries()[0].Body), `"href":"http://shop.example:8642/rest/v1"`)
	}, WithKeys(Keys{Secret: "SANDBOX_SEC_MINE"}), WithOrigin("http://shop.example:8642"))

	// A fixed key leaves the identifiers of a seed as they are.
	plain, fixed := New(WithSeed(7)), New(WithSeed(7), WithKeys(Keys{Secret: "SANDBOX_SEC_MINE"}))
	defer plain.Close()
	defer fixed.Close()
	assert.Equal(t, plain.Keys().Publishable, fixed.Keys().Publishable)
}

const shopOrigin = "http://127.0.0.1:8080"

// browse requests a page as a browser does.
func (c *caller) browse(method, path string, form url.Values, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+memnet.Host+path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	c.box.ServeHTTP(w, r)
	return w
}

// The script is at the service's public path, and says that it is a stand-in.
func TestShopScript(t *testing.T) {
	bubble(t, func(c *caller) {
		w := c.browse("GET", "/rest/v1/quickstream-api-1.0.min.js", nil)
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Contains(t, w.Header().Get("Content-Type"), "text/javascript")
		assert.Contains(t, w.Body.String(), "UNCONFIRMED")
		assert.Empty(t, c.box.Requests(), "it is no call of the service")
	}, WithShop(shopOrigin))
	bubble(t, func(c *caller) {
		for _, path := range []string{"/rest/v1/quickstream-api-1.0.min.js", "/_shop/challenge"} {
			assert.Equal(t, http.StatusNotFound, c.browse("GET", path, nil).Code, path)
		}
	})
}

// The script's calls are answered for shops only, and shops get no other calls answered.
func TestShopCalls(t *testing.T) {
	bubble(t, func(c *caller) {
		preflight := func(origin, method, path string) int {
			return c.browse("OPTIONS", "/rest/v1"+path, nil, "Origin", origin, "Access-Control-Request-Method", method).Code
		}
		assert.Equal(t, http.StatusNoContent, preflight(shopOrigin, "POST", "/single-use-tokens"))
		assert.NotEqual(t, http.StatusNoContent, preflight("http://127.0.0.1:8081", "POST", "/single-use-tokens"))
		assert.NotEqual(t, http.StatusNoContent, preflight(shopOrigin, "GET", "/businesses/SANDBOX01/accepted-cards"))
		assert.NotEqual(t, http.StatusNoContent, preflight(shopOrigin, "POST", "/transactions"))

		out := c.do("POST", "/single-use-tokens", c.keys.Publishable, cardToken(goodCard), "Origin", shopOrigin)
		assert.Equal(t, []any{200, shopOrigin}, []any{out.status, out.header.Get("Access-Control-Allow-Origin")})
		out = c.do("POST", "/single-use-tokens", c.keys.Secret, cardToken(goodCard), "Origin", shopOrigin)
		assert.Equal(t, 401, out.status, "a call of the script is judged as any other")
		out = c.do("GET", "/transactions", c.keys.Secret, nil, "Origin", shopOrigin)
		assert.Empty(t, out.header.Get("Access-Control-Allow-Origin"))
	}, WithShop(shopOrigin))
}

// Only shops put the challenge into a frame; its answers come from the page itself.
func TestShopChallenge(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.token(threeDSToken(CardChallenge))
		path := "/_shop/challenge?" + url.Values{"singleUseTokenId": {token}, "shop": {shopOrigin}}.Encode()
		assert.Contains(t, c.browse("GET", path, nil).Body.String(), "not open", "nobody has asked")
		c.transStatus(token, authentication())
		w := c.browse("GET", path, nil)
		assert.Contains(t, w.Body.String(), "411111...111")
		assert.Contains(t, w.Body.String(), `value="`+shopOrigin+`"`)
		assert.Contains(t, w.Header().Get("Content-Security-Policy"), "frame-ancestors "+shopOrigin+" http://localhost:8080")
		stranger := c.browse("GET", strings.Replace(path, "8080", "8081", 1), nil)
		assert.NotContains(t, stranger.Body.String(), "8081", "only shops are told")

		answer := url.Values{"singleUseTokenId": {token}, "shop": {shopOrigin}, "transStatus": {"Y"}}
		refused := c.browse("POST", "/_shop/challenge", answer, "Origin", shopOrigin, "Sec-Fetch-Site", "same-site")
		assert.Equal(t, http.StatusForbidden, refused.Code, "a shop may show the question and not answer it")
		assert.Len(t, c.box.Challenges(), 1)
		w = c.browse("POST", "/_shop/challenge", answer, "Sec-Fetch-Site", "same-origin")
		assert.Contains(t, w.Body.String(), `data-passed="true"`)
		assert.Contains(t, w.Body.String(), `data-shop="`+shopOrigin+`"`)
		assert.Equal(t, "Y", c.transStatus(token, authentication()))
		again := c.browse("POST", "/_shop/challenge", answer)
		assert.Contains(t, again.Body.String(), `data-passed="false"`, "it was answered")
	}, WithShop(shopOrigin, "http://localhost:8080"))
}

// A server that refuses other sites can tell which of their requests are the shop's.
func TestForShop(t *testing.T) {
	bubble(t, func(c *caller) {
		frame := http.Header{"Referer": {shopOrigin + "/"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"same-site"}}
		with := func(name string, values ...string) http.Header {
			h := frame.Clone()
			h[name] = values
			return h
		}
		for _, row := range []struct {
			method, path string
			header       http.Header
			want         bool
		}{
			{"GET", "/rest/v1/quickstream-api-1.0.min.js", http.Header{}, true},
			{"POST", "/rest/v1/single-use-tokens", http.Header{"Origin": {shopOrigin}}, true},
			{"POST", "/rest/v1/single-use-tokens", http.Header{"Origin": {shopOrigin, "http://evil.example"}}, false},
			{"POST", "/rest/v1/single-use-tokens", http.Header{"Origin": {"http://evil.example"}}, false},
			{"POST", "/rest/v1/single-use-tokens", http.Header{}, false},
			{"POST", "/rest/v1/transactions", http.Header{"Origin": {shopOrigin}}, false},
			{"GET", "/_shop/challenge", frame, true},
			{"POST", "/_shop/challenge", frame, false},
			{"GET", "/_shop/challenge", with("Referer", "http://127.0.0.1:8080.evil.example/"), false},
			{"GET", "/_shop/challenge", with("Referer", shopOrigin+"@evil.example/"), false},
			{"GET", "/_shop/challenge", with("Referer"), false},
			{"GET", "/_shop/challenge", with("Sec-Fetch-Mode", "no-cors"), false},
			{"GET", "/_shop/challenge", with("Origin", "null"), false},
			{"GET", "/rest/v1/", frame, false},
		} {
			r := httptest.NewRequest(row.method, "http://"+memnet.Host+row.path, nil)
			r.Header = row.header
			assert.Equal(t, row.want, c.box.ForShop(r), "%s %s %v", row.method, row.path, row.header)
		}
		none := New()
		defer none.Close()
		r := httptest.NewRequest("GET", "http://"+memnet.Host+"/rest/v1/quickstream-api-1.0.min.js", nil)
		require.False(t, none.ForShop(r))
	}, WithShop(shopOrigin))
}
