package sandbox

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReasonCodes(t *testing.T) {
	all := []string{"ACTIVE", "SUSPENDED", "CANCELLED"}
	usable := map[string][]string{
		"AC04": {"SUSPENDED", "CANCELLED"}, "MD17": all, "MD20": {"SUSPENDED", "CANCELLED"}, "CTAM": all,
		"CTCA": {"SUSPENDED", "CANCELLED"}, "CTEX": {"SUSPENDED", "CANCELLED"},
		"MCFC": {"SUSPENDED"}, "MCOC": {"SUSPENDED"}, "MSUC": {"SUSPENDED"}, "NOAS": all, "AC05": nil, "": {"ACTIVE"},
	}
	bubble(t, func(c *caller) {
		for code, fits := range usable {
			for _, to := range all {
				from := agreementActive
				if to == "ACTIVE" {
					from = agreementSuspended
				}
				token := c.reach(from)
				r := c.patch(token, statusRequest(to, code))
				if strings.Contains(strings.Join(fits, " "), to) {
					assert.Equal(t, http.StatusNoContent, r.status, code+" "+to)
					assert.Equal(t, to, c.agreementState(token))
				} else {
					assert.Contains(t, c.findings(r), "statusAmendment.reasonCode", code+" "+to)
					assert.Equal(t, string(from), c.agreementState(token))
				}
			}
		}
	})
}

// These are the rules about the state of the agreement.
func TestAmendmentRules(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.reach(agreementActive)
		for _, tt := range []struct {
			body  object
			field string
		}{
			{recallRequest(), "status"},
			{statusRequest("ACTIVE", ""), "statusAmendment.statusCode"},
			{with(unilateralRequest(), "unilateralAmendment", "supplierBusinessCode", strings.ToLower(DefaultBusiness)), "unilateralAmendment.supplierBusinessCode"},
			{recallAmendmentRequest(), "updateType"},
		} {
			assert.Contains(t, c.findings(c.patch(token, tt.body)), tt.field, tt.body)
		}
		assert.Equal(t, "ACTIVE", c.agreementState(token))
		c.must(http.StatusBadRequest, c.patch(token, "[]"))
		c.must(http.StatusUnsupportedMediaType, c.do("PATCH", "/payto-agreements/"+token, c.keys.Secret, "{}", "Content-Type", "text/plain"))
	})
}

func TestUnilateralAmendmentReplacesAndRemoves(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.reach(agreementActive)
		before := c.readAgreement(token)
		require.Equal(t, http.StatusNoContent, c.patch(token, unilateralRequest()).status)
		after := c.readAgreement(token)
		assert.Equal(t, []any{"Gas", "ARRANGEMENT-2"}, []any{after["paymentDetails"].(object)["description"], after["payeeReference"]})
		before["paymentDetails"].(object)["description"], before["payeeReference"] = "Gas", "ARRANGEMENT-2"
		assert.Equal(t, before, after, "nothing else")

		require.Equal(t, http.StatusNoContent, c.patch(token, with(unilateralRequest(), "unilateralAmendment", "payeeReference", nil)).status)
		assert.Nil(t, c.readAgreement(token)["payeeReference"])
	})
}

func TestBilateralAmendmentWaitsForThePayer(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		token := c.reach(agreementActive)
		before := c.readAgreement(token)
		require.Equal(t, http.StatusNoContent, c.patch(token, bilateralRequest()).status)
		pending := c.readAgreement(token)
		assert.Equal(t, true, pending["hasPendingBilateralAmendment"])
		assert.Equal(t, changed(before, "hasPendingBilateralAmendment", true), pending, "nothing has changed yet")
		assert.Contains(t, c.findings(c.patch(token, bilateralRequest())), "bilateralAmendment")

		require.NoError(t, c.box.Payer(token, AcceptAmendment))
		after := c.readAgreement(token)
		assert.Equal(t, false, after["hasPendingBilateralAmendment"])
		terms := after["paymentTerms"].(object)
		assert.Equal(t, []any{"WEEK", "FIXE", nil, nil}, []any{terms["frequency"], terms["agreementType"], terms["pointInTime"], terms["maximumPaymentAmount"]},
			"what was left out is gone")
		assert.Nil(t, after["paymentDetails"].(object)["additionalInformation"])
		assert.Equal(t, "UTIL", after["paymentDetails"].(object)["purpose"])
		assert.Equal(t, before["respondByTime"], after["respondByTime"])
		require.Error(t, c.box.Payer(token, AcceptAmendment))
		assert.Equal(t, []string{"payto.agreement.confirmed", "payto.agreement.added_later"}, hook.events())
	})
}

func TestBilateralAmendmentEnds(t *testing.T) {
	bubble(t, func(c *caller) {
		request := with(bilateralRequest(), "bilateralAmendment", "respondByTimeMinutes", 60)
		for name, end := range map[string]func(token string){
			"refused": func(token string) { require.NoError(t, c.box.Payer(token, RefuseAmendment)) },
			"recalled": func(token string) {
				require.Equal(t, http.StatusNoContent, c.patch(token, recallAmendmentRequest()).status)
			},
			"recalled by the service": func(string) { c.pass(time.Hour) },
		} {
			for _, from := range []agreementStatus{agreementActive, agreementSuspended} {
				token := c.reach(from)
				require.Equal(t, http.StatusNoContent, c.patch(token, request).status)
				end(token)
				after := c.readAgreement(token)
				assert.Equal(t, []any{string(from), false, "MNTH"},
					[]any{after["status"], after["hasPendingBilateralAmendment"], after["paymentTerms"].(object)["frequency"]}, name)
				assert.Contains(t, c.findings(c.patch(token, recallAmendmentRequest())), "updateType", name)
				require.Equal(t, http.StatusNoContent, c.patch(token, request).status, "another may follow")
			}
		}
		token := c.reach(agreementActive)
		require.Equal(t, http.StatusNoContent, c.patch(token, request).status)
		c.pass(time.Hour - time.Nanosecond)
		require.NoError(t, c.box.Payer(token, AcceptAmendment), "in time")

		cancelled := c.reach(agreementActive)
		require.Equal(t, http.StatusNoContent, c.patch(cancelled, request).status)
		require.Equal(t, http.StatusNoContent, c.patch(cancelled, statusRequest("CANCELLED", "MD17")).status)
		assert.Equal(t, false, c.readAgreement(cancelled)["hasPendingBilateralAmendment"])
		require.Error(t, c.box.Payer(cancelled, AcceptAmendment))
	})
}

// An amendment that replaced another has a time limit of its own.
func TestLaterAmendmentReplacesTheFirst(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.reach(agreementActive)
		first := with(bilateralRequest(), "bilateralAmendment", "respondByTimeMinutes", 1)
		second := with(bilateralRequest(), "bilateralAmendment", "respondByTimeMinutes", 60, "paymentDetails",
			object{"automaticRenewal": false, "endDate": "2000-06-30"})
		require.Equal(t, http.StatusNoContent, c.patch(token, first).status)
		require.Equal(t, http.StatusNoContent, c.patch(token, second).status)
		c.pass(2 * time.Minute)
		require.NoError(t, c.box.Payer(token, AcceptAmendment))
		assert.Equal(t, "2000-06-30", c.readAgreement(token)["paymentDetails"].(object)["endDate"])
	}, assuming(func(a *Assumptions) { a.OneAmendmentAtATime = false }))
}

func TestSameStatusAccepted(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		token := c.reach(agreementSuspended)
		assert.Equal(t, http.StatusNoContent, c.patch(token, statusRequest("SUSPENDED", "MCFC")).status)
		assert.ElementsMatch(t, []string{"payto.agreement.confirmed", "payto.agreement.added_later"}, hook.events(), "no event without a change")
	}, assuming(func(a *Assumptions) { a.SameStatusRefused = false }))
}
