package clienttest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// mandate asks for every term.
func mandate() quickstream.CreateAgreementParams {
	params := quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PayeeReference: "AG-1",
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "P-1", Name: "Ann Example", BSB: "650000", AccountNumber: quickstream.NewSecret("111111"),
		},
	}
	params.Payment = quickstream.AgreementPaymentDetails{
		Purpose: quickstream.AgreementPurposeUtility, Description: "Power  and gas", AdditionalInformation: "Meter  1",
		StartDate: quickstream.NewDate(2098, 1, 1), EndDate: quickstream.NewDate(2099, 12, 31),
	}
	amount := func(text string) *decimal.Decimal { return new(decimal.RequireFromString(text)) }
	params.Terms = quickstream.AgreementTermsParams{
		Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
		NumberOfPaymentsPermitted: new(int64(12)), PointInTime: new(int64(15)),
		FirstPaymentAmount: amount("1"), LastPaymentAmount: amount("2"), PaymentAmount: amount("3"), MaximumPaymentAmount: amount("4"),
		FirstPaymentDue: quickstream.NewDate(2098, 1, 15), LastPaymentDue: quickstream.NewDate(2099, 12, 15),
	}
	params.Payer.Reference = "PAYER-1"
	return params
}

// mandateJSON is the agreement that is made of mandate.
const mandateJSON = `{"agreementToken":"A-1","status":"PENDING","respondByTime":"2098-01-01T10:00:00","payeeReference":"AG-1",
	"paymentDetails":{"purpose":"UTIL","description":"Power  and gas","startDate":"2098-01-01","endDate":"2099-12-31","automaticRenewal":false,
		"additionalInformation":"Meter  1"},
	"paymentTerms":{"frequency":"MNTH","numberOfPaymentsPermitted":12,"pointInTime":15,"agreementType":"VARI",
		"firstPaymentAmount":{"currency":"AUD","amount":1.0},"lastPaymentAmount":{"currency":"AUD","amount":2},
		"paymentAmount":{"currency":"AUD","amount":3},"maximumPaymentAmount":{"currency":"AUD","amount":4},
		"firstPaymentDue":"2098-01-15","lastPaymentDue":"2099-12-15"},
	"payerDetails":{"customerId":"C-1","payerType":"PERS","payerId":"P-1","payerName":"Ann Example","ultimatePayerName":"Ann Example",
		"paymentReference":"PAYER-1"},
	"payeeDetails":{"supplierBusinessCode":"SANDBOX01"}}`

// changedMandate is mandateJSON with one text replaced.
func changedMandate(t *testing.T, old, changed string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(mandateJSON, old), old)
	return strings.Replace(mandateJSON, old, changed, 1)
}

func lostMandate(t *testing.T) quickstream.Intent {
	t.Helper()
	var intent quickstream.Intent
	_, err := clientOf(t, gone).PayTo.Create(t.Context(), "C-1", mandate(), handed(&intent))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	require.True(t, intent.OwnReference)
	require.False(t, intent.Complete, "the payer's account number is not in it")
	return intent
}

// TestAgreementsThatTheBankChanged: what does not decide may differ in an answer. In a list another text is
// another agreement's, except for its case, and names do not count.
func TestAgreementsThatTheBankChanged(t *testing.T) {
	intent := lostMandate(t)
	for _, c := range []struct {
		old, changed string
		reworded     bool
	}{
		{`"PENDING"`, `"ACTIVE"`, false},
		{`"2098-01-01T10:00:00"`, `null`, false},
		{`Power  and gas`, `Power and gas`, true},
		{`Power  and gas`, ` POWER  AND GAS`, false},
		{`Power  and gas`, `Payment`, true},
		{`"Power  and gas"`, `null`, false},
		{`Meter  1`, `METER  1 `, false},
		{`Meter  1`, `Meter 2`, true},
		{`"payerName":"Ann Example"`, `"payerName":"MS A EXAMPLE"`, false},
		{`"ultimatePayerName":"Ann Example"`, `"ultimatePayerName":"A"`, false},
		{`"PERS"`, `"ORGN"`, false},
		{`"AG-1"`, `" ag-1"`, false},
		{`"P-1"`, `null`, false},
		{`"PAYER-1"`, `"payer-1 "`, false},
		{`"SANDBOX01"`, `"sandbox01"`, false},
		{`"amount":4`, `"amount":null`, false},
		{`{"currency":"AUD","amount":3}`, `null`, false},
		{`"pointInTime":15`, `"pointInTime":null`, false},
		{`"2098-01-15"`, `null`, false},
		{`"endDate":"2099-12-31"`, `"endDate":null`, false},
		{`"frequency":"MNTH"`, `"frequency":null`, false},
	} {
		body := changedMandate(t, c.old, c.changed)
		made, err := clientOf(t, says(http.StatusCreated, body)).PayTo.Create(t.Context(), "C-1", mandate())
		require.NoError(t, err, c.changed)
		assert.Equal(t, "A-1", made.AgreementToken)

		found, err := clientOf(t, says(http.StatusOK, `{"data":[`+body+`]}`)).PayTo.Resume(t.Context(), intent)
		if c.reworded {
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, c.changed)
			continue
		}
		require.NoError(t, err, c.changed)
		assert.Equal(t, "A-1", found.AgreementToken)
	}
}

// TestAgreementsThatAreOthers: in the answer the customer, amounts and type decide. No look-up takes an
// agreement that differs in anything.
func TestAgreementsThatAreOthers(t *testing.T) {
	intent := lostMandate(t)
	for _, c := range []struct {
		old, changed, member string
		decides              bool
	}{
		{`"AG-1"`, `"AG-2"`, "payeeReference", false},
		{`"SANDBOX01"`, `"SANDBOX02"`, "payeeDetails.supplierBusinessCode", false},
		{`"UTIL"`, `"LOAN"`, "paymentDetails.purpose", false},
		{`"2098-01-01"`, `"2098-01-02"`, "paymentDetails.startDate", false},
		{`"2099-12-31"`, `"2099-12-30"`, "paymentDetails.endDate", false},
		{`"automaticRenewal":false`, `"automaticRenewal":true`, "paymentDetails.automaticRenewal", false},
		{`"MNTH"`, `"WEEK"`, "paymentTerms.frequency", false},
		{`"VARI"`, `"FIXE"`, "paymentTerms.agreementType", true},
		{`"amount":1.0`, `"amount":1.01`, "paymentTerms.firstPaymentAmount", true},
		{`"amount":2`, `"amount":20`, "paymentTerms.lastPaymentAmount", true},
		{`"amount":3`, `"amount":0`, "paymentTerms.paymentAmount", true},
		{`"amount":4`, `"amount":-4`, "paymentTerms.maximumPaymentAmount", true},
		{`"2098-01-15"`, `"2098-01-16"`, "paymentTerms.firstPaymentDue", false},
		{`"2099-12-15"`, `"2099-12-16"`, "paymentTerms.lastPaymentDue", false},
		{`"numberOfPaymentsPermitted":12`, `"numberOfPaymentsPermitted":13`, "paymentTerms.numberOfPaymentsPermitted", false},
		{`"pointInTime":15`, `"pointInTime":16`, "paymentTerms.pointInTime", false},
		{`"C-1"`, `"C-2"`, "payerDetails.customerId", true},
		{`"P-1"`, `"P-2"`, "payerDetails.payerId", false},
		{`"PAYER-1"`, `"PAYER-2"`, "payerDetails.paymentReference", false},
	} {
		body, reasons := changedMandate(t, c.old, c.changed), []string{"its " + c.member + " is another"}
		made, err := clientOf(t, says(http.StatusCreated, body), quickstream.WithoutResend()).PayTo.Create(t.Context(), "C-1", mandate())
		if c.decides {
			assert.Nil(t, made)
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, c.changed)
			assert.NotContains(t, err.Error(), "A-1")
		} else {
			require.NoError(t, err, c.changed)
			assert.Equal(t, "A-1", made.AgreementToken)
		}

		_, err = clientOf(t, says(http.StatusOK, `{"data":[`+body+`]}`)).PayTo.Resume(t.Context(), intent)
		open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%s: %v", c.changed, err)
		if c.member == "payeeReference" {
			assert.Empty(t, open.Candidates)
			continue
		}
		require.Len(t, open.Candidates, 1, c.changed)
		assert.Equal(t, reasons, open.Candidates[0].Reasons)
		assert.False(t, open.Candidates[0].Matches)
	}
}

// TestOneAgreementOfSeveral: of two that match neither is taken, whichever comes first.
func TestOneAgreementOfSeveral(t *testing.T) {
	intent := lostMandate(t)
	second := changedMandate(t, `"A-1"`, `"A-2"`)
	unnamed := changedMandate(t, `"payeeReference":"AG-1"`, `"payeeReference":null`)
	other := changedMandate(t, `"MNTH"`, `"WEEK"`)
	foreign := changedMandate(t, `"AG-1"`, `"AG-2"`)
	for _, c := range []struct {
		list    []string
		found   bool
		matches []bool
		reasons []string
	}{
		{list: []string{mandateJSON}, found: true},
		{list: []string{foreign, mandateJSON, other}, found: true},
		{list: []string{mandateJSON, unnamed}, found: true},
		{list: []string{mandateJSON, second}, matches: []bool{true, true}, reasons: []string{"it is not the only one", "it is not the only one"}},
		{list: []string{unnamed}, matches: []bool{false}, reasons: []string{"it carries no payee reference"}},
		{list: []string{foreign}},
		{list: nil},
	} {
		body := `{"data":[` + strings.Join(c.list, ",") + `]}`
		found, err := clientOf(t, says(http.StatusOK, body)).PayTo.Resume(t.Context(), intent)
		if c.found {
			require.NoError(t, err)
			assert.Equal(t, "A-1", found.AgreementToken)
			assert.Equal(t, quickstream.AgreementFrequencyMonthly, found.PaymentTerms.Frequency)
			continue
		}
		open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%v", err)
		var matches []bool
		var reasons []string
		for _, candidate := range open.Candidates {
			matches, reasons = append(matches, candidate.Matches), append(reasons, candidate.Reasons...)
		}
		assert.Equal(t, c.matches, matches)
		assert.Equal(t, c.reasons, reasons)
	}
}

// TestAmendedTextsThatTheBankChanged: only the very text of an amendment is as asked.
func TestAmendedTextsThatTheBankChanged(t *testing.T) {
	agreement := new(quickstream.Agreement)
	require.NoError(t, json.Unmarshal([]byte(changedMandate(t, "PENDING", "ACTIVE")), agreement))
	details, err := agreement.Details()
	require.NoError(t, err)
	terms, err := agreement.Terms()
	require.NoError(t, err)
	client := clientOf(t, gone)
	for _, c := range []struct {
		amend                  func(...quickstream.CallOption) error
		asked, blanks, another string
	}{
		{func(opts ...quickstream.CallOption) error {
			return client.PayTo.AmendUnilaterally(t.Context(), details, opts...)
		}, `Power  and gas`, `Power and gas`, `Gas`},
		{func(opts ...quickstream.CallOption) error {
			return client.PayTo.AmendBilaterally(t.Context(), terms, opts...)
		}, `Meter  1`, `Meter 1`, `Meter 2`},
	} {
		var intent quickstream.Intent
		require.ErrorIs(t, c.amend(handed(&intent)), quickstream.ErrOutcomeUnknown)
		for text, asAsked := range map[string]bool{c.asked: true, c.blanks: false, c.another: false} {
			state, err := clientOf(t, says(http.StatusOK, changedMandate(t, c.asked, text))).PayTo.ResumeChange(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, asAsked, state.AsRequested, text)
		}
	}
}

// TestAgreementsThatAreNotLookedUp: an intent that says too little, or something else, is refused
// before the first request. A customer without agreements is "not found yet".
func TestAgreementsThatAreNotLookedUp(t *testing.T) {
	requests := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		requests++
		return answer(http.StatusNotFound, `{"developerMessage":"None."}`), nil
	})
	intent, unnamed, change := lostMandate(t), quickstream.Intent{}, quickstream.Intent{}
	_, err := client.PayTo.Resume(t.Context(), intent)
	open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, "%v", err)
	assert.NoError(t, open.Cause) //nolint:testifylint // a member of the error
	assert.Equal(t, 1, requests)

	_, err = clientOf(t, says(http.StatusNotFound, "<html></html>")).PayTo.Resume(t.Context(), intent)
	open, ok = errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, "%v", err)
	require.ErrorIs(t, open.Cause, quickstream.ErrNotFound, "a gateway's 404 is a failed look-up")

	params := mandate()
	params.PayeeReference = ""
	_, err = clientOf(t, gone).PayTo.Create(t.Context(), "C-1", params, handed(&unnamed))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	require.ErrorIs(t, clientOf(t, gone).PayTo.Recall(t.Context(), "A-1", handed(&change)), quickstream.ErrOutcomeUnknown)
	foreign, later, laterChange := intent, intent, change
	foreign.Operation, later.Version, laterChange.Version = quickstream.OperationPay, 99, 99
	other, empty, broken := intent, intent, intent
	other.Reference = "AG-2"
	empty.Request, empty.Reference = []byte(`{}`), ""
	broken.Request = []byte(`{"payeeReference":"AG-1"`)
	requests = 0
	for _, refused := range []quickstream.Intent{unnamed, foreign, later, other, empty, broken} {
		_, err := client.PayTo.Resume(t.Context(), refused)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	}
	_, err = client.PayTo.ResumeChange(t.Context(), laterChange)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	assert.Zero(t, requests)
}

// TestTermsThatTheServiceFillsIn, or leaves out, make it no other agreement.
func TestTermsThatTheServiceFillsIn(t *testing.T) {
	params := mandate()
	params.Payment.AdditionalInformation, params.Payment.EndDate, params.Payment.AutomaticRenewal = "", quickstream.Date{}, true
	params.Terms = quickstream.AgreementTermsParams{Frequency: params.Terms.Frequency, Type: params.Terms.Type}
	params.Payer.Reference = ""
	filled := changedMandate(t, `"automaticRenewal":false`, `"automaticRenewal":true`)
	var intent quickstream.Intent
	_, err := clientOf(t, gone).PayTo.Create(t.Context(), "C-1", params, handed(&intent))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	_, err = clientOf(t, says(http.StatusOK, `{"data":[`+filled+`]}`)).PayTo.Resume(t.Context(), intent)
	require.NoError(t, err)
	_, err = clientOf(t, says(http.StatusCreated, filled)).PayTo.Create(t.Context(), "C-1", params)
	require.NoError(t, err)
	_, err = clientOf(t, says(http.StatusCreated, `{"agreementToken":"A-1"}`)).PayTo.Create(t.Context(), "C-1", mandate())
	require.NoError(t, err)
}

// TestResumeOfNoChange: the intent of a payment is no change of its agreement, and is looked up by no
// request. What was changed is compared in TestChangesThatWereMade, and driven to its end by the walk.
func TestResumeOfNoChange(t *testing.T) {
	var pay quickstream.Intent
	_, err := clientOf(t, gone).PayTo.Collect(t.Context(), payToPayment("A-1", "1"), handed(&pay))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	client := clientOf(t, func(r *http.Request) (*http.Response, error) { t.Errorf("%s was sent", r.Method); return nil, io.EOF })
	_, err = client.PayTo.ResumeChange(t.Context(), pay)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
}

func payToPayment(agreementToken, amount string) quickstream.CollectParams {
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, AgreementToken: agreementToken,
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: order,
	}
}
