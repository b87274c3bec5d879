package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// upload sends a form. Its parts are pairs of name and content; a name with a slash is a part
// and its file name.
func (c *caller) upload(csrf string, parts ...string) response {
	c.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i+1 < len(parts); i += 2 {
		name, file, isFile := strings.Cut(parts[i], "/")
		create := form.CreateFormField
		if isFile {
			create = func(name string) (io.Writer, error) { return form.CreateFormFile(name, file) }
		}
		w, err := create(name)
		require.NoError(c.t, err)
		_, err = w.Write([]byte(parts[i+1]))
		require.NoError(c.t, err)
	}
	require.NoError(c.t, form.Close())
	header := []string{"Content-Type", form.FormDataContentType()}
	if csrf != "" {
		header = append(header, "Prevent-CSRF", csrf)
	}
	return c.do("POST", "/payment-files", c.keys.Secret, body.String(), header...)
}

// lines is a file with its header and trailer.
func lines(total string, payments ...string) string {
	all := append([]string{"H,SANDBOX,2000-01-01,2"}, payments...)
	return strings.Join(append(all, fmt.Sprintf("T,%d,%s", len(payments), total)), "\r\n")
}

func cardLine(order, amount, number string) string {
	return "C,SANDBOX01,AUD," + amount + "," + order + ",P-" + order + "," + number + ",02,2035,Kim Lee"
}

func bankLine(order, amount, bsb string) string {
	return "B,SANDBOX01,AUD," + amount + "," + order + ",P-" + order + "," + bsb + ",999994,Kim Lee"
}

func (c *caller) uploaded(name, format, content string) string {
	c.t.Helper()
	body := c.must(201, c.upload("true", "file/"+name, content, "format", format))
	assert.Equal(c.t, "QUEUED", body["status"])
	return body["paymentFileId"].(string)
}

func (c *caller) fileStatus(id string) any {
	c.t.Helper()
	return c.must(200, c.get("/payment-files/"+id))["status"]
}

func TestPaymentFileOfCards(t *testing.T) {
	bubble(t, func(c *caller) {
		id := c.uploaded("a.csv", "CSV2", lines("40.50", cardLine("A", "10.50", goodCard), cardLine("B", "30.00", "4111111115444492")))
		assert.Equal(t, "QUEUED", c.fileStatus(id))
		c.sleep(time.Minute + time.Second)
		assert.Equal(t, "PROCESSING", c.fileStatus(id))
		assert.Empty(t, c.box.Ledger())
		assert.Empty(t, c.must(200, c.get("/payment-files/"+id+"/payment-batches"))["data"])
		c.must(404, c.get("/payment-files/"+id+"/csv"))
		c.sleep(2*time.Minute + 2*time.Second)
		assert.Equal(t, "COMPLETE", c.fileStatus(id))

		batches := c.must(200, c.get("/payment-files/"+id+"/payment-batches"))["data"].([]any)
		require.Len(t, batches, 1)
		batch := batches[0].(object)
		assert.Equal(t, []any{money("2"), money("40.50")}, []any{batch["numberOfTransactions"], batch["totalAmount"].(object)["amount"]})
		path := "/payment-batches/" + batch["paymentBatchId"].(string)
		all := c.receipts(path + "/transactions")
		require.Len(t, all, 2)
		assert.Equal(t, all[:1], c.receipts(path+"/transactions?status=0"))
		assert.Equal(t, all[1:], c.receipts(path+"/transactions?status=1"))
		c.must(404, c.get(path+"/transactions?status=Approved"))
		paid := c.read(all[0])
		assert.Equal(t, []any{"FILE", "A", "P-A", "424242...242"},
			[]any{paid["source"], paid["customerReferenceNumber"], paid["paymentReferenceNumber"], paid["creditCard"].(object)["cardNumber"]})
		assert.Len(t, c.box.Ledger().Charged("A"), 1)
		assert.Empty(t, c.box.Ledger().Charged("B"))

		assert.Equal(t, []string{
			"Supplier Business Code,Transaction Type,Currency,Amount,Customer Reference Number,Payment Reference Number,Receipt Number,Settlement Date",
			"SANDBOX01,PAYMENT,AUD,10.50,A,P-A," + all[0] + ",01-01-2000",
			"SANDBOX01,PAYMENT,AUD,30.00,B,P-B," + all[1] + ",01-01-2000",
		}, strings.Split(string(c.get("/payment-files/"+id+"/csv").raw), "\r\n"))
		c.must(404, c.get("/payment-files/"+id+"/mts-rejects"))
	})
}

func TestFaultyPaymentFiles(t *testing.T) {
	bubble(t, func(c *caller) {
		good := cardLine("O", "1.00", goodCard)
		for name, content := range map[string]string{
			"empty":          "",
			"no header":      good + "\nT,0,0.00",
			"other facility": strings.Replace(lines("1.00", good), "SANDBOX", "OTHER", 1),
			"wrong total":    lines("1.01", good),
			"unknown kind":   lines("1.00", "X"+good[1:]),
			"no business":    lines("1.00", strings.Replace(good, "SANDBOX01", "NOBODY", 1)),
			"real card":      lines("1.00", strings.Replace(good, goodCard, realPAN, 1)),
			"one of two":     lines("2.00", good, bankLine("O", "1.00", "1")),
		} {
			id := c.uploaded(name+".csv", "CSV", content)
			c.sleep(4 * time.Minute)
			assert.Equal(t, "ERROR", c.fileStatus(id), name)
			c.must(404, c.get("/payment-files/"+id+"/csv"))
			c.must(422, c.upload("true", "file/"+name+".csv", lines("1.00", good), "format", "CSV"))
		}
		assert.Empty(t, c.box.Ledger(), "a faulty file pays nothing")
	})
}

func TestUploadRules(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, csrf := range []string{"", "false", "1"} {
			c.must(403, c.upload(csrf, "file/a.csv", "x", "format", "CSV"))
		}
		for name, test := range map[string]struct {
			parts []string
			field string
		}{
			"no file":        {[]string{"format", "CSV"}, "file"},
			"no file name":   {[]string{"file", "x", "format", "CSV"}, "file"},
			"no format":      {[]string{"file/a.csv", "x"}, "format"},
			"unknown format": {[]string{"file/a.csv", "x", "format", "XLS"}, "format"},
			"another part":   {[]string{"file/a.csv", "x", "format", "CSV", "name", "a"}, "name"},
			"two formats":    {[]string{"file/a.csv", "x", "format", "CSV", "format", "CSV"}, "format"},
		} {
			assert.Contains(t, c.findings(c.upload("true", test.parts...)), test.field, name)
		}
		c.must(415, c.post("/payment-files", object{}, "Prevent-CSRF", "true"))
		c.must(400, c.do("POST", "/payment-files", c.keys.Secret, "--x\r\nbroken", "Prevent-CSRF", "true", "Content-Type", "multipart/form-data; boundary=x"))
		for _, format := range []string{"CSV2", "CSV", "CSV_TOKENS", "FLAT_FILE", "FLAT_FILE_TOKENS", "MTS", "MTS_TOKENS"} {
			c.uploaded(format, format, "")
		}
	})
}

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
		c.sleep(90*time.Second - 1)
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
			"Total Amount,Customer Reference Number,Payment Reference Number,Comment,Account Type\r\n"+
			`SHOP,"The ""Shop"", New Park",RESTAPI2,"a ""new"" column",`+receipt+",PAYMENT,,Approved,0,08,Honour with identification,"+
			"01-Jan-2000,01-Jan-2000 11:00:00,AUD,1234.50,13.58,1248.08,O-1,P-1,\"two\r\nlines\",CREDIT_CARD", whole)

		one := c.report("/transactions/csv?version=1&settlementDate=2000-01-01")
		assert.True(t, strings.HasPrefix(one[1], `SANDBOX,SHOP,"The ""Shop"", New Park",RESTAPI2,`), one[1])
		assert.Len(t, c.report("/transactions/csv?version=1&settlementDate=2000-01-02"), 1, "a header and no line end")
	}, shop)
	bubble(t, func(c *caller) {
		assert.NotContains(t, c.report(january1)[0], "Added Later")
	}, assuming(func(a *Assumptions) { a.UnknownMembers = "none" }))
}

// TestReportOfAVoid: the report shows a voided payment as zero, so that its sum is what was taken.
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

func TestSuspendedTransactions(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Suspended(), Suspended(), Suspended())
		completed, cancelled := c.pay("A"), c.pay("B")
		preauth := c.made(preauth("C", goodCard))
		c.sleep(2 * time.Second)
		const path = "/transactions/suspended?supplierBusinessCode=SANDBOX01&month=2000-01"
		assert.Equal(t, []string{preauth, cancelled, completed}, c.receipts(path))
		assert.Equal(t, "SUSPENDED", c.read(completed)["fraudGuardResult"])
		assert.Contains(t, c.refused(captureOf(preauth, "1.00")), original)
		c.must(422, c.post("/transactions/"+completed+"/void", nil))

		c.sleep(10 * time.Hour)
		require.NoError(t, c.box.Portal(completed, CompleteTransaction))
		require.NoError(t, c.box.Portal(cancelled, CancelTransaction))
		require.NoError(t, c.box.Portal(preauth, CompleteTransaction))
		assert.Empty(t, c.receipts(path))
		assert.Equal(t, "2000-01-02", c.read(completed)["settlementDate"])
		assert.Equal(t, []any{"Declined", "1", "17"}, verdict(c.read(cancelled)))
		c.made(captureOf(preauth, "1.00"))
		assert.Equal(t, int64(1050), c.box.Ledger().Net("A"))
		assert.Zero(t, c.box.Ledger().Net("B"))

		require.Error(t, c.box.Portal(completed, CompleteTransaction))
		require.Error(t, c.box.Portal(cancelled, CancelTransaction))
		require.Error(t, c.box.Portal("1", CompleteTransaction))
	})
}

func TestScheduledRetries(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Declined("01").ThenAfter(time.Hour, Declined("01")).ThenAfter(2*time.Hour, Approved()))
		first := c.made(changed(cardPayment("O"), "paymentReferenceNumber", "P-1"))
		c.sleep(2 * time.Second)
		path := "/transactions/" + first + "/retries"
		assert.Empty(t, c.receipts(path))
		c.sleep(time.Hour)
		assert.Len(t, c.receipts(path), 1)
		c.sleep(2 * time.Hour)
		c.sleep(30 * 24 * time.Hour)
		retries := c.receipts(path)
		require.Len(t, retries, 2)
		body := c.read(retries[0])
		for name, want := range map[string]any{
			"transactionType": "PAYMENT", "originalReceiptNumber": first, "summaryCode": "0", "paymentReferenceNumber": "P-1",
			"customerReferenceNumber": "O", "transactionTime": "2000-01-01T14:00:00+1100",
		} {
			assert.Equal(t, want, body[name], name)
		}
		assert.Equal(t, "1", c.read(first)["summaryCode"], "the first attempt stays declined")
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		assert.Equal(t, append(retries, first), c.receipts("/transactions/for-reference-number?referenceNumber=P-1"))
		c.must(404, c.get("/transactions/1/retries"))
		require.Error(t, func() error { _, err := c.box.RetryPayment(first); return err }())
	})
	bubble(t, func(c *caller) { // by the facility's schedule, with the outcome of the card
		first := c.made(changed(cardPayment("O"), "creditCard", cardDetails("4111111117444490")))
		other := c.made(changed(cardPayment("O"), "creditCard", cardDetails("4111111115444492")))
		c.box.NextTransaction(Rejected("QA"))
		c.sleep(365 * 24 * time.Hour)
		assert.Len(t, c.receipts("/transactions/"+first+"/retries"), 2)
		assert.Empty(t, c.receipts("/transactions/"+other+"/retries"), "not a soft decline")
		assert.Equal(t, "3", c.must(201, c.post("/transactions", cardPayment("N")))["summaryCode"], "retries use no script")
		assert.Empty(t, c.box.Ledger().Charged("O"))
	})
}

func TestManualRetry(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Declined("01"), Declined("05"), Declined("01"), Approved())
		soft, hard := c.pay("O"), c.pay("H")
		_, err := c.box.RetryPayment(hard)
		require.Error(t, err)
		again, err := c.box.RetryPayment(soft)
		require.NoError(t, err)
		_, err = c.box.RetryPayment(again)
		require.Error(t, err, "the first attempt is retried, not its retry")
		last, err := c.box.RetryPayment(soft)
		require.NoError(t, err)
		c.sleep(2 * time.Second)
		assert.Equal(t, []string{last, again}, c.receipts("/transactions/"+soft+"/retries"))
		assert.Equal(t, last, c.box.Ledger().Charged("O")[0].ReceiptNumber)
		c.sleep(365 * 24 * time.Hour)
		assert.Len(t, c.box.Ledger().Order("O"), 3, "the schedule stops at success")
	})
}

func TestReturns(t *testing.T) {
	bubble(t, func(c *caller) {
		var all []string
		for range 4 {
			all = append([]string{c.made(bankPayment("O", "032-053"))}, all...) // returned after a day
			c.sleep(time.Second)
		}
		shop := c.made(changed(bankPayment("S", "032-999"), "supplierBusinessCode", "SHOP"))
		card := c.pay("C")
		c.sleep(2 * time.Second)
		assert.Empty(t, c.receipts("/transactions/returns?date=2000-01-02"))
		c.sleep(24 * time.Hour)
		require.NoError(t, c.box.ReturnPayment(shop, "6"))
		require.Error(t, c.box.ReturnPayment(shop, "6"))
		require.Error(t, c.box.ReturnPayment(card, "6"))
		assert.Equal(t, append([]string{shop}, all...), c.receipts("/transactions/returns?date=2000-01-02"))
		assert.Equal(t, []string{shop}, c.receipts("/transactions/returns?date=2000-01-02&supplierBusinessCode=SHOP"))
		assert.Empty(t, c.receipts("/transactions/returns?date=2000-01-01"))
		body := c.read(shop)
		assert.Equal(t, []any{"Declined", "1", "6", false}, []any{body["status"], body["summaryCode"], body["responseCode"], body["refundable"]})
		assert.Empty(t, c.box.Ledger().Charged("O"))
		c.must(404, c.get("/transactions/returns?date=2000-01-02&supplierBusinessCode=X"))
	}, WithBusiness("SHOP", "The Shop"))
}

func TestSchedule(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.customerNumbered("CUST-1")
		c.keep(customer, object{"creditCard": cardDetails(goodCard)})
		id, err := c.box.CreateSchedule(Schedule{CustomerID: customer, Amount: 1500, Payments: 5})
		require.NoError(t, err)
		path := "/recurring-payments/" + id
		body := c.must(200, c.get(path))
		assert.Equal(t, []any{"ACTIVE", "FIXED_NUMBER_OF_PAYMENTS", "2000-02-01", money("15.00")},
			[]any{body["status"], body["scheduleType"], body["nextPaymentDate"], body["regularPaymentAmount"].(object)["amount"]})
		c.sleep(160 * 24 * time.Hour)
		receipts := c.receipts(path + "/transactions")
		require.Len(t, receipts, 5)
		var days []any
		for _, receipt := range receipts {
			paid := c.read(receipt)
			days = append(days, paid["transactionTime"].(string)[:10])
			assert.Equal(t, []any{"PAYMENT", "RECURRING", "CUST-1", "SCHEDULE0001", "0"}, []any{
				paid["transactionType"], paid["source"], paid["customerReferenceNumber"], paid["paymentReferenceNumber"], paid["summaryCode"],
			})
		}
		assert.Equal(t, []any{"2000-05-01", "2000-04-01", "2000-03-01", "2000-02-01", "2000-01-01"}, days)
		body = c.must(200, c.get(path))
		assert.Equal(t, []any{"COMPLETED", nil}, []any{body["status"], body["nextPaymentDate"]})
		assert.Equal(t, int64(7500), c.box.Ledger().Net("CUST-1"))
		_, err = c.box.CreateSchedule(Schedule{CustomerID: customer, Amount: 1500})
		require.NoError(t, err)
		assert.Equal(t, []string{"ACTIVE", "COMPLETED"}, c.listed("/customers/"+customer+"/recurring-payments", "status"))
		c.must(404, c.get("/recurring-payments/1"))
		c.must(404, c.get("/recurring-payments/1/transactions"))
	})
}

// TestManyCallers lets many customers pay at the same time while answers are lost.
func TestManyCallers(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(
			Fault{Operation: "POST /transactions", Probability: 0.2, Kind: ResetAfterCommit()},
			Fault{Operation: "POST /transactions", Probability: 0.2, Kind: ResetBeforeCommit()},
			Fault{Operation: "POST /transactions", Probability: 0.2, Kind: DelayBeforeCommit(time.Second)},
			Fault{Probability: 0.1, Kind: SlowBody(500)},
		))
		const callers, orders = 8, 12
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for j := range orders {
					order := fmt.Sprintf("%d-%d", i, j)
					for {
						out, err := c.try(c.request("POST", "/transactions", c.keys.Secret, cardPayment(order), "Idempotency-Key", order))
						if err == nil && out.status == http.StatusCreated {
							break
						}
						c.sleep(time.Second)
					}
					c.box.Requests()
					c.box.Ledger()
					c.get("/transactions")
				}
			})
		}
		wg.Wait()
		charged := map[string]int{}
		for _, e := range c.box.Ledger() {
			charged[e.CustomerReferenceNumber]++
		}
		assert.Len(t, charged, callers*orders)
		assert.Len(t, c.box.Ledger(), callers*orders, "once each")
		assert.Positive(t, c.box.FaultCounts()["ResetAfterCommit"])
	}, WithSeed(1))
}

// TestNoAnswerHoldsANumber provokes errors about numbers in every way; the caller checks each
// answer.
func TestNoAnswerHoldsANumber(t *testing.T) {
	bubble(t, func(c *caller) {
		card := cardDetails(goodCard)
		for _, body := range []object{
			cardPayment("O"),
			changed(cardPayment("O"), "creditCard", changed(card, "cvn", "8372")),
			changed(cardPayment("O"), "creditCard", changed(card, "cardNumber", realPAN)),
			changed(cardPayment("O"), "creditCard", changed(card, "expiryDateYear", goodCard)),
			changed(cardPayment("O"), "eci", goodCard),
			changed(cardPayment("O"), "currency", "card "+goodCard),
			changed(cardPayment("O"), "singleUseTokenId", goodCard, "creditCard", nil),
			bankPayment("O", "032-999"),
			changed(bankPayment("O", ""), "bankAccount", object{"accountName": "K", "bsb": "1", "accountNumber": "999994-1"}),
			changed(bankPayment("O", ""), "bankAccount", nil, "nzBankAccount", changed(nzAccount(), "nzAccountSuffix", "x"), "currency", "NZD"),
		} {
			out := c.post("/transactions", body)
			assert.Contains(t, []int{201, 422}, out.status)
		}
		for _, body := range []object{cardToken(goodCard), bankToken(), nzToken(), changed(cardToken(goodCard), "accountNumber", "123465"), cardToken("378282" + strings.Repeat("0", 9))} {
			out := c.post("/single-use-tokens", body)
			assert.Contains(t, []int{200, 422}, out.status)
		}
		c.sleep(time.Minute)
		c.must(200, c.get("/transactions"))
	})
}
