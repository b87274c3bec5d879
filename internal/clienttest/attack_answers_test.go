package clienttest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAttackRow05WhatDecides: what decides has its exact name, and is text where it is one. The
// identifiers are those of TestAttack43Receipts.
func TestAttackRow05WhatDecides(t *testing.T) {
	const good = `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`
	tx, err := clientOf(t, says(200, good)).Transactions.Get(t.Context(), "R-1")
	require.NoError(t, err)
	require.Equal(t, quickstream.OutcomeApproved, outcomeOf(tx))
	bad := map[string]string{
		"a long s in summaryCode": strings.Replace(good, "summaryCode", "\u017fummaryCode", 1),
		"the same, escaped":       strings.Replace(good, "summaryCode", `\u017fummaryCode`, 1),
		"a long s in status":      strings.Replace(good, "status", "statu\u017f", 1),
		"upper case":              strings.Replace(good, "summaryCode", "SUMMARYCODE", 1),
		"invalid UTF-8":           strings.Replace(good, "Approved", "Approved\xff", 1),
		"half a surrogate":        strings.Replace(good, "Approved", `Approved\ud800`, 1),
		"in a receipt":            strings.Replace(good, "R-1", "R-1\xc3", 1),
		"in metadata":             strings.Replace(good, "}", ",\"metadata\":{\"a\":\"\xff\"}}", 1),
	}
	for name, body := range bad {
		neverApproved(t, name, body)
	}
	var naive struct{ Status, SummaryCode string }
	require.NoError(t, json.Unmarshal([]byte(bad["a long s in summaryCode"]), &naive))
	assert.Equal(t, "0", naive.SummaryCode, "encoding/json takes it for an approval")
	require.NoError(t, json.Unmarshal([]byte(bad["invalid UTF-8"]), &naive))
	assert.Equal(t, "Approved\ufffd", naive.Status, "and changes what is not text")
}

// TestAttackRow05NamesInAnyValue: Do, which decodes as encoding/json does, does not let a name
// through that only folds to the member's.
func TestAttackRow05NamesInAnyValue(t *testing.T) {
	for _, name := range []string{"\u017ftatus", `\u017ftatus`, "statu\u017f", "\u212aind"} {
		got := struct{ Status, Kind string }{"before", "before"}
		err := clientOf(t, says(200, `{"`+name+`":"x"}`), quickstream.WithMaxAttempts(1)).
			Do(t.Context(), quickstream.Request{Method: "GET", Route: "/notes"}, &got)
		assert.Equal(t, decoding, ending(err), name)
		assert.Equal(t, "before", got.Status)
		naive := got
		require.NoError(t, json.Unmarshal([]byte(`{"`+name+`":"x"}`), &naive))
		assert.NotEqual(t, got, naive, "encoding/json takes it for the member")
	}
}
