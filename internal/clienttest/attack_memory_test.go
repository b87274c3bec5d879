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

// memoryCalls are calls whose answers the tests below make, by the name that a seed has.
func memoryCalls(t *testing.T) map[string]func(*quickstream.Client) error {
	ctx := t.Context()
	return map[string]func(*quickstream.Client) error{
		"list": func(c *quickstream.Client) (err error) {
			for _, pageErr := range c.Transactions.ByReference("REF-1").Pages(ctx) {
				err = pageErr
			}
			return err
		},
		"get": func(c *quickstream.Client) error {
			tx, err := c.Transactions.Get(ctx, "R-1")
			if err == nil {
				_ = tx.Extra()
			}
			return err
		},
		"pay": func(c *quickstream.Client) error { return second(c.Transactions.Pay(ctx, payment())) },
		"do": func(c *quickstream.Client) error {
			return c.Do(ctx, quickstream.Request{Method: "GET", Route: "/notes"}, new(any))
		},
	}
}

// rich is an item with all members that are pointers.
const rich = `{"receiptNumber":"1","creditCard":{},"bankAccount":{},"nzBankAccount":{},"directEntryAccount":{},"nzDirectEntryAccount":{},"merchantAccount":{},` +
	`"payToData":{},"payToPayerAccount":{},"payToPayeeAccount":{},"metadata":{"a":""},"principalAmount":1,"totalAmount":1,"surchargeAmount":1},`

// FuzzMemory: whatever bytes an answer repeats until it has the largest size, no more than eight
// times what is read of it is held. An error is the answer to a payment.
func FuzzMemory(f *testing.F) {
	for _, c := range [][4]string{
		{"list", `{"data":[`, `{},`, `]}`},                                        // items without a member
		{"list", `{"data":[`, `{"receiptNumber":"1"},`, `]}`},                     // items with a receipt
		{"list", `{"data":[`, rich, `]}`},                                         // items of small objects
		{"list", `{"data":[],"links":[`, `{"rel":"a"},`, `]}`},                    // links with a member
		{"list", `{"data":[],"new":[`, `{"a":1},`, `]}`},                          // members nobody knows of a page
		{"get", `{"receiptNumber":"R-1","links":[`, `{},`, `]}`},                  // links of an object
		{"get", `{"receiptNumber":"R-1","metadata":{"a":[`, `1,`, `]}}`},          // metadata of one name
		{"get", `{"receiptNumber":"R-1","new":[`, `{"a":{}},`, `]}`},              // members nobody knows
		{"get", `{"receiptNumber":"R-1","responseDescription":"`, `x`, `"}`},      // a text
		{"get", `{"receiptNumber":"R-1","responseDescription":"`, `\u00e9`, `"}`}, // an escaped text
		{"get", `{"receiptNumber":"`, `1`, `"}`},                                  // a receipt
		{"pay", `{"summaryCode":{},"receiptNumber":"`, `1`, `"}`},                 // a payment's receipt
		{"do", `[`, `{"a":1},`, `]`},                                              // any objects
		{"get", `{"receiptNumber":"R-1","responseDescription":"`, "\xff", `"}`},   // a text that is not UTF-8
		{"pay", `{"receiptNumber":"`, "\xff", `"}`},                               // a receipt that is not UTF-8
		{"pay", `{"receiptNumber":"R-1","`, "\xffa", `":1}`},                      // a name that is not UTF-8
		{"error", `{"errors":[`, `"x",`, `]}`},
		{"error", `[`, `{"fieldName":"a","messages":["b"]},`, `]`},
		{"error", `{"errors":[{"fieldName":"a","messages":[`, `"b",`, `]}]}`},
		{"error", `{"new":[`, `{"a":{}},`, `]}`},
		{"error", `{"customerMessage":"`, `\u00e9`, `"}`},
		{"error", `<html>`, "\xff", ``},
	} {
		f.Add(c[0], c[1], c[2], c[3])
	}
	f.Fuzz(func(t *testing.T, kind, before, element, after string) {
		call, status, length := memoryCalls(t)[kind], 200, successCap
		if kind == "error" {
			call, status, length = memoryCalls(t)["pay"], 422, errorCap
		}
		if call == nil || element == "" || len(before)+len(element)+len(after) > length {
			return
		}
		attackMemory(t, status, heaptest.Full(length, before, element, after), call)
	})
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
	peak := heaptest.Least(8*limit, func() { err = call(client) })
	t.Logf("%6.1f MiB, %3.1f times, %s: %v", float64(peak)/mebibyte, float64(peak)/float64(limit), time.Since(begun).Round(time.Millisecond), err)
	assert.LessOrEqual(t, peak, 8*limit)
}
