package quickstream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/wire"
)

const currentAgreement = `{
	"agreementToken": "A-1", "status": "SUSPENDED", "payeeReference": "REF-1", "hasPendingBilateralAmendment": false,
	"paymentDetails": {"description": "Power", "startDate": "2026-07-01", "endDate": "2027-07-01", "automaticRenewal": false, "newMember": 1},
	"paymentTerms": {
		"frequency": "MNTH", "pointInTime": 15, "agreementType": "VARI", "maximumPaymentAmount": {"currency": "AUD", "amount": 100.50},
		"firstPaymentDue": "2026-07-15", "newMember": 1
	},
	"payeeDetails": {"supplierBusinessCode": "SHOP"}
}`

// storedPatch reads a change again from what was sent.
func storedPatch(t *testing.T, sent any) patchJSON {
	t.Helper()
	body, err := wire.Marshal(sent)
	require.NoError(t, err)
	var patch patchJSON
	require.NoError(t, wire.Decode(body, &patch))
	return patch
}

func agreementFrom(t *testing.T, body string, replace ...string) *Agreement {
	t.Helper()
	var a Agreement
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(replace...).Replace(body)), &a))
	return &a
}

// TestPatchStands compares changes, as they were stored, with agreements.
func TestPatchStands(t *testing.T) {
	before := agreementFrom(t, currentAgreement)
	details, err := before.Details()
	require.NoError(t, err)
	details.Description, details.PayeeReference = "Power and gas", ""
	terms, err := before.Terms()
	require.NoError(t, err)
	terms.RespondByTimeMinutes, terms.MaximumPaymentAmount, terms.PointInTime = new(int64(60)), new(decimal.New(200, 0)), nil
	for name, c := range map[string]struct {
		sent   patchJSON
		stands []string // replacements in the agreement that make it as asked
		not    [][]string
	}{
		"recall": {
			patchJSON{UpdateType: "RECALL_PAYTO_AGREEMENT", Recall: &statusCodeJSON{AgreementStatusCancelled}},
			[]string{"SUSPENDED", "CANCELLED"},
			[][]string{{"SUSPENDED", "PENDING"}},
		},
		"status": {
			patchJSON{UpdateType: "STATUS_AMENDMENT", StatusAmendment: &statusAmendmentJSON{AgreementStatusActive, "", ""}},
			[]string{"SUSPENDED", "ACTIVE"},
			[][]string{nil},
		},
		"recall of an amendment": {
			patchJSON{UpdateType: updateRecallAmendment}, nil, [][]string{{`Amendment": false`, `Amendment": true`}},
		},
		"unilateral": {
			patchJSON{UpdateType: "UNILATERAL_AMENDMENT", UnilateralAmendment: details.wire()},
			[]string{"Power", "Power and gas", `"REF-1"`, "null"},
			[][]string{
				nil,
				{"Power", "Power and gas"},
				{`"REF-1"`, `""`},
				{"Power", "Power and gas", `"REF-1"`, `""`, "SHOP", "OTHER"},
				{"Power", "Power and gas", `"REF-1"`, `""`, "payeeDetails", "x"},
			},
		},
		"bilateral": {
			patchJSON{UpdateType: "BILATERAL_AMENDMENT", BilateralAmendment: terms.wire()},
			[]string{"100.50", `"200.000"`, `"pointInTime": 15`, `"pointInTime": null`, "2027-07-01", "2027-07-01T00:00:00", "newMember", "other"},
			[][]string{
				nil,
				{"100.50", "200"},
				{`"pointInTime": 15,`, ""},
				{"100.50", "200.001", `"pointInTime": 15,`, ""},
				{"100.50", "null", `"pointInTime": 15,`, ""},
				{"100.50", "200", `"pointInTime": 15,`, "", "2027", "2028"},
				{"100.50", "200", `"pointInTime": 15,`, "", "paymentDetails", "x"},
				{"100.50", "200", `"pointInTime": 15,`, "", "paymentTerms", "x"},
				{"100.50", "200", `"pointInTime": 15,`, "", `"automaticRenewal": false`, `"automaticRenewal": true`},
			},
		},
	} {
		patch := storedPatch(t, c.sent)
		assert.True(t, patch.stands(agreementFrom(t, currentAgreement, c.stands...)), name)
		for _, other := range c.not {
			assert.False(t, patch.stands(agreementFrom(t, currentAgreement, other...)), "%s: %q", name, other)
		}
	}
	assert.False(t, patchJSON{UpdateType: "STATUS_AMENDMENT"}.stands(before), "it asks for nothing")
}
