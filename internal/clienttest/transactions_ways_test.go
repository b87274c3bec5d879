package clienttest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// elsewhere is a service that executes every POST and never answers one. It stores references in a
// form of its own and searches that form exactly. The pre-authorisation R-0 exists.
type elsewhere struct {
	t      *testing.T
	stored func(string) string
	// listed returns the reference that a transaction is listed under.
	listed func(object) any
	// refuses answers what it returns for a path, in place of the service.
	refuses func(path string) *http.Response
	made    []object
	asked   []string
}

func (e *elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		require.NoError(e.t, err)
		var request object
		require.NoError(e.t, json.Unmarshal(body, &request))
		made := with(echoOf(request), "receiptNumber", "R-1")
		for _, name := range []string{"originalReceiptNumber", "authorisationType", "cancellationType", "customerReferenceNumber"} {
			if request[name] != nil {
				made[name] = request[name]
			}
		}
		if request["principalAmount"] == nil {
			delete(made, "principalAmount")
		}
		if e.listed != nil {
			made["paymentReferenceNumber"] = e.listed(made)
		}
		e.made = append(e.made, made)
		return nil, io.ErrUnexpectedEOF
	}
	query := r.URL.Query().Get("referenceNumber")
	e.asked = append(e.asked, strings.TrimPrefix(path.Base(r.URL.Path)+" "+query, "for-"))
	if e.refuses != nil {
		if resp := e.refuses(r.URL.Path); resp != nil {
			return resp, nil
		}
	}
	all := append([]object{{"receiptNumber": "R-0", "paymentReferenceNumber": "Original-1", "transactionType": "PREAUTH", "status": "Approved", "summaryCode": "0"}}, e.made...)
	var found []object
	for _, one := range all {
		if one["receiptNumber"] == path.Base(r.URL.Path) {
			return said(http.StatusOK, one), nil
		}
		reference, _ := one["paymentReferenceNumber"].(string)
		customer, _ := one["customerReferenceNumber"].(string)
		byReference := query != "" && (e.form(reference) == query || one["receiptNumber"] == query || customer == query)
		if byReference || strings.HasSuffix(r.URL.Path, "/for-settlement-date") {
			found = append(found, one)
		}
	}
	if len(found) == 0 {
		return answer(http.StatusNotFound, errorBody), nil
	}
	return said(http.StatusOK, object{"data": found}), nil
}

func (e *elsewhere) form(reference string) string {
	if e.stored == nil {
		return reference
	}
	return e.stored(reference)
}

func said(status int, body object) *http.Response {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	resp := answer(status, string(text))
	resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return resp
}

// loses sends a transaction whose answer is lost, and returns its intent.
func (e *elsewhere) loses(client *quickstream.Client, params quickstream.TransactionParams) quickstream.Intent {
	e.t.Helper()
	intent, err := client.Transactions.Plan(e.t.Context(), params)
	require.NoError(e.t, err)
	_, err = client.Transactions.Submit(e.t.Context(), intent, func(context.Context) error { return nil }, quickstream.WithoutResend())
	require.ErrorIs(e.t, err, quickstream.ErrOutcomeUnknown)
	intent.Attempts = 1
	return intent
}

func (e *elsewhere) client(opts ...quickstream.ClientOption) *quickstream.Client {
	return clientOf(e.t, e.RoundTrip, opts...)
}

// TestReferencesStoredInAnotherForm: the contract does not say in which form a reference is stored,
// nor that it is searched in any other.
func TestReferencesStoredInAnotherForm(t *testing.T) {
	source, credential := quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard), &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	amount := decimal.RequireFromString("10.50")
	kinds := map[string]func(reference string) quickstream.TransactionParams{
		"pay": func(reference string) quickstream.TransactionParams {
			params := payment()
			params.Source, params.PaymentReferenceNumber, params.CustomerReferenceNumber = source, reference, ""
			return params
		},
		"preauthorise": func(reference string) quickstream.TransactionParams {
			return quickstream.PreauthoriseParams{
				SupplierBusinessCode: "B", PrincipalAmount: amount, Currency: "AUD", ECI: quickstream.ECIPhone,
				StoredCredential: credential, Source: source, PaymentReferenceNumber: reference,
			}
		},
		"verify": func(reference string) quickstream.TransactionParams {
			return quickstream.VerifyAccountParams{
				SupplierBusinessCode: "B", ECI: quickstream.ECIPhone, StoredCredential: credential, Source: source, PaymentReferenceNumber: reference,
			}
		},
		"capture": func(reference string) quickstream.TransactionParams {
			return quickstream.CaptureParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", StoredCredential: credential, PaymentReferenceNumber: reference}
		},
	}
	forms := map[string]func(string) string{"as sent": func(s string) string { return s }, "upper": strings.ToUpper, "lower": strings.ToLower, "trimmed": strings.TrimSpace}
	found := 0
	for kind, params := range kinds {
		for form, stored := range forms {
			for _, reference := range []string{"", "Order-1", " Order-1 "} {
				e := &elsewhere{t: t, stored: stored}
				client := e.client()
				intent := e.loses(client, params(reference))
				e.asked = nil
				tx, err := client.Transactions.Resume(t.Context(), intent)
				if !assert.NoError(t, err, "%s of %q, stored %s", kind, reference, form) {
					continue
				}
				assert.Equal(t, "R-1", tx.ReceiptNumber)
				found++
				if form == "as sent" {
					assert.Len(t, e.asked, 1, "%s: one request where the first form finds it", kind)
				}
			}
		}
	}
	assert.Equal(t, 48, found)
}

// followUps are writes that follow the pre-authorisation R-0.
func followUps() map[string]quickstream.TransactionParams {
	amount, credential := decimal.RequireFromString("10.50"), &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	return map[string]quickstream.TransactionParams{
		"capture":       quickstream.CaptureParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", StoredCredential: credential},
		"top-up":        quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD"},
		"reauthorise":   quickstream.ReauthoriseParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD"},
		"extend":        quickstream.ExtendParams{OriginalReceiptNumber: "R-0", Currency: "AUD"},
		"cancel":        quickstream.CancelPreauthorisationParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", Type: quickstream.CancellationTypeFull},
		"cancel a part": quickstream.CancelPreauthorisationParams{OriginalReceiptNumber: "R-0", PrincipalAmount: amount, Currency: "AUD", Type: quickstream.CancellationTypePartial},
	}
}

// TestFollowUpsUnderOtherReferences: the contract does not say under which reference a follow-up of
// a pre-authorisation is listed.
func TestFollowUpsUnderOtherReferences(t *testing.T) {
	found := 0
	for name, params := range followUps() {
		for where, listed := range map[string]func(object) any{
			"the original's reference": func(object) any { return "Original-1" },
			"none":                     func(object) any { return nil },
		} {
			e := &elsewhere{t: t, listed: listed, stored: strings.ToUpper}
			client := e.client()
			intent := e.loses(client, params)
			day := client.Transactions.BySettlementDate(quickstream.NewDate(2026, time.March, 2)).All(t.Context())
			tx, err := client.Transactions.Resume(t.Context(), intent, quickstream.WithScan(day))
			if assert.NoError(t, err, "%s listed under %s", name, where) {
				assert.Equal(t, "R-1", tx.ReceiptNumber)
				found++
			}
			last := e.asked[len(e.asked)-1]
			assert.Equal(t, where == "none", last == "R-1 ", "%s: what a scan found is read again: %s", name, last)
		}
	}
	assert.Equal(t, 12, found)
}

// TestScansThatListOneTwice: a list may show one transaction in two states. It was made once, and
// what the service says of its receipt counts.
func TestScansThatListOneTwice(t *testing.T) {
	e := &elsewhere{t: t, listed: func(object) any { return nil }}
	client := e.client()
	intent := e.loses(client, followUps()["capture"])
	e.made = append(e.made, with(e.made[0], "status", "Pending"))
	day := quickstream.WithScan(client.Transactions.BySettlementDate(quickstream.NewDate(2026, time.March, 2)).All(t.Context()))
	tx, err := client.Transactions.Resume(t.Context(), intent, day)
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeApproved, tx.Outcome())

	e.refuses = func(path string) *http.Response {
		if strings.HasSuffix(path, "/R-1") {
			return answer(http.StatusNotFound, errorBody)
		}
		return nil
	}
	tx, err = client.Transactions.Resume(t.Context(), intent, day)
	open := still(t, tx, err)
	require.Error(t, open.Cause, "a list may be hours old")
	assert.Len(t, open.Candidates, 1)
}

// TestFollowUpsWithoutAnID: one that could be another's ends nothing by itself.
func TestFollowUpsWithoutAnID(t *testing.T) { synctest.Test(t, followUpsWithoutAnID) }

func followUpsWithoutAnID(t *testing.T) {
	known := quickstream.WithForeignReceipts(func(string) bool { return false })
	for name, params := range followUps() {
		e := &elsewhere{t: t, listed: func(object) any { return "Original-1" }}
		client := e.client(quickstream.WithIntentMetadata(""))
		intent := e.loses(client, params)
		<-time.After(time.Minute) // a time of the look-up's own second proves nothing
		tx, err := client.Transactions.Resume(t.Context(), intent)
		assert.Len(t, still(t, tx, err).Candidates, 1, name)
		tx, err = client.Transactions.Resume(t.Context(), intent, known)
		if name == "capture" { // once only, and the amount is the same
			require.NoError(t, err)
			assert.Equal(t, "R-1", tx.ReceiptNumber)
			continue
		}
		assert.Len(t, still(t, tx, err).Candidates, 1, name)
	}
}

// TestCustomerReferences: what neither reference nor original shows may be found by its customer
// reference. There it is one of many, and is a candidate only if nothing tells it apart.
func TestCustomerReferences(t *testing.T) {
	for name, c := range map[string]struct {
		change     []any
		found      bool
		candidates int
	}{
		"with the id":                  {nil, true, 0},
		"without an id":                {[]any{"metadata", nil}, false, 1},
		"of another amount":            {[]any{"metadata", nil, "principalAmount", money("9.00")}, false, 0},
		"an older one":                 {[]any{"metadata", nil, "transactionTime", time.Now().Add(-3 * time.Hour).Format(time.RFC3339)}, false, 0},
		"with its id masked":           {[]any{"metadata", object{"intentId": "********"}}, false, 1},
		"with another's id":            {[]any{"metadata", object{"intentId": "X"}}, false, 0},
		"of another reference":         {[]any{"metadata", nil, "paymentReferenceNumber", "X"}, false, 0},
		"with the id, of another type": {[]any{"transactionType", "REFUND"}, false, 1},
		"with the id, declined":        {[]any{"status", "Declined", "summaryCode", "1"}, true, 0},
	} {
		e := &elsewhere{t: t, listed: func(object) any { return nil }}
		client := e.client()
		params := payment()
		params.Source, params.CustomerReferenceNumber = quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard), "Customer-1"
		intent := e.loses(client, params)
		e.made[0] = with(e.made[0], c.change...)
		tx, err := client.Transactions.Resume(t.Context(), intent)
		if c.found {
			assert.NoError(t, err, name)
			continue
		}
		open := still(t, tx, err)
		assert.Len(t, open.Candidates, c.candidates, name)
		assert.NoError(t, open.Cause, name)
	}
}

// TestCustomerReferencesFindTheReference: a payment that only its customer reference finds, with the
// intent's reference and another amount, is a candidate.
func TestCustomerReferencesFindTheReference(t *testing.T) {
	e := &elsewhere{t: t, stored: func(reference string) string { return "#" + reference }}
	client := e.client()
	params := payment()
	params.Source, params.CustomerReferenceNumber = quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard), "Customer-1"
	intent := e.loses(client, params)
	e.made[0] = with(e.made[0], "metadata", nil, "principalAmount", money("9.00"))
	tx, err := client.Transactions.Resume(t.Context(), intent)
	candidates := still(t, tx, err).Candidates
	require.Len(t, candidates, 1)
	assert.Equal(t, []string{"its principalAmount is another"}, candidates[0].Reasons)

	params.CustomerReferenceNumber = " "
	blank := e.loses(client, params)
	e.made, e.asked = nil, nil
	tx, err = client.Transactions.Resume(t.Context(), blank)
	require.NoError(t, still(t, tx, err).Cause)
	assert.NotContains(t, e.asked, "reference-number ", "nothing is searched by no reference")
}

// TestScansOfRefunds: a refund that a scan found is read again, because the lists may be hours old.
func TestScansOfRefunds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &elsewhere{t: t, listed: func(object) any { return nil }}
		client := e.client(quickstream.WithIntentMetadata(""))
		intent := e.loses(client, quickstream.RefundParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD"})
		<-time.After(time.Minute) // a time of the look-up's own second proves nothing
		old, err := client.Transactions.Get(t.Context(), "R-1")
		require.NoError(t, err)
		second, third, fourth := *old, *old, *old
		second.ReceiptNumber = "R-2"
		third.ReceiptNumber, third.PaymentReferenceNumber = "R-3", "Original-1"
		fourth.ReceiptNumber, fourth.PaymentReferenceNumber, fourth.OriginalReceiptNumber = "R-4", "Another", "" // of any payment
		scan := quickstream.WithScan(func(yield func(*quickstream.Transaction, error) bool) {
			_ = yield(old, nil) && yield(&second, nil) && yield(&third, nil) && yield(&fourth, nil)
		})
		e.made[0] = with(e.made[0], "status", "Declined", "summaryCode", "1")
		e.made = append(e.made, with(e.made[0], "receiptNumber", "R-2"), with(e.made[0], "receiptNumber", "R-3"))
		tx, err := client.Transactions.Resume(t.Context(), intent, scan)
		candidates := still(t, tx, err).Candidates
		require.Len(t, candidates, 3)
		for _, candidate := range candidates {
			assert.Equal(t, quickstream.OutcomeDeclined, candidate.Transaction.Outcome(), candidate.Transaction.ReceiptNumber)
		}

		e.refuses = func(path string) *http.Response {
			if strings.HasSuffix(path, "/R-1") {
				return answer(http.StatusInternalServerError, errorBody)
			}
			return nil
		}
		tx, err = client.Transactions.Resume(t.Context(), intent, scan, quickstream.WithMaxAttempts(1))
		open := still(t, tx, err)
		require.ErrorContains(t, open.Cause, "500")
		assert.Len(t, open.Candidates, 3)
	})
}

// TestSearchesAtTheOriginal: a pre-authorisation without a reference is none to search by, and one
// with the follow-up's own was searched already. A failed list ends the search.
func TestSearchesAtTheOriginal(t *testing.T) {
	capture := followUps()["capture"].(quickstream.CaptureParams)
	capture.PaymentReferenceNumber = "CAPTURE"
	for reference, asked := range map[string][]string{
		"":        {"reference-number CAPTURE", "reference-number capture", "R-0 ", "reference-number R-0"},
		"capture": {"reference-number CAPTURE", "reference-number capture", "R-0 ", "reference-number R-0"},
		"OTHER": {
			"reference-number CAPTURE", "reference-number capture", "R-0 ", "reference-number R-0", "reference-number OTHER", "reference-number other",
		},
		"failing": {"reference-number CAPTURE"},
	} {
		e := &elsewhere{t: t, refuses: func(path string) *http.Response {
			switch {
			case strings.HasSuffix(path, "/R-0"):
				return said(http.StatusOK, object{"receiptNumber": "R-0", "paymentReferenceNumber": reference})
			case reference == "failing":
				return answer(http.StatusInternalServerError, errorBody)
			}
			return answer(http.StatusNotFound, errorBody)
		}}
		intent, err := e.client().Transactions.Plan(t.Context(), capture)
		require.NoError(t, err)
		tx, err := e.client().Transactions.Resume(t.Context(), intent, quickstream.WithMaxAttempts(1))
		open := still(t, tx, err)
		assert.Equal(t, reference == "failing", open.Cause != nil, "%q: %v", reference, open.Cause)
		assert.Equal(t, asked, e.asked, "%q", reference)
	}
}

// TestLookUpsThatProveNothing: only the service's own words, or a proper empty list, say that there
// is nothing.
func TestLookUpsThatProveNothing(t *testing.T) {
	refund := quickstream.RefundParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD"}
	for name, c := range map[string]struct {
		path   string // its end
		status int
		body   string
		failed bool
	}{
		"an empty list":                         {"for-reference-number", 200, `{"data":[]}`, false},
		"an empty list with empty errors":       {"for-reference-number", 200, `{"data":[],"errors":[ ]}`, false},
		"an empty list of null errors":          {"for-reference-number", 200, `{"data":[],"errors":null}`, false},
		"the service's 404":                     {"for-reference-number", 404, errorBody, false},
		"a gateway's page":                      {"for-reference-number", 404, "<html>no such page</html>", true},
		"a gateway's JSON":                      {"for-reference-number", 404, `{"message":"no Route matched"}`, true},
		"a 404 without a body":                  {"for-reference-number", 404, "", true},
		"errors beside an empty list":           {"for-reference-number", 200, `{"data":[],"errors":[{"code":"E1"}]}`, true},
		"an error as text":                      {"for-reference-number", 200, `{"data":[],"errors":"timeout"}`, true},
		"a part of the list":                    {"for-reference-number", 206, `{"data":[]}`, true},
		"an empty list with another status":     {"for-reference-number", 203, `{"data":[]}`, true},
		"a gateway's page for the refunds":      {"refunds", 404, "<html></html>", true},
		"404 for the refunds":                   {"refunds", 404, errorBody, false},
		"a payment that cannot be read":         {"R-0", 404, errorBody, true},
		"a payment that cannot be read by name": {"R-0", 500, errorBody, true},
	} {
		e := &elsewhere{t: t, refuses: func(path string) *http.Response {
			if strings.HasSuffix(path, c.path) {
				return answer(c.status, c.body)
			}
			return nil
		}}
		client := e.client()
		intent, err := client.Transactions.Plan(t.Context(), refund)
		require.NoError(t, err)
		tx, err := client.Transactions.Resume(t.Context(), intent, quickstream.WithMaxAttempts(1))
		open := still(t, tx, err)
		assert.Equal(t, c.failed, open.Cause != nil, "%s: %v", name, open.Cause)
		assert.Empty(t, open.Candidates, name)
	}
}

// TestReceiptsOfTwoIntents: what is another's by the merchant's records can still be this one's.
func TestReceiptsOfTwoIntents(t *testing.T) {
	foreign := quickstream.WithForeignReceipts(func(string) bool { return true })
	made, paid := sent(t, "")
	unnamed := with(paid, "metadata", nil)
	for name, c := range map[string]struct {
		transaction object
		candidates  int
	}{
		"with the id":                {with(paid, "paymentReferenceNumber", "X"), 1},
		"with the reference":         {unnamed, 1},
		"with neither":               {with(unnamed, "paymentReferenceNumber", nil), 0},
		"of another amount":          {with(unnamed, "principalAmount", money("1.00")), 0},
		"declined":                   {declined(unnamed, "R-3"), 0},
		"declined with the id":       {declined(paid, "R-3"), 1},
		"with the other intent's id": {with(paid, "metadata", object{"intentId": "X"}), 0},
	} {
		tx, err := clientOf(t, lookedUp([][]object{{c.transaction}})).Transactions.Resume(t.Context(), made, foreign)
		assert.Len(t, still(t, tx, err).Candidates, c.candidates, name)
	}
}
