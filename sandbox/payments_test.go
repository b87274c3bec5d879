package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPaymentAnswer(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", changed(cardPayment("ORDER-1"),
			"supplierBusinessCode", "SHOP", "principalAmount", json.Number("1234.5"), "paymentReferenceNumber", "P-1",
			"comment", "thanks", "metadata", object{"a": "b"}, "debtRepayment", true, "mpgsData", object{"anything": 1}),
			"Idempotency-Key", "k"))
		assert.Equal(t, []any{"2000-01-01", "2000-01-01T11:00:00+1100", "thanks", payerIP, true},
			[]any{body["settlementDate"], body["transactionTime"], body["comment"], body["ipAddress"], body["debtRepayment"]})
		for name, want := range map[string][]any{
			"principalAmount": {json.Number("1234.50"), "$1,234.50"},
			"surchargeAmount": {json.Number("13.58"), "$13.58"}, // 1.1 % of 1234.50 is 13.5795
			"totalAmount":     {json.Number("1248.08"), "$1,248.08"},
		} {
			amount := body[name].(object)
			assert.Equal(t, want, []any{amount["amount"], amount["displayAmount"]}, name)
			assert.Equal(t, "AUD", amount["currency"])
		}
		entries := c.box.Ledger()
		require.Len(t, entries, 1)
		assert.Equal(t, Entry{
			ReceiptNumber: body["receiptNumber"].(string), Type: "PAYMENT", Outcome: "approved", Amount: 123450, Surcharge: 1358,
			Currency: "AUD", CustomerReferenceNumber: "ORDER-1", PaymentReferenceNumber: "P-1",
			Metadata: map[string]string{"a": "b"}, IdempotencyKey: "k", Time: c.box.Now(),
		}, entries[0])
		assert.Equal(t, int64(124808), entries.Net("order-1"))
	}, WithBusiness("SHOP", "The Shop", Surcharge{Scheme: "VISA", CardType: "DEBIT", BasisPoints: 50}, Surcharge{Scheme: "VISA", BasisPoints: 110}))
}

func TestTestCardsDecide(t *testing.T) {
	bubble(t, func(c *caller) {
		for number := range testCards {
			body := c.must(201, c.post("/transactions", changed(payment(number[len(number)-3:]), "creditCard", cardDetails(number))))
			code, declined := declineCodes[number[len(number)-2:]]
			want := []any{"Approved", "0", "08"}
			if declined {
				want = []any{"Declined", "1", code}
			}
			assert.Equal(t, want, verdict(body), "ending %s", number[len(number)-4:])
			assert.NotContains(t, body["responseDescription"], "Response code")
		}
	})
}

func TestTestBankAccountsDecide(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", bankPayment("OK", "032-999")))
		assert.Equal(t, []any{"Approved*", "0", "G", false, true}, []any{body["status"], body["summaryCode"], body["responseCode"], body["voidable"], body["refundable"]})

		rejected := c.must(201, c.post("/transactions", bankPayment("R", "032-050")))
		assert.Equal(t, []any{"Declined", "3", "R"}, verdict(rejected))
	})
	bubble(t, func(c *caller) {
		for last := '1'; last <= '9'; last++ {
			body := c.must(201, c.post("/transactions", bankPayment("D", "032-05"+string(last))))
			assert.Equal(t, []any{"Declined", "1", string(last)}, verdict(body))
		}
	}, assuming(func(a *Assumptions) { a.BankReturnAfter = 0 }))
}

// TestPaymentRules and the other tests of rules have the rules that the service's document does not
// have. The conformance tests of internal/contract have the others.
func TestPaymentRules(t *testing.T) {
	bubble(t, func(c *caller) {
		good := cardPayment("O")
		details := cardDetails(goodCard)
		for _, test := range []struct {
			body   object
			member string
			value  any
			field  string // if another member is at fault
		}{
			{good, "supplierBusinessCode", "NOBODY", ""},
			{good, "principalAmount", json.Number("1e3"), ""},
			{good, "principalAmount", json.Number("1000000000000000"), ""},
			{good, "ipAddress", "10.1.2.3", ""},
			{good, "ipAddress", "100.64.0.1", ""},
			{good, "ipAddress", "somewhere", ""},
			{good, "creditCard", changed(details, "cardNumber", realPAN), "creditCard.cardNumber"},
			{good, "creditCard", changed(details, "walletProvider", "GOOGLE_PAY"), "creditCard.walletProvider"},
			{bankPayment("O", "032-999"), "eci", "INTERNET", "ipAddress"},
			{bankPayment("O", "032-999"), "bankAccount", object{}, "bankAccount.accountName"},
		} {
			field := test.field
			if field == "" {
				field = test.member
			}
			assert.Contains(t, c.findings(c.post("/transactions", changed(test.body, test.member, test.value))), field, "%s=%v", test.member, test.value)
		}
		token := c.token(cardToken(goodCard))
		byToken := changed(payment("O"), "singleUseTokenId", token, "eci", "5", "ipAddress", nil)
		assert.Equal(t, map[string]string{"ipAddress": "is required with a single-use token, and for account details with eci INTERNET"}, c.findings(c.post("/transactions", byToken)))
		threeDS := c.token(changed(cardToken(goodCard), "threeDS2", true, "browserProfile", browser()))
		assert.Equal(t, "needs 3D Secure authentication first",
			c.findings(c.post("/transactions", changed(byToken, "singleUseTokenId", threeDS, "ipAddress", payerIP)))["singleUseTokenId"])
		assert.Empty(t, c.box.Ledger())

		for _, fine := range []object{
			changed(good, "eci", "PHONE", "ipAddress", nil, "creditCard", changed(details, "cvn", nil)),
			changed(good, "eci", "5", "ipAddress", nil, "cryptogram", "AAAA", "creditCard", changed(details, "walletProvider", "APPLE_PAY", "cvn", nil)),
			changed(good, "eci", "RECURRING", "ipAddress", nil, "storedCredentialData", object{"entryMode": "STORED_CREDENTIAL", "usage": "RECURRING"}),
			changed(good, "ipAddress", "2001:4860::1", "threeDS2", false),
			changed(good, "principalAmount", json.Number("10")),
			changed(good, "customerReferenceNumber", nil),
			changed(good, "cryptogram", "AAAA"),
			changed(good, "cryptogram", "AAAA", "creditCard", changed(details, "walletProvider", "APPLE_PAY")),
			changed(bankPayment("O", "032-999"), "currency", "NZD", "cryptogram", "AAAA"),
			changed(byToken, "eci", "MAIL"),
			changed(good, "eci", "RECURRING", "ipAddress", nil, "storedCredentialData", object{"entryMode": "STORED_CREDENTIAL"}),
		} {
			c.must(201, c.post("/transactions", fine))
		}
		assert.Len(t, c.box.Ledger(), 11)
	})
}

func TestScriptedOutcomes(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Declined("05"), Rejected("QA"), Suspended(), Erred(),
			Erred().ThenAfter(18*time.Hour, Erred()).ThenAfter(6*time.Hour, Approved()))
		c.findings(c.post("/transactions", changed(cardPayment("O"), "currency", nil))) // uses up none
		var receipts []string
		for _, want := range [][]any{
			{"Declined", "1", "05"}, {"Declined", "3", "QA"}, {"Suspended", "1", "34"}, {"Declined", "2", "QI"}, {"Declined", "2", "QI"}, {"Approved", "0", "08"},
		} {
			body := c.must(201, c.post("/transactions", cardPayment("O")))
			assert.Equal(t, want, verdict(body))
			receipts = append(receipts, body["receiptNumber"].(string))
		}
		summary := func(i int) any { return c.must(200, c.get("/transactions/"+receipts[i]))["summaryCode"] }
		c.sleep(24*time.Hour - time.Second)
		assert.Equal(t, []any{"2", "2"}, []any{summary(3), summary(4)})
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		c.sleep(time.Second)
		assert.Equal(t, []any{"2", "0"}, []any{summary(3), summary(4)})
		assert.Len(t, c.box.Ledger().Charged("O"), 2)
		assert.Len(t, c.box.Ledger().Order("o"), 6)
	})
}

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
		assert.Equal(t, []any{"Approved", false, false}, []any{body["status"], body["refundable"], body["voidable"]})
		assert.Regexp(t, `^\d{6}$`, body["authorisationCode"])
		assert.Zero(t, c.box.Ledger().Net("O"))

		assert.Contains(t, c.refused(captureOf(receipt, "200.01")), "principalAmount")
		body = c.must(201, c.post("/transactions", captureOf(receipt, "200.00")))
		assert.Equal(t, []any{receipt, "Approved", true, nil}, []any{body[original], body["status"], body["voidable"], body["authorisationCode"]})
		assert.Equal(t, "has been captured", c.refused(captureOf(receipt, "1.00"))[original])
		assert.Equal(t, int64(20000), c.box.Ledger().Net("O"), "the capture belongs to the order")
	})
}

func TestTopUp(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		body := c.must(201, c.post("/transactions", change(topUp, receipt, "50.00")))
		assert.NotNil(t, body["authorisationCode"])
		assert.Equal(t, "must be the original pre-authorisation", c.refused(change(topUp, receiptIn(body), "1.00"))[original])
		assert.Contains(t, c.refused(captureOf(receiptIn(body), "1.00")), original)

		c.box.NextTransaction(Declined("51"))
		c.made(change(topUp, receipt, "500.00")) // accepted and declined: it holds nothing more
		assert.Contains(t, c.refused(captureOf(receipt, "300.01")), "principalAmount")
		c.made(captureOf(receipt, "300.00"))
	})
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

func TestCancellation(t *testing.T) {
	bubble(t, func(c *caller) {
		receipt := c.made(preauth("O", goodCard))
		c.made(cancellation(cancelPartial, receipt, "40.00"))
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

func money(s string) json.Number { return json.Number(s) }

// against is a transaction that follows another.
func against(kind, receipt, amount string) object {
	return object{
		"transactionType": kind, "originalReceiptNumber": receipt,
		"principalAmount": money(amount), "currency": "AUD",
	}
}

func receiptIn(body object) string { return body["receiptNumber"].(string) }

// made posts a transaction that is accepted, and returns its receipt number.
func (c *caller) made(body object) string {
	c.t.Helper()
	return receiptIn(c.must(201, c.post("/transactions", body)))
}

// refused posts a transaction that is refused, and returns why.
func (c *caller) refused(body object) map[string]string {
	c.t.Helper()
	return c.findings(c.post("/transactions", body))
}

// read gets a transaction once it is visible.
func (c *caller) read(receipt string) object {
	c.t.Helper()
	c.sleep(2 * time.Second)
	return c.must(200, c.get("/transactions/"+receipt))
}

func refundableAtOnce(a *Assumptions) { a.RefundBeforeCutOff = true }

func TestRefund(t *testing.T) {
	bubble(t, func(c *caller) {
		payment := c.pay("O")
		got := c.refused(against(typeRefund, payment, "1.00"))
		assert.Equal(t, map[string]string{"originalReceiptNumber": "can be voided and is not refundable before it is settled"}, got)

		c.sleep(8 * time.Hour)
		assert.Equal(t, true, c.read(payment)["refundable"])
		body := c.must(201, c.post("/transactions", changed(against(typeRefund, payment, "4.00"), "paymentReferenceNumber", "R-1")))
		assert.Equal(t, []any{payment, "Approved", false, false, "R-1", DefaultBusiness},
			[]any{body[original], body["status"], body["refundable"], body["voidable"], body["paymentReferenceNumber"], body["supplierBusinessCode"]})
		assert.Equal(t, money("4.00"), body["totalAmount"].(object)["amount"])
		assert.Equal(t, "424242...242", body["creditCard"].(object)["cardNumber"])
		assert.Equal(t, true, c.read(payment)["refundable"])

		got = c.refused(against(typeRefund, payment, "6.51"))
		assert.Equal(t, map[string]string{"principalAmount": "is above what can still be refunded of the payment"}, got)
		c.made(against(typeRefund, payment, "6.50"))
		assert.Equal(t, false, c.read(payment)["refundable"])
		got = c.refused(against(typeRefund, payment, "0.01"))
		assert.Equal(t, map[string]string{"originalReceiptNumber": "has been refunded already"}, got)

		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		assert.Zero(t, c.box.Ledger().Net("O"))
		assert.Len(t, c.box.Ledger().Order("o"), 3)
	})
}

func TestARefundOfUnknownOutcomeHoldsItsAmount(t *testing.T) {
	bubble(t, func(c *caller) {
		payment := c.pay("O")
		c.box.NextTransaction(Erred().ThenAfter(time.Hour, Declined("05")))
		c.made(against(typeRefund, payment, "10.50"))
		assert.Contains(t, c.refused(against(typeRefund, payment, "0.01")), "originalReceiptNumber")
		c.sleep(time.Hour + time.Second)
		c.made(against(typeRefund, payment, "10.50"))
		assert.Zero(t, c.box.Ledger().Net("O"))
	}, assuming(refundableAtOnce))
}

func TestVoid(t *testing.T) {
	void := func(c *caller, receipt string, header ...string) response {
		return c.post("/transactions/"+receipt+"/void", nil, header...)
	}
	bubble(t, func(c *caller) {
		payment := c.pay("O")
		first := c.must(200, void(c, payment, "Idempotency-Key", "v"))
		assert.Equal(t, []any{payment, "Voided", "0", false, false}, []any{first["receiptNumber"], first["status"], first["summaryCode"], first["voidable"], first["refundable"]})
		assert.Equal(t, first, c.must(200, void(c, payment, "Idempotency-Key", "v")), "a replay")
		c.must(422, void(c, payment))
		c.must(404, void(c, "1"))
		assert.Equal(t, "Voided", c.read(payment)["status"])
		assert.Empty(t, c.box.Ledger().Charged("O"))
		assert.Equal(t, "voided", c.box.Ledger().Order("O")[0].Outcome)
		assert.Contains(t, c.refused(against(typeRefund, payment, "1.00")), "originalReceiptNumber")
		c.must(400, c.post("/transactions/"+c.pay("P")+"/void", object{}))

		late := c.pay("late")
		c.sleep(8 * time.Hour)
		c.must(422, void(c, late))
		bank := c.made(bankPayment("B", "032-999"))
		c.must(422, void(c, bank))
		c.box.NextTransaction(Declined("05"))
		c.must(422, void(c, c.pay("D")))
	})
	bubble(t, func(c *caller) { // later steps of a voided payment do not happen
		c.box.NextTransaction(Approved().ThenAfter(time.Hour, Declined("05")))
		payment := c.pay("O")
		c.must(200, void(c, payment))
		c.sleep(2 * time.Hour)
		body := c.read(payment)
		assert.Equal(t, []any{"Voided", "0"}, []any{body["status"], body["summaryCode"]})
	})
	bubble(t, func(c *caller) { // a partly refunded payment cannot be voided, and the reverse
		payment := c.pay("O")
		c.made(against(typeRefund, payment, "1.00"))
		c.must(422, void(c, payment))
		c.must(422, void(c, c.made(against(typeRefund, c.pay("P"), "1.00"))))
	}, assuming(func(a *Assumptions) { a.RefundBeforeCutOff = true }))
}

func TestRefundOfPayTo(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		payment := c.made(payToPayment(token))
		assert.Equal(t, "is not an approved transaction", c.refused(against(typeRefund, payment, "10.50"))["originalReceiptNumber"], "it is pending")
		c.sleep(time.Minute + time.Second)
		assert.Equal(t, true, c.read(payment)["refundable"])
		assert.Contains(t, c.refused(against(typeRefund, payment, "10.49"))["principalAmount"], "whole amount of a PayTo payment")
		assert.Contains(t, c.refused(against(typeRefund, payment, "10.51")), "principalAmount")
		refund := c.must(201, c.post("/transactions", against(typeRefund, payment, "10.50")))
		assert.Equal(t, []any{"Pending", "PDNG"}, []any{refund["status"], refund["responseCode"]})
		assert.Equal(t, token, refund["payToData"].(object)["agreementToken"])
		assert.Contains(t, c.refused(against(typeRefund, payment, "10.50")), "originalReceiptNumber")
		c.sleep(time.Minute + time.Second)
		assert.Equal(t, "Approved", c.read(receiptIn(refund))["status"])
		assert.Zero(t, c.box.Ledger().Net("ORDER"))
		assert.Contains(t, c.report(january1 + "&columns=Account+Type")[1], typePayTo)
	})
}
