package clienttest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// TestStatusesThatAreNamed: beside summary code 0 an unlisted status has the meaning that the merchant
// gives it, wherever the client reads it: from a payment, a look-up, a list and package resolve. A
// summary code that says more is never overruled.
func TestStatusesThatAreNamed(t *testing.T) {
	named := []quickstream.ClientOption{
		quickstream.WithStatusOutcome("Settled", quickstream.OutcomeApproved), quickstream.WithStatusOutcome("Processing", quickstream.OutcomePending),
		quickstream.WithStatusOutcome("Cancelled", quickstream.OutcomeVoided),
	}
	absent := append(named[:3:3], quickstream.WithStatusOutcome("", quickstream.OutcomeApproved))
	for _, c := range []struct {
		opts          []quickstream.ClientOption
		status, codes string // of summary and response
		outcome       quickstream.Outcome
	}{
		{nil, "Settled", "0 08", quickstream.OutcomeUnknown},
		{nil, "Settled", "1 51", quickstream.OutcomeDeclined},
		{nil, "Settled", "3 QA", quickstream.OutcomeRejected},
		{nil, "", "1 51", quickstream.OutcomeDeclined},
		{nil, "", "3 QA", quickstream.OutcomeRejected},
		{nil, "", "0 08", quickstream.OutcomeUnknown},
		{nil, "APPROVED", "0 08", quickstream.OutcomeApproved},
		{named, "Settled", "0 08", quickstream.OutcomeApproved},
		{named, "SETTLED", "0 08", quickstream.OutcomeApproved},
		{named, "Settled", "1 51", quickstream.OutcomeDeclined},
		{named, "Settled", "2 08", quickstream.OutcomeUnknown},
		{named, "Settled", "3 QA", quickstream.OutcomeRejected},
		{named, "Settled", "9 08", quickstream.OutcomeUnknown},
		{named, "Settled", "0 34", quickstream.OutcomeUnknown},
		{named, "Processing", "0 08", quickstream.OutcomePending},
		{named, "Cancelled", "0 08", quickstream.OutcomeVoided},
		{named, "Cancelled", "1 51", quickstream.OutcomeDeclined},
		{named, "Brand new", "0 08", quickstream.OutcomeUnknown},
		{named, "", "0 08", quickstream.OutcomeUnknown},
		{named, "Approved", "1 51", quickstream.OutcomeUnknown},
		{absent, "", "0 08", quickstream.OutcomeApproved},
		{absent, "", "1 51", quickstream.OutcomeDeclined},
		{absent, "Brand new", "0 08", quickstream.OutcomeUnknown},
	} {
		summary, response, _ := strings.Cut(c.codes, " ")
		body := fmt.Sprintf(`{"receiptNumber":"R-1","status":%q,"summaryCode":%q,"responseCode":%q}`, c.status, summary, response)
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				return answer(http.StatusCreated, body), nil
			case strings.HasSuffix(r.URL.Path, "/R-1"):
				return answer(http.StatusOK, body), nil
			}
			return answer(http.StatusOK, `{"links":[],"data":[`+body+`]}`), nil
		}, c.opts...)
		_, err := client.Transactions.Pay(t.Context(), payment())
		assert.Equal(t, map[quickstream.Outcome]string{
			quickstream.OutcomeApproved: "", quickstream.OutcomeDeclined: "declined", quickstream.OutcomeRejected: "declined", quickstream.OutcomePending: "pending",
			quickstream.OutcomeUnknown: "unknown", quickstream.OutcomeVoided: "unknown",
		}[c.outcome], matching(err), "%+v", c)
		read, err := client.Transactions.Get(t.Context(), "R-1")
		require.NoError(t, err)
		listed, err := client.Transactions.ByReference("R-1").First(t.Context())
		require.NoError(t, err)
		for name, tx := range map[string]*quickstream.Transaction{"Get": read, "list": listed} {
			assert.Equal(t, c.outcome, tx.Outcome(), "%s: %+v", name, c)
		}
		intent := quickstream.Intent{Version: quickstream.IntentVersion, Operation: quickstream.OperationPay, ReceiptNumber: "R-1"}
		policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		assert.Equal(t, c.outcome, policy.LookUp(t.Context(), client.Transactions, resolve.Case{Intent: intent}).Outcome, "resolve: %+v", c)
	}
}

// TestStatusesThatCannotBeNamed: the meaning of a known status stays, and no status makes a decline.
func TestStatusesThatCannotBeNamed(t *testing.T) {
	for status, outcomes := range map[quickstream.TransactionStatus][]quickstream.Outcome{
		"Approved": {quickstream.OutcomeApproved}, "DECLINED": {quickstream.OutcomeApproved}, "pending": {quickstream.OutcomeApproved},
		"Settled": {"", "paid", quickstream.OutcomeDeclined, quickstream.OutcomeRejected, quickstream.OutcomeSuspended, quickstream.OutcomeUnknown},
	} {
		for _, outcome := range outcomes {
			_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithStatusOutcome(status, outcome))
			assert.ErrorContains(t, err, "WithStatusOutcome", "%s, %s", status, outcome)
		}
	}
}

// TestMayBeReturned: what came from a bank account, by any of the members that say so, and is approved.
func TestMayBeReturned(t *testing.T) {
	const approved = `{"receiptNumber":"R1","summaryCode":"0","responseCode":"08","status":"Approved"`
	for body, want := range map[string]bool{
		approved + `}`:                           false,
		approved + `,"creditCard":{}}`:           false,
		approved + `,"bankAccount":{}}`:          true,
		approved + `,"nzBankAccount":{}}`:        true,
		approved + `,"directEntryAccount":{}}`:   true,
		approved + `,"nzDirectEntryAccount":{}}`: true,
		`{"receiptNumber":"R1","summaryCode":"0","responseCode":"08","status":"Approved*"}`:                 true,
		`{"receiptNumber":"R1","summaryCode":"1","responseCode":"51","status":"Declined","bankAccount":{}}`: false,
	} {
		payment, err := clientOf(t, says(http.StatusOK, body)).Transactions.Get(t.Context(), "R1")
		require.NoError(t, err)
		assert.Equal(t, want, payment.MayBeReturned(), body)
	}
}
