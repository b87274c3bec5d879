package clienttest_test

import (
	"net/http"
	"strings"
	"testing"

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
		stands := strings.Contains(state, "Approved") // which says nothing
		assert.Equal(t, stands, len(open.Candidates) == 0, state)
		assert.NoError(t, open.Cause, state)
	}
	tx, err := clientOf(t, says(http.StatusNotFound, errorBody)).Transactions.Resume(t.Context(), intent)
	assert.Error(t, still(t, tx, err).Cause, "a transaction that was there")
}
