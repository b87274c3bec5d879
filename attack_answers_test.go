package quickstream_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAttackRow05WhatDecides: what decides has its exact name, is text where it is one, and
// an identifier where it is that.
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
	for name, id := range map[string]string{
		"a MiB": strings.Repeat("1", 1<<20), "256": strings.Repeat("1", 256), "a path": "../void", "dots": "..", "a query": "R-1?x=1", "a fragment": "R#1", "escaped": "R%2f1",
		"a line break": `R-1\n`, "blanks": "  ", "beyond ASCII": "R-\u00e91", "a backslash": `R\\1`, "a parameter": "R;1",
	} {
		bad[name] = strings.Replace(good, "R-1", id, 1)
		bad["original "+name] = strings.Replace(good, "}", `,"originalReceiptNumber":"`+id+`"}`, 1)
		bad["token "+name] = strings.Replace(good, "}", `,"creditCard":{"accountToken":"`+id+`"}}`, 1)
		bad["agreement "+name] = strings.Replace(good, "}", `,"payToData":{"agreementToken":"`+id+`"}}`, 1)
	}
	bad["a MiB of digits"] = strings.Replace(good, `"R-1"`, strings.Repeat("1", 1<<20), 1)
	for name, body := range bad {
		client := clientOf(t, says(200, body), quickstream.WithMaxAttempts(1))
		_, err := client.Transactions.Get(t.Context(), "R-1")
		assert.Equal(t, decoding, ending(err), "%s: %v", name, err)
		_, err = client.Transactions.Pay(t.Context(), payment())
		require.Equal(t, unknown, ending(err), name)
		lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
		assert.LessOrEqual(t, len(lost.ReceiptNumber), 255)
		item, err := clientOf(t, says(200, `{"data":[`+body+`]}`)).Transactions.ByReference("REF").First(t.Context())
		require.ErrorIs(t, err, quickstream.ErrUnreadableItem, name)
		assert.Nil(t, item)
	}
	for _, id := range []string{"R 1", strings.Repeat("x", 255), "a:b@c", "...", "R+1=2&3"} {
		tx, err := clientOf(t, says(200, strings.Replace(good, "R-1", id, 1))).Transactions.Get(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, id, tx.ReceiptNumber)
	}
	var naive struct{ ReceiptNumber, Status, SummaryCode string }
	require.NoError(t, json.Unmarshal([]byte(bad["a long s in summaryCode"]), &naive))
	assert.Equal(t, "0", naive.SummaryCode, "encoding/json takes it for an approval")
	require.NoError(t, json.Unmarshal([]byte(bad["a MiB"]), &naive))
	assert.Len(t, naive.ReceiptNumber, 1<<20, "and the receipt for one")
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
