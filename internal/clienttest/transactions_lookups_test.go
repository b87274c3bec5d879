package clienttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestVoidsThatAreLookedUp: only a voided transaction settles a void.
func TestVoidsThatAreLookedUp(t *testing.T) {
	intent, err := clientOf(t, gone).Transactions.PlanVoid(t.Context(), "R-1")
	require.NoError(t, err)
	for state, settles := range map[string]bool{
		`"status":"Voided","summaryCode":"0"`:    true,
		`"status":"Approved","summaryCode":"0"`:  false,
		`"status":"Declined","summaryCode":"1"`:  false,
		`"status":"Pending"`:                     false,
		`"status":"Suspended","summaryCode":"2"`: false,
	} {
		tx, err := clientOf(t, says(http.StatusOK, `{"receiptNumber":"R-1",`+state+`}`)).Transactions.Resume(t.Context(), intent)
		if settles {
			require.NoError(t, err, state)
			assert.Equal(t, quickstream.OutcomeVoided, tx.Outcome())
			continue
		}
		open := still(t, tx, err)
		assert.Len(t, open.Candidates, 1, state)
		assert.NoError(t, open.Cause, state)
	}
	tx, err := clientOf(t, says(http.StatusNotFound, errorBody)).Transactions.Resume(t.Context(), intent)
	assert.Error(t, still(t, tx, err).Cause, "a transaction that was there")
}

// TestReceiptsThatAreLookedUp: the receipt that came with an answer is read first. Only a final
// outcome settles, and where the service does not know the receipt, the search goes on.
func TestReceiptsThatAreLookedUp(t *testing.T) {
	made, paid := sent(t, "")
	made.ReceiptNumber = "R-1"
	for name, c := range map[string]struct {
		receipt    object // nil is a 404
		foreign    bool   // the 404 is a gateway's
		listed     bool
		found      string
		candidates int
		failed     bool
	}{
		"approved":                    {receipt: paid, found: "R-1"},
		"declined":                    {receipt: declined(paid, "R-1"), found: "R-1"},
		"pending":                     {receipt: with(paid, "status", "Pending"), candidates: 1},
		"suspended":                   {receipt: with(paid, "status", "Suspended", "summaryCode", "2"), candidates: 1},
		"unknown":                     {receipt: with(paid, "summaryCode", "2"), candidates: 1},
		"not known yet, but listed":   {listed: true, found: "R-1"},
		"not known, and not listed":   {},
		"a gateway's 404":             {foreign: true, listed: true, failed: true},
		"pending, and another listed": {receipt: with(paid, "status", "Pending"), listed: true, candidates: 1},
	} {
		list := [][]object{{}}
		if c.listed {
			list = [][]object{{paid}}
		}
		search := lookedUp(list)
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			switch {
			case !strings.HasSuffix(r.URL.Path, "/R-1"):
				return search(r)
			case c.foreign:
				return answer(http.StatusNotFound, "<html></html>"), nil
			case c.receipt == nil:
				return answer(http.StatusNotFound, errorBody), nil
			}
			return said(http.StatusOK, c.receipt), nil
		})
		tx, err := client.Transactions.Resume(t.Context(), made)
		if c.found != "" {
			require.NoError(t, err, name)
			assert.Equal(t, c.found, tx.ReceiptNumber, name)
			continue
		}
		open := still(t, tx, err)
		assert.Len(t, open.Candidates, c.candidates, name)
		assert.Equal(t, c.failed, open.Cause != nil, "%s: %v", name, open.Cause)
	}

	bare := quickstream.Intent{Version: quickstream.IntentVersion, Operation: quickstream.OperationPay, ReceiptNumber: "R-1"}
	requests := 0
	tx, err := clientOf(t, func(*http.Request) (*http.Response, error) {
		requests++
		return answer(http.StatusNotFound, errorBody), nil
	}).Transactions.Resume(t.Context(), bare)
	require.NoError(t, still(t, tx, err).Cause, "there is no reference to search by")
	assert.Equal(t, 1, requests)
}

// TestOneRefundOfSeveral: which of several refunds is the intent's cannot be known, and a refund
// under a third reference is somebody else's.
func TestOneRefundOfSeveral(t *testing.T) { synctest.Test(t, oneRefundOfSeveral) }

func oneRefundOfSeveral(t *testing.T) {
	intent, refund := lostRefund(t, quickstream.WithIntentMetadata(""))
	one, two := refund("ORIGINAL"), refund("ORIGINAL", "receiptNumber", "R-2")
	<-time.After(time.Minute) // a time of the look-up's own second proves nothing
	known := quickstream.WithForeignReceipts(func(string) bool { return false })
	for name, c := range map[string]struct {
		refunds    []object
		original   string
		opts       []quickstream.CallOption
		found      bool
		candidates int
		failed     bool
	}{
		"one":                     {[]object{one}, "ORIGINAL", []quickstream.CallOption{known}, true, 0, false},
		"one, nothing known":      {[]object{one}, "ORIGINAL", nil, false, 1, false},
		"two":                     {[]object{one, two}, "ORIGINAL", []quickstream.CallOption{known}, false, 2, false},
		"of another reference":    {[]object{with(one, "paymentReferenceNumber", "ANOTHER")}, "ORIGINAL", []quickstream.CallOption{known}, false, 0, false},
		"without any":             {[]object{with(one, "paymentReferenceNumber", "")}, "ORIGINAL", []quickstream.CallOption{known}, true, 0, false},
		"unreadable payment":      {[]object{one}, "", []quickstream.CallOption{known}, false, 0, true},
		"beside one that matches": {[]object{one, with(one, "paymentReferenceNumber", intent.Reference, "receiptNumber", "R-3")}, "ORIGINAL", []quickstream.CallOption{known}, true, 0, false},
		"beside one unreadable":   {[]object{one, {"receiptNumber": object{}}}, "ORIGINAL", []quickstream.CallOption{known}, false, 1, true},
	} {
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			switch {
			case strings.HasSuffix(r.URL.Path, "/refunds"):
				return said(http.StatusOK, object{"data": c.refunds}), nil
			case strings.HasSuffix(r.URL.Path, "/R-0") && c.original == "":
				return answer(http.StatusNotFound, errorBody), nil
			case strings.HasSuffix(r.URL.Path, "/R-0"):
				return answer(http.StatusOK, fmt.Sprintf(`{"receiptNumber":"R-0","paymentReferenceNumber":%q}`, c.original)), nil
			}
			return said(http.StatusOK, object{"data": []object{}}), nil
		})
		tx, err := client.Transactions.Resume(t.Context(), intent, c.opts...)
		if c.found {
			require.NoError(t, err, name)
			assert.Equal(t, name == "beside one that matches", tx.ReceiptNumber == "R-3", name)
			continue
		}
		open := still(t, tx, err)
		assert.Len(t, open.Candidates, c.candidates, name)
		assert.Equal(t, c.failed, open.Cause != nil, "%s: %v", name, open.Cause)
	}
}

// TestListWithoutAnEnd: a look-up ends, and what it keeps is bounded, although each page of matches
// leads to a new one. It says that it failed, and settles nothing.
func TestListWithoutAnEnd(t *testing.T) {
	intent, paid := sent(t, "")
	asked := 0
	tx, err := clientOf(t, func(*http.Request) (*http.Response, error) {
		asked++
		page := object{"data": []object{}}
		for item := range 20 {
			page["data"] = append(page["data"].([]object), with(paid, "receiptNumber", fmt.Sprint("R-", asked, "-", item)))
		}
		if asked < 500 {
			page["links"] = []object{{"rel": "next", "href": fmt.Sprint("?page=", asked)}}
		}
		return said(http.StatusOK, page), nil
	}).Transactions.Resume(t.Context(), intent)
	require.Error(t, still(t, tx, err).Cause)
	assert.Less(t, asked, 250, "four readings")
}
