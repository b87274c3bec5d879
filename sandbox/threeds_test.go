package sandbox

import (
	"fmt"
	"strings"
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

		c.box.NextThreeDS(ThreeDSNotAuthenticated, ThreeDSAttempted)
		assert.Equal(t, "N", c.transStatus(c.token(threeDSToken(goodCard)), authentication()))
		assert.Equal(t, "A", c.transStatus(c.token(threeDSToken(CardChallenge)), authentication()))
		assert.Equal(t, "Y", c.transStatus(c.token(threeDSToken(goodCard)), authentication()))
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
		c.must(401, c.do("POST", "/single-use-tokens/"+token+"/three-ds2-authentication", c.keys.Publishable, authentication()))
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

func TestAnAuthenticationIsReplayed(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.token(threeDSToken(goodCard))
		path := "/single-use-tokens/" + token + "/three-ds2-authentication"
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", Nth: 1, Kind: ResetAfterCommit()}))
		c.box.NextThreeDS(ThreeDSAttempted, ThreeDSRejected)
		_, err := c.try(c.request("POST", path, c.keys.Secret, authentication(), "Idempotency-Key", "k"))
		require.Error(t, err)
		assert.Equal(t, "A", c.must(200, c.post(path, authentication(), "Idempotency-Key", "k"))["transStatus"])
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
	bubble(t, func(c *caller) {
		id := c.token(threeDSToken(goodCard))
		c.transStatus(id, toStore())
		c.must(201, c.post("/transactions", changed(tokenPayment(id), "threeDS2", nil)))
	}, assuming(func(a *Assumptions) { a.ThreeDSFlagRequired, a.ThreeDSBindsUse = false, false }))
}

func TestAuthenticationFields(t *testing.T) {
	bubble(t, func(c *caller) {
		long := func(n int) string { return strings.Repeat("a", n) }
		email := func(n int) string { return long(n-len("@example.com")) + "@example.com" }
		type values struct{ good, bad []string }
		codes := func(last int) values {
			v := values{bad: []string{"00", "1", fmt.Sprintf("%02d", last+1), "x"}}
			for i := range last {
				v.good = append(v.good, fmt.Sprintf("%02d", i+1))
			}
			return v
		}
		var (
			line  = values{[]string{long(50)}, []string{long(51)}}
			phone = values{[]string{"+61421559774", "+12345678901234", "0421559774", "+61 421 559 774"}, []string{"+123456789012345"}}
			day   = values{[]string{"20260228"}, []string{"20260230", "2026-02-28", "202602"}}
			three = values{[]string{"0", "999"}, []string{"1000", "-1", "1.0"}}
			state = values{[]string{"NSW", "9"}, []string{"NSWX"}}
			num   = values{[]string{"036"}, []string{"36", "AUS", "0360"}}
			mail  = values{[]string{"a@b.co", email(254)}, []string{email(255)}}
			post  = values{[]string{long(16)}, []string{long(17)}}
		)
		fields := map[string]values{
			"deliveryEmailAddress": mail, "email": mail, "deliveryTimeframe": codes(4), "giftCardAmount": {[]string{"0", strings.Repeat("9", 15)}, []string{"1.50", strings.Repeat("9", 16)}},
			"giftCardCount": {[]string{"01"}, []string{"1", "001"}}, "giftCardCurr": num, "preOrderDate": day, "preOrderPurchaseInd": codes(2),
			"reorderItemsInd": codes(2), "shipIndicator": codes(7), "homePhone": phone, "mobilePhone": phone, "workPhone": phone,
			"billAddrLine1": line, "billAddrLine2": line, "billAddrLine3": line, "billAddrCity": line, "billAddrPostCode": post,
			"billAddrState": state, "billAddrCountry": num, "addrMatch": {[]string{"Y", "N"}, []string{"y", "true"}},
			"shipAddrLine1": line, "shipAddrLine2": line, "shipAddrLine3": line, "shipAddrCity": line, "shipAddrPostCode": post,
			"shipAddrState": state, "shipAddrCountry": num, "acctID": {[]string{long(64)}, []string{long(65)}},
			"chAccAgeInd": codes(5), "chAccChange": day, "chAccChangeInd": codes(4), "chAccDate": day, "chAccPwChange": day, "chAccPwChangeInd": codes(5),
			"nbPurchaseAccount": {[]string{"0", "9999"}, []string{"10000", "x"}}, "paymentAccAge": day, "paymentAccInd": codes(5),
			"provisionAttemptsDay": three, "shipAddressUsage": day, "shipAddressUsageInd": codes(4), "shipNameIndicator": codes(2),
			"suspiciousAccActivity": codes(2), "txnActivityDay": three, "txnActivityYear": three,
			"messageCategory": codes(2), "principalAmount": {[]string{"10.50", "0.00"}, []string{"10.5", "10", "-1.00", "010.50", "1e1"}},
			"currency": {[]string{"AUD"}, []string{"NZD", "036"}},
		}
		assert.Len(t, fields, 48)
		id := c.token(threeDSToken(goodCard))
		for name, values := range fields {
			for _, good := range values.good {
				c.must(200, c.authenticate(id, changed(authentication(), name, good)))
			}
			for _, bad := range append(values.bad, "") {
				if bad == "" && name != "messageCategory" && name != "principalAmount" && name != "currency" {
					continue // optional
				}
				assert.Contains(t, c.findings(c.authenticate(id, changed(authentication(), name, bad))), name, "%s=%s", name, bad)
			}
			assert.Contains(t, c.findings(c.authenticate(id, changed(authentication(), name, 1))), name, "%s is a string", name)
		}
		assert.Contains(t, c.findings(c.authenticate(id, changed(authentication(), "billAddr", "x"))), "billAddr")
	}, assuming(func(a *Assumptions) { a.TokenQuota = 0 }))
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
		for name, bad := range map[string]string{"recurringExpiry": "2030-12-31", "recurringFrequency": "10000", "purchaseInstalData": "1000", "threeDSRequestorAuthenticationInd": "07"} {
			assert.Contains(t, c.findings(c.authenticate(id, changed(whole, name, bad))), name)
		}
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
