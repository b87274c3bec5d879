package sandbox

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (c *caller) customerNumbered(number string) string {
	c.t.Helper()
	return c.must(201, c.post("/customers", object{"customerNumber": number, "customerName": "Kim Lee"}))["customerId"].(string)
}

func (c *caller) keep(customer string, body object) object {
	c.t.Helper()
	return c.must(201, c.post("/customers/"+customer+"/accounts", body))
}

func bankDetails() object {
	return object{"accountName": "Kim Lee", "bsb": "032-999", "accountNumber": "999994"}
}

func TestRegisterAccountFromEverything(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.customerNumbered("1")
		card := map[string]any{
			"accountType": typeCard, "customerId": customer, "cardNumber": "424242...242", "maskedCardNumber4Digits": "424242...4242",
			"expiryDateMonth": "02", "expiryDateYear": "35", "cardScheme": "VISA", "cardType": "CREDIT", "panType": "FPAN",
		}
		bank := map[string]any{"accountType": typeDirectDebit, "accountName": "Kim Lee", "bsb": "xxx-999", "accountNumber": "xxxxxx994", "currency": "AUD"}
		nz := map[string]any{"accountType": typeDirectDebitNZ, "nzAccountNumber": "xxxx321", "currency": "NZD"}
		paid, drawn := c.pay("O"), c.made(bankPayment("O", "032-999"))
		for i, test := range []struct {
			body object
			want map[string]any
		}{
			{object{"singleUseTokenId": c.token(cardToken(goodCard))}, card},
			{object{"receiptNumber": paid}, card},
			{object{"creditCard": changed(cardDetails(goodCard), "cvn", nil)}, card},
			{object{"singleUseTokenId": c.token(bankToken())}, map[string]any{"accountType": typeDirectDebit}},
			{object{"receiptNumber": drawn}, bank},
			{object{"bankAccount": bankDetails()}, bank},
			{object{"nzBankAccount": nzAccount()}, nz},
			{object{"singleUseTokenId": c.token(nzToken())}, nz},
		} {
			body := c.keep(customer, test.body)
			for name, want := range test.want {
				assert.Equal(t, want, body[name], "%d %s", i, name)
			}
			assert.Equal(t, i == 0, body["defaultAccount"])
			assert.Equal(t, body, c.must(200, c.get("/accounts/"+body["accountToken"].(string))))
			c.made(changed(payment("A"), "accountToken", body["accountToken"], "currency", map[bool]string{true: "NZD", false: "AUD"}[test.want["currency"] == "NZD"]))
		}
	})
}

func TestAccountsOfACustomer(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.customerNumbered("1")
		var want []string
		for range 5 {
			want = append(want, c.keep(customer, object{"bankAccount": bankDetails()})["accountToken"].(string))
		}
		c.keep(c.customerNumbered("2"), object{"bankAccount": bankDetails()})
		slices.Reverse(want)
		assert.Equal(t, want, c.listed("/customers/"+customer+"/accounts", "accountToken"))

		// In the portal.
		isDefault := func(token string) any { return c.must(200, c.get("/accounts/"+token))["defaultAccount"] }
		require.NoError(t, c.box.Portal(want[1], MakeAccountDefault))
		assert.Equal(t, []any{true, false}, []any{isDefault(want[1]), isDefault(want[4])})
		body := c.must(201, c.post("/transactions", changed(bankPayment("O", ""), "bankAccount", nil, "customerId", customer)))
		assert.Equal(t, want[1], body["bankAccount"].(object)["accountToken"])
		require.Error(t, c.box.Portal("x", MakeAccountDefault))
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
}
