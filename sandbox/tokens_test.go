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
}

func TestTokensOfBankAccounts(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, body := range []object{bankToken(), nzToken()} {
			c.token(body)
			assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(body, "threeDS2", true, "browserProfile", browser()))), "threeDS2")
		}
		assert.Contains(t, c.findings(c.post("/single-use-tokens", changed(nzToken(), "nzAccountSuffix", nil))), "nzAccountSuffix")
	})
}

func TestTokenQuota(t *testing.T) {
	bubble(t, func(c *caller) {
		c.token(cardToken(goodCard))
		c.sleep(20 * time.Second)
		c.token(cardToken(goodCard))
		out := c.post("/single-use-tokens", cardToken(goodCard))
		c.must(429, out)
		assert.Empty(t, out.header.Get("Retry-After"))
		c.sleep(40 * time.Second)
		c.token(cardToken(goodCard))
	}, assuming(func(a *Assumptions) { a.TokenQuota = 2 }))
}

func threeDSToken(number string) object {
	return changed(cardToken(number), "threeDS2", true, "browserProfile", browser())
}

// authentication is the smallest valid one for a payment of 10.50.
func authentication() object {
	return object{
		"messageCategory": "01", "threeDSRequestorAuthenticationInd": "01", "principalAmount": "10.50", "currency": "AUD",
		"billAddrLine1": "1 High St", "billAddrCity": "Sydney", "billAddrPostCode": "2000", "billAddrState": "NSW", "billAddrCountry": "036",
	}
}

func toStore() object {
	return object{"messageCategory": "02", "threeDSRequestorAuthenticationInd": "04"}
}

func (c *caller) authenticate(token string, body object) response {
	c.t.Helper()
	return c.post("/single-use-tokens/"+token+"/three-ds2-authentication", body)
}

func (c *caller) transStatus(token string, body object) any {
	c.t.Helper()
	return c.must(200, c.authenticate(token, body))["transStatus"]
}

func tokenPayment(token string) object {
	return changed(payment("O"), "singleUseTokenId", token, "threeDS2", true)
}

func TestThreeDSResults(t *testing.T) {
	bubble(t, func(c *caller) {
		for number, want := range map[string]string{
			goodCard: "Y", masterCard: "Y", CardAttempted: "A", CardChallenge: "C", "4017950000000009": "N", "4041370000456459": "R", "4564000000000182": "U",
		} {
			token := c.token(threeDSToken(number))
			assert.Equal(t, "needs 3D Secure authentication first", c.refused(tokenPayment(token))["singleUseTokenId"])
			assert.Equal(t, want, c.transStatus(token, authentication()), number)
			assert.Equal(t, want, c.transStatus(token, authentication()), "asked again")
			switch want {
			case "Y", "A":
				assert.Equal(t, "0", c.must(201, c.post("/transactions", tokenPayment(token)))["summaryCode"])
				c.must(404, c.authenticate(token, authentication()))
			case "C":
				assert.Equal(t, "needs 3D Secure authentication first", c.refused(tokenPayment(token))["singleUseTokenId"])
			default:
				assert.Equal(t, "has failed 3D Secure authentication", c.refused(tokenPayment(token))["singleUseTokenId"])
			}
		}
		assert.Len(t, c.box.Ledger().Charged("O"), 3)
	})
}

func TestChallenge(t *testing.T) {
	bubble(t, func(c *caller) {
		token, other := c.token(threeDSToken(CardChallenge)), c.token(threeDSToken(CardChallenge))
		require.Error(t, c.box.AnswerChallenge(token, TransStatusAuthenticated), "not asked yet")
		c.transStatus(token, authentication())
		c.transStatus(other, toStore())
		assert.Equal(t, []Challenge{{token, "411111...111", "10.50"}, {other, "411111...111", ""}}, c.box.Challenges())
		require.Error(t, c.box.AnswerChallenge(token, TransStatusChallenge))
		require.Error(t, c.box.AnswerChallenge("unknown", TransStatusAuthenticated))
		require.NoError(t, c.box.AnswerChallenge(token, TransStatusAuthenticated))
		require.Error(t, c.box.AnswerChallenge(token, TransStatusRejected), "answered")
		assert.Equal(t, "Y", c.transStatus(token, authentication()))
		c.must(201, c.post("/transactions", tokenPayment(token)))

		require.NoError(t, c.box.AnswerChallenge(other, TransStatusNotAuthenticated))
		assert.Equal(t, "N", c.transStatus(other, toStore()))
		last := c.token(threeDSToken(CardChallenge))
		c.transStatus(last, authentication())
		c.sleep(10 * time.Minute)
		assert.Empty(t, c.box.Challenges())
		require.Error(t, c.box.AnswerChallenge(last, TransStatusAuthenticated))
	})
}

func TestAuthenticationRules(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.token(threeDSToken(goodCard))
		bare := object{"messageCategory": "01", "threeDSRequestorAuthenticationInd": "01", "principalAmount": "10.50", "currency": "AUD"}
		assert.Contains(t, c.findings(c.authenticate(token, bare)), "billAddrLine1")
		assert.Contains(t, c.findings(c.authenticate(token, changed(bare, "billAddrCity", ""))), "billAddrLine1")
		assert.Contains(t, c.findings(c.authenticate(token, changed(authentication(), "preOrderDate", "20260231"))), "preOrderDate")
		c.transStatus(token, changed(bare, "billAddrCity", "Sydney", "preOrderDate", "20260228"))
	})
}

func TestAuthenticationBindsItsUse(t *testing.T) {
	bubble(t, func(c *caller) {
		token := func(body object) string {
			id := c.token(threeDSToken(goodCard))
			require.Equal(t, "Y", c.transStatus(id, body))
			return id
		}
		paying, storing := token(authentication()), token(toStore())
		assert.Contains(t, c.refused(changed(tokenPayment(paying), "threeDS2", nil)), "threeDS2")
		assert.Contains(t, c.refused(changed(tokenPayment(paying), "threeDS2", false)), "threeDS2")
		assert.Contains(t, c.refused(changed(tokenPayment(paying), "principalAmount", money("10.51"))), "principalAmount")
		assert.Contains(t, c.refused(changed(tokenPayment(paying), "currency", "NZD")), "principalAmount")
		assert.Contains(t, c.refused(tokenPayment(storing)), "singleUseTokenId")
		assert.Contains(t, c.refused(changed(preauth("P", goodCard), "creditCard", nil, "singleUseTokenId", storing, "threeDS2", true)), "singleUseTokenId")
		assert.Contains(t, c.refused(changed(cardPayment("O"), "threeDS2", true)), "threeDS2")
		assert.Contains(t, c.refused(changed(tokenPayment(c.token(cardToken(goodCard))), "threeDS2", true)), "threeDS2")

		customer := c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}))["customerId"].(string)
		keep := func(token string) object { return object{"singleUseTokenId": token, "threeDS2": true} }
		path := "/customers/" + customer + "/accounts"
		assert.Contains(t, c.findings(c.post(path, keep(paying))), "singleUseTokenId")
		assert.Contains(t, c.findings(c.post(path, changed(keep(storing), "threeDS2", nil))), "threeDS2")
		assert.Contains(t, c.findings(c.post(path, keep(c.token(threeDSToken(goodCard))))), "singleUseTokenId")
		c.must(201, c.post(path, keep(storing)))
		c.must(201, c.post("/transactions", tokenPayment(paying)))
		verifying := token(toStore())
		c.must(201, c.post("/transactions", changed(preauth("V", goodCard), "transactionType", typeVerification,
			"principalAmount", nil, "creditCard", nil, "singleUseTokenId", verifying, "threeDS2", true)))
	})
}
