package clienttest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

const mebibyte = 1 << 20

// neverApproved sees that a body is neither the answer to a read nor to a payment, nor an item of a
// list, nor what a merchant has stored.
func neverApproved(t *testing.T, name, body string) {
	t.Helper()
	client := clientOf(t, says(200, body), quickstream.WithMaxAttempts(1))
	_, err := client.Transactions.Get(t.Context(), "1")
	assert.Equal(t, decoding, ending(err), "%s: %v", name, err)
	_, err = client.Transactions.Pay(t.Context(), payment())
	require.Equal(t, unknown, ending(err), name)
	lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
	assert.LessOrEqual(t, len(lost.ReceiptNumber), 255)
	item, err := clientOf(t, says(200, `{"data":[`+body+`]}`)).Transactions.ByReference("REF").First(t.Context())
	require.ErrorIs(t, err, quickstream.ErrUnreadableItem, name)
	assert.Nil(t, item)
	var stored quickstream.Transaction
	require.Error(t, json.Unmarshal([]byte(body), &stored), name)
	assert.Equal(t, quickstream.OutcomeUnknown, outcomeOf(&stored), name)
}

// TestAttack35Duplicates: a decline names what decides a second time. One body that says two
// things says nothing, whichever comes last.
func TestAttack35Duplicates(t *testing.T) {
	for _, body := range []string{
		`{"receiptNumber":"1","status":"Approved","summaryCode":"1","summaryCode":"0"}`,
		`{"receiptNumber":"1","status":"Approved","summaryCode":"0","summaryCode":"1"}`,
		`{"receiptNumber":"1","status":"Approved","summaryCode":"1","summary\u0043ode":"0"}`,
		`{"receiptNumber":"1","status":"Declined","summaryCode":"0","status":"Approved"}`,
		`{"receiptNumber":"1","status":"Approved","summaryCode":"0","status":null}`,
		`{"receiptNumber":"1","receiptNumber":"1","status":"Approved","summaryCode":"0"}`,
		`{"receiptNumber":"1","status":"Approved","summaryCode":"0","principalAmount":{"amount":1,"amount":1000}}`,
	} {
		neverApproved(t, body, body)
	}
	var tx quickstream.Transaction
	require.NoError(t, json.Unmarshal([]byte(`{"receiptNumber":"1","metadata":{"Colour":"a","colour":"b"}}`), &tx), "the merchant's own names")
	assert.Equal(t, map[string]string{"Colour": "a", "colour": "b"}, tx.Metadata)
}

// neverRead sees that no body is taken for an object of the service: neither as an answer nor as
// what a merchant has stored.
func neverRead(t *testing.T, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		for _, m := range models(t) {
			model, err := m.read(body)
			assert.Error(t, err, "%s: %q", m.of, body)
			assert.Nil(t, model, "%s: %q", m.of, body)
		}
		for _, empty := range storedModels(t) {
			model := empty()
			assert.Error(t, json.Unmarshal([]byte(body), model), "%T: %q", model, body)
			assert.Error(t, model.UnmarshalJSON([]byte(body)), "%T: %q", model, body)
			assert.Nil(t, model.Raw(), "%T: %q", model, body)
		}
		tx, err := clientOf(t, says(201, body)).Transactions.Pay(t.Context(), payment())
		assert.Equal(t, unknown, ending(err), "%q", body)
		assert.Nil(t, tx)
	}
}

// TestAttack36OtherCase: a decline has a second member whose name is the summary code's in
// another case, or with a letter that folds. It is never an approval.
func TestAttack36OtherCase(t *testing.T) {
	for _, name := range []string{"SUMMARYCODE", "SummaryCode", "summarycode", "\u017fummaryCode", `\u017fummaryCode`, `SUMMARY\u0043ODE`} {
		for _, body := range []string{
			`{"receiptNumber":"1","status":"Approved","summaryCode":"1","` + name + `":"0"}`,
			`{"receiptNumber":"1","status":"Approved","` + name + `":"0","summaryCode":"1"}`,
			`{"receiptNumber":"1","status":"Approved","` + name + `":"0"}`,
		} {
			neverApproved(t, body, body)
		}
	}
	neverApproved(t, "a long s in status", "{\"receiptNumber\":\"1\",\"statu\u017f\":\"Approved\",\"summaryCode\":\"0\"}")
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

// TestAttack37NoObject: the answer to a payment is null, a list, empty, or a page of a
// gateway. None is an object of the service, and a zero value is never approved.
func TestAttack37NoObject(t *testing.T) {
	neverRead(t, ``, ` `, `null`, `[]`, `[{}]`, `""`, `"text"`, `0`, `true`, `{`, `<html>`, `{"data":[]`)
	var holder struct{ Tx quickstream.Transaction }
	require.Error(t, json.Unmarshal([]byte(`{"Tx":null}`), &holder))
	assert.Equal(t, quickstream.OutcomeUnknown, outcomeOf(&holder.Tx))
}

// TestAttack38SecondValue: something follows the answer, such as another one that was
// smuggled into the connection. The answer counts for nothing.
func TestAttack38SecondValue(t *testing.T) {
	const first, second = `{"receiptNumber":"1","status":"Approved","summaryCode":"0"}`, `{"receiptNumber":"1","status":"Declined","summaryCode":"1"}`
	neverRead(t, `{}{}`, `{} {}`, `{}x`, `{}]`, "{}\x00", first+second, first+"\n"+second, first+"null", first+"\x00")
}

// TestAttack39Encoding: the answer begins with a byte order mark, is UTF-16, or has texts
// that are no UTF-8. What decides is never a repaired text.
func TestAttack39Encoding(t *testing.T) {
	const good = `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`
	utf16 := "\xff\xfe"
	for _, c := range good {
		utf16 += string(c) + "\x00"
	}
	neverRead(t, "\ufeff{}", "\ufeff"+good, utf16, "\xff"+good)
	for _, bad := range []string{
		"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", `\ud800`, `\udbff`, `\udc00`, `\udfff`, `\udc00\ud800`,
	} {
		for _, text := range []string{"R-1", "Approved"} {
			neverApproved(t, bad, strings.Replace(good, text, text+bad, 1))
		}
	}
	neverApproved(t, "in metadata", strings.Replace(good, "}", ",\"metadata\":{\"a\":\"\xff\"}}", 1))
	// A member's name is not repaired into another.
	for _, half := range []string{`\ud800`, `\udc00`} {
		tx, err := clientOf(t, says(200, `{"receiptNumber":"R-1","status":"Approved","summaryCode":"1","summaryCode`+half+`":"0"}`)).Transactions.Get(t.Context(), "R-1")
		require.NoError(t, err)
		assert.Equal(t, quickstream.OutcomeUnknown, outcomeOf(tx), "%s: it is a member that nobody knows", half)
	}
}

// TestAttack40Depth: the answer nests to the limit and beyond. It costs no more than its
// length, and what is too deep cannot be read.
func TestAttack40Depth(t *testing.T) {
	for depth, ok := range map[int]bool{9_000: true, 10_001: false, 2_000_000: false} {
		for _, nest := range [][2]string{{"[", "]"}, {`{"a":`, "}"}} {
			inner := strings.Repeat(nest[0], depth) + "1" + strings.Repeat(nest[1], depth)
			body := `{"receiptNumber":"R-1","new":` + inner + `,"metadata":{"a":` + inner + `}}`
			client := clientOf(t, says(200, body), quickstream.WithMaxAttempts(1))
			var tx *quickstream.Transaction
			var err error
			allocated := allocatedBy(func() { tx, err = client.Transactions.Get(t.Context(), "R-1") })
			assert.Equal(t, ok, err == nil, "%d: %v", depth, err)
			assert.Less(t, allocated, uint64(8*len(body)+mebibyte), depth)
			if ok {
				assert.Len(t, tx.Metadata["a"], len(inner))
				assert.Len(t, tx.Extra()["new"], len(inner))
			}
		}
	}
}

// TestAttack42WrongTypes: what decides has another type. A read fails, and a write is unknown
// with the receipt number if it can be read; a number in a text's place is its digits.
func TestAttack42WrongTypes(t *testing.T) {
	for body, receipt := range map[string]string{
		`{"receiptNumber":"R-1","summaryCode":{}}`:                "R-1",
		`{"receiptNumber":"R-1","totalAmount":{"amount":"free"}}`: "R-1",
		`{"receiptNumber":17,"summaryCode":true}`:                 "17",
		`{"receiptNumber":17.5}`:                                  "",
		`{"receiptNumber":1e5}`:                                   "",
		`{"receiptNumber":17,"receiptNumber":"17"}`:               "17",
		`{"receiptNumber":"R-1","receiptNumber":"R-1"}`:           "R-1",
		`{"receiptNumber":"R-1","receiptNumber":"R-2"}`:           "",
		`{"receiptNumber":"R-1"`:                                  "R-1",
		`{"receiptNumber":"R-1 x"}}`:                              "",
		`{"receiptNumber":96807`:                                  "",
		`{"receiptNumber":96807,`:                                 "96807",
		`{"receiptNumber":"96807`:                                 "",
		`{"originalReceiptNumber":"R-0"}`:                         "",
		`{"new":{"receiptNumber":"R-0"},"status":"Appr`:           "",
		`{"new":[{"a":1}],"receiptNumber":"R-1","status":"Appr`:   "R-1",
		`{"status":"Approved","summaryCode":"0"}`:                 "",
		`null`: "", `[]`: "", `{}`: "", ``: "", `<html>OK</html>`: "",
	} {
		client := clientOf(t, says(200, body))
		_, err := client.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
		assert.Equal(t, decoding, ending(err), body)
		_, err = client.Transactions.Pay(t.Context(), payment())
		require.Equal(t, unknown, ending(err), body)
		lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
		assert.Equal(t, receipt, lost.ReceiptNumber, body)
		assert.Equal(t, receipt, lost.Intent.ReceiptNumber, body)
	}
	tx, err := clientOf(t, says(200, `{"receiptNumber":17,"status":"Approved","summaryCode":0}`)).Transactions.Get(t.Context(), "17")
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(tx))
}

// TestAttack42UnknownValues: a status or a code of tomorrow, or one that is made up, decides
// nothing and survives being stored.
func TestAttack42UnknownValues(t *testing.T) {
	for _, status := range []string{"Refunded", "APPROVED", "Approved ", "0", "\u0410pproved"} {
		for _, code := range []string{"0", "4", "00", "-0", "0.0", "\uff10"} {
			body := fmt.Sprintf(`{"receiptNumber":"1","status":%q,"summaryCode":%q,"responseCode":"9Z","transactionType":"NEW","creditCard":{"cardScheme":"NEW"}}`, status, code)
			tx, err := clientOf(t, says(200, body)).Transactions.Get(t.Context(), "1")
			require.NoError(t, err, body)
			assert.Equal(t, quickstream.OutcomeUnknown, outcomeOf(tx), body)
			stored, err := json.Marshal(tx)
			require.NoError(t, err)
			assert.JSONEq(t, body, string(stored))
		}
	}
}

// TestAttack43Receipts: an identifier in an answer is a megabyte, a path, or several lines.
// It is none: nobody stores it, and it gets into no request.
func TestAttack43Receipts(t *testing.T) {
	const good = `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`
	bad := map[string]string{"a MiB of digits": strings.Replace(good, `"R-1"`, strings.Repeat("1", 1<<20), 1)}
	for name, id := range map[string]string{
		"a MiB": strings.Repeat("1", 1<<20), "256": strings.Repeat("1", 256), "a path": "../void", "dots": "..", "a query": "R-1?x=1", "a fragment": "R#1", "escaped": "R%2f1",
		"a line break": `R-1\n`, "blanks": "  ", "beyond ASCII": "R-\u00e91", "a backslash": `R\\1`, "a parameter": "R;1",
	} {
		bad[name] = strings.Replace(good, "R-1", id, 1)
		bad["original "+name] = strings.Replace(good, "}", `,"originalReceiptNumber":"`+id+`"}`, 1)
		bad["token "+name] = strings.Replace(good, "}", `,"creditCard":{"accountToken":"`+id+`"}}`, 1)
		bad["agreement "+name] = strings.Replace(good, "}", `,"payToData":{"agreementToken":"`+id+`"}}`, 1)
	}
	for name, body := range bad {
		neverApproved(t, name, body)
	}
	for _, id := range []string{"R 1", strings.Repeat("x", 255), "a:b@c", "...", "R+1=2&3"} {
		tx, err := clientOf(t, says(200, strings.Replace(good, "R-1", id, 1))).Transactions.Get(t.Context(), id)
		require.NoError(t, err, id)
		assert.Equal(t, id, tx.ReceiptNumber)
	}
}
