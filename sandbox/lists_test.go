package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
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
		"ListOrder=oldest":                 {{"ABC", "DEF", "G"}, {"ABC", "DEF", "G"}},
		"ListOrder=unstable":               {{"GFD", "DCB", "A"}, {"GFE", "DCB", "A"}},
		"ListOrder=unstable PageSize=10":   {{"GFEDCBA"}, {"GFEDCBA"}},
		"Paging=shifting":                  {{"GFE", "EDC", "BA"}, {"GFE", "EDC", "BA"}},
		"Paging=shifting PageSize=1":       {{"G", "G", "F", "E", "D", "C", "B", "A"}, {"G", "G", "F", "E", "D", "C", "B", "A"}},
		"Paging=lastEmpty PageSize=1":      {{"G", "F", "E", "D", "C", "B", "A", ""}, {"G", "F", "E", "D", "C", "B", "A", ""}},
		"Paging=lastEmpty":                 {{"GFE", "DCB", "A"}, {"GFE", "DCB", "A"}},
		"Paging=gone":                      {{"GFE", "404"}, {"GFE", "DCB", "A"}},
		"Paging=gone PageSize=10":          {{"GFEDCBA"}, {"GFEDCBA"}},
		"ReferenceSearch=exact PageSize=2": {{"GF", "ED", "CB", "A"}, {"GF", "ED", "CB", "A"}},
	} {
		inWorld(t, world, func(c *caller) {
			c.payMany(7)
			assert.Equal(c.t, want, [2][]string{c.readPages(sameReference), c.readPages(sameReference)})
		})
	}
}

func TestPromisedOrders(t *testing.T) {
	for _, world := range []string{"ListOrder=oldest", "ListOrder=unstable"} {
		inWorld(t, world, func(c *caller) {
			payment := c.pay("O")
			for i := range 4 {
				c.made(changed(against(typeRefund, payment, "1.00"), "customerReferenceNumber", string(rune('A'+i))))
			}
			c.sleep(2 * time.Second)
			assert.Equal(c.t, []string{"DCB", "A"}, c.readPages("/transactions/"+payment+"/refunds"), "most recent first")
			assert.Equal(c.t, []string{"DCBAO"}, c.readPages("/transactions"), "most recent first")
		}, assuming(refundableAtOnce))
	}
}

func TestNextLinks(t *testing.T) {
	for form, want := range map[string]string{
		"absolute":      "http://localhost/rest/v1/transactions/for-reference-number?page=",
		"defaultPort":   "http://localhost:80/rest/v1/transactions/for-reference-number?page=",
		"rootRelative":  "/rest/v1/transactions/for-reference-number?page=",
		"queryOnly":     "?page=",
		"otherScheme":   "https://localhost/rest/v1/transactions/for-reference-number?page=",
		"versionPrefix": "http://localhost/v1/transactions/for-reference-number?page=",
	} {
		inWorld(t, "PageSize=1"+otherThan("NextLinks", form, "absolute"), func(c *caller) {
			c.payMany(2)
			next := linkOf(c.must(200, c.get(sameReference)), "next")
			assert.Truef(c.t, strings.HasPrefix(next, want), "%s", next)
			assert.True(c.t, strings.HasSuffix(next, "&referenceNumber=SAME"))
		})
	}
}

func TestNothingFound(t *testing.T) {
	for form, want := range map[string]string{"404": "404", "empty": "200 []", "null": "200 null"} {
		inWorld(t, strings.TrimSpace("PageSize=1"+otherThan("NothingFound", form, "404")), func(c *caller) {
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

func TestReusedReferences(t *testing.T) {
	for form, status := range map[string]string{"declined": "Declined", "approved": "Approved"} {
		inWorld(t, "ReusedReferences="+form, func(c *caller) {
			require.NoError(c.t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: ResetBeforeCommit()}))
			_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, referencedPayment()))
			require.Error(c.t, err)
			lost := c.found("Never-Sent")
			require.Len(c.t, lost, 1, "a reference that was never sent may be in use")
			assert.Equal(c.t, lost, c.found("never-sent"))
			old := c.must(200, c.get("/transactions/"+lost[0]))
			assert.Equal(c.t, []any{status, "Never-Sent", "1999-12-01T11:00:00+1100"}, []any{old["status"], old["paymentReferenceNumber"], old["transactionTime"]})
			assert.Equal(c.t, object{"n": "older", "lead": "older", "text": "older"}, old["metadata"], "the merchant's, even if no payment of theirs was carried out")

			receipt := c.made(referencedPayment())
			c.sleep(2 * time.Second)
			both := c.found("PAY-1")
			require.Len(c.t, both, 2)
			assert.Equal(c.t, receipt, both[0])
			older := c.must(200, c.get("/transactions/"+both[1]))
			assert.Equal(c.t, []any{status, "Pay-1", "PAYMENT"}, []any{older["status"], older["paymentReferenceNumber"], older["transactionType"]})
			for name, value := range older["metadata"].(map[string]any) {
				assert.Equal(c.t, "older", value, name)
			}
			assert.Equal(c.t, c.must(200, c.get("/transactions/"+receipt))["totalAmount"], older["totalAmount"])
			assert.Len(c.t, c.found(receipt), 1)
			assert.Len(c.t, c.box.Ledger(), 1)
		})
	}
}

func TestRefundReferences(t *testing.T) {
	for form, want := range map[string]struct {
		shown          any
		byOwn, byFirst int
	}{"own": {"Refund-1", 1, 1}, "original": {"Pay-1", 0, 2}, "none": {nil, 0, 1}} {
		inWorld(t, "PageSize=10"+otherThan("RefundReferences", form, "own"), func(c *caller) {
			payment := c.made(referencedPayment())
			made := c.must(201, c.post("/transactions", changed(against(typeRefund, payment, "1.00"), "paymentReferenceNumber", "Refund-1")))
			assert.Equal(c.t, "Refund-1", made["paymentReferenceNumber"], "the answer is about what was sent")
			c.sleep(2 * time.Second)
			under := c.must(200, c.get("/transactions/"+payment+"/refunds"))["data"].([]any)
			require.Len(c.t, under, 1)
			assert.Equal(c.t, want.shown, under[0].(object)["paymentReferenceNumber"])
			assert.Equal(c.t, want.shown, c.read(receiptIn(made))["paymentReferenceNumber"])
			assert.Len(c.t, c.found("refund-1"), want.byOwn)
			assert.Len(c.t, c.found("pay-1"), want.byFirst)
		}, assuming(refundableAtOnce))
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
	inWorld(t, "AgreementLookupLag=5m", func(c *caller) {
		token := c.must(201, c.postAgreement(c.agreementRequest()))["agreementToken"].(string)
		c.sleep(5*time.Minute - 1)
		c.must(404, c.get("/payto-agreements/"+token))
		c.sleep(1)
		c.must(200, c.get("/payto-agreements/"+token))
	})
}
