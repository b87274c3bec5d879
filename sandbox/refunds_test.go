package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		body := c.must(201, c.post("/transactions", changed(against(typeRefund, payment, "4.00"), "comment", "sorry", "paymentReferenceNumber", "R-1")))
		for name, want := range map[string]any{
			"transactionType": "REFUND", "originalReceiptNumber": payment, "status": "Approved", "summaryCode": "0",
			"refundable": false, "voidable": false, "comment": "sorry", "paymentReferenceNumber": "R-1",
			"supplierBusinessCode": DefaultBusiness, "authorisationCode": nil,
		} {
			assert.Equal(t, want, body[name], name)
		}
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

func TestRefundRules(t *testing.T) {
	bubble(t, func(c *caller) {
		payment := c.pay("O")
		refund := against(typeRefund, payment, "1.00")
		c.box.NextTransaction(Declined("05"))
		declined := c.pay("D")
		c.box.NextTransaction(Erred())
		erred := c.pay("E")
		for name, test := range map[string]struct {
			body  object
			field string
		}{
			"unknown original":   {changed(refund, "originalReceiptNumber", "1"), "originalReceiptNumber"},
			"declined original":  {changed(refund, "originalReceiptNumber", declined), "originalReceiptNumber"},
			"erred original":     {changed(refund, "originalReceiptNumber", erred), "originalReceiptNumber"},
			"above":              {changed(refund, "principalAmount", money("10.51")), "principalAmount"},
			"other currency":     {changed(refund, "currency", "NZD"), "currency"},
			"other business":     {changed(refund, "supplierBusinessCode", "SHOP"), "supplierBusinessCode"},
			"whole card":         {changed(refund, "creditCard", cardDetails(goodCard)), "creditCard.cardNumber"},
			"card still expired": {changed(refund, "creditCard", object{"expiryDateMonth": "01", "expiryDateYear": "1999"}), "creditCard.expiryDateYear"},
		} {
			assert.Contains(t, c.refused(test.body), test.field, name)
		}
		assert.Len(t, c.box.Ledger(), 3)
		c.made(changed(refund, "supplierBusinessCode", DefaultBusiness))
	}, assuming(refundableAtOnce), WithBusiness("SHOP", "The Shop"))
}

func TestRefundOfAnExpiredCard(t *testing.T) {
	bubble(t, func(c *caller) {
		payment := c.made(changed(cardPayment("O"), "creditCard", changed(cardDetails(goodCard), "expiryDateMonth", "03", "expiryDateYear", "2000")))
		c.sleep(120 * 24 * time.Hour)
		body := c.must(201, c.post("/transactions", against(typeRefund, payment, "1.00")))
		assert.Equal(t, []any{"1", "54"}, []any{body["summaryCode"], body["responseCode"]})
		body = c.must(201, c.post("/transactions", changed(against(typeRefund, payment, "1.00"),
			"creditCard", object{"expiryDateMonth": "12", "expiryDateYear": "2003"})))
		assert.Equal(t, "0", body["summaryCode"])
		assert.Equal(t, "03", body["creditCard"].(object)["expiryDateYear"])
		assert.Equal(t, "00", c.read(payment)["creditCard"].(object)["expiryDateYear"], "the payment keeps its own")
		assert.Equal(t, int64(950), c.box.Ledger().Net("O"), "the declined refund does not count")
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

func TestRefundAndSurcharge(t *testing.T) {
	shop := WithBusiness(DefaultBusiness, "Shop", Surcharge{Scheme: schemeVisa, BasisPoints: 1000})
	bubble(t, func(c *caller) {
		payment := c.pay("O") // 10.50 and 1.05
		assert.Contains(t, c.refused(against(typeRefund, payment, "10.51")), "principalAmount")
		c.made(against(typeRefund, payment, "10.50"))
		assert.Equal(t, int64(105), c.box.Ledger().Net("O"))
	}, shop, assuming(refundableAtOnce))
	bubble(t, func(c *caller) {
		payment := c.pay("O")
		c.made(against(typeRefund, payment, "11.55"))
		assert.Zero(t, c.box.Ledger().Net("O"))
	}, shop, assuming(func(a *Assumptions) { a.RefundBeforeCutOff, a.RefundsIncludeSurcharge = true, true }))
}

func TestRefundOfABankAccountPayment(t *testing.T) {
	bubble(t, func(c *caller) {
		payment := c.made(bankPayment("O", "032-999"))
		refund := c.must(201, c.post("/transactions", against(typeRefund, payment, "10.50")))
		assert.Equal(t, "xxxxxx994", refund["bankAccount"].(object)["accountNumber"])
		assert.Contains(t, c.refused(changed(against(typeRefund, c.made(bankPayment("O", "032-999")), "1.00"),
			"creditCard", object{"expiryDateMonth": "12", "expiryDateYear": "2003"})), "creditCard")
	})
}

func TestVoid(t *testing.T) {
	void := func(c *caller, receipt string, header ...string) response {
		return c.post("/transactions/"+receipt+"/void", nil, header...)
	}
	bubble(t, func(c *caller) {
		payment := c.pay("O")
		first := c.must(200, void(c, payment, "Idempotency-Key", "v"))
		for name, want := range map[string]any{
			"receiptNumber": payment, "status": "Voided", "summaryCode": "0", "responseCode": "08", "voidable": false, "refundable": false,
		} {
			assert.Equal(t, want, first[name], name)
		}
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
		assert.Equal(t, []any{"Voided", "3"}, []any{body["status"], body["summaryCode"]})
	}, assuming(func(a *Assumptions) { a.VoidedSummaryCode = "3" }))
	bubble(t, func(c *caller) { // a partly refunded payment cannot be voided, and the reverse
		payment := c.pay("O")
		c.made(against(typeRefund, payment, "1.00"))
		c.must(409, void(c, payment))
		refund := c.made(against(typeRefund, c.pay("P"), "1.00"))
		c.must(200, void(c, refund))
		require.Equal(t, int64(1050), c.box.Ledger().Net("P"))
	}, assuming(func(a *Assumptions) {
		a.RefundBeforeCutOff, a.NotVoidableStatus = true, 409
		a.VoidableTypes = []string{typePayment, typeRefund}
	}))
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

// debtRepayment echoes the request, so a refund of a repaid debt repays none.
func TestRefundRepaysNoDebt(t *testing.T) {
	bubble(t, func(c *caller) {
		paid := c.must(201, c.post("/transactions", changed(cardPayment("O"), "debtRepayment", true)))
		c.sleep(24 * time.Hour)
		refund := c.must(201, c.post("/transactions", against(typeRefund, paid["receiptNumber"].(string), "1.00")))
		assert.Equal(t, []any{true, false}, []any{paid["debtRepayment"], refund["debtRepayment"]})
	})
}
