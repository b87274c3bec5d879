package clienttest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAttack31MetadataNames: names of metadata hold quotes, dots, names of our own, or no
// UTF-8. They arrive as what they are and are nothing else's, or nothing is sent.
func TestAttack31MetadataNames(t *testing.T) {
	pay := func(metadata map[string]string) (string, error) {
		return sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
			params := payment()
			params.Metadata = metadata
			return second(c.Transactions.Pay(t.Context(), params, opts...))
		})
	}
	odd := map[string]string{
		"": "empty", `a"b`: "quote", `a","summaryCode":"0`: "members", "a.b": "dot", "a\nb": "line", "\x00": "NUL", "é\u202e": "bidi", "\ufffd": "sign", `\ufffd`: "backslash",
		"__proto__": "object", "constructor": "function", "principalAmount": "1", "metadata": "{}", "Colour": "1", "colour": "2", strings.Repeat("n", 10_000): "long",
	}
	body, err := pay(odd)
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	var sent struct {
		PrincipalAmount json.Number
		Metadata        map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &sent))
	assert.Equal(t, "10.50", sent.PrincipalAmount.String())
	delete(sent.Metadata, "intentId")
	assert.Equal(t, odd, sent.Metadata)

	for _, bad := range []map[string]string{{"\xff": "a"}, {"a": "\xff"}, {"a": "\xed\xa0\x80"}, {"intentId": "another's"}} {
		_, err := pay(bad)
		assert.ErrorIs(t, err, errNothingSent, "%q", bad)
	}
}

// TestAttack34ChangedWhileSending: the caller goes on changing what he has passed in while a
// retry is under way. All attempts send what the first sent, and the intent holds it. The
// race detector watches.
func TestAttack34ChangedWhileSending(t *testing.T) {
	pay, limit := payment(), int64(1)
	pay.Metadata = map[string]string{"order": "1"}
	agree := validArguments("")[reflect.TypeFor[quickstream.CreateAgreementParams]()].(quickstream.CreateAgreementParams)
	agree.Terms.PaymentAmount, agree.Terms.NumberOfPaymentsPermitted = new(decimal.New(10, 0)), &limit
	change := func(n int64) {
		pay.Metadata["order"], pay.StoredCredential.EntryMode = fmt.Sprint(n), quickstream.EntryMode(fmt.Sprint(n))
		*agree.Terms.PaymentAmount, limit = decimal.New(n, 0), n
	}
	for name, call := range map[string]func(context.Context, *quickstream.Client) error{
		"payment": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.Transactions.Pay(ctx, pay))
		},
		"agreement": func(ctx context.Context, c *quickstream.Client) error {
			return second(c.PayTo.Create(ctx, "C-1", agree))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var bodies []string
			ended, changed := make(chan struct{}), make(chan struct{})
			client := clientOf(t, func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if bodies = append(bodies, string(body)); len(bodies) == 1 {
					go func() {
						defer close(changed)
						for n := int64(200); ; n++ {
							select {
							case <-ended:
								return
							case <-time.After(time.Millisecond):
								change(n)
							}
						}
					}()
				}
				return nil, cmp.Or(err, io.EOF)
			})
			err := call(t.Context(), client)
			close(ended)
			<-changed
			require.Equal(t, unknown, ending(err), name)
			lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
			assert.Len(t, bodies, map[string]int{"payment": 3, "agreement": 1}[name])
			for _, again := range bodies[1:] {
				assert.Equal(t, bodies[0], again, name)
			}
			for _, member := range []string{`"order":"1"`, `"entryMode":"MANUAL"`, `"paymentAmount":"10.00"`, `"numberOfPaymentsPermitted":1`} {
				assert.Equal(t, strings.Contains(bodies[0], member), strings.Contains(string(lost.Intent.Request), member), "%s: %s", name, member)
			}
		})
	}
}
