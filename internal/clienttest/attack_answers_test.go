package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	assert.Equal(t, quickstream.OutcomeUnknown, stored.Outcome(), name)
}

// TestAttack37NoObject: the answer is null, a list, empty, or a page of a gateway; something
// follows it, such as another one that was smuggled into the connection; or it begins with a
// byte order mark, or is UTF-16. None is an object of the service, and a zero value is never
// approved.
func TestAttack37NoObject(t *testing.T) {
	const first, second = `{"receiptNumber":"1","status":"Approved","summaryCode":"0"}`, `{"receiptNumber":"1","status":"Declined","summaryCode":"1"}`
	utf16 := "\xff\xfe"
	for _, c := range first {
		utf16 += string(c) + "\x00"
	}
	for _, body := range []string{
		``, ` `, `null`, `nul`, `[]`, `[{}]`, `""`, `"text"`, `0`, `true`, `{`, `<html>`, `{"data":[]`,
		`{}{}`, `{} {}`, `{}x`, `{}]`, "{}\x00", first + second, first + "\n" + second, first + "null", first + "\x00",
		"\ufeff{}", "\ufeff" + first, utf16, "\xff" + first,
	} {
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
	var holder struct{ Tx quickstream.Transaction }
	require.Error(t, json.Unmarshal([]byte(`{"Tx":null}`), &holder))
	assert.Equal(t, quickstream.OutcomeUnknown, holder.Tx.Outcome())
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

// TestAttackListsForEver: pages lead to each other for ever, under an address that changes every time.
// The loop ends with its context. That no address is read twice is seen where pages are read ahead.
func TestAttackListsForEver(t *testing.T) {
	asked := 0
	ctx, cancel := context.WithCancel(t.Context())
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		if asked++; asked == 50 {
			cancel()
		}
		return answer(200, pageOf(fmt.Sprintf("?page=%d&n=%d", asked%2, asked), fmt.Sprint(asked%2))), nil
	})
	var last error
	for _, err := range client.Customers.List(quickstream.ListCustomersParams{}).Pages(ctx) {
		last = err
	}
	require.ErrorIs(t, last, context.Canceled)
	assert.Equal(t, 50, asked)
}
