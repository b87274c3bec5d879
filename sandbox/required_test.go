package sandbox

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whether a service asks for what the contract does not call required is an assumption.
func TestCodesOfAgreements(t *testing.T) {
	codes := [][2]string{
		{"paymentDetails", "purpose"},
		{"paymentTerms", "frequency"},
		{"paymentTerms", "agreementType"},
		{"payerDetails", "payerType"},
	}
	for world, required := range map[string]bool{"AgreementCodesRequired=true": true, "default": false} {
		inWorld(t, world, func(c *caller) {
			none := c.agreementRequest()
			for _, at := range codes {
				none = with(none, at[0], at[1], nil)
				if r := c.postAgreement(with(c.agreementRequest(), at[0], at[1], nil)); required {
					assert.Equal(c.t, map[string]string{at[0] + "." + at[1]: "is required"}, c.findings(r))
				} else {
					c.must(http.StatusCreated, r)
				}
			}
			bare := onceOff(accountPayer("650000"))
			inner := bare["payToData"].(object)["payToAgreement"].(object)
			bare = with(bare, "payToData", "payToAgreement", changed(inner, "paymentDetails", object{"description": "d"}))
			if required {
				assert.Len(c.t, c.findings(c.postAgreement(none)), len(codes))
				assert.Contains(c.t, c.findings(c.post("/transactions", bare)), "payToData.payToAgreement.paymentDetails.purpose")
				return
			}
			c.must(http.StatusCreated, c.postAgreement(none))
			c.must(http.StatusCreated, c.post("/transactions", bare))
			odd := with(c.agreementRequest(), "paymentTerms", "frequency", nil, "pointInTime", 100)
			assert.Contains(c.t, c.findings(c.postAgreement(odd)), "paymentTerms.pointInTime", "two digits at most")
		})
	}
}

func TestOptionalPartsOfAgreements(t *testing.T) {
	for world, required := range map[string]bool{"PayerRouteRequired=true": true, "AdhocNumberRequired=false": false} {
		inWorld(t, world, func(c *caller) {
			good := c.agreementRequest()
			for field, body := range map[string]object{
				"payerDetails.bsb":                       with(good, "payerDetails", "bsb", nil, "accountNumber", nil),
				"paymentTerms.numberOfPaymentsPermitted": with(good, "paymentTerms", "frequency", "ADHO", "pointInTime", nil),
			} {
				if r := c.postAgreement(body); required {
					assert.Contains(c.t, c.findings(r), field)
				} else {
					c.must(http.StatusCreated, r)
				}
			}
			c.must(http.StatusCreated, c.postAgreement(with(good, "paymentTerms", "currency", nil)))
			c.must(http.StatusCreated, c.postAgreement(with(good, "paymentDetails", "automaticRenewal", nil, "endDate", "2000-12-31")))
			neither := with(good, "paymentDetails", "automaticRenewal", nil)
			assert.Contains(c.t, c.findings(c.postAgreement(neither)), "paymentDetails.automaticRenewal")
		})
	}
}

// A bilateral amendment with one part leaves the other part as it is.
func TestBilateralAmendmentOfOnePart(t *testing.T) {
	bubble(t, func(c *caller) {
		for part, want := range map[string][]any{
			"paymentDetails": {"2000-12-31", false, "MNTH", "VARI"},
			"paymentTerms":   {nil, true, "WEEK", "FIXE"},
		} {
			token := c.reach(agreementActive)
			both := with(bilateralRequest(), "bilateralAmendment", "paymentDetails", object{"endDate": "2000-12-31"})
			inner := both["bilateralAmendment"].(object)
			require.Equal(t, http.StatusNoContent, c.patch(token, changed(both, "bilateralAmendment", object{part: inner[part]})).status, part)
			require.NoError(t, c.box.Payer(token, AcceptAmendment))
			after := c.readAgreement(token)
			details, terms := after["paymentDetails"].(object), after["paymentTerms"].(object)
			assert.Equal(t, want, []any{details["endDate"], details["automaticRenewal"], terms["frequency"], terms["agreementType"]}, part)
		}
		none := changed(bilateralRequest(), "bilateralAmendment", object{"respondByTimeMinutes": 60})
		assert.Equal(t, map[string]string{"bilateralAmendment.paymentDetails": "paymentDetails or paymentTerms is required"},
			c.findings(c.patch(c.reach(agreementActive), none)))
	})
}

// The contract asks for the address of a token's payer, and forbids it for an order by mail.
func TestAddressesOfPayers(t *testing.T) {
	for world, want := range map[string][2]int{ // of a token without an address, and with one
		"default": {201, 201}, "PayerAddress=always": {422, 201}, "PayerAddress=only": {201, 422},
	} {
		inWorld(t, world, func(c *caller) {
			for _, eci := range []string{"MAIL", "RECURRING"} {
				for i, address := range []any{nil, payerIP} {
					body := changed(payment("O"), "singleUseTokenId", c.token(cardToken(goodCard)), "eci", eci, "ipAddress", address)
					r := c.post("/transactions", body)
					assert.Equal(c.t, want[i], r.status, "%s %v", eci, address)
					if r.status == http.StatusUnprocessableEntity {
						assert.Contains(c.t, c.findings(r), "ipAddress")
					}
				}
			}
			c.must(http.StatusCreated, c.post("/transactions", changed(cardPayment("O"), "eci", "MAIL", "ipAddress", nil)))
			c.must(want[1], c.post("/transactions", changed(cardPayment("O"), "eci", "MAIL")))
			c.must(http.StatusCreated, c.post("/transactions", cardPayment("O")))
			c.must(http.StatusCreated, c.post("/transactions", changed(bankPayment("O", "032-999"), "ipAddress", payerIP)))
		})
	}
}

// Members that belong to another kind of request are unknown ones: a service may ignore them.
func TestForeignMembers(t *testing.T) {
	for world, status := range map[string]int{"default": 422, "RefuseUnknownMembers=false": 201} {
		inWorld(t, world, func(c *caller) {
			token := changed(cardToken(goodCard), "bsb", "032-999", "nzBankCode", "12")
			if status == 201 {
				c.token(token)
			} else {
				assert.Len(c.t, c.findings(c.do("POST", "/single-use-tokens", c.keys.Publishable, token)), 2)
			}
			assert.Contains(c.t, c.findings(c.do("POST", "/single-use-tokens", c.keys.Publishable, changed(bankToken(), "cvn", "123"))), "cvn")
			held := c.made(preauth("O", goodCard))
			c.must(status, c.post("/transactions", changed(preauth("O", goodCard), "debtRepayment", true, "cancellationType", "FULL")))
			c.must(status, c.post("/transactions", changed(change(topUp, held, "1.00"), "storedCredentialData", object{"entryMode": "MANUAL"})))
			assert.Contains(c.t, c.findings(c.post("/transactions", changed(captureOf(held, "2.00"), "eci", "MAIL"))), "eci")
			c.must(status, c.post("/transactions", changed(captureOf(held, "2.00"), "mpgsData", object{}, "accountToken", "A")))
		})
	}
}

// Other forms and times that the contract does not forbid.
func TestWhatIsNotForbidden(t *testing.T) {
	inWorld(t, "default", func(c *caller) {
		c.box.NextTransaction(Declined("51"))
		declined := c.made(cardPayment("O"))
		c.keep(c.customerNumbered("1"), object{"receiptNumber": declined})
		c.get("/transactions/csv?settlementDate=2000-01-01")
		c.pass(time.Hour)
		r := c.get("/transactions/csv?settlementDate=2000-01-01")
		assert.Equal(c.t, 200, r.status)
		assert.Contains(c.t, string(r.raw), "Supplier Business Code", "without a version, the latest")
	})
	for world, status := range map[string]int{"TwoDecimalStrings=true": 422, "default": 200} {
		inWorld(t, world, func(c *caller) {
			token := c.token(changed(cardToken(goodCard), "threeDS2", true, "browserProfile", browser()))
			c.must(status, c.post("/single-use-tokens/"+token+"/three-ds2-authentication", object{
				"messageCategory": "01", "threeDSRequestorAuthenticationInd": "01", "principalAmount": "10.5", "currency": "AUD", "billAddrCity": "Perth",
			}))
		})
	}
}
