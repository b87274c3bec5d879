package quickstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statusChange is a change of an agreement's status.
type statusChange struct {
	to     AgreementStatus
	reason AgreementReason
}

func sendStatusChange(c *Client, s statusChange, opts ...CallOption) (any, error) {
	change := c.PayTo.Cancel
	switch s.to {
	case AgreementStatusActive:
		change = c.PayTo.Reactivate
	case AgreementStatusSuspended:
		change = c.PayTo.Suspend
	default:
	}
	return nil, change(context.Background(), canaryAgreement, s.reason, opts...)
}

func statusAmendmentTable() ruleTable[statusChange] {
	to := func(status AgreementStatus, code AgreementReasonCode) func(*statusChange) {
		return func(s *statusChange) { s.to, s.reason.Code = status, code }
	}
	described := func(status AgreementStatus, text string) func(*statusChange) {
		return func(s *statusChange) { s.to, s.reason.Description = status, text }
	}
	const active, suspended, cancelled = AgreementStatusActive, AgreementStatusSuspended, AgreementStatusCancelled
	cases := []ruleCase[statusChange]{
		{rule: "statusAmendment.reasonCode.required", pass: to(active, ""), fail: to(suspended, "")},
		{rule: "statusAmendment.reasonCode.required", pass: to(cancelled, "NEW1"), fail: to(cancelled, "")},
		{rule: "statusAmendment.reasonDescription.length", pass: described(suspended, letters(256)), fail: described(suspended, letters(257))},
		{rule: "statusAmendment.reasonDescription.length", pass: described(active, letters(256)), fail: described(active, letters(257))},
		{rule: "statusAmendment.reasonDescription.length", pass: described(cancelled, letters(256)), fail: described(cancelled, letters(257))},
	}
	const usable = "statusAmendment.reasonCode.status"
	for _, code := range []AgreementReasonCode{AgreementReasonClosedAccount, AgreementReasonAgreementExpired, AgreementReasonContractCancelled, AgreementReasonContractExpired} {
		cases = append(
			cases,
			ruleCase[statusChange]{rule: usable, pass: to(suspended, code), fail: to(active, code)},
			ruleCase[statusChange]{rule: usable, pass: to(cancelled, code), fail: to(active, code)},
		)
	}
	for _, code := range []AgreementReasonCode{AgreementReasonFinalCollection, AgreementReasonOnceOffCollection, AgreementReasonUnsuccessful} {
		cases = append(
			cases,
			ruleCase[statusChange]{rule: usable, pass: to(suspended, code), fail: to(active, code)},
			ruleCase[statusChange]{rule: usable, pass: to(suspended, code), fail: to(cancelled, code)},
		)
	}
	for _, code := range []AgreementReasonCode{AgreementReasonInitiatingParty, AgreementReasonContractAmended, AgreementReasonNoAnswer, "NEW1"} {
		for _, status := range []AgreementStatus{active, suspended, cancelled} {
			cases = append(cases, ruleCase[statusChange]{rule: usable, pass: to(status, code), fail: to(active, AgreementReasonClosedAccount)})
		}
	}
	return ruleTable[statusChange]{
		send: sendStatusChange,
		wire: patchJSON{},
		valid: func() statusChange {
			return statusChange{suspended, AgreementReason{Code: AgreementReasonInitiatingParty}}
		},
		cases: cases,
	}
}

// unilateralChange is a change to an agreement that was pending when it was read.
type unilateralChange struct{ description, payeeReference string }

func sendUnilateralChange(c *Client, u unilateralChange, opts ...CallOption) (any, error) {
	details, err := (&Agreement{
		AgreementToken: canaryAgreement, Status: AgreementStatusPending, PaymentDetails: &AgreementPaymentDetails{}, PayeeDetails: &AgreementPayee{SupplierBusinessCode: canaryBusiness},
	}).Details()
	if err != nil {
		return nil, err
	}
	details.Description, details.PayeeReference = u.description, u.payeeReference
	return nil, c.PayTo.AmendUnilaterally(context.Background(), details, opts...)
}

func unilateralAmendmentTable() ruleTable[unilateralChange] {
	description := func(u *unilateralChange) *string { return &u.description }
	reference := func(u *unilateralChange) *string { return &u.payeeReference }
	return ruleTable[unilateralChange]{
		send:      sendUnilateralChange,
		wire:      patchJSON{},
		elsewhere: []string{"agreementToken"},
		valid:     func() unilateralChange { return unilateralChange{} },
		cases: []ruleCase[unilateralChange]{
			{rule: "unilateralAmendment.description.length", pass: set(description, letters(140)), fail: set(description, letters(141))},
			{rule: "unilateralAmendment.payeeReference.length", pass: set(reference, letters(35)), fail: set(reference, letters(36))},
		},
	}
}

// bilateralChange has the new terms of an agreement that starts on 1 July 2026 and was cancelled
// when it was read.
type bilateralChange struct {
	respondByTimeMinutes *int64
	payment              AgreementPaymentDetails
	terms                AgreementTermsParams
}

func sendBilateralChange(c *Client, b bilateralChange, opts ...CallOption) (any, error) {
	agreement := &Agreement{
		AgreementToken: canaryAgreement, Status: AgreementStatusCancelled,
		PaymentDetails: &AgreementPaymentDetails{StartDate: Date{2026, time.July, 1}}, PaymentTerms: &AgreementTerms{},
	}
	terms, err := agreement.Terms()
	if err != nil {
		return nil, err
	}
	terms.RespondByTimeMinutes, terms.AgreementTermsParams = b.respondByTimeMinutes, b.terms
	terms.AutomaticRenewal, terms.EndDate = b.payment.AutomaticRenewal, b.payment.EndDate
	terms.AdditionalInformation = b.payment.AdditionalInformation
	return nil, c.PayTo.AmendBilaterally(context.Background(), terms, opts...)
}

func bilateralAmendmentTable() ruleTable[bilateralChange] {
	minutes := func(n *int64) func(*bilateralChange) {
		return func(b *bilateralChange) { b.respondByTimeMinutes = n }
	}
	return ruleTable[bilateralChange]{
		send:      sendBilateralChange,
		wire:      patchJSON{},
		elsewhere: []string{"agreementToken"},
		valid: func() bilateralChange {
			return bilateralChange{terms: validTerms(), payment: AgreementPaymentDetails{AutomaticRenewal: true}}
		},
		cases: slices.Concat(
			[]ruleCase[bilateralChange]{
				{rule: "bilateralAmendment.respondByTimeMinutes.range", pass: minutes(new(int64(7200))), fail: minutes(new(int64(7201)))},
				{rule: "bilateralAmendment.respondByTimeMinutes.range", pass: minutes(new(int64(0))), fail: minutes(new(int64(-1)))},
				{rule: "bilateralAmendment.respondByTimeMinutes.range", pass: func(b *bilateralChange) {
					b.terms.Frequency, b.terms.PointInTime, b.terms.NumberOfPaymentsPermitted = AgreementFrequencyAdhoc, nil, nil // as it was read
				}, fail: minutes(new(int64(-1)))},
			},
			endCases(func(renewal bool, end Date) func(*bilateralChange) {
				return func(b *bilateralChange) { b.payment.AutomaticRenewal, b.payment.EndDate = renewal, end }
			}, func(b *bilateralChange) *string { return &b.payment.AdditionalInformation }),
			termsCases(func(b *bilateralChange) *AgreementTermsParams { return &b.terms }),
		),
	}
}

const currentAgreement = `{
	"agreementToken": "A-1", "status": "SUSPENDED", "payeeReference": "REF-1", "hasPendingBilateralAmendment": false,
	"paymentDetails": {"description": "Power", "startDate": "2026-07-01", "endDate": "2027-07-01", "automaticRenewal": false, "newMember": 1},
	"paymentTerms": {
		"frequency": "MNTH", "pointInTime": 15, "agreementType": "VARI", "maximumPaymentAmount": {"currency": "AUD", "amount": 100.50},
		"firstPaymentDue": "2026-07-15", "newMember": 1
	},
	"payeeDetails": {"supplierBusinessCode": "SHOP"}
}`

func agreementFrom(t *testing.T, body string, replace ...string) *Agreement {
	t.Helper()
	var a Agreement
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(replace...).Replace(body)), &a))
	return &a
}

// TestChangesThatWereMade compares stored changes with agreements.
func TestChangesThatWereMade(t *testing.T) {
	before := agreementFrom(t, currentAgreement)
	details, err := before.Details()
	require.NoError(t, err)
	details.Description, details.PayeeReference = "Power and gas", ""
	terms, err := before.Terms()
	require.NoError(t, err)
	terms.RespondByTimeMinutes, terms.MaximumPaymentAmount, terms.PointInTime = new(int64(60)), new(decimal.New(200, 0)), nil
	client, err := NewClient(TestAU, Keys{Secret: NewSecretKey("key")})
	require.NoError(t, err)
	stored := func(change func(...CallOption) error) (patch patchJSON) {
		err := change(WithBeforeSend(func(_ context.Context, intent Intent) (err error) {
			err = json.Unmarshal(intent.Request, &patch)
			return cmp.Or(err, errors.New("nothing is sent"))
		}))
		require.ErrorContains(t, err, "nothing is sent")
		return patch
	}
	for name, c := range map[string]struct {
		sent patchJSON
		made []string // replacements in the agreement that make it as asked
		not  [][]string
	}{
		"recall": {
			stored(func(o ...CallOption) error { return client.PayTo.Recall(t.Context(), "A-1", o...) }),
			[]string{"SUSPENDED", "CANCELLED"},
			[][]string{{"SUSPENDED", "PENDING"}},
		},
		"status": {
			stored(func(o ...CallOption) error {
				return client.PayTo.Reactivate(t.Context(), "A-1", AgreementReason{}, o...)
			}),
			[]string{"SUSPENDED", "ACTIVE"},
			[][]string{nil},
		},
		"recall of an amendment": {
			stored(func(o ...CallOption) error { return client.PayTo.RecallAmendment(t.Context(), "A-1", o...) }), nil, [][]string{{`Amendment": false`, `Amendment": true`}},
		},
		"unilateral": {
			stored(func(o ...CallOption) error { return client.PayTo.AmendUnilaterally(t.Context(), details, o...) }),
			[]string{"Power", "Power and gas", `"REF-1"`, "null"},
			[][]string{
				nil,
				{"Power", "Power and gas"},
				{`"REF-1"`, `""`},
				{"Power", "Power and gas", `"REF-1"`, `""`, "SHOP", "OTHER"},
				{"Power", "Power and gas", `"REF-1"`, `""`, "payeeDetails", "x"},
				{"Power", "Power and gas", `"REF-1"`, `""`, "paymentDetails", "x"},
			},
		},
		"bilateral": {
			stored(func(o ...CallOption) error { return client.PayTo.AmendBilaterally(t.Context(), terms, o...) }),
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
		assert.True(t, c.sent.isMadeIn(agreementFrom(t, currentAgreement, c.made...)), name)
		for _, other := range c.not {
			assert.False(t, c.sent.isMadeIn(agreementFrom(t, currentAgreement, other...)), "%s: %q", name, other)
		}
	}
	assert.False(t, patchJSON{UpdateType: "STATUS_AMENDMENT"}.isMadeIn(before), "it asks for nothing")
}
