//go:build !race

// Not with the race detector, under which more is held.

package clienttest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/heaptest"
)

const (
	successCap = 8 << 20
	errorCap   = 1 << 20
	errorJSON  = 256 << 10
)

// TestAttackRow01Memory: whatever the service answers, no more than eight times what is read
// of a body is held, and what came of the answer is bounded too.
func TestAttackRow01Memory(t *testing.T) {
	type client = quickstream.Client
	drain := func(list quickstream.List[quickstream.Transaction]) (err error) {
		for _, pageErr := range list.Pages(t.Context()) {
			err = pageErr
		}
		return err
	}
	look := func(c *client) error { return drain(c.Transactions.ByReference("REF-1")) }
	get := func(c *client) error {
		tx, err := c.Transactions.Get(t.Context(), "R-1")
		if err == nil {
			_ = tx.Extra()
		}
		return err
	}
	pay := func(c *client) error { _, err := c.Transactions.Pay(t.Context(), payment()); return err }
	do := func(c *client) error {
		return c.Do(t.Context(), quickstream.Request{Method: "GET", Route: "/notes"}, new(any))
	}
	rich := `{"receiptNumber":"1","creditCard":{},"bankAccount":{},"nzBankAccount":{},"directEntryAccount":{},"nzDirectEntryAccount":{},"merchantAccount":{},` +
		`"payToData":{},"payToPayerAccount":{},"payToPayeeAccount":{},"metadata":{"a":""},"principalAmount":1,"totalAmount":1,"surchargeAmount":1},`
	for _, c := range []struct {
		name                   string
		call                   func(*client) error
		before, element, after string
	}{
		{"items without a member", look, `{"data":[`, `{},`, `]}`},
		{"items with a receipt", look, `{"data":[`, `{"receiptNumber":"1"},`, `]}`},
		{"items of small objects", look, `{"data":[`, rich, `]}`},
		{"links without a member", look, `{"data":[],"links":[`, `{},`, `]}`},
		{"links with a member", look, `{"data":[],"links":[`, `{"rel":"a"},`, `]}`},
		{"links of items", look, `{"data":[`, `{"receiptNumber":"1","links":[` + strings.Repeat(`{},`, 99) + `{}]},`, `]}`},
		{"lists of links", look, `{"data":[`, `{"receiptNumber":"1","links":[` + strings.Repeat(`{},`, 4999) + `{}]},`, `]}`},
		{"members nobody knows of a page", look, `{"data":[],"new":[`, `{"a":1},`, `]}`},
		{"links of an object", get, `{"receiptNumber":"R-1","links":[`, `{},`, `]}`},
		{"addresses of an object", get, `{"receiptNumber":"R-1","links":[`, `{"href":"a"},`, `]}`},
		{"metadata of one name", get, `{"receiptNumber":"R-1","metadata":{"a":[`, `1,`, `]}}`},
		{"members nobody knows", get, `{"receiptNumber":"R-1","new":[`, `{"a":{}},`, `]}`},
		{"a text", get, `{"receiptNumber":"R-1","responseDescription":"`, `x`, `"}`},
		{"an escaped text", get, `{"receiptNumber":"R-1","responseDescription":"`, `\u00e9`, `"}`},
		{"a receipt", get, `{"receiptNumber":"`, `1`, `"}`},
		{"a payment's links", pay, `{"receiptNumber":"R-1","links":[`, `{},`, `]}`},
		{"a payment's receipt", pay, `{"summaryCode":{},"receiptNumber":"`, `1`, `"}`},
		{"any objects", do, `[`, `{"a":1},`, `]`},
		{"any lists", do, `[`, `[1],`, `]`},
		{"any nulls", do, `[`, `null,`, `]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			attackMemory(t, 200, heaptest.Full(successCap, c.before, c.element, c.after), c.call)
		})
	}
	// As much as is accepted, in a body that is as long as it may be.
	accepted := func(n int, before, element, after string) string {
		padding := strings.Repeat("x", (successCap-len(before)-len(after)-n*(len(element)+1))/n)
		return before + strings.TrimSuffix(strings.Repeat(strings.Replace(element, "~", padding, 1)+",", n), ",") + after
	}
	nested := func(lists, n int, element string) string {
		list := "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
		return strings.TrimSuffix(strings.Repeat(list+",", lists), ",")
	}
	padded := func(body string) string {
		return strings.Replace(body, "~", strings.Repeat("x", successCap-len(body)), 1)
	}
	for name, c := range map[string]struct {
		call func(*client) error
		body string
	}{
		"items":            {look, accepted(4_999, `{"data":[`, rich[:len(rich)-2]+`,"responseDescription":"~"}`, `]}`)},
		"items of texts":   {look, accepted(4_999, `{"data":[`, `{"receiptNumber":"1","new":"~"}`, `]}`)},
		"links of items":   {look, accepted(14, `{"data":[`, `{"receiptNumber":"1","responseDescription":"~","links":`+nested(1, 5_000, `{"rel":"a"}`)+`}`, `]}`)},
		"links":            {look, padded(`{"data":[],"links":` + nested(1, 4_999, `{"href":"a"}`) + `,"new":"~"}`)},
		"links of one":     {get, padded(`{"receiptNumber":"R-1","links":` + nested(1, 4_999, `{"href":"a"}`) + `,"responseDescription":"~"}`)},
		"metadata":         {get, padded(`{"receiptNumber":"R-1","metadata":{` + heaptest.Members(149_000, `""`) + `"m":"~"}}`)},
		"unknown names":    {get, padded(`{"receiptNumber":"R-1",` + heaptest.Members(149_000, `1`) + `"m":"~"}`)},
		"unknown values":   {get, padded(`{"receiptNumber":"R-1","new":[` + nested(14, 5_000, `{"a":1}`) + `],"m":"~"}`)},
		"any names":        {do, padded(`{` + heaptest.Members(149_000, `[]`) + `"m":"~"}`)},
		"any objects":      {do, padded(`{"m":"~","new":[` + nested(14, 5_000, `{"a":1}`) + `]}`)},
		"any inner lists":  {do, padded(`{"m":"~","new":[` + nested(4_900, 28, `[]`) + `]}`)},
		"a payment's text": {pay, padded(`{"receiptNumber":"R-1","metadata":{` + heaptest.Members(149_000, `""`) + `"m":"~"},"summaryCode":{}}`)},
	} {
		t.Run("accepted "+name, func(t *testing.T) { attackMemory(t, 200, c.body, c.call) })
	}
	for _, c := range [][3]string{
		{`{"errors":[`, `{},`, `]}`},
		{`{"errors":[`, `"x",`, `]}`},
		{`{"errors":[`, `{"fieldName":"a"},`, `]}`},
		{`[`, `{"fieldName":"a","messages":["b"]},`, `]`},
		{`{"errors":[{"fieldName":"a","messages":[`, `"b",`, `]}]}`},
		{`{"new":[`, `[[]],`, `]}`},
		{`{"new":[`, `{"a":{}},`, `]}`},
		{`{"customerMessage":"`, `\u00e9`, `"}`},
		{`{"customerMessage":"`, `/?`, `"}`},
		{`{"developerMessage":"`, `1 `, `"}`},
		{`<html>`, `?a `, ``},
		{`<html>`, `12345 `, ``},
	} {
		t.Run(c[0]+c[1], func(t *testing.T) { attackMemory(t, 422, heaptest.Full(errorCap, c[0], c[1], c[2]), pay) })
	}
	for _, c := range []string{
		`{"errors":{` + heaptest.Members(2_400, `["x"]`) + `"m":["~"]}}`,
		`{"errors":[` + nested(1, 2_000, `{"fieldName":"a"}`) + `],"customerMessage":"~"}`,
		`{"new":[` + nested(1, 2_000, `{"a":{}}`) + `],"customerMessage":"~"}`,
		`{` + heaptest.Members(4_900, `1`) + `"m":"~"}`,
	} {
		t.Run("accepted "+c[:12], func(t *testing.T) {
			attackMemory(t, 422, strings.Replace(c, "~", strings.Repeat("/?", (errorJSON-len(c))/2), 1), pay)
		})
	}
}

func attackMemory(t *testing.T, status int, body string, call func(*quickstream.Client) error) {
	t.Helper()
	limit := int64(successCap)
	if status != 200 {
		limit = errorCap
	}
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}, nil
	}, quickstream.WithMaxAttempts(1))
	var err error
	begun := time.Now()
	peak := heaptest.Peak(func() { err = call(client) })
	t.Logf("%6.1f MiB, %3.1f times, %s: %v", float64(peak)/mebibyte, float64(peak)/float64(limit), time.Since(begun).Round(time.Millisecond), err)
	assert.LessOrEqual(t, peak, 8*limit)
}
