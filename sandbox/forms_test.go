package sandbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// assumed makes assumptions, given as words Name=value; the word default is none.
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

// visa puts 1 % on the card of these tests.
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
		"default":                  {`" Order-1 "`, `"Pay-1"`},
		"EchoedReferences=upper":   {`" ORDER-1 "`, `"PAY-1"`},
		"EchoedReferences=lower":   {`" order-1 "`, `"pay-1"`},
		"EchoedReferences=trimmed": {`"Order-1"`, `"Pay-1"`},
		"EchoedReferences=none":    {"", ""},
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
		"default":                              {},
		"ClockSkew=31s":                        {31 * time.Second, 31 * time.Second},
		"ClockSkew=-1h":                        {-time.Hour, -time.Hour},
		"ClockSkew=5m DateHeaderRight=true":    {5 * time.Minute, 0},
		"ClockSkew=-20s":                       {-20 * time.Second, -20 * time.Second},
		"DateHeaderRight=true":                 {},
		"ClockSkew=-1h DateHeaderRight=true":   {-time.Hour, 0},
		"ClockSkew=1h CutOffHour=20":           {time.Hour, time.Hour},
		"ClockSkew=-5m TimeForm=+11:00":        {-5 * time.Minute, -5 * time.Minute},
		"ClockSkew=20s EchoedReferences=upper": {20 * time.Second, 20 * time.Second},
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
	for world, want := range map[string]string{"ClockSkew=1h": "2000-01-02", "ClockSkew=1h DateHeaderRight=true": "2000-01-01"} {
		inWorld(t, world, func(c *caller) {
			c.sleep(6*time.Hour + 30*time.Minute) // 17:30 in Sydney
			assert.Equal(c.t, want, c.must(201, c.post("/transactions", cardPayment("O")))["settlementDate"])
		})
	}
}

func TestTimeForms(t *testing.T) {
	for form, want := range map[string]string{
		"+1100": `"2000-01-01T11:00:00+1100"`, "+11:00": `"2000-01-01T11:00:00+11:00"`, "+11": `"2000-01-01T11:00:00+11"`,
		"Z": `"2000-01-01T00:00:00Z"`, "none": `"2000-01-01T11:00:00"`, "blank": `"2000-01-01 11:00:00+1100"`,
		"minutes": `"2000-01-01T11:00+1100"`, "fraction": `"2000-01-01T11:00:00.000+1100"`, "epoch": "946684800000", "absent": "",
		"wrong": `"2000-01-01T11:00:00Z"`,
	} {
		bubble(t, func(c *caller) {
			assert.Equal(c.t, want, asSent(c.t, c.post("/transactions", cardPayment("O")).raw)["transactionTime"], form)
			r := c.postAgreement(c.agreementRequest())
			c.must(201, r)
			assert.Equal(c.t, strings.ReplaceAll(strings.ReplaceAll(want, "-01T", "-06T"), "-01 ", "-06 "),
				strings.Replace(asSent(c.t, r.raw)["respondByTime"], "947116800000", "946684800000", 1), form)
		}, assuming(func(a *Assumptions) { a.TimeForm = form }))
	}
}

func TestDateForms(t *testing.T) {
	for world, want := range map[string][2]string{
		"default":         {`"2000-01-01"`, `"2000-01-01"`},
		"DateForm=text":   {`"01 Jan 2000"`, `"01 Jan 2000"`},
		"DateForm=absent": {"", ""},
	} {
		inWorld(t, world, func(c *caller) {
			r := c.post("/transactions", cardPayment("2000-01-01"))
			assert.Equal(c.t, `"2000-01-01"`, asSent(c.t, r.raw)["customerReferenceNumber"], "a reference is no date")
			details := asSent(c.t, []byte(asSent(c.t, c.postAgreement(c.agreementRequest()).raw)["paymentDetails"]))
			assert.Equal(c.t, want, [2]string{asSent(c.t, r.raw)["settlementDate"], details["startDate"]})
		})
	}
}

func TestTextsAsNumbers(t *testing.T) {
	inWorld(t, "TextMembers=number", func(c *caller) {
		r := c.post("/transactions", referencedPayment())
		m := asSent(c.t, r.raw)
		assert.Equal(c.t, c.box.Ledger()[0].Receipt, m["receiptNumber"], "nothing is lost")
		assert.Equal(c.t, []string{"0", "8"}, []string{m["summaryCode"], m["responseCode"]})
		card := asSent(c.t, []byte(m["creditCard"]))
		assert.Equal(c.t, []string{"2", "35", "1.00"}, []string{card["expiryDateMonth"], card["expiryDateYear"], card["surchargePercentage"]})
		own := asSent(c.t, []byte(m["metadata"]))
		assert.Equal(c.t, []string{"42", `"007"`, `"x"`}, []string{own["n"], own["lead"], own["text"]})
	}, visa())
}

func TestAmountForms(t *testing.T) {
	for form, want := range map[string][3]string{
		"object":           {`{"currency":"AUD","amount":10.50,"displayAmount":"$10.50"}`, `{"currency":"AUD","amount":0.11,"displayAmount":"$0.11"}`, `{"currency":"AUD","amount":10.61,"displayAmount":"$10.61"}`},
		"number":           {"10.50", "0.11", "10.61"},
		"text":             {`"10.50"`, `"0.11"`, `"10.61"`},
		"noCurrency":       {`{"amount":10.50,"displayAmount":"$10.50"}`, `{"amount":0.11,"displayAmount":"$0.11"}`, `{"amount":10.61,"displayAmount":"$10.61"}`},
		"principalAsTotal": {`{"currency":"AUD","amount":10.61,"displayAmount":"$10.61"}`, `{"currency":"AUD","amount":0.11,"displayAmount":"$0.11"}`, `{"currency":"AUD","amount":10.61,"displayAmount":"$10.61"}`},
		"absent":           {},
	} {
		inWorld(t, "UnknownMembers=none"+otherThan("AmountForm", form, "object"), func(c *caller) {
			m := asSent(c.t, c.post("/transactions", cardPayment("O")).raw)
			assert.Equal(c.t, want, [3]string{m["principalAmount"], m["surchargeAmount"], m["totalAmount"]})
			terms := asSent(c.t, []byte(asSent(c.t, c.postAgreement(c.agreementRequest()).raw)["paymentTerms"]))
			agreed := map[string]string{"number": "5.00", "text": `"5.00"`, "noCurrency": `{"amount":5.00,"displayAmount":"$5.00"}`}[form]
			if agreed == "" {
				agreed = `{"currency":"AUD","amount":5.00,"displayAmount":"$5.00"}`
			}
			assert.Equal(c.t, agreed, terms["paymentAmount"])
			assert.Equal(c.t, "null", terms["firstPaymentAmount"])
		}, visa())
	}
}

// otherThan is a difference from the default, or none.
func otherThan(name, value, usual string) string {
	if value == usual {
		return ""
	}
	return " " + name + "=" + value
}

func TestFollowUpAmounts(t *testing.T) {
	for form, want := range map[string][2]string{"sent": {"5.00", "3.00"}, "newTotal": {"15.50", "12.50"}, "zero": {"0.00", "0.00"}} {
		inWorld(t, "UnknownMembers=none"+otherThan("FollowUpAmounts", form, "sent"), func(c *caller) {
			preauth := c.made(changed(cardPayment("O"), "transactionType", typePreauth))
			more := c.must(201, c.post("/transactions", changed(against(typePreauth, preauth, "5.00"), "authorisationType", topUp)))
			less := c.must(201, c.post("/transactions", changed(against(typeCancellation, preauth, "3.00"), "cancellationType", cancelPartial)))
			shown := func(body object) string { return body["principalAmount"].(object)["amount"].(json.Number).String() }
			assert.Equal(c.t, want, [2]string{shown(more), shown(less)})
			capture := c.must(201, c.post("/transactions", changed(against(typeCapture, preauth, "4.00"), "storedCredentialData", object{"entryMode": "MANUAL"})))
			assert.Equal(c.t, "4.00", shown(capture), "an amount that is moved is always its own")
		})
	}
}

func TestMembersWithoutValues(t *testing.T) {
	for world, want := range map[string][3]string{
		"":                           {"null", "null", "[]"},
		"OptionalMembers=absent":     {"", "null", "[]"},
		"OptionalMembers=empty":      {`""`, "null", "[]"},
		"InapplicableMembers=absent": {"null", "", "[]"},
		"EmptyLists=null":            {"null", "null", "null"},
		"EmptyLists=object":          {"null", "null", "{}"},
		"EmptyLists=absent":          {"null", "null", ""},
		"OptionalMembers=absent InapplicableMembers=absent EmptyLists=absent": {},
	} {
		inWorld(t, world+" UnknownEnumValues=false", func(c *caller) {
			m := asSent(c.t, c.post("/transactions", cardPayment("O")).raw)
			assert.Equal(c.t, want, [3]string{m["comment"], m["bankAccount"], m["links"]})
			assert.NotEmpty(c.t, m["creditCard"])
			terms := asSent(c.t, []byte(asSent(c.t, c.postAgreement(c.agreementRequest()).raw)["paymentTerms"]))
			assert.Equal(c.t, strings.ReplaceAll(want[0], `""`, "null"), terms["lastPaymentDue"], "a date is never an empty text")
			assert.Equal(c.t, "[]", asSent(c.t, c.get("/transactions").raw)["data"])
		})
	}
}

func TestMemberOrder(t *testing.T) {
	names := func(c *caller) (names []string) {
		dec := json.NewDecoder(bytes.NewReader(c.post("/customers", object{"customerNumber": "1", "customerName": "K"}).raw))
		for depth := 0; ; {
			token, err := dec.Token()
			if err != nil {
				return names
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			case "customerId", "customerNumber", "addedLater":
				if depth == 1 {
					names = append(names, token.(string))
				}
			}
		}
	}
	inWorld(t, "default", func(c *caller) { assert.Equal(c.t, []string{"customerId", "customerNumber", "addedLater"}, names(c)) })
	inWorld(t, "MemberOrder=reversed", func(c *caller) { assert.Equal(c.t, []string{"addedLater", "customerNumber", "customerId"}, names(c)) })
}

func TestUnknownMembers(t *testing.T) {
	for form, want := range map[string]string{
		"none": `{}`, "new": `{"addedLater":{"values":[null,1.5,"text"]}}`, "caseVariants": `{"addedLater":0,"AddedLater":1,"addedlater":2}`,
		"nested": `{"addedLater":{"receiptNumber":"1","status":"Declined","summaryCode":"1","principalAmount":{"amount":1},
			"addedLater":[{"receiptNumber":"1","status":"Declined","summaryCode":"1","principalAmount":{"amount":1}}]}}`,
	} {
		bubble(t, func(c *caller) {
			body := c.must(201, c.post("/transactions", referencedPayment()))
			for _, part := range []object{body, body["creditCard"].(object)} {
				got := object{}
				for name, value := range part {
					if strings.EqualFold(name, "addedLater") {
						got[name] = value
					}
				}
				raw, err := json.Marshal(got)
				require.NoError(c.t, err)
				assert.JSONEq(c.t, want, string(raw), form)
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
	inWorld(t, "Metadata=refused", func(c *caller) {
		assert.Equal(c.t, map[string]string{"metadata": "is not taken by this facility"}, c.refused(referencedPayment()))
		c.pay("O")
	})
}
