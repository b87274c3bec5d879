package sandbox

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const masterCard = "5163200000000008"

func preauth(order, number string) object {
	return changed(cardPayment(order), "transactionType", typePreauth, "principalAmount", money("100.00"), "creditCard", cardDetails(number))
}

func change(kind, receipt, amount string) object {
	return changed(against(typePreauth, receipt, amount), "authorisationType", kind)
}

func captureOf(receipt, amount string) object {
	return changed(against(typeCapture, receipt, amount), "storedCredentialData", object{"entryMode": "MANUAL"})
}

func cancellation(kind, receipt, amount string) object {
	return changed(against(typeCancellation, receipt, amount), "cancellationType", kind)
}

const original = "originalReceiptNumber"

func TestPreauthAndCapture(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", preauth("O", goodCard)))
		receipt := receiptIn(body)
		for name, want := range map[string]any{
			"transactionType": "PREAUTH", "status": "Approved", "authorisationType": nil, "refundable": false, "voidable": false,
			"fraudGuardResult": "OK", "originalReceiptNumber": nil,
		} {
			assert.Equal(t, want, body[name], name)
		}
		assert.Regexp(t, `^\d{6}$`, body["authorisationCode"])
		assert.Zero(t, c.box.Ledger().Net("O"))

		assert.Contains(t, c.refused(captureOf(receipt, "200.01")), "principalAmount")
		body = c.must(201, c.post("/transactions", captureOf(receipt, "200.00")))
		for name, want := range map[string]any{
			"transactionType": "CAPTURE", "originalReceiptNumber": receipt, "status": "Approved", "voidable": true,
			"refundable": false, "authorisationCode": nil,
		} {
			assert.Equal(t, want, body[name], name)
		}
		assert.Equal(t, "has been captured", c.refused(captureOf(receipt, "1.00"))[original])
		assert.Equal(t, "has been captured", c.refused(change(topUp, receipt, "1.00"))[original])
		assert.Equal(t, int64(20000), c.box.Ledger().Net("O"), "the capture belongs to the order")

		c.sleep(8 * time.Hour)
		c.made(against(typeRefund, receiptIn(body), "200.00"))
		assert.Zero(t, c.box.Ledger().Net("O"))
	})
}

func TestPreauthSources(t *testing.T) {
	bubble(t, func(c *caller) {
		open := changed(preauth("O", goodCard), "creditCard", nil)
		c.made(changed(open, "singleUseTokenId", c.token(cardToken(goodCard))))
		customer := c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}))["customerId"].(string)
		account := c.must(201, c.post("/customers/"+customer+"/accounts", object{"creditCard": cardDetails(goodCard)}))["accountToken"]
		c.made(changed(open, "customerId", customer))
		c.made(changed(open, "accountToken", account, "supplierBusinessCode", DefaultBusiness))

		assert.Equal(t, "is for cards only", c.refused(changed(open, "singleUseTokenId", c.token(bankToken())))["transactionType"])
		for _, name := range []string{"bankAccount", "nzBankAccount"} {
			assert.Contains(t, c.refused(changed(open, name, object{}))[name], "not a source")
		}
	})
}

func TestAccountVerification(t *testing.T) {
	bubble(t, func(c *caller) {
		verify := changed(preauth("O", goodCard), "transactionType", typeVerification, "principalAmount", nil)
		for _, body := range []object{verify, changed(verify, "currency", nil)} {
			got := c.must(201, c.post("/transactions", body))
			assert.Equal(t, []any{typeVerification, "0", money("0.00"), "AUD", nil, false}, []any{
				got["transactionType"], got["summaryCode"], got["totalAmount"].(object)["amount"], got["totalAmount"].(object)["currency"],
				got["authorisationCode"], got["voidable"],
			})
		}
		got := c.must(201, c.post("/transactions", changed(verify, "creditCard", cardDetails("4111111111444496"))))
		assert.Equal(t, "51", got["responseCode"])
		assert.Contains(t, c.refused(changed(verify, "principalAmount", money("1.00"))), "principalAmount")
		assert.Zero(t, c.box.Ledger().Net("O"))
	})
}

func TestTopUp(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		body := c.must(201, c.post("/transactions", change(topUp, receipt, "50.00")))
		assert.Equal(t, []any{"PREAUTH", topUp, receipt}, []any{body["transactionType"], body["authorisationType"], body[original]})
		assert.NotNil(t, body["authorisationCode"])
		assert.Equal(t, "must be the original pre-authorisation", c.refused(change(topUp, receiptIn(body), "1.00"))[original])
		assert.Contains(t, c.refused(captureOf(receiptIn(body), "1.00")), original)

		c.box.NextTransaction(Declined("51"))
		c.made(change(topUp, receipt, "500.00")) // accepted and declined: it holds nothing more
		assert.Contains(t, c.refused(captureOf(receipt, "300.01")), "principalAmount")
		c.made(captureOf(receipt, "300.00"))
	})
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		c.made(change(topUp, receipt, "50.00"))
		assert.Contains(t, c.refused(captureOf(receipt, "200.01")), "principalAmount")
	}, assuming(func(a *Assumptions) { a.CaptureLimitFollowsChanges = false }))
}

func TestExtension(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", masterCard))
		assert.Contains(t, c.refused(change(extension, receipt, "0.01")), "principalAmount")
		assert.Contains(t, c.refused(changed(change(extension, receipt, "0"), "principalAmount", nil)), "principalAmount")
		assert.Equal(t, "can be extended for Mastercard only", c.refused(change(extension, c.made(preauth("V", goodCard)), "0.00"))[original])

		c.sleep(4 * 24 * time.Hour)
		body := c.must(201, c.post("/transactions", change(extension, receipt, "0.00")))
		assert.Equal(t, money("0.00"), body["totalAmount"].(object)["amount"])
		c.sleep(4 * 24 * time.Hour)
		c.made(captureOf(receipt, "100.00"))

		lapsed := c.made(preauth("L", masterCard))
		c.sleep(5 * 24 * time.Hour)
		assert.Equal(t, "has expired", c.refused(change(extension, lapsed, "0.00"))[original])
		assert.Equal(t, "has expired", c.refused(captureOf(lapsed, "1.00"))[original])
		assert.Equal(t, "has expired", c.refused(cancellation(cancelFull, lapsed, "100.00"))[original])
		assert.Equal(t, "can be re-authorised for Visa only", c.refused(change(reauthorisation, lapsed, "100.00"))[original])
	})
}

func TestReauthorisation(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		assert.Equal(t, "has not expired", c.refused(change(reauthorisation, receipt, "100.00"))[original])
		c.sleep(5 * 24 * time.Hour)
		c.box.NextTransaction(Declined("05"))
		c.made(change(reauthorisation, receipt, "100.00"))
		again := c.made(change(reauthorisation, receipt, "80.00"))
		assert.Equal(t, "has not expired", c.refused(change(reauthorisation, receipt, "80.00"))[original])
		assert.Equal(t, "has been re-authorised", c.refused(captureOf(receipt, "1.00"))[original])
		assert.Equal(t, "has been re-authorised", c.refused(change(topUp, receipt, "1.00"))[original])
		assert.Contains(t, c.refused(captureOf(again, "160.01")), "principalAmount")
		c.made(captureOf(again, "160.00"))
		assert.Equal(t, "has been captured", c.refused(captureOf(again, "1.00"))[original])
		assert.Equal(t, "has been captured", c.refused(change(reauthorisation, receipt, "1.00"))[original])
		assert.Equal(t, int64(16000), c.box.Ledger().Net("O"))

		for _, full := range []string{"100.00", "90.00"} { // the original amount, and that of the re-authorisation
			twice := c.made(preauth("T", goodCard))
			c.sleep(5 * 24 * time.Hour)
			c.made(change(reauthorisation, twice, "100.00"))
			c.sleep(5 * 24 * time.Hour)
			last := c.made(change(reauthorisation, twice, "90.00"))
			assert.Contains(t, c.refused(cancellation(cancelFull, twice, "95.00")), "principalAmount")
			c.made(cancellation(cancelFull, twice, full))
			assert.Equal(t, "has been cancelled", c.refused(captureOf(last, "1.00"))[original])
		}
	})
}

func TestChangeRules(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		payment := c.pay("P")
		for name, test := range map[string]struct {
			body  object
			field string
		}{
			"a payment":            {change(topUp, payment, "1.00"), original},
			"capture of nothing":   {captureOf("1", "1.00"), original},
			"capture of a payment": {captureOf(payment, "1.00"), original},
			"cancel not all":       {cancellation(cancelFull, receipt, "99.99"), "principalAmount"},
			"cancel too much":      {cancellation(cancelPartial, receipt, "100.01"), "principalAmount"},
			"refund of a preauth":  {against(typeRefund, receipt, "1.00"), original},
		} {
			assert.Contains(t, c.refused(test.body), test.field, name)
		}
		assert.Len(t, c.box.Ledger(), 2)
	})
}

func TestCancellation(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		body := c.must(201, c.post("/transactions", cancellation(cancelPartial, receipt, "40.00")))
		assert.Equal(t, []any{typeCancellation, cancelPartial, receipt}, []any{body["transactionType"], body["cancellationType"], body[original]})
		assert.Contains(t, c.refused(cancellation(cancelPartial, receipt, "60.01")), "principalAmount")
		assert.Contains(t, c.refused(captureOf(receipt, "120.01")), "principalAmount")
		c.made(captureOf(receipt, "50.00"))
		assert.Contains(t, c.refused(cancellation(cancelFull, receipt, "100.00")), "cancellationType")
		c.made(cancellation(cancelPartial, receipt, "10.00"))
		assert.Equal(t, "has nothing left to cancel", c.refused(cancellation(cancelPartial, receipt, "0.01"))[original])

		full := c.made(preauth("F", goodCard))
		c.box.NextTransaction(Declined("05"), Erred().ThenAfter(time.Hour, Rejected("QA")))
		c.made(cancellation(cancelFull, full, "100.00"))
		c.made(cancellation(cancelFull, full, "100.00")) // unknown: it counts until the outcome is known
		assert.Equal(t, "has been cancelled", c.refused(captureOf(full, "1.00"))[original])
		c.sleep(time.Hour + time.Second)
		c.made(cancellation(cancelFull, full, "100.00"))
		assert.Equal(t, "has been cancelled", c.refused(captureOf(full, "1.00"))[original])
		assert.Equal(t, "has been cancelled", c.refused(change(topUp, full, "1.00"))[original])
		assert.Zero(t, c.box.Ledger().Net("F"))
	})
}

func TestACaptureHappensOnce(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		c.box.NextTransaction(Declined("05"))
		c.made(captureOf(receipt, "10.00")) // a decline took nothing
		c.box.NextTransaction(Erred())
		c.made(captureOf(receipt, "10.00"))
		assert.Equal(t, "has been captured", c.refused(captureOf(receipt, "10.00"))[original])

		voided := c.made(preauth("V", goodCard))
		capture := c.made(captureOf(voided, "10.00"))
		c.must(200, c.post("/transactions/"+capture+"/void", nil))
		assert.Equal(t, "has been captured", c.refused(captureOf(voided, "10.00"))[original])
		assert.Zero(t, c.box.Ledger().Net("V"))
	})
}

func TestOpenPreauths(t *testing.T) {
	bubble(t, func(c *caller) {
		list := func(query string) string {
			c.sleep(2 * time.Second)
			body := c.must(200, c.get("/transactions/open-preauths?"+query))
			var receipts []string
			for _, item := range body["data"].([]any) {
				receipts = append(receipts, receiptIn(item.(object)))
			}
			assert.Empty(t, linkOf(body, "next"))
			return strings.Join(receipts, " ")
		}
		var all []string
		for range 5 {
			all = append([]string{c.made(preauth("O", goodCard))}, all...)
			c.sleep(time.Second)
		}
		assert.Equal(t, strings.Join(all, " "), list("month=2000-01"))
		shop := c.made(changed(preauth("S", goodCard), "supplierBusinessCode", "SHOP"))
		assert.Equal(t, shop, list("month=2000-01&supplierBusinessCode=SHOP"))
		assert.Empty(t, list("month=2000-02"))

		c.made(captureOf(all[0], "1.00"))
		c.made(cancellation(cancelFull, all[1], "100.00"))
		c.made(cancellation(cancelPartial, all[2], "1.00"))
		c.made(change(topUp, all[3], "1.00"))
		assert.Equal(t, strings.Join(append([]string{shop}, all[2:]...), " "), list("month=2000-01"))
		c.sleep(5 * 24 * time.Hour)
		assert.Empty(t, list("month=2000-01"))
		again := c.made(change(reauthorisation, all[4], "9.00"))
		assert.Equal(t, again, list("month=2000-01"))

		assert.Contains(t, c.findings(c.get("/transactions/open-preauths?month=2000-01&supplierBusinessCode=X")), "supplierBusinessCode")
	}, WithBusiness("SHOP", "The Shop"))
}
