package sandbox

import (
	"encoding/json"
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
