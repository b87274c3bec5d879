package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
			goodCard: "Y", masterCard: "Y", CardAttempted: "A", CardChallenge: "C", CardNotAuthenticated: "N", CardRejected: "R", CardUnavailable: "U",
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
		require.Error(t, c.box.AnswerChallenge(token, ThreeDSAuthenticated), "not asked yet")
		c.transStatus(token, authentication())
		c.transStatus(other, toStore())
		assert.Equal(t, []Challenge{{token, "411111...111", "10.50"}, {other, "411111...111", ""}}, c.box.Challenges())
		require.Error(t, c.box.AnswerChallenge(token, ThreeDSChallenge))
		require.Error(t, c.box.AnswerChallenge("unknown", ThreeDSAuthenticated))
		require.NoError(t, c.box.AnswerChallenge(token, ThreeDSAuthenticated))
		require.Error(t, c.box.AnswerChallenge(token, ThreeDSRejected), "answered")
		assert.Equal(t, "Y", c.transStatus(token, authentication()))
		c.must(201, c.post("/transactions", tokenPayment(token)))

		require.NoError(t, c.box.AnswerChallenge(other, ThreeDSNotAuthenticated))
		assert.Equal(t, "N", c.transStatus(other, toStore()))
		last := c.token(threeDSToken(CardChallenge))
		c.transStatus(last, authentication())
		c.sleep(10 * time.Minute)
		assert.Empty(t, c.box.Challenges())
		require.Error(t, c.box.AnswerChallenge(last, ThreeDSAuthenticated))
	})
}

func TestThreeDSRefusals(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.token(threeDSToken(goodCard))
		c.must(404, c.authenticate("unknown", authentication()))
		for _, body := range []object{cardToken(goodCard), bankToken()} {
			assert.Contains(t, c.findings(c.authenticate(c.token(body), authentication())), "singleUseTokenId")
		}
		c.sleep(10*time.Minute - time.Second)
		c.must(200, c.authenticate(token, authentication()))
		c.sleep(time.Second)
		c.must(404, c.authenticate(token, authentication()))
	})
	for _, test := range []struct {
		disabled []string
		want     map[string]int
	}{
		{nil, map[string]int{DefaultBusiness: 503, "SHOP": 503}},
		{[]string{"SHOP"}, map[string]int{DefaultBusiness: 200, "SHOP": 503}},
	} {
		bubble(t, func(c *caller) {
			for code, want := range test.want {
				out := c.authenticate(c.token(changed(threeDSToken(goodCard), "supplierBusinessCode", code)), authentication())
				assert.Equal(t, want, out.status, code)
			}
		}, WithBusiness("SHOP", "The Shop"), WithoutThreeDS(test.disabled...))
	}
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
	bubble(t, func(c *caller) {
		id := c.token(threeDSToken(goodCard))
		c.transStatus(id, toStore())
		c.must(201, c.post("/transactions", changed(tokenPayment(id), "threeDS2", nil)))
	}, assuming(func(a *Assumptions) { a.ThreeDSFlagRequired, a.ThreeDSBindsUse = false, false }))
}

func TestAuthenticationConditions(t *testing.T) {
	bubble(t, func(c *caller) {
		id := c.token(threeDSToken(goodCard))
		missing := func(body object) []string {
			out := c.authenticate(id, body)
			if out.status == 200 {
				return nil
			}
			var names []string
			for name, message := range c.findings(out) {
				assert.Contains(t, message, "is required", name)
				names = append(names, name)
			}
			return names
		}
		indicator := func(category, ind string) object {
			return object{"messageCategory": category, "threeDSRequestorAuthenticationInd": ind}
		}
		money := []string{"principalAmount", "currency"}
		recurring := append([]string{"recurringExpiry", "recurringFrequency"}, money...)
		assert.ElementsMatch(t, []string{"messageCategory", "threeDSRequestorAuthenticationInd"}, missing(object{}))
		assert.ElementsMatch(t, append([]string{"billAddrLine1"}, money...), missing(indicator("01", "01")))
		assert.ElementsMatch(t, recurring, missing(indicator("02", "02")))
		assert.ElementsMatch(t, append(recurring, "purchaseInstalData"), missing(indicator("02", "03")))
		for _, ind := range []string{"04", "05", "06"} {
			assert.Empty(t, missing(indicator("02", ind)), ind)
		}
		whole := changed(authentication(), "threeDSRequestorAuthenticationInd", "03",
			"recurringExpiry", "20301231", "recurringFrequency", "9999", "purchaseInstalData", "999")
		assert.Empty(t, missing(whole))
		for _, name := range []string{"billAddrLine1", "billAddrLine2", "billAddrLine3", "billAddrCity", "billAddrPostCode", "billAddrState", "billAddrCountry"} {
			one := changed(indicator("01", "04"), name, map[bool]string{true: "036", false: "NSW"}[name == "billAddrCountry"])
			assert.Empty(t, missing(one), "one member is an address as far as the contract says: %s", name)
		}
	})
	bubble(t, func(c *caller) {
		bare := changed(authentication(), "billAddrPostCode", nil)
		assert.Contains(t, c.findings(c.authenticate(c.token(threeDSToken(goodCard)), bare)), "billAddrPostCode")
		local := changed(authentication(), "homePhone", "0421559774")
		assert.Contains(t, c.findings(c.authenticate(c.token(threeDSToken(goodCard)), local)), "homePhone")
	}, assuming(func(a *Assumptions) {
		a.BillingAddressMembers, a.InternationalPhones = []string{"billAddrPostCode"}, true
	}))
}
