package sandbox

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const january1 = "/transactions/csv?version=2&settlementDate=2000-01-01"

// report reads a report when it is ready, and returns its records.
func (c *caller) report(path string) []string {
	c.t.Helper()
	c.must(202, c.get(path))
	c.sleep(90 * time.Second)
	out := c.get(path)
	require.Equal(c.t, 200, out.status, string(out.raw))
	assert.Equal(c.t, "text/plain;charset=UTF-8", out.header.Get("Content-Type"))
	return strings.Split(string(out.raw), "\r\n")
}

func TestReportIsGenerated(t *testing.T) {
	bubble(t, func(c *caller) {
		c.pay("O")
		pending := c.get(january1)
		assert.Equal(t, 202, pending.status)
		assert.NotEmpty(t, pending.raw)
		c.sleep(time.Minute)
		c.must(202, c.get(january1))
		c.sleep(30*time.Second - 1)
		c.must(202, c.get(january1))
		c.sleep(1)
		first := c.get(january1)
		assert.Equal(t, 200, first.status)
		assert.Contains(t, first.header.Get("Content-Disposition"), "attachment")
		assert.Len(t, strings.Split(string(first.raw), "\r\n"), 2)

		c.pay("P")
		c.sleep(time.Hour)
		assert.Equal(t, string(first.raw), string(c.get(january1).raw), "a finished report stays as it is")
		c.must(202, c.get(january1+"&transactionStatus=Approved"))
		c.sleep(1)
		assert.Len(t, c.report(january1), 3, "it is made again")
	})
	bubble(t, func(c *caller) {
		assert.Empty(t, c.get(january1).raw)
	}, assuming(func(a *Assumptions) { a.ReportPendingText = false }))
}

func TestReportFormat(t *testing.T) {
	shop := WithBusiness("SHOP", `The "Shop", New Park`, Surcharge{Scheme: schemeVisa, BasisPoints: 110})
	bubble(t, func(c *caller) {
		receipt := c.made(changed(cardPayment("O-1"), "supplierBusinessCode", "SHOP", "principalAmount", money("1234.50"),
			"comment", "two\r\nlines", "paymentReferenceNumber", "P-1", "metadata", object{"colour": "red,blue"}))
		columns := "&columns=" + url.QueryEscape("Supplier Business Code,Receipt Number,Supplier Business Name,metadata_colour,metadata_none")
		assert.Equal(t, []string{
			"Supplier Business Code,Receipt Number,Supplier Business Name,metadata_colour,metadata_none",
			`SHOP,` + receipt + `,"The ""Shop"", New Park","red,blue",`,
		}, c.report(january1+columns))

		c.must(202, c.get(january1))
		c.sleep(90 * time.Second)
		whole := string(c.get(january1).raw)
		assert.Equal(t, "Supplier Business Code,Supplier Business Name,Source,Added Later,Receipt Number,Transaction Type,Original Receipt Number,"+
			"Status,Summary Code,Response Code,Response Description,Settlement Date,Transaction Time,Currency,Principal Amount,Surcharge Amount,"+
			"Total Amount,Customer Reference Number,Payment Reference Number,Comment,Account Type,Account Number,Card Scheme\r\n"+
			`SHOP,"The ""Shop"", New Park",RESTAPI2,"a ""new"" column",`+receipt+",PAYMENT,,Approved,0,08,Honour with identification,"+
			"01-Jan-2000,01-Jan-2000 11:00:00,AUD,1234.50,13.58,1248.08,O-1,P-1,\"two\r\nlines\",CREDIT_CARD,424242...242,VISA", whole)

		one := c.report("/transactions/csv?version=1&settlementDate=2000-01-01")
		assert.True(t, strings.HasPrefix(one[0], "Community Code,Business Code,Business Name,Source,"), one[0])
		assert.True(t, strings.HasPrefix(one[1], `SANDBOX,SHOP,"The ""Shop"", New Park",RESTAPI2,`), one[1])
		assert.Len(t, c.report("/transactions/csv?version=1&settlementDate=2000-01-02"), 1, "a header and no line end")
	}, shop)
	bubble(t, func(c *caller) {
		assert.NotContains(t, c.report(january1)[0], "Added Later")
	}, assuming(func(a *Assumptions) { a.UnknownMembers = "none" }))
}

func TestReportFilters(t *testing.T) {
	bubble(t, func(c *caller) {
		paid := c.pay("O")
		c.box.NextTransaction(Declined("05"), Approved(), Approved(), Suspended())
		declined := c.pay("D")
		held := c.made(preauth("H", goodCard))
		shop := c.made(changed(bankPayment("S", "032-999"), "supplierBusinessCode", "SHOP"))
		suspended := c.pay("X")
		c.made(cancellation(cancelFull, held, "100.00"))
		verified := c.made(changed(preauth("V", goodCard), "transactionType", typeVerification, "principalAmount", nil))
		for query, want := range map[string][]string{
			"&transactionStatus=Approved":                                   {paid, held, shop, "cancellation", verified},
			"&transactionStatus=Declined":                                   {declined},
			"&supplierBusinessCode=SHOP":                                    {shop},
			"&excludePreAuths=true":                                         {paid, declined, shop, suspended, verified},
			"&excludePreAuths=false&source=RESTAPI":                         {paid, declined, held, shop, suspended, "cancellation", verified},
			"&source=OTHER,RESTAPI2&supplierBusinessCode=SHOP":              {shop},
			"&source=OTHER":                                                 {},
			"&transactionStatus=Declined&supplierBusinessCode=SHOP":         {},
			"&excludePreAuths=true&transactionStatus=Approved&source=OTHER": {},
		} {
			records := c.report(january1 + "&columns=" + url.QueryEscape("Receipt Number,Transaction Type") + query)
			got := []string{}
			for _, record := range records[1:] {
				receipt, kind, _ := strings.Cut(record, ",")
				if kind == typeCancellation {
					receipt = "cancellation"
				}
				got = append(got, receipt)
			}
			assert.Equal(t, want, got, query)
		}
	}, WithBusiness("SHOP", "The Shop"))
}

// TestReportOfAVoid: a sum over the report is what was taken.
func TestReportOfAVoid(t *testing.T) {
	bubble(t, func(c *caller) {
		c.must(200, c.post("/transactions/"+c.pay("V")+"/void", nil))
		c.pay("O")
		columns := "&columns=" + url.QueryEscape("Status,Principal Amount,Surcharge Amount,Total Amount")
		assert.Equal(t, []string{
			"Status,Principal Amount,Surcharge Amount,Total Amount", "Voided,0.00,0.00,0.00", "Approved,10.50,0.00,10.50",
		}, c.report(january1+columns))
	})
}

func TestReportParameters(t *testing.T) {
	bubble(t, func(c *caller) {
		for query, field := range map[string]string{
			"version=2&settlementDate=2000-01-01&supplierBusinessCode=X": "supplierBusinessCode",
			"version=2&settlementDate=2000-01-01&columns=receipt+number": "columns",
			"version=2&settlementDate=2000-01-01&columns=Community+Code": "columns",
			"version=2&settlementDate=2000-01-01&columns=metadata_":      "columns",
			"version=2&settlementDate=2000-01-01&columns=Source,Source":  "columns",
		} {
			assert.Contains(t, c.findings(c.get("/transactions/csv?"+query)), field, query)
		}
	})
}

func TestReportAccept(t *testing.T) {
	bubble(t, func(c *caller) {
		for accept, want := range map[string]int{
			"text/plain": 202, "text/plain; charset=utf-8": 202, "": 202,
			"text/csv": 406, "application/json": 406, "*/*": 406, "text/plain, */*": 406, "text/*": 406, "nonsense;": 406,
		} {
			var header []string
			if accept != "" {
				header = []string{"Accept", accept}
			}
			assert.Equal(t, want, c.do("GET", january1, c.keys.Secret, nil, header...).status, accept)
		}
	})
}
