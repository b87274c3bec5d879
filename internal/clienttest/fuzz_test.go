package clienttest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// valuesOf returns the members of an object by their names, all values of each, as the
// tokens of encoding/json have them; nil for anything else.
func valuesOf(data []byte) map[string][]string {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	members := map[string][]string{}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return nil
		}
		members[name.(string)] = append(members[name.(string)], string(value))
	}
	return members
}

// only returns the text of a member that stands there once, under no other name, as a
// text or as digits.
func only(members map[string][]string, name string) (text string) {
	found := 0
	for other, values := range members {
		if strings.EqualFold(other, name) {
			found += len(values)
		}
	}
	if values := members[name]; found != 1 || len(values) != 1 {
		return ""
	} else if json.Unmarshal([]byte(values[0]), &text) != nil {
		return values[0]
	}
	return text
}

// FuzzTransaction: an answer is an approval only when it says so exactly, once, and of the
// transaction that was asked for.
func FuzzTransaction(f *testing.F) {
	for _, seed := range []string{
		`{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`, `{"receiptNumber":"R-1","status":"Approved*","summaryCode":0}`, `{"data":{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}}`,
		`{"receiptNumber":"R-1","status":"Approved","summaryCode":"1","summaryCode":"0"}`, `{"receiptNumber":"R-1","status":"Approved","summaryCode":"2"}`, `{"receiptNumber":"R-1","status":"Approved"}`,
		`{"receiptNumber":"R-1","\u017ftatus":"Approved","status":"Declined","SUMMARYCODE":"0"}`,
		`{"receiptNumber":"R-1","status":"Declined","summaryCode":"1","responseCode":"34","principalAmount":{"currency":"AUD","amount":1e1}}`,
		`{"receiptNumber":"r-1","status":"Voided","summaryCode":"0","metadata":{"a":"1","A":"2"},"transactionTime":1707312770,"creditCard":{"expiryDateMonth":"0"},"new":[1]}`,
		`{"receiptNumber":"R-1","new":0,"principalAmount":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		tx, err := clientOf(t, says(200, string(body)), quickstream.WithMaxAttempts(1)).Transactions.Get(t.Context(), "R-1")
		if err != nil {
			if tx != nil || errors.Is(err, quickstream.ErrNotFound) {
				t.Fatalf("%v with %v", tx, err)
			}
			return
		}
		members := valuesOf(body)
		if len(members["receiptNumber"]) == 0 || only(members, "receiptNumber") != tx.ReceiptNumber {
			members = valuesOf([]byte(strings.Join(members["data"], "")))
		}
		if !strings.EqualFold(tx.ReceiptNumber, "R-1") || only(members, "receiptNumber") != tx.ReceiptNumber {
			t.Fatalf("%q was taken for R-1", tx.ReceiptNumber)
		}
		status, code := only(members, "status"), only(members, "summaryCode")
		if tx.Outcome() == quickstream.OutcomeApproved && (code != "0" || !strings.HasPrefix(status, "Approved")) {
			t.Fatalf("approved by status %q, summary code %q", status, code)
		}
		again := stored(t, tx)
		if again.Outcome() != tx.Outcome() || again.ReceiptNumber != tx.ReceiptNumber || !maps.Equal(again.Metadata, tx.Metadata) {
			t.Fatalf("%s was stored as something else", body)
		}
	})
}

// stored writes a model, as for a database, and reads it again: the second time it is
// written as it was the first time.
func stored[T any](t *testing.T, object *T) *T {
	t.Helper()
	first, err := json.Marshal(object)
	if err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	again := new(T)
	if err := json.Unmarshal(first, again); err != nil {
		t.Fatalf("what was written cannot be read: %s: %v", first, err)
	}
	second, err := json.Marshal(again)
	if err != nil || !reflect.DeepEqual(decodedTree(t, first), decodedTree(t, second)) { // in any order of members
		t.Fatalf("written as %s, then as %s: %v", first, second, err)
	}
	return again
}

// FuzzPage: whatever a page links to, the client asks for nothing but this list, at its
// own host and with its own query, and links show no query when they are printed or stored.
func FuzzPage(f *testing.F) {
	for _, next := range []string{
		"?page=2", "/rest/v1/customers?page=2", "https://api.invalid/rest/v1/customers?page=2", "https://api.invalid:443/v2/customers?x", "https://evil.invalid/rest/v1/customers?page=2",
		"//u:p@api.invalid/rest/v1/customers?page=2", "/rest/v1/customers/../api-keys/latest?page=2", "customers%2f..%2fapi-keys", "https:api.invalid", "%zz", "",
	} {
		f.Add([]byte(pageOf(next, "1", "2")))
	}
	f.Add([]byte(`{"data":[{},{"customerId":"../1"},null,7],"links":[{"rel":"NEXT","href":"?\u0000"},{"rel":"4111111111111111"},{"href":"?"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var asked []*url.URL
		next := ""
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL)
			if len(asked) > 1 {
				return answer(200, `{"data":[]}`), nil
			}
			return answer(200, string(body)), nil
		}, quickstream.WithMaxAttempts(1))
		for page, err := range client.Customers.List(quickstream.ListCustomersParams{}).Pages(t.Context()) {
			if err != nil {
				break
			}
			for _, customer := range page.Data {
				if customer.CustomerID == "" || strings.ContainsAny(customer.CustomerID, "/?#\x00") {
					t.Fatalf("an item without its identifier: %+v", customer)
				}
			}
			for _, link := range page.Links {
				var stored struct{ Href string }
				text, err := json.Marshal(link)
				if err != nil || json.Unmarshal(text, &stored) != nil || strings.Contains(stored.Href, "?") || strings.ContainsFunc(fmt.Sprint(link), func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Fatalf("a link shows %q: %s, %v", fmt.Sprint(link), text, err)
				}
			}
			if next == "" {
				next = page.Next.Text()
			}
			if cursor := quickstream.ParseCursor(page.Next.Text()); cursor.Text() != page.Next.Text() {
				t.Fatal("the cursor cannot be stored")
			}
		}
		for _, u := range asked {
			if u.Scheme+"://"+u.Host+u.EscapedPath() != baseURL+"/customers" || u.User != nil || u.Fragment != "" || len(u.RawQuery) > 8<<10 {
				t.Fatalf("asked for %s", u)
			}
		}
		followed, err := asked[0].Parse(next)
		if len(asked) > 1 && (err != nil || path.Base(followed.Path) != "customers") || len(asked) > 2 {
			t.Fatalf("%d requests, by the link %q", len(asked), next)
		}
	})
}

// namesField reports whether errors are a list with an object whose field has a name.
func namesField(errs string) bool {
	var items []json.RawMessage
	if json.Unmarshal([]byte(errs), &items) != nil {
		return false
	}
	return slices.ContainsFunc(items, func(item json.RawMessage) bool {
		var name string
		values := valuesOf(item)["fieldName"]
		return len(values) == 1 && json.Unmarshal([]byte(values[0]), &name) == nil && strings.TrimSpace(name) != ""
	})
}

// listsTexts reports whether errors is a list with a text, or has one by a name.
func listsTexts(errs string) bool {
	var list []any
	if json.Unmarshal([]byte(errs), &list) == nil {
		return slices.ContainsFunc(list, func(item any) bool { text, is := item.(string); return is && strings.TrimSpace(text) != "" })
	}
	var byName map[string]any
	return json.Unmarshal([]byte(errs), &byName) == nil && len(byName) > 0
}

// FuzzErrorBody: whatever comes with a status that is no success, a payment is settled
// only in the service's error body, and what is kept of these can be shown.
func FuzzErrorBody(f *testing.F) {
	for _, seed := range []string{
		errorBody, `{"customerMessage":"Closed."}`, `{"traceCode":"4D2C"}`, `{"customerMessage":"a","CustomerMessage":"b"}`, `[{"customerMessage":"a"}]`, `[{`, `<html>4111 1111 1111 1111`, "",
		`{"errors":{"code":429}}`, `{"errors":["text"]}`, `{"errors":[{"fieldName":""}]}`, `{"errors":[{"fieldName":7}]}`, `{"errors":[{"fieldName":"a"}],"errors":[]}`, `{"errors":[{"fieldName":"a"}]}`,
		`{"errors":{"4111111111111111":["a\n","b"]}}`, `{"errors":[{"fieldName":"cvn","rejectedValue":"9137","messages":"m"}],"traceCode":"a\u202e"}`, "{\"developerMessage\":\"\xff\"}",
	} {
		for _, status := range []uint16{400, 401, 403, 404, 409, 422, 429, 500, 502, 503} {
			f.Add(status, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, status uint16, body []byte) {
		code := 300 + int(status)%300
		_, err := clientOf(t, says(code, string(body)), quickstream.WithMaxAttempts(1)).Transactions.Pay(t.Context(), payment())
		api, settles := errors.AsType[*quickstream.APIError](err)
		members := valuesOf(body)
		words := strings.TrimSpace(only(members, "customerMessage")+only(members, "developerMessage")) != "" || namesField(only(members, "errors"))
		switch {
		case err == nil || errors.Is(err, quickstream.ErrNotSent):
			t.Fatalf("%d: %v", code, err)
		case settles && !words && (code != 422 || !listsTexts(only(members, "errors"))):
			t.Fatalf("%d settles a payment without a word of the service", code)
		case settles && code >= 500 && code != 503:
			t.Fatalf("%d settles a payment", code)
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) || len(err.Error()) > 2<<10 {
			t.Fatalf("the error's text is %q", err)
		}
		if !settles {
			return
		}
		texts := []string{api.CustomerMessage(), api.DeveloperMessage(), api.TraceCode}
		for _, field := range api.Fields() {
			texts = append(append(texts, field.FieldName), field.Messages...)
		}
		for _, text := range texts {
			if len(text) > 2<<10 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Fatalf("a text is %q", text)
			}
		}
		if json.Valid(body) && len(api.RawBody()) > 0 && !json.Valid(api.RawBody()) {
			t.Fatalf("of %q the body %q is kept", body, api.RawBody())
		}
	})
}

// FuzzAmount: an amount is refused before anything is sent, or is what the service reads,
// with two decimals.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{"10.50", "0.01", "1e2", "1e-2", "0.001", "-1", "0", "1e9999999", "1E-9999999", "99999999999999999999999999999999", "9223372036854775808", "1.10000000000000000000", "+5", ".5", "٣"} {
		f.Add(seed)
	}
	twoDecimals := regexp.MustCompile(`"principalAmount":([0-9]+\.[0-9]{2}),`)
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := decimal.NewFromString(text)
		if err != nil {
			return
		}
		var sent []byte
		params := payment()
		params.PrincipalAmount = amount
		_, err = clientOf(t, func(r *http.Request) (*http.Response, error) {
			sent, _ = io.ReadAll(r.Body)
			return answer(422, errorBody), nil
		}).Transactions.Pay(t.Context(), params)
		if _, refused := errors.AsType[*quickstream.ValidationError](err); refused {
			if sent != nil {
				t.Fatalf("%s was refused and sent", text)
			}
			return
		}
		written := twoDecimals.FindSubmatch(sent)
		if written == nil || !json.Valid(sent) || len(text) < 100 && !decimal.RequireFromString(string(written[1])).Equal(amount) || amount.IsNegative() {
			t.Fatalf("%s was sent as %s: %v", text, sent, err)
		}
	})
}

// FuzzTimestamp: a time that can be read is written in the service's form, and read from
// that as the same.
func FuzzTimestamp(f *testing.F) {
	for _, seed := range []string{
		"2026-11-20T10:11:12+1100", "2026-11-20T10:11:12.123456789Z", "2026-11-20 10:11+11:00", "2026-04-05T02:30:00", "0000-00-00T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59-2359",
		"2016-12-31T23:59:60Z", "1707312770123", "1707312770.5", "0", "2026-11-20T10:11:12+11", "0001-01-01T00:00", "2026-11-20T10:11:12,5Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var read, again quickstream.Timestamp
		if read.UnmarshalText([]byte(text)) != nil {
			if !read.IsZero() {
				t.Fatalf("%q: %s with an error", text, read)
			}
			return
		}
		written, err := json.Marshal(read)
		if err == nil {
			err = json.Unmarshal(written, &again)
		}
		if err != nil || !again.Equal(read.Time) || again.String() != read.String() {
			t.Fatalf("%q was read as %s, written as %s, and read as %s: %v", text, read, written, again, err)
		}
	})
}

// FuzzDate: a date that can be read is in the calendar, and is written and read as the same.
func FuzzDate(f *testing.F) {
	for _, seed := range []string{"2026-11-20", "20 Nov 2026", "2026-02-29", "2024-02-29T23:59:59Z", "0000-01-01", "0001-01-01", "2026-11", "1 jan 0000", " "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var date, sameDate quickstream.Date
		if err := date.UnmarshalText([]byte(text)); err == nil && text != "" {
			if err := sameDate.UnmarshalText([]byte(date.String())); err != nil || sameDate != date || !date.IsValid() {
				t.Errorf("%q was read as the date %s, and that as %s: %v", text, date, sameDate, err)
			}
		}
	})
}
