package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

// kindly runs a test with the default sandbox of a new user.
func kindly(t *testing.T, f func(c *caller), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		box := New(opts...)
		defer box.Close()
		f(&caller{t: t, box: box, client: box.HTTPClient(), base: box.URL(), keys: box.Keys()})
	})
}

// The first program of a new user finds its payment at once, without unknown members.
func TestKindByDefault(t *testing.T) {
	kindly(t, func(c *caller) {
		paid := c.must(201, c.post("/transactions", changed(cardPayment("Order-1"), "metadata", object{"n": "1"}), "Idempotency-Key", "k"))
		assert.Equal(t, paid, c.must(200, c.get("/transactions/"+receiptIn(paid))))
		assert.Equal(t, []any{paid}, c.must(200, c.get("/transactions/for-reference-number?referenceNumber=order-1"))["data"])
		c.pass(23 * time.Hour)
		assert.Equal(t, paid, c.must(201, c.post("/transactions", changed(cardPayment("Order-1"), "metadata", object{"n": "1"}), "Idempotency-Key", "k")))
		assert.Len(t, c.box.Ledger(), 1)
		c.must(404, c.get("/transactions/for-reference-number?referenceNumber=x"))
	})
}

// The vendor's published sample of a transaction, member by member: the same names, and values of
// the same form.
func TestPublishedSample(t *testing.T) {
	kindly(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", cardPayment("O")))
		for name, form := range map[string]string{
			"receiptNumber": `^\d{10}$`, "status": `^Approved$`, "responseCode": `^08$`, "summaryCode": `^0$`, "source": `^RESTAPI$`,
			"settlementDate": `^\d{4}-\d\d-\d\d$`, "transactionTime": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+1[01]00$`,
		} {
			assert.Regexp(t, form, body[name], name)
		}
		assert.Equal(t, []any{}, body["links"])
		assert.Nil(t, body["fraudGuardResult"])
		assert.Equal(t, object{"currency": "AUD", "amount": json.Number("10.50"), "displayAmount": "$10.50"}, body["principalAmount"])
		merchant := body["merchantAccount"].(object)
		assert.Equal(t, []any{"WBC", "032-000"}, []any{merchant["acquiringInstitution"], merchant["settlementBsb"]})
		assert.Regexp(t, `^.+ \d{3}-\d{3} \d{6} \(\w+\)$`, merchant["displayName"])
		card := body["creditCard"].(object)
		assert.Equal(t, []any{"424242...242", "35"}, []any{card["cardNumber"], card["expiryDateYear"]})
	})
}

func TestApprovedInPart(t *testing.T) {
	kindly(t, func(c *caller) {
		c.box.NextTransaction(ApprovedInPart(400), ApprovedInPart(9900))
		body := c.must(201, c.post("/transactions", cardPayment("O")))
		assert.Equal(t, []any{"Approved", "10", json.Number("4.00")}, []any{body["status"], body["responseCode"], body["principalAmount"].(object)["amount"]})
		assert.Equal(t, json.Number("0.04"), body["surchargeAmount"].(object)["amount"])
		assert.Equal(t, int64(404), c.box.Ledger().Net("O"))
		whole := c.must(201, c.post("/transactions", cardPayment("P")))
		assert.Equal(t, json.Number("10.50"), whole["principalAmount"].(object)["amount"])
	}, visa())
}

// The service voids a payment whose answer was lost, and no other payment.
func TestReversedAfterALostAnswer(t *testing.T) {
	inWorld(t, "ReversalAfter=30s", func(c *caller) {
		for order, kind := range map[string]FaultKind{
			"reset": ResetAfterCommit(), "late": CommitLate(time.Minute), "cut": TruncatedBody(60), "gateway": StatusAfterCommit(502, HTML),
		} {
			require.NoError(c.t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: kind}))
			_, _ = c.try(c.request("POST", "/transactions", c.keys.Secret, cardPayment(order), "Idempotency-Key", order))
			c.box.ClearFaults()
			c.pass(61 * time.Second)
			if order != "late" {
				assert.Equal(c.t, "voided", c.box.Ledger().Order(order)[0].Outcome, order)
			}
			c.pass(time.Minute)
			assert.Empty(c.t, c.box.Ledger().Charged(order), order)
		}
		receipt := c.pay("answered")
		require.NoError(c.t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: ResetAfterCommit()}))
		_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, cardPayment("replayed"), "Idempotency-Key", "R"))
		require.Error(c.t, err)
		c.must(201, c.post("/transactions", cardPayment("replayed"), "Idempotency-Key", "R"))
		c.pass(time.Hour)
		assert.Equal(c.t, "Approved", c.read(receipt)["status"])
		assert.Len(c.t, c.box.Ledger().Charged("replayed"), 1, "the answer arrived after all")
	})
}

// After five payments that fail for insufficient funds, an agreement takes no more that day.
func TestPayToAttempts(t *testing.T) {
	kindly(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		for range 5 {
			c.box.NextTransaction(Declined("AM04"))
			c.must(201, c.post("/transactions", payToPayment(token)))
			c.pass(time.Hour)
		}
		refused := c.findings(c.post("/transactions", payToPayment(token)))
		assert.Contains(t, refused["payToData.agreementToken"], "insufficient funds")
		c.pass(20 * time.Hour)
		c.must(201, c.post("/transactions", payToPayment(token)))
	})
}

func TestTransactionsOfACustomer(t *testing.T) {
	kindly(t, func(c *caller) {
		id := c.customerNumbered("1")
		token := c.keep(id, object{"singleUseTokenId": c.token(cardToken(goodCard))})["accountToken"]
		c.pay("another's")
		paid := receiptIn(c.must(201, c.post("/transactions", changed(payment("O"), "accountToken", token))))
		assert.Equal(t, []string{paid}, c.receipts("/customers/"+id+"/transactions"))
		assert.Equal(t, http.StatusNotFound, c.get("/customers/9/transactions").status)
	})
}

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
		"default":                 {"2026-12-24 17:59": "2026-12-24", "2026-12-24 18:00": "2026-12-25", "2026-12-26 10:00": "2026-12-26"},
		"CutOffHour=22":           {"2026-12-24 21:59": "2026-12-24", "2026-12-24 22:00": "2026-12-25"},
		"CutOffHour=16":           {"2026-12-24 16:00": "2026-12-25"},
		"SettlementDays=weekdays": {"2026-12-24 18:00": "2026-12-25", "2026-12-26 10:00": "2026-12-28", "2026-12-25 19:00": "2026-12-28"},
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

// Reads of a capture and of a change of a pre-authorisation show their own reference, the
// original's or none.
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

// A gateway that has sent a payment twice passes on the second answer.
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

// assumed makes assumptions from words Name=value; the word default changes none.
func assumed(t *testing.T, world string) Option {
	t.Helper()
	return WithAssumptions(func(a *Assumptions) {
		for word := range strings.FieldsSeq(strings.TrimPrefix(world, "default")) {
			name, value, _ := strings.Cut(word, "=")
			require.NoError(t, a.Set(name, value))
		}
	})
}

// inWorld runs a test under assumptions.
func inWorld(t *testing.T, world string, f func(c *caller), opts ...Option) {
	t.Helper()
	t.Run(world, func(t *testing.T) {
		bubble(t, f, append([]Option{assumed(t, world)}, opts...)...)
	})
}

// visa puts a surcharge of 1 % on the card of these tests.
func visa() Option {
	return WithBusiness(DefaultBusiness, "Shop", Surcharge{Scheme: "VISA", BasisPoints: 100})
}

func referencedPayment() object {
	return changed(cardPayment(" Order-1 "), "paymentReferenceNumber", "Pay-1", "metadata", object{"n": "42", "lead": "007", "text": "x"})
}

// asSent returns the members of an answer as they were written: numbers as text, texts in
// quotes.
func asSent(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	var all map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &all), string(raw))
	out := make(map[string]string)
	for name, value := range all {
		out[name] = string(value)
	}
	return out
}

func TestEchoedReferences(t *testing.T) {
	for world, want := range map[string][2]string{
		"default":                {`" Order-1 "`, `"Pay-1"`},
		"EchoedReferences=upper": {`" ORDER-1 "`, `"PAY-1"`},
		"EchoedReferences=none":  {"null", "null"},
	} {
		inWorld(t, world, func(c *caller) {
			made := c.post("/transactions", referencedPayment())
			c.must(201, made)
			c.sleep(time.Minute)
			read := c.get("/transactions/" + receiptIn(made.body))
			for _, r := range []response{made, read} {
				m := asSent(c.t, r.raw)
				assert.Equal(c.t, want, [2]string{m["customerReferenceNumber"], m["paymentReferenceNumber"]})
			}
			assert.Equal(c.t, "Pay-1", c.box.Ledger()[0].PaymentReferenceNumber)
		})
	}
}

func TestClockSkew(t *testing.T) {
	for world, want := range map[string][2]time.Duration{
		"default":                    {},
		"ClockSkew=-1h":              {-time.Hour, -time.Hour},
		"ClockSkew=1h CutOffHour=20": {time.Hour, time.Hour},
	} {
		inWorld(t, world, func(c *caller) {
			r := c.post("/transactions", cardPayment("O"))
			at, err := time.Parse("2006-01-02T15:04:05-07:00", strings.Replace(c.must(201, r)["transactionTime"].(string), "+1100", "+11:00", 1))
			require.NoError(c.t, err)
			header, err := time.Parse(time.RFC1123, r.header.Get("Date"))
			require.NoError(c.t, err)
			assert.Equal(c.t, want, [2]time.Duration{time.Until(at), time.Until(header)})
		})
	}
	clock := NewClock(time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC))
	bubble(t, func(c *caller) {
		assert.Equal(c.t, "Fri, 01 May 2026 03:00:00 GMT", c.get("/transactions").header.Get("Date"), "the Date is that of the sandbox's clock")
	}, WithClock(clock))
	inWorld(t, "ClockSkew=1h", func(c *caller) {
		c.sleep(6*time.Hour + 30*time.Minute) // 17:30 in Sydney
		assert.Equal(c.t, "2000-01-02", c.must(201, c.post("/transactions", cardPayment("O")))["settlementDate"])
	})
}

func TestUnknownMembers(t *testing.T) {
	for form, want := range map[string]bool{"none": false, "new": true} {
		bubble(t, func(c *caller) {
			body := c.must(201, c.post("/transactions", referencedPayment()))
			for _, part := range []object{body, body["creditCard"].(object)} {
				assert.Equal(c.t, want, part["addedLater"] != nil, form)
			}
			assert.Len(c.t, body["metadata"], 3, "the merchant's own names")
		}, assuming(func(a *Assumptions) { a.UnknownMembers = form }))
	}
}

func TestMetadata(t *testing.T) {
	inWorld(t, "Metadata=dropped", func(c *caller) {
		receipt := c.made(referencedPayment())
		assert.Nil(c.t, c.read(receipt)["metadata"])
		assert.Equal(c.t, "42", c.box.Ledger()[0].Metadata["n"])
	})
	inWorld(t, "Metadata=inherited", func(c *caller) {
		paid := c.made(referencedPayment())
		c.pass(8 * time.Hour)
		refund := c.made(changed(against(typeRefund, paid, "1.00"), "metadata", object{"n": "43"}))
		assert.Equal(c.t, object{"n": "42", "lead": "007", "text": "x"}, c.read(refund)["metadata"])
		assert.Equal(c.t, "43", c.box.Ledger()[1].Metadata["n"])
	})
}

func TestTransactionAnswers(t *testing.T) {
	inWorld(t, "UnknownMembers=none TransactionAnswers=receipt", func(c *caller) {
		body := c.must(201, c.post("/transactions", cardPayment("O")))
		assert.Len(c.t, body, 1)
		assert.Greater(c.t, len(c.read(receiptIn(body))), 11, "reads have it all")
		assert.Len(c.t, c.must(200, c.post("/transactions/"+receiptIn(body)+"/void", nil)), 1)
		assert.Equal(c.t, "voided", c.box.Ledger()[0].Outcome)
	})
}

func TestErrorForms(t *testing.T) {
	for form, want := range map[string][2]string{
		"object": {`"errors":[{"fieldName":"customerNumber","fieldValue":null,"messages":["is required"]`, `"errors":[]`},
		"list":   {`[{"fieldName":"customerNumber","fieldValue":null,"messages":["is required"]`, `[{"fieldName":"","fieldValue":null,"messages":["There is no such customer."]`},
		"map":    {`"errors":{"customerNumber":["is required"]}`, `"errors":{}`},
		"html":   {"<html><head><title>422", "<html><head><title>404"},
		"empty":  {"", ""},
	} {
		inWorld(t, "UnknownMembers=none ErrorForm="+form, func(c *caller) {
			invalid, _ := c.try(c.request("POST", "/customers", c.keys.Secret, object{"customerName": "K"})) // it need be no object
			assert.Equal(c.t, 422, invalid.status)
			assert.Contains(c.t, string(invalid.raw), want[0])
			missing, _ := c.try(c.request("GET", "/customers/1", c.keys.Secret, nil))
			assert.Equal(c.t, 404, missing.status)
			assert.Contains(c.t, string(missing.raw), want[1])
			if form == "empty" {
				assert.Empty(c.t, append(invalid.raw, missing.raw...))
			}
		})
	}
}

// Every value of the table can be read, and prints as it was written.
func TestEveryAssumption(t *testing.T) {
	unkind := DefaultAssumptions()
	Unkind(&unkind)
	assert.LessOrEqual(t, len(unkind.List()), 32)
	for i, a := range unkind.List() {
		assert.Equal(t, a.Hardest, a.Value, a.Name)
		assert.Contains(t, a.Worlds, a.Hardest, a.Name)
		assert.NotEmpty(t, a.Known, a.Name)
		assert.NotEmpty(t, a.Why, a.Name)
		assert.Equal(t, len(a.Worlds), len(slices.Compact(slices.Sorted(slices.Values(a.Worlds)))), a.Name)
		for _, value := range a.Worlds {
			changed := DefaultAssumptions()
			require.NoError(t, changed.Set(a.Name, value))
			assert.Equal(t, value, changed.List()[i].Value, a.Name)
			assert.NotContains(t, value, " ", a.Name)
		}
	}
	changed := DefaultAssumptions()
	assert.ErrorContains(t, changed.Set("PageSize", "many"), "assumption PageSize")
	assert.ErrorContains(t, changed.Set("Colour", "red"), "no assumption")
}
