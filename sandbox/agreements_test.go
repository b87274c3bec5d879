package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAgreementModel(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(http.StatusCreated, c.postAgreement(changed(c.agreementRequest(), "respondByTimeMinutes", 60)))
		token := body["agreementToken"].(string)
		assert.Len(t, token, c.box.assume.HandleLength)
		assert.Equal(t, body, c.readAgreement(token))
		delete(body, "agreementToken")
		amount := func(number, display string) object {
			return object{"currency": "AUD", "amount": json.Number(number), "displayAmount": display}
		}
		assert.Equal(t, object{
			"links":  []any{object{"rel": "ADDED_LATER", "href": c.base, "requestMethod": "GET"}},
			"status": "PENDING", "priority": "UNAT", "respondByTime": "2000-01-01T12:00:00+1100", "payeeReference": "ARRANGEMENT-1",
			"hasPendingBilateralAmendment": false, "rejectionReason": nil,
			"paymentDetails": object{
				"purpose": "UTIL", "description": "Electricity", "startDate": "2000-01-01", "endDate": nil, "automaticRenewal": true,
				"additionalInformation": "Meter 7",
			},
			"paymentTerms": object{
				"frequency": "MNTH", "numberOfPaymentsPermitted": nil, "pointInTime": json.Number("15"), "agreementType": "VARI",
				"firstPaymentAmount": nil, "lastPaymentAmount": nil, "firstPaymentDue": nil, "lastPaymentDue": nil,
				"paymentAmount": amount("5.00", "$5.00"), "maximumPaymentAmount": amount("100.00", "$100.00"),
			},
			"payerDetails": object{
				"customerId": c.payerCustomer(), "payerType": "PERS", "payerId": "PAYER-1", "payerName": "Kim Lee", "ultimatePayerName": "Kim Lee",
				"paymentReference": "KL", "maskedAccountNumber": "xxx-000 xxxxxx541", "payIdType": nil, "maskedPayId": nil,
			},
			"payeeDetails": object{
				"supplierBusinessCode": DefaultBusiness, "payeeName": "Sandbox Trading Company", "ultimatePayeeName": "Sandbox Trading Company",
				"payeeAbn": "00000000000", "maskedAccountNumber": "xxx-000 xxxxxx001",
				"initiatorName": "Sandbox Community", "initiatorLegalName": "Sandbox Community", "initiatorAbn": "00000000000",
			},
		}, without(body))
		c.checkRecords()
	})
}

func TestAgreementOptionalMembers(t *testing.T) {
	bubble(t, func(c *caller) {
		request := with(c.agreementRequest(), "paymentDetails", "automaticRenewal", false, "endDate", "2000-12-31", "additionalInformation", nil)
		request = changed(request, "payeeReference", nil,
			"paymentTerms", object{
				"frequency": "ADHO", "numberOfPaymentsPermitted": json.Number("999999999999999999"), "agreementType": "BALN", "currency": "AUD",
				"firstPaymentAmount": "1.00", "lastPaymentAmount": "1000.00", "paymentAmount": "0.00",
				"firstPaymentDue": "2000-02-01", "lastPaymentDue": "2000-02-01",
			},
			"payerDetails", changed(payIDPayer("EMAL", payerPayID), "payerType", "ORGN", "ultimatePayerName", "Lee Group"))
		body := c.must(http.StatusCreated, c.postAgreement(request))
		details, terms, payer := body["paymentDetails"].(object), body["paymentTerms"].(object), body["payerDetails"].(object)
		assert.Equal(t, []any{"2000-12-31", false, nil}, []any{details["endDate"], details["automaticRenewal"], details["additionalInformation"]})
		assert.Equal(t, json.Number("999999999999999999"), terms["numberOfPaymentsPermitted"])
		assert.Equal(t, json.Number("0.00"), terms["paymentAmount"].(object)["amount"])
		assert.Equal(t, "$1,000.00", terms["lastPaymentAmount"].(object)["displayAmount"])
		assert.Equal(t, []any{"2000-02-01", "2000-02-01"}, []any{terms["firstPaymentDue"], terms["lastPaymentDue"]})
		assert.Equal(t, []any{"ORGN", "Lee Group", "EMAL", "xxxxxxorg", nil},
			[]any{payer["payerType"], payer["ultimatePayerName"], payer["payIdType"], payer["maskedPayId"], payer["maskedAccountNumber"]})
		assert.Nil(t, body["payeeReference"])
		assert.Equal(t, "2000-01-06T11:00:00+1100", body["respondByTime"], "five days")
		c.checkRecords()
	})
}

// These are the rules about what the document of the service does not know.
func TestAgreementRules(t *testing.T) {
	bubble(t, func(c *caller) {
		good := c.agreementRequest()
		details := func(pairs ...any) object { return with(good, "paymentDetails", pairs...) }
		for _, tt := range []struct {
			body  object
			field string
		}{
			{changed(good, "supplierBusinessCode", "NOBODY"), "supplierBusinessCode"},
			{changed(good, "agreementCreationType", "MIGRATED_DDR"), "agreementCreationType"},
		} {
			findings := c.findings(c.postAgreement(tt.body))
			assert.Contains(t, findings, tt.field, tt.body)
		}
		assert.Empty(t, c.box.Agreements())
		for _, fine := range []object{
			details("startDate", "1999-12-31"), details("automaticRenewal", false, "endDate", "1999-12-31"),
			with(good, "paymentTerms", "firstPaymentDue", "2000-02-02", "lastPaymentDue", "2000-02-01"),
		} {
			c.must(http.StatusCreated, c.postAgreement(fine))
		}
		c.checkRecords()
	})
	bubble(t, func(c *caller) {
		late := with(c.agreementRequest(), "paymentDetails", "startDate", "1999-12-31")
		assert.Contains(t, c.findings(c.postAgreement(late)), "paymentDetails.startDate")
		both := with(c.agreementRequest(), "payerDetails", "payIdType", "EMAL", "payId", "someone@example.com")
		assert.Contains(t, c.findings(c.postAgreement(both)), "payerDetails.payIdType")
	}, assuming(func(a *Assumptions) { a.PastStartRefused, a.OnePayerRoute = true, true }))
}

func TestPointInTimeRanges(t *testing.T) {
	bubble(t, func(c *caller) {
		for frequency, most := range map[string]int{"DAIL": 24, "WEEK": 7, "FRTN": 14, "MNTH": 31, "QURT": 3, "MIAN": 6, "YEAR": 12} {
			for point, fits := range map[int]bool{-1: false, 0: false, 1: true, most: true, most + 1: false, 100: false} {
				body := with(c.agreementRequest(), "paymentTerms", "frequency", frequency, "pointInTime", point)
				if r := c.postAgreement(body); fits {
					c.must(http.StatusCreated, r)
				} else {
					assert.Contains(t, c.findings(r), "paymentTerms.pointInTime", fmt.Sprint(frequency, point))
				}
			}
		}
	})
}

func TestAgreementLeniences(t *testing.T) {
	bubble(t, func(c *caller) {
		request := with(c.agreementRequest(), "paymentTerms", "paymentAmount", "5", "maximumPaymentAmount", "10.5")
		request = with(request, "paymentDetails", "startDate", "1999-12-31")
		request = with(request, "payerDetails", "payIdType", "TELI", "payId", "+61-412345678")
		c.must(http.StatusCreated, c.postAgreement(request))
	})
}

func TestPayIDs(t *testing.T) {
	bubble(t, func(c *caller) {
		try := func(kind, id string) response {
			return c.postAgreement(changed(c.agreementRequest(), "payerDetails", payIDPayer(kind, id)))
		}
		for kind, ids := range map[string][2][]string{
			"EMAL": {{payerPayID, "a@b.co"}, {"kim", InvalidPayID, "INVALIDPAYID@example.com", "test_error1@example.com"}},
			"TELI": {{"+61-412345678", "+61412345678", "0412345678"}, {"412345678", "+61 412 345 678"}},
			"AUBN": {{"123456789", "12345678901"}, {"1234567890", "12 345 678 901"}},
			"ORGN": {{"a-company", strings.Repeat("o", 256)}, {strings.Repeat("o", 257)}},
		} {
			for _, id := range ids[0] {
				body := c.must(http.StatusCreated, try(kind, id))
				assert.NotContains(t, body["payerDetails"].(object)["maskedPayId"], id)
			}
			for _, id := range ids[1] {
				r := try(kind, id)
				assert.Contains(t, c.findings(r), "payerDetails.payId", id)
				assert.NotContains(t, string(r.raw), `"`+id+`"`)
			}
		}
	}, assuming(func(a *Assumptions) { a.InvalidPayIDLimit = 0 }))
}

func TestDailyLimitOfInvalidPayIDs(t *testing.T) {
	bubble(t, func(c *caller) {
		good := changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", payerPayID))
		bad := changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", InvalidPayID))
		for range 3 {
			c.must(http.StatusCreated, c.postAgreement(good))
			assert.Contains(t, c.findings(c.postAgreement(bad))["payerDetails.payId"], "not a registered PayID")
		}
		assert.Contains(t, c.findings(c.postAgreement(good))["payerDetails.payId"], "daily limit")
		c.must(http.StatusCreated, c.postAgreement(c.agreementRequest())) // accounts are not affected

		c.pass(13*time.Hour - time.Second) // 23:59:59 in Sydney
		assert.Contains(t, c.findings(c.postAgreement(good))["payerDetails.payId"], "daily limit")
		c.pass(time.Second)
		c.must(http.StatusCreated, c.postAgreement(changed(good, "paymentDetails", changed(good["paymentDetails"].(object), "startDate", "2000-01-02"))))
	}, assuming(func(a *Assumptions) { a.InvalidPayIDLimit = 3 }))
}

func TestUnknownCustomersAndAgreements(t *testing.T) {
	bubble(t, func(c *caller) {
		c.must(http.StatusNotFound, c.post("/customers/999999999/payto-agreements", c.agreementRequest()))
		c.must(http.StatusNotFound, c.get("/customers/999999999/payto-agreements"))
		c.must(http.StatusNotFound, c.get("/payto-agreements/NOBODY"))
		c.must(http.StatusNotFound, c.patch("NOBODY", recallRequest()))
		c.must(http.StatusMethodNotAllowed, c.do("DELETE", "/payto-agreements/NOBODY", c.keys.Secret, nil))
	})
}

func TestAgreementsAreInvisibleForAWhile(t *testing.T) {
	bubble(t, func(c *caller) {
		token, path := c.newAgreement(c.agreementRequest()), "/customers/"+c.payerCustomer()+"/payto-agreements"
		c.must(http.StatusNotFound, c.get("/payto-agreements/"+token))
		assert.Empty(t, c.must(http.StatusOK, c.get(path))["data"])
		assert.Equal(t, http.StatusNoContent, c.patch(token, recallRequest()).status, "not finding it does not mean that it is not there")
		c.pass(2 * time.Second)
		assert.Equal(t, "CANCELLED", c.must(http.StatusOK, c.get("/payto-agreements/"+token))["status"])
		assert.Len(t, c.must(http.StatusOK, c.get(path))["data"], 1)
	})
}

func TestListAgreements(t *testing.T) {
	const other = "SECOND"
	bubble(t, func(c *caller) {
		var tokens []string
		for i := range 5 {
			request := changed(c.agreementRequest(), "payeeReference", fmt.Sprint(i))
			if i == 1 {
				request["supplierBusinessCode"] = other
			}
			tokens = append(tokens, c.newAgreement(request))
		}
		require.NoError(t, c.box.Payer(tokens[3], ConfirmAgreement))
		c.pass(2 * time.Second)
		references := func(path string) []string { return c.listed(path, "payeeReference") }
		path := "/customers/" + c.payerCustomer() + "/payto-agreements"
		assert.Equal(t, []string{"4", "3", "2", "1", "0"}, references(path))
		assert.Equal(t, []string{"1"}, references(path+"?supplierBusinessCode="+other))
		assert.Equal(t, []string{"3"}, references(path+"?status=ACTIVE"))
		assert.Equal(t, []string{"4", "2", "0"}, references(path+"?status=PENDING&supplierBusinessCode="+DefaultBusiness))
		assert.Empty(t, references(path+"?status=active"))
		assert.Empty(t, references(path+"?supplierBusinessCode=NOBODY"))
		another := c.must(http.StatusCreated, c.post("/customers", object{"customerNumber": "C2", "customerName": "Jo"}))["customerId"].(string)
		assert.Empty(t, references("/customers/"+another+"/payto-agreements"))
	}, WithBusiness(other, "Second Shop"))
}

func TestListAgreementsOnOnePage(t *testing.T) {
	bubble(t, func(c *caller) {
		for range 5 {
			c.newAgreement(c.agreementRequest())
		}
		c.pass(2 * time.Second)
		body := c.must(http.StatusOK, c.get("/customers/"+c.payerCustomer()+"/payto-agreements"))
		assert.Len(t, body["data"], 5)
		assert.Empty(t, linkOf(body, "next"))
	}, assuming(func(a *Assumptions) { a.AgreementsPaginated = false }))
}
