package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

		// A profile alone asks for nothing.
		card = c.must(200, c.post("/single-use-tokens", changed(asked, "threeDS2", nil)))["creditCard"].(object)
		assert.Equal(t, []any{false, nil}, []any{card["threeDS2AuthRequired"], card["threeDS2"]})
	})
}

func TestTokenRules(t *testing.T) {
	bubble(t, func(c *caller) {
		for member, value := range map[string]string{"supplierBusinessCode": "NOBODY", "expiryDateYear": "1999", "cardNumber": realPAN} {
			assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(cardToken(goodCard), member, value))), member)
		}
		assert.Contains(t, c.findings(c.post("/single-use-tokens", cardToken(realPAN)))["cardNumber"], "test card")
	})
	bubble(t, func(c *caller) {
		assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(bankToken(), "bsb", "032002"))), "bsb")
	}, assuming(func(a *Assumptions) { a.BSBForm = "dash" }))
	bubble(t, func(c *caller) {
		assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(bankToken(), "bsb", "032-002"))), "bsb")
		c.must(200, c.post("/single-use-tokens", changed(bankToken(), "bsb", "032002")))
	}, assuming(func(a *Assumptions) { a.BSBForm = "digits" }))
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
		for _, open := range []Outcome{Erred(), Suspended()} { // either may still take the money
			body := changed(payment("O"), "singleUseTokenId", c.token(cardToken(goodCard)))
			c.box.NextTransaction(open)
			c.must(201, c.post("/transactions", body))
			assert.Equal(t, "has been used", c.findings(c.post("/transactions", body))["singleUseTokenId"])
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

// TestWalletTokens: a wallet's token is a card's, without a cryptogram, and is used once.
func TestWalletTokens(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, wallet := range []string{"APPLE_PAY", "GOOGLE_PAY"} {
			token, err := c.box.WalletToken(wallet, goodCard)
			require.NoError(t, err)
			body := changed(payment("O"), "singleUseTokenId", token)
			assert.Contains(t, c.findings(c.post("/transactions", changed(body, "eci", nil))), "eci", "it is a card")
			c.must(422, c.post("/single-use-tokens/"+token+"/three-ds2-authentication", object{}))
			card := c.must(201, c.post("/transactions", body))["creditCard"].(object)
			assert.Equal(t, []any{wallet, "DPAN", "VISA"}, []any{card["walletProvider"], card["panType"], card["cardScheme"]})
			assert.Contains(t, c.findings(c.post("/transactions", body)), "singleUseTokenId")
		}
		late, err := c.box.WalletToken("APPLE_PAY", goodCard)
		require.NoError(t, err)
		c.pass(tokenLifetime)
		assert.Contains(t, c.findings(c.post("/transactions", changed(payment("O"), "singleUseTokenId", late))), "singleUseTokenId")
		for wallet, number := range map[string]string{"SAMSUNG_PAY": goodCard, "APPLE_PAY": realPAN} {
			_, err := c.box.WalletToken(wallet, number)
			require.Error(t, err)
			assert.NotContains(t, err.Error(), number)
		}
		c.box.Close()
		_, err = c.box.WalletToken("APPLE_PAY", goodCard)
		require.ErrorIs(t, err, errClosed)
	})
}
