package sandbox

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBusinesses(t *testing.T) {
	bubble(t, func(c *caller) {
		assert.Equal(t, []string{DefaultBusiness, "A", "B", "C"}, c.listed("/businesses", "supplierBusinessCode"))
		body := c.must(200, c.get("/businesses/B"))
		assert.Equal(t, []any{"B", "Shop B"}, []any{body["supplierBusinessCode"], body["supplierBusinessName"]})
		assert.Contains(t, body["businessAddress"], "postcode")
		c.must(404, c.get("/businesses/X"))
	}, WithBusiness("A", "Shop A"), WithBusiness("B", "Shop B"), WithBusiness("C", "Shop C"))
}

func TestCardSurcharges(t *testing.T) {
	bubble(t, func(c *caller) {
		want := [][]any{
			{"VISA", "CREDIT", "1.10"},
			{"VISA", "DEBIT", "0.50"},
			{"MASTERCARD", "CREDIT", "0.00"},
			{"MASTERCARD", "DEBIT", "0.00"},
			{"AMEX", nil, "2.00"},
			{"DINERS", nil, "0.00"},
			{"JCB", nil, "0.00"},
			{"UNIONPAY", nil, "0.00"},
		}
		for path, key := range map[string]string{"list-card-surcharges": c.keys.Secret, "card-surcharges": c.keys.Publishable} {
			var got [][]any
			for _, item := range c.must(200, c.do("GET", "/businesses/SHOP/"+path, key, nil))["data"].([]any) {
				o := item.(object)
				got = append(got, []any{o["cardScheme"], o["cardType"], o["surchargePercentage"]})
			}
			assert.Equal(t, want, got)
			c.must(404, c.do("GET", "/businesses/X/"+path, key, nil))
		}
		var schemes []any
		for _, item := range c.must(200, c.do("GET", "/businesses/SHOP/accepted-cards", c.keys.Publishable, nil))["data"].([]any) {
			schemes = append(schemes, item.(object)["cardScheme"])
		}
		assert.Equal(t, []any{"VISA", "MASTERCARD", "AMEX", "DINERS", "JCB", "UNIONPAY"}, schemes)
		c.must(404, c.do("GET", "/businesses/X/accepted-cards", c.keys.Publishable, nil))
	}, WithBusiness("SHOP", "The Shop", Surcharge{"VISA", "CREDIT", 110}, Surcharge{"VISA", "", 50}, Surcharge{"AMEX", "", 200}))
}

func TestCardSurchargeIsQueried(t *testing.T) {
	const path = "/businesses/SHOP/query-card-surcharge"
	bubble(t, func(c *caller) {
		ask := func(path string, body any) response { return c.do("POST", path, c.keys.Publishable, body) }
		for number, want := range map[string][3]any{
			goodCard: {"VISA", "CREDIT", "1.10"}, "4041370000456459": {"VISA", "DEBIT", "0.50"},
			"4017950000000009": {"VISA", "CREDIT", "1.10"}, "340000000636513": {"AMEX", nil, "0.00"},
		} {
			body := c.must(200, ask(path, object{"cardNumber": number}))
			assert.Equal(t, want, [3]any{body["cardScheme"], body["cardType"], body["surchargePercentage"]}, number)
		}
		for _, body := range []object{{}, {"cardNumber": goodCard[:12]}, {"cardNumber": goodCard[:11]}, {"cardNumber": goodCard, "cvn": testCVN}} {
			c.must(422, ask(path, body))
		}
		c.must(404, ask("/businesses/X/query-card-surcharge", object{"cardNumber": goodCard}))
	}, WithBusiness("SHOP", "The Shop", Surcharge{"VISA", "CREDIT", 110}, Surcharge{"VISA", "", 50}), assuming(func(a *Assumptions) { a.UnknownEnumValues = false }))
}

func TestCardScheme(t *testing.T) {
	bubble(t, func(c *caller) {
		ask := func(digits string) response {
			return c.do("GET", "/credit-cards/card-schemes/"+digits, c.keys.Publishable, nil)
		}
		for digits, scheme := range map[string]string{"424242": "VISA", "222400": "MASTERCARD", "340000": "AMEX", "353000": "JCB", "625094": "UNIONPAY"} {
			assert.Equal(t, scheme, c.must(200, ask(digits))["cardScheme"], digits)
		}
		c.must(404, ask("400000"))
		for _, digits := range []string{"42424", "4242424", "42424x"} {
			c.must(422, ask(digits))
		}
	})
}

func TestLatestKey(t *testing.T) {
	bubble(t, func(c *caller) {
		first := c.keys.Secret
		latest := func(key string) object { return c.must(200, c.do("GET", "/api-keys/latest", key, nil)) }
		renewed := latest(first)
		second := renewed["key"].(string)
		require.NotEqual(t, first, second)
		assert.Equal(t, "2000-03-31", renewed["expiryDate"])
		assert.Equal(t, second, latest(first)["key"], "a lost answer is asked for again")
		assert.Equal(t, second, c.box.Keys().Secret)
		c.must(200, c.do("GET", "/", second, nil))
		c.sleep(time.Hour)
		c.must(401, c.do("GET", "/api-keys/latest", first, nil))
		third := latest(second)["key"].(string)
		require.NotEqual(t, second, third)
		c.sleep(90 * 24 * time.Hour)
		c.must(401, c.do("GET", "/", third, nil))
	})
	bubble(t, func(c *caller) {
		for range 2 {
			assert.Equal(t, c.keys.Secret, c.must(200, c.do("GET", "/api-keys/latest", c.keys.Secret, nil))["key"])
		}
	}, assuming(func(a *Assumptions) { a.LatestKey = "latest" }))
}

func TestCrossOriginCalls(t *testing.T) {
	const page = "http://127.0.0.1:3000"
	ask := func(c *caller, origin, method, path string) response {
		return c.do("OPTIONS", path, "", nil, "Origin", origin, "Access-Control-Request-Method", method)
	}
	bubble(t, func(c *caller) { // by default, not at all
		assert.Equal(t, http.StatusMethodNotAllowed, ask(c, page, "POST", "/single-use-tokens").status)
		out := c.do("POST", "/single-use-tokens", c.keys.Publishable, cardToken(goodCard), "Origin", page)
		assert.Empty(t, out.header.Get("Access-Control-Allow-Origin"))
	})
	for _, allowed := range []string{page, "*"} {
		bubble(t, func(c *caller) {
			out := ask(c, page, "POST", "/single-use-tokens")
			assert.Equal(t, http.StatusNoContent, out.status)
			assert.Equal(t, []string{page, "POST"}, []string{out.header.Get("Access-Control-Allow-Origin"), out.header.Get("Access-Control-Allow-Methods")})
			assert.Contains(t, out.header.Get("Access-Control-Allow-Headers"), "Authorization")
			out = c.do("POST", "/single-use-tokens", c.keys.Publishable, cardToken(goodCard), "Origin", page)
			assert.Equal(t, []any{200, page}, []any{out.status, out.header.Get("Access-Control-Allow-Origin")})

			for method, path := range map[string]string{"POST": "/transactions", "GET": "/customers", "PUT": "/nowhere"} {
				assert.NotEqual(t, http.StatusNoContent, ask(c, page, method, path).status, path)
			}
			out = c.do("GET", "/transactions", c.keys.Secret, nil, "Origin", page)
			assert.Empty(t, out.header.Get("Access-Control-Allow-Origin"))
			if allowed != "*" {
				assert.NotEqual(t, http.StatusNoContent, ask(c, "http://elsewhere.example", "POST", "/single-use-tokens").status)
			}
		}, assuming(func(a *Assumptions) { a.AllowedOrigins = []string{allowed} }))
	}
}
