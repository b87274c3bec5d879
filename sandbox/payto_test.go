package sandbox

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// paying changes the payToData of a payment.
func paying(token string, pairs ...any) object {
	return with(payToPayment(token), "payToData", pairs...)
}

// costing is a payment of another amount.
func costing(token, amount string, pairs ...any) object {
	return changed(paying(token, pairs...), "principalAmount", json.Number(amount))
}

// onceOff is a payment with a new agreement.
func onceOff(payer object) object {
	return changed(payToPayment(""), "payToData", object{
		"endToEndId": "E2E-1", "payToAgreement": object{
			"supplierBusinessCode": DefaultBusiness,
			"paymentDetails":       object{"purpose": "RETL", "description": "Basket 7"},
			"payerDetails":         payer,
		},
	})
}

func verdict(tx object) []any {
	return []any{tx["status"], tx["summaryCode"], tx["responseCode"]}
}

func TestPayToPaymentIsApprovedLater(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		token := c.activeAgreement(c.agreementRequest())
		receipt := c.made(payToPayment(token))
		entry := c.box.Ledger().Order("ORDER")[0]
		assert.Equal(t, []string{"pending", token, "E2E-1"}, []string{entry.Outcome, entry.AgreementToken, entry.EndToEndID})
		assert.Empty(t, c.box.Ledger().Charged("ORDER"))
		c.pass(time.Minute - 2*time.Second - time.Nanosecond)
		assert.Equal(t, "Pending", c.read(receipt)["status"])
		c.pass(time.Nanosecond)
		tx := c.read(receipt)
		assert.Equal(t, []any{"Approved", "0", "ACSC"}, verdict(tx))
		assert.Equal(t, true, tx["refundable"])
		assert.Len(t, c.box.Ledger().Charged("ORDER"), 1)
		assert.Equal(t, int64(1050), c.box.Ledger().Net("ORDER"))
		assert.Equal(t, []string{"payto.agreement.confirmed", "payto.payment.approved"}, hook.events())
		assert.Equal(t, receipt, hook.all()[1].data["receiptNumber"])

		found := c.must(http.StatusOK, c.get("/transactions/for-reference-number?referenceNumber=e2e-1"))["data"].([]any)
		require.Len(t, found, 1)
		assert.Equal(t, receipt, found[0].(object)["receiptNumber"])
		assert.Equal(t, []string{receipt}, c.box.Agreements()[0].Payments)
	})
}

func TestPayToTerms(t *testing.T) {
	bubble(t, func(c *caller) {
		terms := func(pairs ...any) string {
			return c.activeAgreement(changed(c.agreementRequest(), "paymentTerms", changed(object{"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD"}, pairs...)))
		}
		refused := func(body object, field string) {
			t.Helper()
			assert.Contains(t, c.findings(c.post("/transactions", body)), field)
		}
		accepted := func(body object) {
			t.Helper()
			c.must(http.StatusCreated, c.post("/transactions", body))
		}

		limited := terms("paymentAmount", "5.00", "maximumPaymentAmount", "20.00")
		refused(costing(limited, "4.99"), "principalAmount")
		accepted(costing(limited, "5.00"))
		accepted(costing(limited, "20.00"))
		refused(costing(limited, "20.01"), "principalAmount")
		refused(changed(costing(limited, "20.00"), "currency", "NZD"), "currency")

		fixed := terms("agreementType", "FIXE", "paymentAmount", "10.00", "firstPaymentAmount", "50.00", "lastPaymentAmount", "70.00")
		refused(costing(fixed, "10.00"), "principalAmount")
		refused(costing(fixed, "0.00"), "principalAmount")
		c.box.NextTransaction(Declined("AM04"))
		accepted(costing(fixed, "50.00"))
		accepted(costing(fixed, "50.00")) // the declined one was not the first
		refused(costing(fixed, "50.00"), "principalAmount")
		accepted(costing(fixed, "10.00"))
		refused(costing(fixed, "10.01"), "principalAmount")
		refused(costing(fixed, "70.00"), "principalAmount")
		refused(costing(fixed, "10.00", "finalPayment", true), "principalAmount")
		accepted(costing(fixed, "70.00", "finalPayment", true))

		adhoc := terms("frequency", "ADHO", "numberOfPaymentsPermitted", 2)
		accepted(paying(adhoc))
		c.box.NextTransaction(Declined("AM04"))
		accepted(paying(adhoc))
		accepted(paying(adhoc))
		refused(paying(adhoc), "payToData.agreementToken")

		later := c.activeAgreement(with(c.agreementRequest(), "paymentDetails", "automaticRenewal", false, "startDate", "2000-01-02", "endDate", "2000-01-03"))
		refused(paying(later), "payToData.agreementToken")
		c.pass(13 * time.Hour) // midnight in Sydney
		accepted(paying(later))
		c.pass(48*time.Hour - time.Second)
		accepted(paying(later))
		c.pass(time.Second)
		refused(paying(later), "payToData.agreementToken")
	})
}

func TestAgreementCancelledAfterAPayment(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.newAgreement(changed(c.agreementRequest(), "payerDetails", accountPayer("032007")))
		c.pass(time.Second)
		c.must(http.StatusCreated, c.post("/transactions", payToPayment(token)))
		assert.Equal(t, "ACTIVE", c.agreementState(token))
		c.pass(time.Minute)
		assert.Equal(t, "CANCELLED", c.agreementState(token))
		assert.Len(t, c.box.Ledger().Charged("ORDER"), 1)
	})
}

func TestOnceOffPaymentWaitsForThePayer(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		tx := c.must(http.StatusCreated, c.post("/transactions", onceOff(accountPayer("650000"))))
		assert.Equal(t, []any{"Pending", "0", "PDNG"}, verdict(tx))
		token := tx["payToData"].(object)["agreementToken"].(string)
		a := c.readAgreement(token)
		terms := a["paymentTerms"].(object)
		assert.Equal(t, []any{"PENDING", "ADHO", json.Number("1"), "FIXE", json.Number("10.50")},
			[]any{a["status"], terms["frequency"], terms["numberOfPaymentsPermitted"], terms["agreementType"], terms["paymentAmount"].(object)["amount"]})
		details := a["paymentDetails"].(object)
		assert.Equal(t, []any{"RETL", "Basket 7", "2000-01-01", "2000-01-06"}, []any{details["purpose"], details["description"], details["startDate"], details["endDate"]})
		payer := a["payerDetails"].(object)["customerId"].(string)
		assert.Equal(t, "PAYER-1", c.must(http.StatusOK, c.get("/customers/"+payer))["customerNumber"], "a customer was made")

		c.pass(24 * time.Hour)
		assert.Equal(t, "Pending", c.read(receiptIn(tx))["status"])
		require.NoError(t, c.box.Payer(token, ConfirmAgreement))
		assert.Equal(t, "Pending", c.read(receiptIn(tx))["status"])
		c.pass(time.Minute)
		assert.Equal(t, []any{"Approved", "0", "ACSC"}, verdict(c.read(receiptIn(tx))))
		assert.Equal(t, []string{"payto.agreement.confirmed", "payto.payment.approved"}, hook.events())
		assert.Contains(t, c.findings(c.post("/transactions", payToPayment(token))), "payToData.agreementToken", "once is once")

		again := c.must(http.StatusCreated, c.post("/transactions", onceOff(accountPayer("650000"))))
		assert.Equal(t, payer, again["payToPayerAccount"].(object)["customerId"], "the same payer is the same customer")
		c.checkRecords()
	})
}

func TestOnceOffPaymentsThatThePayerDoesNotWant(t *testing.T) {
	for name, end := range map[string]func(*caller, string){
		"declined": func(c *caller, token string) { require.NoError(c.t, c.box.Payer(token, DeclineAgreement)) },
		"expired":  func(c *caller, _ string) { c.pass(5 * 24 * time.Hour) },
		"recalled": func(c *caller, token string) {
			require.Equal(c.t, http.StatusNoContent, c.patch(token, recallRequest()).status)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *caller) {
				hook := c.subscribe()
				tx := c.must(http.StatusCreated, c.post("/transactions", onceOff(accountPayer("650000"))))
				end(c, tx["payToData"].(object)["agreementToken"].(string))
				assert.Equal(t, []any{"Declined", "1", "RJCT"}, verdict(c.read(receiptIn(tx))))
				assert.ElementsMatch(t, []string{"payto.agreement." + name, "payto.payment.added_later"}, hook.events())
				assert.Empty(t, c.box.Ledger().Charged("ORDER"))
			})
		})
	}
	bubble(t, func(c *caller) {
		tx := c.must(http.StatusCreated, c.post("/transactions", onceOff(accountPayer("032003"))))
		c.pass(time.Second)
		assert.Equal(t, []any{"Declined", "1", "RJCT"}, verdict(c.read(receiptIn(tx))))
	})
}

func TestRecordsHideAccountsAndPayIDs(t *testing.T) {
	for in, want := range map[string]string{
		`{"accountNumber":"` + payerAccount + `","bsb":"650000"}`:               `{"accountNumber":"xxxxxxxx","bsb":"650000"}`,
		`{"accountNumber" : ` + payerAccount + `}`:                              `{"accountNumber" : xxxxxxxx}`,
		`{"nzAccountNumber":"7654321","accountNumber":"999994"}`:                `{"nzAccountNumber":"xxxxxxx","accountNumber":"xxxxxx"}`,
		`{"payId":"a\"b@c.org","payIdType":"EMAL"}`:                             `{"payId":"xxxxxxxxxx","payIdType":"EMAL"}`,
		`broken "payId":"` + payerPayID + `", "accountNumber":"` + payerAccount: `broken "payId":"xxxxxxxxxxxxxxxxxxxxxxxxxxx", "accountNumber":"xxxxxxxx`,
	} {
		assert.Equal(t, want, string(recorded([]byte(in))))
	}
	c := newCaller(t)
	defer c.box.Close()
	c.get("/transactions/for-bank-account?bsb=650-000&accountNumber=" + payerAccount)
	c.get("/nowhere?accountNumber=999994&payId=" + payerPayID)
	requests := c.box.Requests()
	assert.Equal(t, []string{"xxx", "650-000"}, []string{requests[0].Query.Get("accountNumber"), requests[0].Query.Get("bsb")})
	assert.Equal(t, []string{"xxx", "xxx"}, []string{requests[1].Query.Get("accountNumber"), requests[1].Query.Get("payId")})
}
