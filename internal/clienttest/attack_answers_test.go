package clienttest_test

import (
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
	}
}
