package clienttest_test

import (
	"context"
	"net/http"
	"strings"
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
		`{"receiptNumber":" r-1 ","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","voidable":true}`: true,
		`{"receiptNumber":"R-1"}`: true,
		voided:                    false,
		`{"receiptNumber":"R-1","status":"VOIDED","summaryCode":"3"}`:                               false,
		`{"receiptNumber":"R-2","originalReceiptNumber":"R-1","status":"Voided","summaryCode":"0"}`: true,
		`{"receiptNumber":"R-2","status":"Voided","summaryCode":"0"}`:                               true,
	} {
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return answer(http.StatusOK, answered), nil
			}
			return answer(http.StatusOK, voided), nil
		})
		plan, err := client.Transactions.PlanVoid(t.Context(), "R-1")
		require.NoError(t, err)
		tx, err := client.Transactions.Submit(t.Context(), plan, func(context.Context) error { return nil })
		if !unknown {
			require.NoError(t, err, answered)
			continue
		}
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, answered)
		assert.Nil(t, tx, answered)
		tx, err = client.Transactions.Resume(t.Context(), plan)
		require.NoError(t, err)
		assert.Equal(t, quickstream.OutcomeVoided, tx.Outcome())
	}
}

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
		stands := strings.Contains(state, "Approved") // which says nothing
		assert.Equal(t, stands, len(open.Candidates) == 0, state)
		assert.NoError(t, open.Cause, state)
	}
	tx, err := clientOf(t, says(http.StatusNotFound, errorBody)).Transactions.Resume(t.Context(), intent)
	assert.Error(t, still(t, tx, err).Cause, "a transaction that was there")
}
