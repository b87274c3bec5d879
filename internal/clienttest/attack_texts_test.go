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
