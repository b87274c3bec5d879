package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// reach makes an agreement that has a status.
func (c *caller) reach(status agreementStatus) string {
	c.t.Helper()
	var token string
	switch status {
	case agreementPending:
		token = c.newAgreement(c.agreementRequest())
	case agreementActive:
		token = c.activeAgreement(c.agreementRequest())
	case agreementSuspended:
		token = c.activeAgreement(c.agreementRequest())
		require.Equal(c.t, http.StatusNoContent, c.patch(token, statusRequest("SUSPENDED", "MD17")).status)
	case agreementCancelled:
		token = c.newAgreement(c.agreementRequest())
		require.NoError(c.t, c.box.Payer(token, DeclineAgreement))
	case agreementCreated:
		token = c.newAgreement(changed(c.agreementRequest(), "payerDetails", accountPayer("032006")))
	case agreementRejected:
		token = c.newAgreement(changed(c.agreementRequest(), "payerDetails", accountPayer("032003")))
		c.pass(payerAnswersAfter)
	}
	require.Equal(c.t, string(status), c.agreementState(token))
	return token
}

// The whole table: what each trigger does in each status.
func TestAgreementTransitions(t *testing.T) {
	const refused = "-"
	statuses := []agreementStatus{agreementCreated, agreementRejected, agreementPending, agreementActive, agreementSuspended, agreementCancelled}
	patch := func(body object) func(*caller, string) error {
		return func(c *caller, token string) error {
			r := c.patch(token, body)
			if r.status == http.StatusNoContent {
				assert.Empty(c.t, r.raw)
				return nil
			}
			return fmt.Errorf("%v", c.findings(r))
		}
	}
	payer := func(action PayerAction) func(*caller, string) error {
		return func(c *caller, token string) error { return c.box.Payer(token, action) }
	}
	for name, tt := range map[string]struct {
		do   func(*caller, string) error
		want string // by status, in the order above
	}{
		"confirm":                               {payer(ConfirmAgreement), "- - ACTIVE - - -"},
		"decline":                               {payer(DeclineAgreement), "- - CANCELLED - - -"},
		"let expire":                            {payer(ExpireAgreement), "CANCELLED - CANCELLED - - -"},
		"payer suspends":                        {payer(SuspendAgreement), "- - - SUSPENDED - -"},
		"payer reactivates":                     {payer(ReactivateAgreement), "- - - - ACTIVE -"},
		"payer cancels":                         {payer(CancelAgreement), "- - - CANCELLED CANCELLED -"},
		"recall":                                {patch(recallRequest()), "- - CANCELLED - - -"},
		"suspend":                               {patch(statusRequest("SUSPENDED", "MD17")), "- - - SUSPENDED SUSPENDED -"},
		"reactivate":                            {patch(statusRequest("ACTIVE", "")), "- - - ACTIVE ACTIVE -"},
		"cancel":                                {patch(statusRequest("CANCELLED", "MD17")), "- - - CANCELLED CANCELLED -"},
		"amend unilaterally":                    {patch(unilateralRequest()), "- - - ACTIVE SUSPENDED -"},
		"amend bilaterally":                     {patch(bilateralRequest()), "- - - ACTIVE SUSPENDED -"},
		"recall an amendment that is not there": {patch(recallAmendmentRequest()), "- - - - - -"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(c *caller) {
				for i, from := range statuses {
					token := c.reach(from)
					err := tt.do(c, token)
					if want := strings.Fields(tt.want)[i]; want == refused {
						require.Error(t, err, from)
						assert.Equal(t, string(from), c.agreementState(token))
					} else {
						require.NoError(t, err, from)
						assert.Equal(t, want, c.agreementState(token), from)
					}
				}
			})
		})
	}
}

func TestAgreementExpiresByItself(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		token := c.newAgreement(c.agreementRequest())
		c.pass(5*24*time.Hour - time.Nanosecond)
		assert.Equal(t, "PENDING", c.agreementState(token))
		c.pass(time.Nanosecond)
		assert.Equal(t, "CANCELLED", c.agreementState(token))
		require.Error(t, c.box.Payer(token, ConfirmAgreement))
		got := hook.all()
		require.Len(t, got, 1)
		assert.Equal(t, []any{"payto.agreement.expired", token, "CANCELLED"}, []any{got[0].event, got[0].data["agreementToken"], got[0].data["status"]})

		late := c.newAgreement(changed(c.agreementRequest(), "respondByTimeMinutes", 10, "payerDetails", accountPayer("032006")))
		c.pass(10 * time.Minute)
		assert.Equal(t, "CANCELLED", c.agreementState(late), "the time runs from the creation")
		c.pass(time.Hour)
		assert.Equal(t, "CANCELLED", c.agreementState(late))
	})
}

func TestPayersOfTestNumbers(t *testing.T) {
	for bsb, tt := range map[string]struct {
		answered string // the status in the answer
		before   string // and just before the end
		after    time.Duration
		becomes  string
		events   []string
	}{
		"032001": {"PENDING", "PENDING", time.Second, "CANCELLED", []string{"payto.agreement.declined"}},
		"032002": {"PENDING", "PENDING", 5 * 24 * time.Hour, "CANCELLED", []string{"payto.agreement.expired"}},
		"032003": {"CREATED", "CREATED", time.Second, "REJECTED", []string{"payto.agreement.added_later"}},
		"032004": {"CREATED", "PENDING", 61 * time.Second, "ACTIVE", []string{"payto.agreement.confirmed"}},
		"032005": {"PENDING", "PENDING", time.Second, "CANCELLED", []string{"payto.agreement.expired"}},
		"032006": {"CREATED", "CREATED", 30 * time.Minute, "PENDING", nil},
		"032007": {"PENDING", "PENDING", time.Second, "ACTIVE", []string{"payto.agreement.confirmed"}},
		"650000": {"PENDING", "PENDING", 4 * 24 * time.Hour, "PENDING", nil},
	} {
		t.Run(bsb, func(t *testing.T) {
			bubble(t, func(c *caller) {
				hook := c.subscribe()
				body := c.must(http.StatusCreated, c.postAgreement(changed(c.agreementRequest(), "payerDetails", accountPayer(bsb))))
				token := body["agreementToken"].(string)
				assert.Equal(t, tt.answered, body["status"])
				c.pass(tt.after - time.Millisecond)
				assert.Equal(t, tt.before, c.agreementState(token), "too early")
				c.pass(time.Millisecond)
				now := c.readAgreement(token)
				assert.Equal(t, tt.becomes, now["status"])
				assert.Equal(t, tt.becomes == "REJECTED", now["rejectionReason"] != nil)
				assert.Equal(t, tt.events, hook.events())
			})
		})
	}
}

func TestAutoConfirm(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.newAgreement(c.agreementRequest())
		declined := c.newAgreement(changed(c.agreementRequest(), "payerDetails", accountPayer("032001")))
		delayed := c.newAgreement(changed(c.agreementRequest(), "payerDetails", accountPayer("032006")))
		assert.Equal(t, "PENDING", c.agreementState(token))
		c.pass(time.Second)
		assert.Equal(t, []string{"ACTIVE", "CANCELLED", "CREATED"}, []string{c.agreementState(token), c.agreementState(declined), c.agreementState(delayed)})
		c.pass(31 * time.Minute)
		assert.Equal(t, "ACTIVE", c.agreementState(delayed))

		require.Equal(t, http.StatusNoContent, c.patch(token, bilateralRequest()).status)
		c.pass(time.Second)
		assert.Equal(t, "WEEK", c.readAgreement(token)["paymentTerms"].(object)["frequency"])
	}, assuming(func(a *Assumptions) { a.AutoConfirm = true }))
}

func TestConfirmingPayID(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		body := c.must(http.StatusCreated, c.postAgreement(changed(c.agreementRequest(), "payerDetails", payIDPayer("EMAL", ConfirmingPayID))))
		assert.Equal(t, "PENDING", body["status"], "as the contract has it")
		assert.Equal(t, "ACTIVE", c.agreementState(body["agreementToken"].(string)))
		assert.Equal(t, []string{"payto.agreement.confirmed"}, hook.events())
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
