package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"strings"
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
		for name, want := range map[string]any{
			"paymentFileId": id, "accountType": typeCard, "supplierBusinessCode": DefaultBusiness, "numberOfTransactions": money("2"),
		} {
			assert.Equal(t, want, batch[name], name)
		}
		assert.Equal(t, money("40.50"), batch["totalAmount"].(object)["amount"])
		path := "/payment-batches/" + batch["paymentBatchId"].(string)
		assert.Equal(t, batch, c.must(200, c.get(path)))
		all := c.receipts(path + "/transactions")
		require.Len(t, all, 2)
		assert.Equal(t, all[:1], c.receipts(path+"/transactions?status=0"))
		assert.Equal(t, all[1:], c.receipts(path+"/transactions?status=1"))
		c.must(404, c.get(path+"/transactions?status=Approved"))
		c.must(422, c.get(path+"/transactions?state=0"))
		c.must(404, c.get("/payment-batches/1/transactions"))
		c.must(404, c.get("/payment-batches/1"))
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
		flat := strings.Split(string(c.get("/payment-files/"+id+"/flat-file").raw), "\r\n")
		assert.Equal(t, []string{all[0] + "A                   000000001050AUD08  20000101", all[1] + "B                   000000003000AUD05  20000101"}, flat)
		c.must(404, c.get("/payment-files/"+id+"/mts-rejects"))
	})
}

func TestPaymentFileOfEverything(t *testing.T) {
	bubble(t, func(c *caller) {
		nz := nzAccount()
		nzLine := strings.Join([]string{
			"N,SANDBOX01,NZD,5.00,N,P-N", nz["nzBankCode"].(string), nz["nzBranchCode"].(string),
			nz["nzAccountNumber"].(string), nz["nzAccountSuffix"].(string), `"Lee, Kim"`,
		}, ",")
		content := lines("20.00", cardLine("A", "1.00", goodCard), bankLine("B", "2.00", "032-999"), nzLine,
			bankLine("R", "4.00", "032-050"), strings.Replace(cardLine("S", "8.00", goodCard), "SANDBOX01", "SHOP", 1))
		id := c.uploaded("a.csv", "MTS", content)
		c.sleep(3*time.Minute + 3*time.Second)
		assert.Equal(t, "AWAITING_CLEARANCE", c.fileStatus(id))
		c.must(404, c.get("/payment-files/"+id+"/mts-rejects"))
		c.sleep(3 * 24 * time.Hour)
		assert.Equal(t, "COMPLETE", c.fileStatus(id))
		kinds := map[string]any{}
		for path := "/payment-files/" + id + "/payment-batches"; path != ""; {
			page := c.must(200, c.get(path))
			for _, item := range page["data"].([]any) {
				o := item.(object)
				kinds[o["accountType"].(string)+" "+o["supplierBusinessCode"].(string)] = o["totalAmount"].(object)["displayAmount"]
			}
			path = linkOf(page, "next")
		}
		assert.Equal(t, map[string]any{
			"CREDIT_CARD SANDBOX01": "$1.00", "CREDIT_CARD SHOP": "$8.00", "DIRECT_DEBIT SANDBOX01": "$6.00", "DIRECT_DEBIT_NZ SANDBOX01": "$5.00",
		}, kinds)
		rejects := string(c.get("/payment-files/" + id + "/mts-rejects").raw)
		assert.Len(t, strings.Split(rejects, "\r\n"), 1)
		assert.Contains(t, rejects, "R                   000000000400AUDR")
		csv := strings.Split(string(c.get("/payment-files/"+id+"/csv").raw), "\r\n")
		assert.True(t, strings.HasPrefix(csv[0], "Transaction Number,Date,Receipt Number,Merchant ID,Account Number"), csv[0])
		assert.Regexp(t, `^1,01 Jan 2000,\d{10},SANDBOXAUD,424242...242,A,1.00,08,Honour with identification$`, csv[1])
	}, WithBusiness("SHOP", "The Shop"))
}

func TestPaymentFileOfTokens(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.customerNumbered("1")
		card := c.keep(customer, object{"creditCard": cardDetails(goodCard)})["accountToken"].(string)
		bank := c.keep(customer, object{"bankAccount": bankDetails()})["accountToken"].(string)
		line := func(kind, token string) string { return kind + ",SANDBOX01,AUD,1.00,O,," + token }
		for name, test := range map[string]struct {
			total, status string
			lines         []string
		}{
			"both":    {"2.00", "AWAITING_CLEARANCE", []string{line("C", card), line("B", bank)}},
			"crossed": {"1.00", "ERROR", []string{line("C", bank)}},
			"unknown": {"1.00", "ERROR", []string{line("C", "x")}},
			"a card":  {"1.00", "ERROR", []string{cardLine("O", "1.00", goodCard)}},
		} {
			id := c.uploaded(name, "CSV_TOKENS", lines(test.total, test.lines...))
			c.sleep(4 * time.Minute)
			assert.Equal(t, test.status, c.fileStatus(id), name)
		}
		assert.Len(t, c.box.Ledger().Charged("O"), 2)
		assert.Len(t, c.receipts("/transactions/for-account-token?accountToken="+card), 1)
	})
}

func TestFaultyPaymentFiles(t *testing.T) {
	bubble(t, func(c *caller) {
		good := cardLine("O", "1.00", goodCard)
		for name, test := range map[string]struct{ content, fault string }{
			"empty":          {"", "not made of lines"},
			"not CSV":        {`H,"x` + "\n", "not made of lines"},
			"no header":      {good + "\nT,0,0.00", "line 1:"},
			"other facility": {strings.Replace(lines("1.00", good), "SANDBOX", "OTHER", 1), "line 1:"},
			"bad date":       {strings.Replace(lines("1.00", good), "2000-01-01", "01/01/2000", 1), "line 1:"},
			"wrong count":    {strings.Replace(lines("1.00", good), "T,1", "T,2", 1), "line 3: is not the trailer"},
			"wrong total":    {lines("1.01", good), "line 3: is not the trailer"},
			"unknown kind":   {lines("1.00", "X"+good[1:]), "line 2: is not a payment"},
			"short line":     {lines("1.00", "C,SANDBOX01,AUD,1.00"), "line 2: is not a payment"},
			"no business":    {lines("1.00", strings.Replace(good, "SANDBOX01", "NOBODY", 1)), "line 2: supplierBusinessCode"},
			"bad currency":   {lines("1.00", strings.Replace(good, "AUD", "USD", 1)), "line 2: currency"},
			"bad amount":     {lines("1.00", strings.Replace(good, "1.00", "1.001", 1)), "line 2: principalAmount"},
			"real card":      {lines("1.00", strings.Replace(good, goodCard, realPAN, 1)), "line 2: cardNumber"},
			"expired card":   {lines("1.00", strings.Replace(good, "2035", "1999", 1)), "line 2: expiryDateYear"},
			"bad bsb":        {lines("1.00", bankLine("O", "1.00", "03299")), "line 2: bsb"},
			"NZ dollars":     {lines("1.00", strings.Replace(bankLine("O", "1.00", "032-999"), "AUD", "NZD", 1)), "line 2: currency"},
			"no agreement":   {lines("1.00", "P,SANDBOX01,AUD,1.00,O,,x"), "line 2: agreementToken"},
			"one of two":     {lines("2.00", good, bankLine("O", "1.00", "1")), "line 3: bsb"},
		} {
			id := c.uploaded(name+".csv", "CSV", test.content)
			assert.Empty(t, c.box.FileFaults(id))
			c.sleep(4 * time.Minute)
			assert.Equal(t, "ERROR", c.fileStatus(id), name)
			faults := strings.Join(c.box.FileFaults(id), "\n")
			assert.Contains(t, faults, test.fault, name)
			c.checkNumbers(faults)
			c.must(404, c.get("/payment-files/"+id+"/csv"))
			c.must(422, c.upload("true", "file/"+name+".csv", lines("1.00", good), "format", "CSV"))
		}
		assert.Empty(t, c.box.Ledger(), "a faulty file pays nothing")
		assert.Nil(t, c.box.FileFaults("1"))
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
		c.must(404, c.get("/payment-files/1"))
		c.must(404, c.get("/payment-files/1/payment-batches"))
		c.must(404, c.get("/payment-files/1/csv"))
		for _, format := range []string{"CSV2", "CSV", "CSV_TOKENS", "FLAT_FILE", "FLAT_FILE_TOKENS", "MTS", "MTS_TOKENS"} {
			c.uploaded(format, format, "")
		}
	})
}

func TestListOfPaymentFiles(t *testing.T) {
	bubble(t, func(c *caller) {
		list := func() []string { return c.listed("/payment-files", "paymentFileId") }
		old := c.uploaded("old", "CSV", "")
		c.sleep(365 * 24 * time.Hour)
		var want []string
		for i := range 4 {
			want = append([]string{c.uploaded(fmt.Sprint(i), "CSV", "")}, want...)
		}
		assert.Equal(t, append(want, old), list())
		c.sleep(time.Second)
		assert.Equal(t, want, list())
		c.must(200, c.get("/payment-files/"+old))
		c.must(422, c.get("/payment-files?size=1"))
	})
}

func TestPaymentFileOfPayTo(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		id := c.uploaded("a.csv", "CSV2", lines("10.50", "P,SANDBOX01,AUD,10.50,O,P-O,"+token))
		over := c.uploaded("b.csv", "CSV2", lines("100.01", "P,SANDBOX01,AUD,100.01,O,P-O,"+token))
		c.sleep(3*time.Minute + time.Second)
		assert.Equal(t, []any{"AWAITING_CLEARANCE", "ERROR"}, []any{c.fileStatus(id), c.fileStatus(over)})
		assert.Empty(t, c.box.Ledger().Charged("O"))
		c.sleep(time.Minute)
		charged := c.box.Ledger().Charged("O")
		require.Len(t, charged, 1)
		assert.Equal(t, []string{charged[0].Receipt}, c.box.Agreements()[0].Payments)
		batches := c.must(200, c.get("/payment-files/"+id+"/payment-batches"))["data"].([]any)
		assert.Equal(t, typePayTo, batches[0].(object)["accountType"])
	})
}
