package clienttest_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestVoidThatShowsNone: a void is answered with the transaction as it stood, or with another one that
// names it. That is no success: whether it was voided is unknown, and Resume finds out.
func TestVoidThatShowsNone(t *testing.T) {
	const voided = `{"receiptNumber":"R-1","transactionType":"PAYMENT","status":"Voided","summaryCode":"0","responseCode":"08"}`
	for answered, unknown := range map[string]bool{
		`{"receiptNumber":"R-1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","responseCode":"08","voidable":true}`: true,
		`{"receiptNumber":" r-1 ","transactionType":"PAYMENT","status":"Approved","summaryCode":"0"}`:                                   true,
		`{"receiptNumber":"R-1","status":"Approved*","summaryCode":"0"}`:                                                                true,
		`{"receiptNumber":"R-1","status":"Pending"}`:                                                                                    true,
		`{"receiptNumber":"R-1","status":"Declined","summaryCode":"1"}`:                                                                 true,
		`{"receiptNumber":"R-1","status":"Suspended","summaryCode":"2","responseCode":"34"}`:                                            true,
		`{"receiptNumber":"R-1","status":"Voided","summaryCode":"1"}`:                                                                   true,
		`{"receiptNumber":"R-1","originalReceiptNumber":"R-1","status":"Approved","summaryCode":"0"}`:                                   true,
		`{"receiptNumber":"R-1"}`: true,
		voided:                    false,
		`{"receiptNumber":"R-1","status":"Voided","summaryCode":"3"}`:                                                     false,
		`{"receiptNumber":"R-1","status":"VOIDED","summaryCode":"0"}`:                                                     false,
		`{"receiptNumber":"R-2","originalReceiptNumber":"R-1","status":"Approved","summaryCode":"0","responseCode":"08"}`: true,
		`{"receiptNumber":"R-2","originalReceiptNumber":"R-1","status":"Voided","summaryCode":"0"}`:                       true,
		`{"receiptNumber":"R-2","originalReceiptNumber":"R-1"}`:                                                           true,
		`{"receiptNumber":"R-2","status":"Voided","summaryCode":"0"}`:                                                     true,
	} {
		posts := 0
		var s observed
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				posts++
				return answer(http.StatusOK, answered), nil
			}
			return answer(http.StatusOK, voided), nil
		}, quickstream.WithObserver(s.observer()))
		plan, err := client.Transactions.PlanVoid(t.Context(), "R-1")
		require.NoError(t, err)
		for name, void := range map[string]func() (*quickstream.Transaction, error){
			"Void": func() (*quickstream.Transaction, error) { return client.Transactions.Void(t.Context(), "R-1") },
			"Submit": func() (*quickstream.Transaction, error) {
				return client.Transactions.Submit(t.Context(), plan, func(context.Context) error { return nil })
			},
		} {
			posts, s.ends = 0, nil
			tx, err := void()
			assert.Equal(t, 1, posts, "a void is sent once")
			require.Len(t, s.ends, 1)
			if !unknown {
				require.NoError(t, err, "%s: %s", name, answered)
				assert.NotNil(t, tx)
				continue
			}
			lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
			require.True(t, ok, "%s: %v: %s", name, err, answered)
			assert.Nil(t, tx)
			assert.Equal(t, err, s.ends[0].Err)
			require.NotNil(t, lost.Intent)
			assert.Equal(t, []string{"Transactions.Void", "R-1"}, []string{string(lost.Intent.Operation), lost.Intent.Target})
			tx, err = client.Transactions.Resume(t.Context(), *lost.Intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.OutcomeVoided, tx.Outcome())
		}
	}
}
