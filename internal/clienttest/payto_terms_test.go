package clienttest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// currentJSON is an agreement with every term, members that nobody knows, and an
// amount in each way of not being there.
const currentJSON = `{
	"agreementToken": "A-1", "status": "ACTIVE", "payeeReference": "REF-1", "addedLater": 1,
	"paymentDetails": {
		"purpose": "UTIL", "description": "Power", "startDate": "2026-07-01", "endDate": "2027-07-01T00:00:00", "automaticRenewal": false,
		"additionalInformation": "Meter 1", "tariff": {"code": "T1"}
	},
	"paymentTerms": {
		"frequency": "MNTH", "numberOfPaymentsPermitted": 12, "pointInTime": 15, "agreementType": "VARI",
		"firstPaymentAmount": {"currency": "AUD", "amount": 10, "displayAmount": "$10.00", "inside": true},
		"lastPaymentAmount": {"currency": "AUD", "amount": null}, "paymentAmount": null,
		"maximumPaymentAmount": {"currency": "AUD", "amount": 100.500}, "firstPaymentDue": "2026-07-15", "lastPaymentDue": null,
		"graceDays": 3
	},
	"payeeDetails": {"supplierBusinessCode": "SHOP", "payeeName": "The Shop"}
}`

func currentAgreement(t *testing.T) *quickstream.Agreement {
	t.Helper()
	agreement := new(quickstream.Agreement)
	require.NoError(t, json.Unmarshal([]byte(currentJSON), agreement))
	return agreement
}

// TestTermsKeepWhatStands: what is not edited is sent as it stands, members that
// the client does not model included, and nothing else is.
func TestTermsKeepWhatStands(t *testing.T) {
	send := func(edit func(*quickstream.BilateralTerms)) string {
		body, err := sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
			terms, err := currentAgreement(t).Terms()
			require.NoError(t, err)
			edit(terms)
			return c.PayTo.AmendBilaterally(t.Context(), terms, opts...)
		})
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		return body
	}
	assert.JSONEq(t, `{"updateType": "BILATERAL_AMENDMENT", "bilateralAmendment": {
		"paymentDetails": {"endDate": "2027-07-01", "automaticRenewal": false, "additionalInformation": "Meter 1", "tariff": {"code": "T1"}},
		"paymentTerms": {
			"frequency": "MNTH", "numberOfPaymentsPermitted": 12, "pointInTime": 15, "agreementType": "VARI", "currency": "AUD",
			"firstPaymentAmount": "10.00", "maximumPaymentAmount": "100.50", "firstPaymentDue": "2026-07-15", "graceDays": 3
		}
	}}`, send(func(*quickstream.BilateralTerms) {}))
	assert.JSONEq(t, `{"updateType": "BILATERAL_AMENDMENT", "bilateralAmendment": {
		"respondByTimeMinutes": 60,
		"paymentDetails": {"automaticRenewal": true, "tariff": {"code": "T1"}},
		"paymentTerms": {"frequency": "WEEK", "agreementType": "VARI", "currency": "AUD", "maximumPaymentAmount": "0.00", "graceDays": 3}
	}}`, send(func(terms *quickstream.BilateralTerms) {
		terms.RespondByTimeMinutes = new(int64(60))
		terms.AutomaticRenewal, terms.EndDate, terms.AdditionalInformation = true, quickstream.Date{}, ""
		terms.Frequency, terms.NumberOfPaymentsPermitted, terms.PointInTime = quickstream.AgreementFrequencyWeekly, nil, nil
		terms.FirstPaymentAmount, terms.MaximumPaymentAmount = nil, new(decimal.Decimal)
		terms.FirstPaymentDue = quickstream.Date{}
	}))
}

// TestPartialAgreement: a copy of a part of an agreement would remove the rest.
func TestPartialAgreement(t *testing.T) {
	for body, want := range map[string]struct{ details, terms []string }{
		`{}`: {[]string{"amendment.agreement.required"}, []string{"amendment.agreement.required"}},
		`{"agreementToken": "A-1", "status": "ACTIVE"}`: {
			[]string{"amendment.paymentDetails.required", "unilateralAmendment.supplierBusinessCode"},
			[]string{"amendment.paymentDetails.required", "amendment.paymentTerms.required"},
		},
		`{"agreementToken": "A-1", "paymentDetails": {}, "paymentTerms": null, "payeeDetails": {"payeeName": "The Shop"}}`: {
			[]string{"unilateralAmendment.supplierBusinessCode"}, []string{"amendment.paymentTerms.required"},
		},
	} {
		agreement := new(quickstream.Agreement)
		require.NoError(t, agreement.UnmarshalJSON([]byte(body)))
		details, err := agreement.Details()
		assert.Nil(t, details)
		assert.Equal(t, want.details, brokenRules(err), "%v", err)
		terms, err := agreement.Terms()
		assert.Nil(t, terms)
		assert.Equal(t, want.terms, brokenRules(err), "%v", err)
	}
	var none *quickstream.Agreement
	_, err := none.Terms()
	assert.Equal(t, []string{"amendment.agreement.required"}, brokenRules(err))
	_, err = none.Details()
	assert.Equal(t, []string{"amendment.agreement.required"}, brokenRules(err))
}

// TestTermsOfNoAgreement: terms and details that no agreement made are refused
// before anything is sent.
func TestTermsOfNoAgreement(t *testing.T) {
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.Method)
		return nil, io.EOF
	})
	for _, details := range []*quickstream.UnilateralDetails{nil, {Description: "Power"}} {
		assert.Equal(t, []string{"amendment.agreement.required"}, brokenRules(client.PayTo.AmendUnilaterally(t.Context(), details)))
	}
	for _, terms := range []*quickstream.BilateralTerms{nil, {AutomaticRenewal: true}} {
		assert.Equal(t, []string{"amendment.agreement.required"}, brokenRules(client.PayTo.AmendBilaterally(t.Context(), terms)))
	}
}

func brokenRules(err error) []string {
	invalid, ok := errors.AsType[*quickstream.ValidationError](err)
	if !ok {
		return nil
	}
	var rules []string
	for _, finding := range invalid.Findings {
		rules = append(rules, finding.Rule)
	}
	return rules
}

// TestPatchAnswers: a change of an agreement has succeeded when the service says
// so as it is known to, and is unknown with any other success.
func TestPatchAnswers(t *testing.T) {
	const page = "<html>Welcome</html>"
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{204, "", succeeds},
		{200, "", succeeds},
		{200, `{"agreementToken": "A-1", "status": "SUSPENDED"}`, succeeds},
		{200, `{"agreementToken": "A-2", "status": "SUSPENDED"}`, unknown},
		{200, `{"agreementToken": "A-1", "agreementToken": "A-1"}`, unknown},
		{200, `{}`, unknown},
		{200, `null`, unknown},
		{200, page, unknown},
		{201, `{"agreementToken": "A-1"}`, unknown},
		{202, "", unknown},
		{202, page, unknown},
		{206, "", unknown},
	} {
		client := clientOf(t, says(c.status, c.body))
		terms, err := currentAgreement(t).Terms()
		require.NoError(t, err)
		for _, err := range []error{
			client.PayTo.Suspend(t.Context(), "A-1", quickstream.AgreementReason{Code: quickstream.AgreementReasonInitiatingParty}),
			client.PayTo.AmendBilaterally(t.Context(), terms),
			client.PayTo.RecallAmendment(t.Context(), "A-1"),
		} {
			assert.Equal(t, c.want, ending(err), "%d %s: %v", c.status, c.body, err)
			if err != nil {
				assert.NotContains(t, err.Error(), "A-", "the error shows a token")
			}
		}
	}
}
