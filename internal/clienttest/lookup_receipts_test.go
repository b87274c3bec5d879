package clienttest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// pursued drives a case to its end, and calls change before each look-up.
func pursued(t *testing.T, s *shelf, c resolve.Case, change func(look int)) resolve.Case {
	t.Helper()
	client, err := quickstream.NewClient(quickstream.CustomURL("https://api.invalid/rest/v1"), testKeys(), quickstream.WithHTTPClient(&http.Client{Transport: s}), quickstream.WithMaxAttempts(1))
	require.NoError(t, err)
	p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	for look := 0; !c.NextLook.IsZero(); look++ {
		require.Less(t, look, 200, "it never ends")
		if change != nil {
			change(look)
		}
		c = p.Next(c, p.LookUp(t.Context(), client.Transactions, c), c.NextLook)
	}
	return c
}

// TestReceiptsInAnotherForm: a receipt in another case or with blanks is the same transaction: no second
// charge, and no other one's decline.
func TestReceiptsInAnotherForm(t *testing.T) {
	made, _, _, _, _ := planned(t)
	with := func(receipt, status, code string) map[string]any {
		return map[string]any{
			"receiptNumber": receipt, "status": status, "summaryCode": code, "responseCode": "54",
			"metadata": map[string]any{"intentId": made.ID}, "paymentReferenceNumber": made.Reference,
		}
	}
	var s shelf // twice in one list
	s.show("R-1", with("R-1", "Approved", "0"), made.Reference)
	s.show("r-1", with("r-1", "Approved", "0"), made.Reference)
	assert.Equal(t, resolve.StatusSettled, pursued(t, &s, resolve.Begin(made, time.Now()), nil).Status)

	s = shelf{} // in another form at each look-up
	end := pursued(t, &s, resolve.Begin(made, time.Now()), func(look int) {
		s = shelf{}
		s.show("R-1", with([]string{"R-1", "r-1", " R-1"}[look%3], "Approved", "0"), made.Reference)
	})
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, quickstream.OutcomeApproved, end.Outcome)

	s = shelf{} // the decline of the receipt that the answer showed
	s.show("R-1", with("r-1", "Declined", "1"), made.Reference)
	answered := made
	answered.ReceiptNumber, answered.Attempts = "R-1", 2
	end = pursued(t, &s, resolve.Begin(answered, time.Now()), nil)
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, quickstream.OutcomeDeclined, end.Outcome)
	assert.Len(t, end.Lookups, 1)
	assert.Equal(t, 1, end.Lookups[0].Count, "at once")
	assert.False(t, strings.Contains(end.Seen.ReceiptNumber, " "))
}

// TestReadTransactionsNameTheirEnvironment: the case of a transaction that was read is refused by another
// environment's client as well.
func TestReadTransactionsNameTheirEnvironment(t *testing.T) {
	var s shelf
	s.show("R-1", map[string]any{"status": "Pending"})
	tx, err := clientOf(t, s.RoundTrip).Transactions.Get(t.Context(), "R-1")
	require.NoError(t, err)
	assert.Equal(t, "api.invalid", tx.Intent().Environment)
}
