package sandbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinkToItself(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(200, c.get("/transactions/"+c.pay("O")))
		assert.Equal(t, body, c.must(200, c.get(linkOf(body, "self"))))
	}, assuming(func(a *Assumptions) { a.LookupLag, a.RelatedLinks = 0, true }))
}

func TestByReference(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.must(201, c.post("/transactions", changed(cardPayment("Order-1"), "paymentReferenceNumber", "Pay-1")))["receiptNumber"].(string)
		c.pay("Order-2")
		c.pay("Order\t3")
		c.sleep(time.Minute)
		find := func(ref string) response { return c.get("/transactions/for-reference-number?referenceNumber=" + ref) }
		for _, ref := range []string{receipt, "ORDER-1", "order-1", "pay-1"} {
			data := c.must(200, find(ref))["data"].([]any)
			require.Len(t, data, 1, ref)
			assert.Equal(t, receipt, data[0].(object)["receiptNumber"])
		}
		assert.Len(t, c.must(200, find("order%093"))["data"], 1)
		c.must(404, find("Order"))
		assert.Equal(t, "is required", c.findings(find(""))["referenceNumber"])
		assert.Equal(t, "must be ASCII", c.findings(find("%C3%A9"))["referenceNumber"])
	})
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

func TestRecentTransactions(t *testing.T) {
	bubble(t, func(c *caller) {
		c.pay("yesterday")
		c.sleep(8 * time.Hour) // past the cut-off
		for i := range 25 {
			shop := []string{DefaultBusiness, "SHOP"}[i%2]
			c.must(201, c.post("/transactions", changed(cardPayment(fmt.Sprint(i)), "supplierBusinessCode", shop)))
		}
		c.sleep(time.Minute)
		body := c.must(200, c.get("/transactions"))
		data := body["data"].([]any)
		require.Len(t, data, 20)
		assert.Equal(t, "24", data[0].(object)["customerReferenceNumber"])
		assert.Equal(t, "5", data[19].(object)["customerReferenceNumber"])
		assert.Empty(t, linkOf(body, "next"))
		assert.Len(t, c.must(200, c.get("/transactions?supplierBusinessCode=SHOP"))["data"], 12)
		assert.Contains(t, c.findings(c.get("/transactions?supplierBusinessCode=NOBODY")), "supplierBusinessCode")
	}, WithBusiness("SHOP", "The Shop"))
}
