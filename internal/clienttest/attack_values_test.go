package clienttest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestAttack30FileNames: a file's name ends its place in the form, or is a path. Quotes are
// escaped, what is beyond ASCII is sent as it is, and everything else is refused. The
// service keeps the name, so that it cannot be used twice.
func TestAttack30FileNames(t *testing.T) {
	_, client := sandboxtest.New(t)
	for _, name := range []string{`"a" b.csv`, `a";filename="b`, "Löhne 7月.csv", strings.Repeat("a", 300)} {
		recording := clientOf(t, func(r *http.Request) (*http.Response, error) {
			_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
			assert.NoError(t, err)
			form, err := multipart.NewReader(r.Body, params["boundary"]).ReadForm(1 << 20)
			assert.NoError(t, err)
			assert.Equal(t, []string{"file"}, slices.Collect(maps.Keys(form.File)))
			assert.Equal(t, name, form.File["file"][0].Filename)
			return uploadedFile(r), nil
		})
		_, err := recording.PaymentFiles.Upload(t.Context(), upload(name, "x"))
		require.NoError(t, err, name)
		_, err = client.PaymentFiles.Upload(t.Context(), upload(name, "x"))
		require.NoError(t, err, name)
		_, err = client.PaymentFiles.Upload(t.Context(), upload(name, "x"))
		require.ErrorIs(t, err, quickstream.ErrInvalid, name)
	}
	unsent := clientOf(t, func(*http.Request) (*http.Response, error) {
		t.Error("it was sent")
		return answer(422, ""), nil
	})
	const hostile = "a\"\r\nX-Evil: 1\r\nX: \""
	for _, name := range []string{"", ".", "..", "../a.csv", "a/b", `a\b`, "a\nb", "a\rb", "a\x00b", "a\x7f", "a\u0085b", "\xff", hostile} {
		_, err := unsent.PaymentFiles.Upload(t.Context(), upload(name, "x"))
		assert.ErrorIs(t, err, quickstream.ErrInvalid, "%q", name)
	}
}

// TestAttack31MetadataNames: names of metadata hold quotes, dots, names of our own, or no
// UTF-8. They arrive as what they are and are nothing else's, or nothing is sent.
func TestAttack31MetadataNames(t *testing.T) {
	pay := func(metadata map[string]string) (string, error) {
		return sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
			params := payment()
			params.Metadata = metadata
			_, err := c.Transactions.Pay(t.Context(), params, opts...)
			return err
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

// TestAttack32References: a reference has letters that look like others or fold to them, so
// that it finds another order's payment. It is refused.
func TestAttack32References(t *testing.T) {
	for _, reference := range []string{
		"ORDER-\u212a", "\u041eRDER-1", "ORDER-\uff11", "ORDER-1\u200b", "ORDER-\u202e1", "ORDER-1\u00a0", "ORDER-1\x00", "ORDER\n1", "\xff", strings.Repeat("1", 101),
	} {
		for name, set := range map[string]func(*quickstream.PayParams){
			"customer": func(p *quickstream.PayParams) { p.CustomerReferenceNumber = reference },
			"payment":  func(p *quickstream.PayParams) { p.PaymentReferenceNumber = reference },
		} {
			_, err := sentBody(t, func(c *quickstream.Client, opts ...quickstream.CallOption) error {
				params := payment()
				set(&params)
				_, err := c.Transactions.Pay(t.Context(), params, opts...)
				return err
			})
			require.ErrorIs(t, err, errNothingSent, "%s %q", name, reference)
			require.ErrorIs(t, err, quickstream.ErrInvalid)
		}
	}
}

// TestAttack33Money: an amount has a third decimal, no value, a sign, or more digits than 64
// bits. It is sent digit by digit, or it is a finding, and an error when the rule that
// finds it is switched off.
func TestAttack33Money(t *testing.T) {
	for _, text := range []string{"10.505", "0.001", "10.4999999999999999999"} {
		d := decimal.RequireFromString(text)
		for rule, call := range map[string]func(*quickstream.Client, ...quickstream.CallOption) error{
			"transaction.principalAmount.decimals": payAmount(d), "agreement.paymentAmount.money": agreeAmount(d),
		} {
			_, err := sentBody(t, call)
			require.ErrorIs(t, err, errNothingSent)
			invalid, ok := errors.AsType[*quickstream.ValidationError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, rule, invalid.Findings[0].Rule)
			_, err = sentBody(t, call, quickstream.WithoutRule(rule))
			assert.ErrorIs(t, err, errNothingSent)
			assert.ErrorContains(t, err, "more than two decimals")
		}
	}
	for _, text := range []string{"0", "-0", "-1"} {
		_, err := sentBody(t, payAmount(decimal.RequireFromString(text)))
		assert.ErrorIs(t, err, errNothingSent)
	}
	body, err := sentBody(t, payAmount(decimal.RequireFromString("-0")), quickstream.WithoutRule("transaction.principalAmount.positive"))
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	assert.Contains(t, body, `"principalAmount":0.00,`)
	const many = "99999999999999999999.99"
	for want, d := range map[string]decimal.Decimal{many: decimal.RequireFromString(many), "0.30": decimal.New(1, -1).Add(decimal.New(2, -1))} {
		body, err = sentBody(t, payAmount(d))
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Contains(t, body, `"principalAmount":`+want+`,`)
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
			_, err := c.Transactions.Pay(ctx, pay)
			return err
		},
		"agreement": func(ctx context.Context, c *quickstream.Client) error {
			_, err := c.PayTo.Create(ctx, "C-1", agree)
			return err
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
