package sandbox

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIdempotencyKeysOfWorlds(t *testing.T) {
	for world, remembered := range map[string]time.Duration{"default": 5 * time.Minute, "KeyLifetime=2m": 2 * time.Minute, "KeyLifetime=24h": 24 * time.Hour, "KeyLifetime=0s": 0} {
		inWorld(t, world, func(c *caller) {
			pay := func() { c.must(201, c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")) }
			pay()
			if remembered > 0 {
				c.pass(remembered - 1)
				pay()
				assert.Len(c.t, c.box.Ledger(), 1)
				c.pass(1)
			}
			pay()
			assert.Len(c.t, c.box.Ledger(), 2)
		})
	}
	for world, status := range map[string]int{"default": 422, "KeyMismatch=409": 409, "KeyMismatch=replay": 201} {
		inWorld(t, world, func(c *caller) {
			first := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
			other := c.post("/transactions", changed(cardPayment("P"), "principalAmount", json.Number("99.00")), "Idempotency-Key", "k")
			assert.Equal(c.t, status, other.status)
			assert.Equal(c.t, status == 201, string(first.raw) == string(other.raw), "the answer about another cart, as it was")
			assert.Len(c.t, c.box.Ledger(), 1)
		})
	}
}

func TestKeyForms(t *testing.T) {
	const uuid = "0F8fAD5B-d9cb-469f-a165-70867728950e"
	for world, refused := range map[string]int{"default": 201, "KeyForm=uuid": 422, "KeyForm=uuid KeyLifetime=0s": 422} {
		inWorld(t, world, func(c *caller) {
			for key, status := range map[string]int{uuid: 201, "": 201, "k": refused, uuid + "0": refused, uuid[1:]: refused} {
				c.must(status, c.post("/transactions", cardPayment("O"), "Idempotency-Key", key))
			}
		})
	}
}

func TestLocations(t *testing.T) {
	for world, there := range map[string]bool{"default": false, "Location=created": true} {
		inWorld(t, world, func(c *caller) {
			made := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
			again := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
			location := made.header.Get("Location")
			assert.Equal(c.t, location, again.header.Get("Location"))
			assert.Equal(c.t, there, strings.HasSuffix(location, "/rest/v1/transactions/"+made.body["receiptNumber"].(string)), location)
			assert.Equal(c.t, there, location != "")
		})
	}
}

func TestSettlementCalendars(t *testing.T) {
	for world, want := range map[string]map[string]string{ // times in Sydney
		"default":                   {"2026-12-24 17:59": "2026-12-24", "2026-12-24 18:00": "2026-12-25", "2026-12-26 10:00": "2026-12-26"},
		"CutOffHour=22":             {"2026-12-24 21:59": "2026-12-24", "2026-12-24 22:00": "2026-12-25"},
		"CutOffHour=16":             {"2026-12-24 16:00": "2026-12-25"},
		"LateSettlementDate=true":   {"2026-12-24 23:00": "2026-12-24"},
		"SettlementDays=weekdays":   {"2026-12-24 18:00": "2026-12-25", "2026-12-26 10:00": "2026-12-28", "2026-12-25 19:00": "2026-12-28"},
		"SettlementDays=business":   {"2026-12-24 18:00": "2026-12-29", "2026-12-24 10:00": "2026-12-24", "2027-03-25 20:00": "2027-03-30"},
		"SettlementDays=business  ": {"2027-12-31 20:00": "2028-01-04", "2026-01-26 10:00": "2026-01-27", "2025-04-25 10:00": "2025-04-28"},
		"LateSettlementDate=true SettlementDays=weekdays": {"2026-12-25 19:00": "2026-12-25", "2026-12-26 19:00": "2026-12-28"},
	} {
		box := New(assumed(t, world))
		for at, date := range want {
			moment, err := time.ParseInLocation("2006-01-02 15:04", at, time.FixedZone("AEDT", 11*60*60))
			require.NoError(t, err)
			if _, offset := calendar.Sydney(moment).Zone(); offset != 11*60*60 {
				moment = moment.Add(time.Hour)
			}
			assert.Equal(t, date, box.settlementDate(moment), world+" "+at)
		}
		box.Close()
	}
}

func TestPayToApprovedAfter(t *testing.T) {
	inWorld(t, "PayToApprovedAfter=119h", func(c *caller) {
		c.must(201, c.post("/transactions", payToPayment(c.activeAgreement(c.agreementRequest()))))
		c.pass(119*time.Hour - time.Second)
		assert.Equal(c.t, "pending", c.box.Ledger()[0].Outcome)
		c.pass(time.Second)
		assert.Equal(c.t, "approved", c.box.Ledger()[0].Outcome)
	})
}

func TestSummaryCodesOfPendingPayments(t *testing.T) {
	for world, want := range map[string]string{"default": "0", "PendingSummaryCode=2": "2"} {
		inWorld(t, world, func(c *caller) {
			tx := c.must(201, c.post("/transactions", payToPayment(c.activeAgreement(c.agreementRequest()))))
			assert.Equal(c.t, []any{"Pending", want}, []any{tx["status"], tx["summaryCode"]})
			c.pass(time.Minute)
			tx = c.transaction(tx["receiptNumber"])
			assert.Equal(c.t, []any{"Approved", "0"}, []any{tx["status"], tx["summaryCode"]})
		})
	}
}

func TestEventsOfWorlds(t *testing.T) {
	for world, want := range map[string]int{"default": 1, "Events=after": 1, "Events=twice": 2, "Events=never": 0} {
		inWorld(t, world, func(c *caller) {
			hook := c.subscribe()
			c.must(201, c.postAgreement(changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", ConfirmingPayID))))
			c.pass(time.Minute)
			confirmed := 0
			for _, event := range hook.events() {
				if event == eventAgreementConfirmed {
					confirmed++
				}
			}
			assert.Equal(c.t, want, confirmed)
		})
	}
}

func TestDeclinesRetriedByTheService(t *testing.T) {
	for world, want := range map[string]map[string]int{ // payments in all after four days
		"default":                      {"01": 2, "05": 1, "51": 1, "91": 1},
		"SoftDeclineCodes=none":        {"01": 1, "05": 1, "51": 1, "91": 1},
		"SoftDeclineCodes=01,05,51,91": {"01": 2, "05": 2, "51": 2, "91": 2},
	} {
		inWorld(t, world, func(c *caller) {
			for code := range want {
				c.box.NextTransaction(Declined(code))
				c.pay(code)
			}
			c.pass(4 * 24 * time.Hour)
			for code, n := range want {
				assert.Len(c.t, c.box.Ledger().Order(code), n, code)
			}
		})
	}
	inWorld(t, "RetrySchedule=2h,6h", func(c *caller) {
		c.box.NextTransaction(Declined("01"))
		c.pay("O")
		c.pass(2*time.Hour - 1)
		assert.Empty(c.t, c.box.Ledger().Charged("O"))
		c.pass(1)
		assert.Len(c.t, c.box.Ledger().Charged("O"), 1)
	})
}

func TestAgreementTermsReadBack(t *testing.T) {
	for world, want := range map[string][4]string{ // first due, point in time, amount, respond by
		"AmountForm=number":                           {"null", "15", "5.00", `"2000-01-06T11:00:00+1100"`},
		"AmountForm=number AgreementTerms=filled":     {`"2000-01-01"`, "15", "5.00", `"2000-01-06T11:00:00+1100"`},
		"AmountForm=number AgreementTerms=noOffset":   {"null", "15", "5.00", `"2000-01-06T11:00:00"`},
		"AmountForm=number AgreementTerms=nullAmount": {"null", "15", "null", `"2000-01-06T11:00:00+1100"`},
	} {
		inWorld(t, world, func(c *caller) {
			m := asSent(c.t, c.postAgreement(c.agreementRequest()).raw)
			terms := asSent(c.t, []byte(m["paymentTerms"]))
			assert.Equal(c.t, want, [4]string{terms["firstPaymentDue"], terms["pointInTime"], terms["paymentAmount"], m["respondByTime"]})
		})
	}
	inWorld(t, "AgreementTerms=filled", func(c *caller) {
		m := asSent(c.t, c.postAgreement(with(c.agreementRequest(), "paymentTerms", "pointInTime", nil)).raw)
		assert.Equal(c.t, "1", asSent(c.t, []byte(m["paymentTerms"]))["pointInTime"])
	})
}

func TestDisabledCustomers(t *testing.T) {
	for world, want := range map[string][2]int{ // a payment, a registration
		"default": {422, 201}, "DisabledCustomers=pay": {201, 422}, "DisabledCustomers=all": {201, 201}, "DisabledCustomers=nothing": {422, 422},
	} {
		inWorld(t, world, func(c *caller) {
			id := c.customerNumbered("1")
			kept := c.keep(id, object{"singleUseTokenId": c.token(cardToken(goodCard))})["accountToken"]
			c.must(200, c.do("PUT", "/customers/"+id, c.keys.Secret, object{"enabled": false}))
			paid := c.post("/transactions", changed(payment("O"), "accountToken", kept))
			assert.Equal(c.t, paid.status, c.post("/transactions", changed(payment("P"), "customerId", id)).status)
			registered := c.post("/customers/"+id+"/accounts", object{"singleUseTokenId": c.token(cardToken(goodCard))})
			assert.Equal(c.t, want, [2]int{paid.status, registered.status})
		})
	}
}

func TestReportsOfUnfinishedFiles(t *testing.T) {
	for world, early := range map[string]int{"default": 404, "FileReports=202": 202, "FileReports=ready": 200} {
		inWorld(t, world, func(c *caller) {
			id := c.uploaded("a.csv", "CSV2", lines("1.00", cardLine("O", "1.00", goodCard)))
			assert.Equal(c.t, early, c.get("/payment-files/"+id+"/csv").status)
			c.pass(time.Hour)
			assert.Equal(c.t, 200, c.get("/payment-files/"+id+"/csv").status)
		})
	}
}

func TestBankPaymentsComeBack(t *testing.T) {
	for world, after := range map[string]time.Duration{"default": 24 * time.Hour, "BankReturnAfter=72h": 72 * time.Hour, "BankReturnAfter=0s": 0} {
		inWorld(t, world, func(c *caller) {
			c.must(201, c.post("/transactions", bankPayment("O", "032-053")))
			if after > 0 {
				c.pass(after - 1)
				assert.Equal(c.t, "approved", c.box.Ledger()[0].Outcome)
				c.pass(1)
			}
			assert.Equal(c.t, "declined", c.box.Ledger()[0].Outcome)
		})
	}
}

func TestStoredReferences(t *testing.T) {
	for world, want := range map[string]map[string]bool{
		"default":                  {" Inv-1 ": true, " inv-1 ": true, "Inv-1": false},
		"StoredReferences=trimmed": {" Inv-1 ": false, "Inv-1": true},
		"StoredReferences=lower ReferenceSearch=exact":   {" Inv-1 ": false, " inv-1 ": true},
		"StoredReferences=upper ReferenceSearch=exact":   {" inv-1 ": false, " INV-1 ": true},
		"StoredReferences=trimmed ReferenceSearch=exact": {"Inv-1": true, "inv-1": false},
	} {
		inWorld(t, world, func(c *caller) {
			c.must(201, c.post("/transactions", changed(cardPayment("O"), "paymentReferenceNumber", " Inv-1 ")))
			c.pass(time.Minute)
			for reference, found := range want {
				assert.Equal(c.t, found, len(c.found(url.QueryEscape(reference))) == 1, "%s: %q", world, reference)
			}
		})
	}
}

// A capture and a change of a pre-authorisation have a reference of their own, the original's
// or none in reads.
func TestFollowUpReferences(t *testing.T) {
	for world, want := range map[string][2]int{ // found by their own, and by the original's with it
		"default": {2, 1}, "FollowUpReferences=original": {0, 3}, "FollowUpReferences=none": {0, 1},
	} {
		inWorld(t, world, func(c *caller) {
			held := c.made(changed(preauth("O", goodCard), "paymentReferenceNumber", "HELD"))
			c.made(changed(change(topUp, held, "1.00"), "paymentReferenceNumber", "LATER"))
			c.made(changed(captureOf(held, "2.00"), "paymentReferenceNumber", "LATER"))
			c.pass(time.Minute)
			assert.Equal(c.t, want, [2]int{len(c.found("LATER")), len(c.found("HELD"))}, world)
		})
	}
}

// What has changed is in lists twice, and the pages come to an end.
func TestRepeatedReceipts(t *testing.T) {
	for world, want := range map[string]string{
		"default": "Approved", "RepeatedReceipts=olderFirst": "Declined Approved", "RepeatedReceipts=newerFirst": "Approved Declined",
		"RepeatedReceipts=olderFirst PageSize=1": "Declined Approved",
	} {
		inWorld(t, world, func(c *caller) {
			c.box.NextTransaction(Erred().ThenAfter(time.Minute, Approved()))
			c.pay("O")
			c.pass(time.Hour)
			assert.Equal(c.t, want, strings.Join(c.listed("/transactions/for-reference-number?referenceNumber=O", "status"), " "), world)
		})
	}
}

func TestStatusForms(t *testing.T) {
	outcomes := []Outcome{Approved(), Declined("05"), Rejected("QA"), Suspended(), Erred()}
	for form, want := range map[string][]string{
		"listed":    {`"Approved"`, `"Declined"`, `"Declined"`, `"Suspended"`, `"Declined"`},
		"otherCase": {`"APPROVED"`, `"DECLINED"`, `"DECLINED"`, `"SUSPENDED"`, `"DECLINED"`},
		"unlisted":  {`"Settled"`, `"Refused"`, `"Refused"`, `"Suspended"`, `"Refused"`},
		"absent":    {"", "", "", `"Suspended"`, ""},
	} {
		inWorld(t, "StatusForm="+form, func(c *caller) {
			c.box.NextTransaction(outcomes...)
			for i := range outcomes {
				assert.Equal(c.t, want[i], asSent(c.t, c.post("/transactions", cardPayment("O")).raw)["status"], form)
			}
		})
	}
}

func TestAlteredMetadata(t *testing.T) {
	for form, want := range map[string]string{
		"echoed": "Intent-0123456789-abcd", "blank": "Intent-0123456789-abcd ", "otherCase": "INTENT-0123456789-ABCD", "cut": "Intent-012345678",
		"quoted": `"Intent-0123456789-abcd"`, "masked": "xxxxxxxxxxxxxxxxxxabcd",
	} {
		inWorld(t, "Metadata="+form, func(c *caller) {
			body := c.must(201, c.post("/transactions", changed(cardPayment("O"), "metadata", object{"id": "Intent-0123456789-abcd"})))
			assert.Equal(c.t, object{"id": want}, body["metadata"])
		})
	}
}

// A second retry is one of the first payment, or of the first retry.
func TestRetriesOf(t *testing.T) {
	for world, want := range map[string][2]int{"default": {2, 0}, "RetriesOf=previous": {1, 1}} {
		inWorld(t, world, func(c *caller) {
			c.box.NextTransaction(Declined("01").ThenRetried(time.Hour, Declined("01").ThenRetried(time.Hour, Approved())))
			c.pay("O")
			c.pass(3 * time.Hour)
			ledger := c.box.Ledger()
			require.Len(c.t, ledger, 3)
			assert.Equal(c.t, "approved", ledger[2].Outcome)
			for i, n := range want {
				assert.Len(c.t, c.receipts("/transactions/"+ledger[i].Receipt+"/retries"), n, world)
			}
		})
	}
}

func TestTransactionTimes(t *testing.T) {
	for world, want := range map[string]string{"default": `"2000-01-01T11:00:00+1100"`, "TransactionTimes=changed": `"2000-01-01T13:00:00+1100"`} {
		inWorld(t, world, func(c *caller) {
			c.box.NextTransaction(Erred().ThenAfter(2*time.Hour, Approved()))
			receipt := c.pay("O")
			c.pass(3 * time.Hour)
			assert.Equal(c.t, want, asSent(c.t, c.get("/transactions/"+receipt).raw)["transactionTime"])
		})
	}
}

func TestAgreementTexts(t *testing.T) {
	for form, want := range map[string][2]string{"sent": {"A  b", "Kim  Lee"}, "folded": {"A b", "Kim Lee"}, "bankNames": {"A  b", "MS KIM  LEE"}} {
		inWorld(t, "AgreementTexts="+form, func(c *caller) {
			request := with(with(c.agreementRequest(), "paymentDetails", "description", "A  b"), "payerDetails", "payerName", "Kim  Lee")
			body := c.must(201, c.postAgreement(request))
			assert.Equal(c.t, want, [2]string{body["paymentDetails"].(object)["description"].(string), body["payerDetails"].(object)["payerName"].(string)})
		})
	}
}

// What a gateway passes on that has sent a payment twice.
func TestSentTwice(t *testing.T) {
	for world, want := range map[string]int{"default": 201, "KeyLifetime=0s": 422} {
		inWorld(t, world, func(c *caller) {
			require.NoError(c.t, c.box.Inject(Fault{Kind: SentTwice(422)}))
			r := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
			assert.Equal(c.t, want, r.status)
			assert.True(c.t, json.Valid(r.raw))
			assert.Len(c.t, c.box.Ledger(), 1)
			assert.Equal(c.t, 200, c.get("/transactions").status)
		})
	}
}
