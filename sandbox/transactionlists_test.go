package sandbox

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestListsOfTransactions(t *testing.T) {
	bubble(t, func(c *caller) {
		c.sleep(time.Second)
		cards := make([]string, 4)
		for i := range cards {
			cards[3-i] = c.pay("O")
			c.sleep(time.Second)
		}
		bank := c.made(bankPayment("B", "032-999"))
		nz := c.made(changed(bankPayment("NZ", ""), "bankAccount", nil, "nzBankAccount", nzAccount(), "currency", "NZD"))
		c.sleep(8 * time.Hour)
		tomorrow := c.made(changed(cardPayment("T"), "creditCard", cardDetails(masterCard)))
		c.sleep(2 * time.Second)
		account := nzAccount()
		for path, want := range map[string][]string{
			"for-settlement-date?settlementDate=2000-01-01":                              append([]string{nz, bank}, cards...),
			"for-settlement-date?settlementDate=2000-01-02":                              {tomorrow},
			"for-credit-card?firstSix=424242&lastThree=242":                              cards,
			"for-credit-card?firstSix=424242&lastThree=243":                              {},
			"for-credit-card?firstSix=516320&lastThree=008":                              {tomorrow},
			"for-bank-account?bsb=032-999&accountNumber=999994":                          {bank},
			"for-bank-account?bsb=032-998&accountNumber=999994":                          {},
			"for-nz-bank-account?bankCode=01&branchCode=0001&" + "accountNumber=1234567": {},
			"for-nz-bank-account?" + url.Values{
				"bankCode": {account["nzBankCode"].(string)}, "branchCode": {account["nzBranchCode"].(string)},
				"accountNumber": {account["nzAccountNumber"].(string)},
			}.Encode(): {nz},
		} {
			assert.Equal(t, want, c.receipts("/transactions/"+path), path)
		}
		c.must(404, c.get("/transactions/for-settlement-date?settlementDate=2000-01-03"))
	})
}

func TestListOfAnAccountToken(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}))["customerId"].(string)
		account := c.must(201, c.post("/customers/"+customer+"/accounts", object{"creditCard": cardDetails(goodCard)}))["accountToken"].(string)
		path := "/transactions/for-account-token?accountToken=" + account
		c.must(404, c.get(path))
		var want []string
		for i := range 4 {
			name, value := "accountToken", account
			if i%2 == 0 {
				name, value = "customerId", customer
			}
			want = append(want, c.made(changed(payment("O"), name, value)))
		}
		c.pay("O")
		c.sleep(2 * time.Second)
		slices.Reverse(want)
		assert.Equal(t, want, c.receipts(path))
		c.must(404, c.get("/transactions/for-account-token?accountToken=x"))
	})
}

func TestRefundsOfATransaction(t *testing.T) {
	bubble(t, func(c *caller) {
		payment, other := c.pay("O"), c.pay("P")
		c.made(against(typeRefund, other, "1.00"))
		var refunds []string
		for range 4 {
			refunds = append(refunds, c.made(against(typeRefund, payment, "1.00")))
		}
		path := "/transactions/" + payment + "/refunds"
		c.must(200, c.get(path))
		c.sleep(2 * time.Second)
		slices.Reverse(refunds)
		assert.Equal(t, refunds, c.receipts(path))
		assert.Empty(t, c.receipts("/transactions/"+refunds[0]+"/refunds"))
		c.must(404, c.get("/transactions/1/refunds"))
	}, assuming(func(a *Assumptions) { a.RefundBeforeCutOff, a.LookupLag = true, 0 }))
}
