package clienttest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAttackRow03NewKeyInAnError: what the route of the keys answers is in no error.
func TestAttackRow03NewKeyInAnError(t *testing.T) {
	const key = "CANARY_SECRET_KEY"
	for body, status := range map[string]int{
		`{"keyName":"k","key":{"secret":"` + key + `"}}`: 200, `{"key":"` + key + `","key":"` + key + `"}`: 200, `<b>` + key + `</b>`: 200, `{"key":"` + key: 200,
		`{"customerMessage":"c","key":"` + key + `"}`: 500, `{"issued":["` + key + `"]}`: 404,
	} {
		for name, call := range map[string]func(*quickstream.Client) error{
			"Renew": func(c *quickstream.Client) error { _, err := c.APIKeys.Renew(t.Context()); return err },
			"Do": func(c *quickstream.Client) error {
				return c.Do(t.Context(), quickstream.Request{Method: "GET", Route: "/API-keys/latest"}, new(int))
			},
			"Do with an element": func(c *quickstream.Client) error {
				return c.Do(t.Context(), quickstream.Request{Method: "GET", Route: "/{x}/latest", Path: []string{"api-keys"}}, new(int))
			},
		} {
			err := call(clientOf(t, says(status, body), quickstream.WithMaxAttempts(1)))
			require.Error(t, err, name)
			raw, ok := err.(interface{ RawBody() []byte })
			require.True(t, ok, "%s: %T", name, err)
			assert.Empty(t, raw.RawBody(), name)
			assert.NotContains(t, fmt.Sprintf("%+v %#v %v", err, err, errors.Unwrap(err)), key)
		}
	}
	_, err := clientOf(t, says(404, `{"issued":["`+key+`"]}`)).Customers.Get(t.Context(), "1")
	assert.Contains(t, string(err.(interface{ RawBody() []byte }).RawBody()), key, "elsewhere the body is kept")
}

// TestAttackRow06TextsOfTheService: what is printed of an answer is bounded, of one line, without
// characters that turn or hide what is read around them, and no card number.
func TestAttackRow06TextsOfTheService(t *testing.T) {
	const card = "4111111111111111"
	var many strings.Builder
	for i := range 2_000 {
		fmt.Fprintf(&many, `{"fieldName":"field%d\n","messages":["%s","b","c"]},`, i, strings.Repeat("x", 50))
	}
	hidden, err := json.Marshal("not \u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u200d\u2060\ufeff\u00ad\U000e0041\u2028\u2029\u0085\x1bpaid")
	require.NoError(t, err)
	all := strings.ReplaceAll(`{"customerMessage":~,"developerMessage":~,"traceCode":~,"errors":[{"fieldName":~,"messages":[~]}]}`, "~", string(hidden))
	bodies := []string{all, `{"traceCode":"a\nb\u202e\u0000"}`, `{"customerMessage":"` + strings.Repeat("long ", 20_000) + `","traceCode":"` + strings.Repeat("t", 5_000) + `"}`, `{"errors":[` + strings.TrimSuffix(many.String(), ",") + `]}`}
	for _, number := range []string{card, "4111 1111 1111 1111", "4111-1111-1111-1111", `4111\u00a01111\u20131111 1111`, "4111.1111.1111.1111", "411111111111", "6304000000000000000", `\uff14111111111111111`, "x" + card + "y", `41111111\n11111111`} {
		bodies = append(bodies, `{"customerMessage":"no `+number+`","developerMessage":"`+number+`","traceCode":"`+number+`","errors":[{"fieldName":"`+number+`","messages":["`+number+`"]}]}`,
			`{"errors":{"`+number+`":"`+number+`"}}`, `["`+number+`"]`)
	}
	hasCard := func(text string) bool {
		digits := 0
		for _, r := range text {
			if unicode.IsDigit(r) {
				digits++
			}
		}
		return digits >= 12
	}
	for _, body := range bodies {
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Value.Kind() == slog.KindDuration {
				return slog.Attr{}
			}
			return a
		}}))
		_, err := clientOf(t, says(422, body), quickstream.WithLogger(logger)).Transactions.Pay(t.Context(), payment())
		api := answerIn(err)
		require.NotNil(t, api)
		assert.LessOrEqual(t, len(api.Fields()), 10)
		texts := []string{api.CustomerMessage(), api.DeveloperMessage(), api.TraceCode}
		assert.Equal(t, body == all, strings.Contains(api.CustomerMessage(), "paid"))
		for _, field := range api.Fields() {
			assert.LessOrEqual(t, len(field.Messages), 10)
			texts = append(append(texts, field.FieldName), field.Messages...)
		}
		for _, text := range append(texts, err.Error(), fmt.Sprintf("%+v", err)) {
			assert.LessOrEqual(t, len(text), 2<<10, "%.80s", body)
			assert.Equal(t, -1, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", text)
			assert.False(t, hasCard(strings.ReplaceAll(text, "422", "")), "%.80s: %q", body, text)
		}
		for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
			assert.False(t, hasCard(line), line)
			assert.Less(t, len(line), 1<<10)
		}
	}
	for _, rel := range []string{`next\nERROR a line of its own`, card, strings.Repeat("r", 100_000), `self\u202e\u0000`} {
		root, err := clientOf(t, says(200, `{"links":[{"rel":"`+rel+`","requestMethod":"`+rel+`","href":"https://api.invalid/`+strings.Repeat("h", 9_000)+`"}]}`)).Root(t.Context())
		require.NoError(t, err)
		stored, err := json.Marshal(root.Links)
		require.NoError(t, err)
		for _, text := range []string{fmt.Sprint(root.Links), fmt.Sprintf("%+v", root.Links[0]), string(stored), root.Links[0].RequestMethod} {
			assert.Less(t, len(text), 300)
			assert.NotContains(t, text, card)
			assert.Equal(t, -1, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", text)
		}
	}
}

// TestAttackRow11Echoes: whatever repeats what was sent, a body that is kept does not.
func TestAttackRow11Echoes(t *testing.T) {
	echoes := map[string]string{
		"rejectedValue": `{"errors":[{"field":"creditCard.cvn","rejectedValue":"9137","code":"Size"}]}`, "value": `{"value":{"cvn":"9137"}}`, "invalid_value": `{"x":[{"invalid_value":9137}]}`,
		"the request":     `{"request":{"creditCard":{"cardNumber":"4111111111111111","cvn":"9137"},"bankAccount":{"accountNumber":"999994"}}}`,
		"a card":          `{"message":"bad input 4111-1111-1111-1111 given"}`,
		"a number":        `{"input":4111111111111111}`,
		"a name":          `{"4111111111111111":"is no field"}`,
		"form":            `<form><input name="cardNumber" value="4111111111111111"><input name=cvn value=9137></form>`,
		"pre":             `<h1>Blocked</h1><pre>{"creditCard":{"cvn":"9137"}}</pre>`,
		"HTML":            `<h1>Blocked</h1>4111 1111 1111 1111 was refused`,
		"an address":      `<p>GET /rest/v1/transactions/for-bank-account?bsb=032999&amp;accountNumber=999994</p>`,
		"an account":      `<p>999994</p>`,
		"a PayID":         `no such payer: canary-payid@example.com`,
		"a header":        `<p>Authorization: Basic Q0FOQVJZX1NFQ1JFVF9LRVk6</p>`,
		"a header's end":  `Basic Q0FOQVJZX1NFQ1JFVF9LRVk6`,
		"a broken body":   `{"errors":[{"rejectedValue":"9137`,
		"a broken number": strings.Repeat("x ", 8191) + `4111111111111111`,
		"the contract's":  errorBody, "its beginning": errorBody[:110], "and more": errorBody + "}",
		"a long one":     strings.Replace(errorBody, `"errors":[`, `"padding":"`+strings.Repeat("x", 1<<20-100)+`","errors":[`, 1),
		"a value within": `{"a":[{"FieldValue":{"b":"4111111111111111"}}]}`,
	}
	canaries := []string{"4111", "9137", "999994", "canary-payid", "Q0FOQVJZ"}
	for name, body := range echoes {
		for _, status := range []int{200, 422, 500} {
			if status == 200 && json.Valid([]byte(body)) {
				continue // a success in JSON is kept as it is
			}
			_, err := clientOf(t, says(status, body), quickstream.WithMaxAttempts(1)).Transactions.Get(t.Context(), "R-1")
			kept := string(err.(interface{ RawBody() []byte }).RawBody())
			for _, canary := range canaries {
				assert.NotContains(t, kept, canary, "%s: %d", name, status)
			}
			assert.LessOrEqual(t, len(kept), 1<<20, "%s: %d", name, status)
		}
	}
	_, err := clientOf(t, says(403, `<html><title>Blocked by the gateway</title></html>`)).Transactions.Get(t.Context(), "R-1")
	assert.Equal(t, `<html><title>Blocked by the gateway</title></html>`, string(err.(interface{ RawBody() []byte }).RawBody()), "what says who has answered is kept")
	assert.Nil(t, new(quickstream.APIError).RawBody())
	assert.Nil(t, new(quickstream.DecodeError).RawBody())
}

// TestAttackEchoAsFieldName: a service repeats a value of the request as the name of a field. Errors
// do not show it. A name that the request holds as a name stays.
func TestAttackEchoAsFieldName(t *testing.T) {
	for name, kept := range map[string]bool{
		callKey: false, "x." + callKey: false, callRef: false, "metadata." + callRef + "[0]": false, callHeader: false, "X-" + callHeader: false,
		"TOKEN-0123456789": false, "accountToken.TOKEN-0123456789": false, "WORDS-of-metadata": false,
		"principalAmount": true, "paymentReferenceNumber": true, "metadata.orderNumber": true, "creditCard.cardNumber": true, "accountToken": true,
	} {
		params := payment()
		params.PaymentReferenceNumber, params.Source = callRef, quickstream.FromAccount("TOKEN-0123456789")
		params.Metadata = map[string]string{"orderNumber": "WORDS-of-metadata"}
		body, err := json.Marshal(map[string]any{"customerMessage": "no", "errors": []any{map[string]any{"fieldName": name, "messages": []string{"is not valid"}}}})
		require.NoError(t, err)
		_, err = clientOf(t, says(422, string(body)), quickstream.WithHeader("X-Proxy-Token", callHeader)).
			Transactions.Pay(t.Context(), params, quickstream.WithIdempotencyKey(callKey))
		refused, ok := errors.AsType[*quickstream.APIError](err)
		require.True(t, ok, "%v", err)
		assert.Equal(t, kept, strings.Contains(err.Error(), name), "%v", err)
		require.Len(t, refused.Fields(), 1)
		assert.Equal(t, kept, refused.Fields()[0].FieldName == name, name)
	}
}

// TestAttackEchoAsTraceCode: a service repeats what was sent as the trace code: its key,
// identifier, reference, account number, token, header or a parameter of the address; and its
// key as the name of a field. It is in no error, log and event. A code that only shares some
// characters stays.
func TestAttackEchoAsTraceCode(t *testing.T) {
	pay := func(c *quickstream.Client) error {
		params := payment()
		params.PaymentReferenceNumber = callRef
		params.Source = quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-999", AccountNumber: quickstream.NewSecret(callAccount)})
		return second(c.Transactions.Pay(t.Context(), params, quickstream.WithIdempotencyKey(callKey)))
	}
	get := func(id string) func(c *quickstream.Client) error {
		return func(c *quickstream.Client) error { return second(c.Transactions.Get(t.Context(), id)) }
	}
	list := func(c *quickstream.Client) error {
		return second(c.Transactions.ByBankAccount("032-999", quickstream.NewSecret(callAccount)).First(t.Context()))
	}
	for _, c := range []struct {
		call func(*quickstream.Client) error
		code string
		kept bool
	}{
		{pay, "SECRET_KEY_1", false},
		{pay, callKey, false},
		{pay, callRef, false},
		{pay, callAccount, false},
		{pay, callHeader, false},
		{get(callHandle), callHandle, false},
		{list, callAccount, false},
		{pay, "8a7f-Trace_1", true},
		{get("R-1"), "TRACE-R-12", true},
		{get("1"), "8a7f1", true},
		{get("1"), "1", false},
	} {
		var s observed
		var logged bytes.Buffer
		err := c.call(clientOf(t, says(422, `{"customerMessage":"no","traceCode":"`+c.code+`","errors":[{"fieldName":"x.SECRET_KEY_1","messages":["is not valid"]}]}`), quickstream.WithHeader("X-Proxy-Token", callHeader),
			quickstream.WithObserver(s.observer()), quickstream.WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))))
		refused, ok := errors.AsType[*quickstream.APIError](err)
		require.True(t, ok, "%v", err)
		require.Len(t, s.ends, 1)
		want := ""
		if c.kept {
			want = c.code
		}
		assert.Equal(t, []string{want, want}, []string{refused.TraceCode, s.ends[0].TraceCode}, c.code)
		require.Len(t, refused.Fields(), 1)
		assert.Equal(t, []string{"is not valid"}, refused.Fields()[0].Messages)
		assert.NotContains(t, fmt.Sprintf("%+v %+v", err, refused.Fields()), "SECRET_KEY_1")
		if len(c.code) > 1 {
			assert.Equal(t, c.kept, strings.Contains(err.Error(), c.code), "%v", err)
		}
		assert.Empty(t, secretIn(logged.String()))
	}
}
