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

func (c *caller) transaction(receipt any) object {
	c.t.Helper()
	c.pass(c.box.assume.LookupLag)
	return c.must(http.StatusOK, c.get("/transactions/"+receipt.(string)))
}

func verdict(tx object) []any {
	return []any{tx["status"], tx["summaryCode"], tx["responseCode"]}
}

func TestPayToTransactionModel(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		tx := without(c.must(http.StatusCreated, c.post("/transactions", payToPayment(token)))).(object)
		assert.Equal(t, []any{"Pending", "0", "PDNG"}, verdict(tx))
		assert.Equal(t, object{
			"agreementToken": token, "endToEndId": "E2E-1", "priority": "NORM", "remittanceInformation1": "Invoice 7", "remittanceInformation2": nil,
		}, tx["payToData"])
		assert.Equal(t, object{"displayName": "xxx-000 xxxxxx001", "currency": "AUD"}, tx["payToPayeeAccount"])
		assert.Equal(t, object{
			"accountType": "PAYTO", "customerId": c.payerCustomer(), "payerType": "PERS", "payerId": "PAYER-1", "payerName": "Kim Lee",
			"ultimatePayerName": "Kim Lee", "maskedAccountNumber": "xxx-000 xxxxxx541", "payIdType": nil, "payId": nil,
		}, tx["payToPayerAccount"])
		for _, name := range []string{"creditCard", "bankAccount", "nzBankAccount", "merchantAccount", "directEntryAccount", "nzDirectEntryAccount", "fraudGuardResult"} {
			assert.Nil(t, tx[name], name)
		}
		assert.Equal(t, []any{false, false}, []any{tx["voidable"], tx["refundable"]})
		assert.Equal(t, json.Number("0.00"), tx["surchargeAmount"].(object)["amount"], "never surcharged")
		assert.Equal(t, json.Number("10.50"), tx["totalAmount"].(object)["amount"])

		byPayID := c.activeAgreement(changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", payerPayID)))
		payer := c.must(http.StatusCreated, c.post("/transactions", payToPayment(byPayID)))["payToPayerAccount"].(object)
		assert.Equal(t, []any{nil, "EMAL", "xxxxxxorg"}, []any{payer["maskedAccountNumber"], payer["payIdType"], payer["payId"]})
		c.checkRecords()
	}, WithBusiness(DefaultBusiness, "Shop", Surcharge{Scheme: "VISA", BasisPoints: 100}))
}

func TestPayToPaymentIsApprovedLater(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		token := c.activeAgreement(c.agreementRequest())
		receipt := c.must(http.StatusCreated, c.post("/transactions", payToPayment(token)))["receiptNumber"]
		entry := c.box.Ledger().Order("ORDER")[0]
		assert.Equal(t, []string{"pending", token, "E2E-1"}, []string{entry.Outcome, entry.AgreementToken, entry.EndToEndID})
		assert.Empty(t, c.box.Ledger().Charged("ORDER"))
		c.pass(time.Minute - 2*time.Second - time.Nanosecond)
		assert.Equal(t, "Pending", c.transaction(receipt)["status"])
		c.pass(time.Nanosecond)
		tx := c.transaction(receipt)
		assert.Equal(t, []any{"Approved", "0", "ACSC"}, verdict(tx))
		assert.Equal(t, true, tx["refundable"])
		assert.Len(t, c.box.Ledger().Charged("ORDER"), 1)
		assert.Equal(t, int64(1050), c.box.Ledger().Net("ORDER"))
		assert.Equal(t, []string{"payto.agreement.confirmed", "payto.payment.approved"}, hook.events())
		assert.Equal(t, receipt, hook.all()[1].data["receiptNumber"])

		found := c.must(http.StatusOK, c.get("/transactions/for-reference-number?referenceNumber=e2e-1"))["data"].([]any)
		require.Len(t, found, 1)
		assert.Equal(t, receipt, found[0].(object)["receiptNumber"])
		assert.Equal(t, []string{receipt.(string)}, c.box.Agreements()[0].Payments)
	})
}

func TestPayToPaymentIsApprovedAtOnce(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		token := c.activeAgreement(c.agreementRequest())
		tx := c.must(http.StatusCreated, c.post("/transactions", payToPayment(token)))
		assert.Equal(t, []any{"Approved", "0", "ACSC"}, verdict(tx))
		assert.Len(t, c.box.Ledger().Charged("ORDER"), 1)
		assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.payment.approved"}, hook.events())
	}, assuming(func(a *Assumptions) { a.PayToSynchronous = true }))
}

func TestPayToOutcomesAreScripted(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome Outcome
		first   []any
		later   []any
		charged int
		event   string
	}{
		"insufficient funds": {Declined("AM04"), []any{"Declined", "1", "AM04"}, []any{"Declined", "1", "AM04"}, 0, "payto.payment.added_later"},
		"rejected":           {Rejected("RJCT"), []any{"Declined", "3", "RJCT"}, []any{"Declined", "3", "RJCT"}, 0, "payto.payment.added_later"},
		"declined later": {
			Pending().ThenAfter(time.Minute, Declined("AC05")),
			[]any{"Pending", "0", "PDNG"},
			[]any{"Declined", "1", "AC05"},
			0, "payto.payment.added_later",
		},
		"never answered": {Pending(), []any{"Pending", "0", "PDNG"}, []any{"Pending", "0", "PDNG"}, 0, ""},
		"erred, then approved": {
			Erred().ThenAfter(time.Minute, Approved()),
			[]any{"Declined", "2", "QI"},
			[]any{"Approved", "0", "ACSC"},
			1, "payto.payment.approved",
		},
		"approved": {Approved(), []any{"Approved", "0", "ACSC"}, []any{"Approved", "0", "ACSC"}, 1, "payto.payment.approved"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *caller) {
				token := c.activeAgreement(c.agreementRequest())
				hook := c.subscribe()
				c.box.NextTransaction(tt.outcome)
				tx := c.must(http.StatusCreated, c.post("/transactions", payToPayment(token)))
				assert.Equal(t, tt.first, verdict(tx))
				c.pass(time.Hour)
				now := c.transaction(tx["receiptNumber"])
				assert.Equal(t, tt.later, verdict(now))
				assert.NotContains(t, now["responseDescription"], "Response code", "the code is described")
				assert.Len(t, c.box.Ledger().Charged("ORDER"), tt.charged)
				if tt.event == "" {
					assert.Empty(t, hook.events())
				} else {
					assert.Equal(t, []string{tt.event}, hook.events())
				}
			})
		})
	}
}

func TestPayToPaymentRules(t *testing.T) {
	const other = "SECOND"
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		good := payToPayment(token)
		payer := accountPayer("650000")
		agreed := func(pairs ...any) object {
			o := onceOff(payer)
			return with(o, "payToData", "payToAgreement", changed(o["payToData"].(object)["payToAgreement"].(object), pairs...))
		}
		for _, tt := range []struct {
			body  object
			field string
		}{
			{paying(token, "payToAgreement", object{}), "payToData.agreementToken"},
			{paying("NOBODY"), "payToData.agreementToken"},
			{changed(good, "supplierBusinessCode", other), "supplierBusinessCode"},
			{agreed("supplierBusinessCode", other), "supplierBusinessCode"},
			{agreed("payerDetails", payIDPayer("EMAL", InvalidPayID)), "payToData.payToAgreement.payerDetails.payId"},
		} {
			assert.Contains(t, c.findings(c.post("/transactions", tt.body)), tt.field, tt.body)
		}
		for _, status := range []agreementStatus{agreementCreated, agreementRejected, agreementPending, agreementSuspended, agreementCancelled} {
			r := c.post("/transactions", payToPayment(c.reach(status)))
			assert.Contains(t, c.findings(r)["payToData.agreementToken"], string(status))
		}
		assert.Empty(t, c.box.Ledger())
		c.must(http.StatusCreated, c.post("/transactions", changed(good, "currency", "NZD"))) // the contract has no other rule for PayTo
		made := c.must(http.StatusCreated, c.post("/transactions", agreed("supplierBusinessCode", nil, "paymentDetails", object{"purpose": "RETL"})))
		assert.Equal(t, DefaultBusiness, c.readAgreement(made["payToData"].(object)["agreementToken"].(string))["payeeDetails"].(object)["supplierBusinessCode"])
		c.checkRecords()
	}, WithBusiness(other, "Second Shop"))
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

		fixed := terms("agreementType", "FIXE", "paymentAmount", "10.00", "firstPaymentAmount", "50.00", "lastPaymentAmount", "70.00")
		refused(costing(fixed, "10.00"), "principalAmount")
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

func TestPayToTermsNotEnforced(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		c.must(http.StatusCreated, c.post("/transactions", costing(token, "5000.00")))
	}, assuming(func(a *Assumptions) { a.TermsEnforced = false }))
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
		assert.Equal(t, "Pending", c.transaction(tx["receiptNumber"])["status"])
		require.NoError(t, c.box.Payer(token, ConfirmAgreement))
		assert.Equal(t, "Pending", c.transaction(tx["receiptNumber"])["status"])
		c.pass(time.Minute)
		assert.Equal(t, []any{"Approved", "0", "ACSC"}, verdict(c.transaction(tx["receiptNumber"])))
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
				assert.Equal(t, []any{"Declined", "1", "RJCT"}, verdict(c.transaction(tx["receiptNumber"])))
				assert.ElementsMatch(t, []string{"payto.agreement." + name, "payto.payment.added_later"}, hook.events())
				assert.Empty(t, c.box.Ledger().Charged("ORDER"))
			})
		})
	}
	bubble(t, func(c *caller) {
		tx := c.must(http.StatusCreated, c.post("/transactions", onceOff(accountPayer("032003"))))
		c.pass(time.Second)
		assert.Equal(t, []any{"Declined", "1", "RJCT"}, verdict(c.transaction(tx["receiptNumber"])))
	})
}

func TestOnceOffPaymentConfirmedAtOnce(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		c.box.NextTransaction(Approved(), Declined("AM04"))
		tx := c.must(http.StatusCreated, c.post("/transactions", onceOff(payIDPayer("EMAL", ConfirmingPayID))))
		assert.Equal(t, []any{"Pending", "0", "PDNG"}, verdict(tx), "as it was when the answer was made")
		assert.Equal(t, []any{"Approved", "0", "ACSC"}, verdict(c.transaction(tx["receiptNumber"])))
		assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.payment.approved"}, hook.events())

		declined := c.must(http.StatusCreated, c.post("/transactions", onceOff(payIDPayer("EMAL", ConfirmingPayID))))
		assert.Equal(t, []any{"Declined", "1", "AM04"}, verdict(c.transaction(declined["receiptNumber"])))
	})
}

func TestPayToRefundIsNoPaymentEvent(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		receipt := c.must(http.StatusCreated, c.post("/transactions", payToPayment(token)))["receiptNumber"].(string)
		c.pass(time.Minute)
		hook := c.subscribe()
		c.must(http.StatusCreated, c.post("/transactions", object{
			"transactionType": "REFUND", "originalReceiptNumber": receipt, "principalAmount": json.Number("10.50"), "currency": "AUD",
		}))
		c.pass(time.Hour)
		assert.Zero(t, c.box.Ledger().Net("ORDER"))
		assert.Empty(t, hook.events())
	})
}
