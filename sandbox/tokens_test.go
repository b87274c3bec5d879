package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func browser() object {
	return object{
		"browserJavaEnabled": false, "browserLanguage": "en-AU", "browserScreenHeight": "1080",
		"browserScreenWidth": "1920", "browserColorDepth": "24", "browserTZ": "-600",
	}
}

func bankToken() object {
	return object{
		"supplierBusinessCode": DefaultBusiness, "accountType": typeDirectDebit,
		"accountName": "Kim Lee", "bsb": "032-002", "accountNumber": "123465",
	}
}

func nzAccount() object {
	return object{
		"nzAccountName": "Kim Lee", "nzBankCode": "03", "nzBranchCode": "0123", "nzAccountNumber": "7654321", "nzAccountSuffix": "00",
	}
}

func nzToken() object {
	return changed(nzAccount(), "supplierBusinessCode", DefaultBusiness, "accountType", typeDirectDebitNZ)
}

func TestTokenOfACard(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(200, c.post("/single-use-tokens", changed(cardToken(goodCard), "supplierBusinessCode", "SHOP")))
		assert.Equal(t, typeCard, body["accountType"])
		assert.Nil(t, body["bankAccount"])
		assert.Nil(t, body["nzBankAccount"])
		card := body["creditCard"].(object)
		delete(card, "addedLater")
		assert.Equal(t, object{
			"cardNumber": "424242...242", "maskedCardNumber4Digits": "424242...4242",
			"expiryDateMonth": "02", "expiryDateYear": "35", "cardScheme": "VISA", "cardType": "CREDIT",
			"cardholderName": "Kim Lee", "surchargePercentage": "1.10",
			"threeDS2AuthRequired": false, "threeDS2": nil, "threeDS2Status": nil,
		}, card)

		amex := c.must(200, c.post("/single-use-tokens", changed(cardToken("340000000636513"), "cardholderName", nil)))["creditCard"].(object)
		assert.Equal(t, []any{"AMEX", nil, nil, "0.00"}, []any{amex["cardScheme"], amex["cardType"], amex["cardholderName"], amex["surchargePercentage"]})
	}, WithBusiness("SHOP", "The Shop", Surcharge{Scheme: "VISA", CardType: "DEBIT", BasisPoints: 50}, Surcharge{Scheme: "VISA", BasisPoints: 110}))
}

func TestTokensOfBankAccounts(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(200, c.post("/single-use-tokens", bankToken()))
		bank := body["bankAccount"].(object)
		assert.Equal(t, []any{"Kim Lee", "xxx-002", "xxxxxx465"}, []any{bank["accountName"], bank["bsb"], bank["accountNumber"]})
		assert.Nil(t, body["creditCard"])

		nz := c.must(200, c.post("/single-use-tokens", nzToken()))["nzBankAccount"].(object)
		delete(nz, "addedLater")
		assert.Equal(t, changed(nzAccount(), "nzAccountNumber", "xxxx321"), nz)
	})
}

func TestTokenThreeDS2(t *testing.T) {
	bubble(t, func(c *caller) {
		asked := changed(cardToken(goodCard), "threeDS2", true, "browserProfile", browser())
		card := c.must(200, c.post("/single-use-tokens", asked))["creditCard"].(object)
		assert.Equal(t, true, card["threeDS2AuthRequired"])
		assert.NotNil(t, card["threeDS2Status"])
		profile := card["threeDS2"].(object)
		delete(profile, "addedLater")
		assert.Equal(t, browser(), profile)

		assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(asked, "browserProfile", nil))), "browserProfile")
		for name := range browser() {
			got := c.findings(c.post("/single-use-tokens", changed(asked, "browserProfile", changed(browser(), name, nil))))
			assert.Equal(t, map[string]string{"browserProfile." + name: "is required"}, got)
		}
		for name, bad := range map[string]any{
			"browserJavaEnabled": "no", "browserLanguage": "en-AU-verylong", "browserScreenHeight": "1234567",
			"browserScreenWidth": "10px", "browserColorDepth": "30", "browserTZ": "+10:00",
		} {
			got := c.findings(c.post("/single-use-tokens", changed(asked, "browserProfile", changed(browser(), name, bad))))
			assert.Contains(t, got, "browserProfile."+name)
		}
		// A profile alone asks for nothing.
		card = c.must(200, c.post("/single-use-tokens", changed(asked, "threeDS2", nil)))["creditCard"].(object)
		assert.Equal(t, []any{false, nil}, []any{card["threeDS2AuthRequired"], card["threeDS2"]})
		assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(bankToken(), "threeDS2", true, "browserProfile", browser()))), "threeDS2")
	})
}

func TestTokenRules(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, test := range []struct {
			body   object
			member string
			value  any
		}{
			{cardToken(goodCard), "supplierBusinessCode", nil},
			{cardToken(goodCard), "supplierBusinessCode", "NOBODY"},
			{cardToken(goodCard), "accountType", nil},
			{cardToken(goodCard), "accountType", "APPLE_PAY"},
			{cardToken(goodCard), "cardNumber", nil},
			{cardToken(goodCard), "cardNumber", "4242 4242 4242 4242"},
			{cardToken(goodCard), "cardNumber", realPAN},
			{cardToken(goodCard), "expiryDateMonth", nil},
			{cardToken(goodCard), "expiryDateMonth", "2"},
			{cardToken(goodCard), "expiryDateMonth", "13"},
			{cardToken(goodCard), "expiryDateYear", nil},
			{cardToken(goodCard), "expiryDateYear", "35"},
			{cardToken(goodCard), "expiryDateYear", "1999"},
			{cardToken(goodCard), "cvn", "12"},
			{cardToken(goodCard), "cvn", "83720"},
			{cardToken(goodCard), "bsb", "032-002"},
			{cardToken(goodCard), "nzBankCode", "03"},
			{cardToken(goodCard), "unknown", "x"},
			{bankToken(), "accountName", nil},
			{bankToken(), "bsb", nil},
			{bankToken(), "bsb", "03200"},
			{bankToken(), "accountNumber", nil},
			{bankToken(), "cardNumber", goodCard},
			{nzToken(), "nzAccountName", nil},
			{nzToken(), "nzBankCode", 3},
			{nzToken(), "nzBranchCode", nil},
			{nzToken(), "nzAccountNumber", nil},
			{nzToken(), "nzAccountSuffix", ""},
			{nzToken(), "bsb", "032-002"},
		} {
			got := c.findings(c.post("/single-use-tokens", changed(test.body, test.member, test.value)))
			assert.Contains(t, got, test.member, "%v", test.value)
		}
		got := c.findings(c.post("/single-use-tokens", cardToken(realPAN)))
		assert.Contains(t, got["cardNumber"], "test card")
		for _, fine := range []object{
			changed(cardToken(goodCard), "cvn", nil), changed(cardToken(goodCard), "cvn", "8372"),
			changed(bankToken(), "bsb", "032002"), changed(bankToken(), "accountNumber", "1"),
			changed(nzToken(), "nzBankCode", "3", "nzAccountSuffix", "0"),
		} {
			c.must(200, c.post("/single-use-tokens", fine))
		}
	})
	bubble(t, func(c *caller) {
		assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(bankToken(), "bsb", "032002"))), "bsb")
	}, assuming(func(a *Assumptions) { a.HyphenatedBSB = true }))
}

func TestTokenIsUsedOnceWithinTenMinutes(t *testing.T) {
	bubble(t, func(c *caller) {
		use := func(id string) response {
			return c.post("/transactions", changed(payment("O"), "singleUseTokenId", id))
		}
		late := c.token(cardToken(goodCard))
		c.sleep(10*time.Minute - time.Second)
		inTime := c.token(cardToken(goodCard))
		c.sleep(time.Second)
		assert.Contains(t, c.findings(use(late))["singleUseTokenId"], "expired")
		c.must(201, use(inTime))
		assert.Equal(t, "has been used", c.findings(use(inTime))["singleUseTokenId"])
		assert.Contains(t, c.findings(use("nothing")), "singleUseTokenId")

		// A refused request does not use the token, a declined payment does.
		declined := c.token(cardToken("4111111111444496"))
		c.findings(c.post("/transactions", changed(payment("O"), "singleUseTokenId", declined, "currency", nil)))
		assert.Equal(t, "51", c.must(201, use(declined))["responseCode"])
		assert.Equal(t, "has been used", c.findings(use(declined))["singleUseTokenId"])
	})
	bubble(t, func(c *caller) {
		id := c.token(cardToken("4111111111444496"))
		for range 2 {
			c.must(201, c.post("/transactions", changed(payment("O"), "singleUseTokenId", id)))
		}
	}, assuming(func(a *Assumptions) { a.DeclineConsumesToken = false }))
}

func TestTokenQuota(t *testing.T) {
	quota := func(retryAfter bool) Option {
		return assuming(func(a *Assumptions) { a.TokenQuota, a.QuotaRetryAfter = 2, retryAfter })
	}
	bubble(t, func(c *caller) {
		c.token(cardToken(goodCard))
		c.sleep(20 * time.Second)
		c.token(cardToken(goodCard))
		out := c.post("/single-use-tokens", cardToken(goodCard))
		c.must(429, out)
		assert.Empty(t, out.header.Get("Retry-After"))
		c.sleep(40 * time.Second)
		c.token(cardToken(goodCard))
	}, quota(false))
	bubble(t, func(c *caller) {
		c.token(cardToken(goodCard))
		c.sleep(20 * time.Second)
		c.token(cardToken(goodCard))
		assert.Equal(t, "40", c.post("/single-use-tokens", cardToken(goodCard)).header.Get("Retry-After"))
	}, quota(true))
}
