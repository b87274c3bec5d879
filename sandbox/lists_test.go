package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readPages follows the links of a list as a careful client does, and returns the references
// that it sees, page by page.
func (c *caller) readPages(path string) (pages []string) {
	c.t.Helper()
	base, err := url.Parse(c.base + path)
	require.NoError(c.t, err)
	for {
		r := c.get(path)
		if r.status == http.StatusNotFound {
			return append(pages, "404")
		}
		body := c.must(200, r)
		var page strings.Builder
		for _, item := range body["data"].([]any) {
			page.WriteString(item.(object)["customerReferenceNumber"].(string))
		}
		pages = append(pages, page.String())
		next := linkOf(body, "next")
		if next == "" || len(pages) > 20 {
			return pages
		}
		to, err := base.Parse(next)
		require.NoError(c.t, err)
		at, _, _ := strings.Cut(path, "?")
		path = at + "?" + to.RawQuery
	}
}

const sameReference = "/transactions/for-reference-number?referenceNumber=SAME"

// payMany makes payments A, B, C, ... with one paymentReferenceNumber.
func (c *caller) payMany(n int) {
	for i := range n {
		c.made(changed(cardPayment(string(rune('A'+i))), "paymentReferenceNumber", "SAME"))
	}
	c.sleep(2 * time.Second)
}

func TestOrderAndPages(t *testing.T) {
	for world, want := range map[string][2][]string{ // the first reading, and the second
		"default":                          {{"GFE", "DCB", "A"}, {"GFE", "DCB", "A"}},
		"PageSize=1000":                    {{"GFEDCBA"}, {"GFEDCBA"}},
		"PageSize=1":                       {{"G", "F", "E", "D", "C", "B", "A"}, {"G", "F", "E", "D", "C", "B", "A"}},
		"Paging=unstable":                  {{"GFD", "DCB", "A"}, {"GFE", "DCB", "A"}},
		"Paging=shifting":                  {{"GFE", "EDC", "BA"}, {"GFE", "EDC", "BA"}},
		"Paging=gone":                      {{"GFE", "404"}, {"GFE", "DCB", "A"}},
		"ReferenceSearch=exact PageSize=2": {{"GF", "ED", "CB", "A"}, {"GF", "ED", "CB", "A"}},
	} {
		inWorld(t, world, func(c *caller) {
			c.payMany(7)
			assert.Equal(c.t, want, [2][]string{c.readPages(sameReference), c.readPages(sameReference)})
		})
	}
}

func TestNothingFound(t *testing.T) {
	for form, want := range map[string]string{"404": "404", "empty": "200 []"} {
		inWorld(t, "PageSize=1 NothingFound="+form, func(c *caller) {
			for _, path := range []string{
				"/transactions/for-reference-number?referenceNumber=x", "/transactions/for-account-token?accountToken=x",
				"/transactions/for-settlement-date?settlementDate=2001-01-01",
			} {
				r := c.get(path)
				got := fmt.Sprint(r.status)
				if r.status == 200 {
					got += " " + asSent(c.t, r.raw)["data"]
				}
				assert.Equal(c.t, want, got, path)
			}
		})
	}
}

// found returns the receipts that a reference finds; 404 is none.
func (c *caller) found(ref string) []string {
	c.t.Helper()
	r := c.get("/transactions/for-reference-number?referenceNumber=" + ref)
	if r.status == http.StatusNotFound {
		return nil
	}
	var receipts []string
	for _, item := range c.must(200, r)["data"].([]any) {
		receipts = append(receipts, receiptIn(item.(object)))
	}
	return receipts
}

func TestReferenceSearch(t *testing.T) {
	for world, want := range map[string]map[string]bool{
		"default":                {"Pay-1": true, "PAY-1": true, "Pay": false, "pa": false},
		"ReferenceSearch=exact":  {"Pay-1": true, "PAY-1": false, "Pay": false, "pa": false},
		"ReferenceSearch=prefix": {"Pay-1": true, "PAY-1": true, "Pay": true, "pa": true},
	} {
		inWorld(t, world, func(c *caller) {
			receipt := c.made(referencedPayment())
			c.sleep(2 * time.Second)
			for ref, finds := range want {
				if finds {
					assert.Equal(c.t, []string{receipt}, c.found(ref), ref)
				} else {
					assert.Empty(c.t, c.found(ref), ref)
				}
			}
		})
	}
}

func TestLookupLags(t *testing.T) {
	for world, lag := range map[string]time.Duration{"default": 2 * time.Second, "LookupLag=0s": 0, "LookupLag=10s": 10 * time.Second, "LookupLag=24h": 24 * time.Hour} {
		inWorld(t, world, func(c *caller) {
			receipt := c.pay("O")
			if lag > 0 {
				c.sleep(lag - 1)
				assert.Empty(c.t, c.found("O"))
				assert.Empty(c.t, c.must(200, c.get("/transactions"))["data"])
				c.must(404, c.get("/transactions/"+receipt))
				assert.Len(c.t, c.box.Ledger().Charged("O"), 1)
				c.sleep(1)
			}
			c.must(200, c.get("/transactions/"+receipt))
			assert.Equal(c.t, []string{receipt}, c.found("O"))
		})
	}
}

func TestPagesStayPutWhenTransactionsArrive(t *testing.T) {
	bubble(t, func(c *caller) {
		var want, got []string
		for range 5 {
			want = append([]string{c.pay("ORDER 1&2")}, want...)
			c.sleep(time.Second)
		}
		c.sleep(time.Minute)
		for href := "/transactions/for-reference-number?referenceNumber=order+1%262"; href != ""; {
			page := c.must(200, c.get(href))
			for _, item := range page["data"].([]any) {
				got = append(got, item.(object)["receiptNumber"].(string))
			}
			href = linkOf(page, "next")
			c.pay("order 1&2")
			c.sleep(time.Minute)
		}
		assert.Equal(t, want, got)
	})
}

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

		customer := c.customerNumbered("o") // a reference in any case
		assert.Equal(t, cards, c.receipts("/customers/"+customer+"/transactions"))
		customers := []string{customer, c.customerNumbered("P"), c.customerNumbered("Q")}
		slices.Sort(customers)
		assert.Equal(t, customers, c.listed("/customers", "customerId"))
	})
}
