package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAttackLookalikes: a status has a Cyrillic letter, a full-width one, or one that is not
// seen. Whatever a person reads, nobody knows the outcome.
func TestAttackLookalikes(t *testing.T) {
	for status, code := range map[string]string{
		"\u0410pproved": "0", "Approv\u0435d": "0", "\uff21pproved": "0", "Approved\u200b": "0", "Approved\u00a0": "0", "\u202eApproved": "0", "De\u0441lined": "1", "Declined\u200d": "1",
		"Approved": "\uff10", "Approved*": "\u0660", "Declined": "\u0661", "Voided": "O",
	} {
		body := fmt.Sprintf(`{"receiptNumber":"R-1","status":%q,"summaryCode":%q}`, status, code)
		tx, err := clientOf(t, says(200, body)).Transactions.Get(t.Context(), "R-1")
		require.NoError(t, err)
		outcome, err := tx.Outcome()
		assert.Equal(t, quickstream.OutcomeUnknown, outcome, "%q %q", status, code)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		_, err = quickstream.RequireApproved(tx, nil)
		require.Error(t, err)
		assert.NotContains(t, err.Error(), status)
	}
}

// TestAttackHugeNumbers: a number with a huge exponent stands where there is no money. It
// costs nothing, and hides no payment unless it decides.
func TestAttackHugeNumbers(t *testing.T) {
	for _, number := range []string{"1e999999999", "-1e999999999", "1e-999999999", "1E+400", strings.Repeat("9", 1<<16), "0." + strings.Repeat("0", 1<<16) + "1"} {
		agreement := `{"agreementToken":"A-1","status":"ACTIVE","paymentTerms":{"pointInTime":` + number + `,"numberOfPaymentsPermitted":` + number + `}}`
		payment := `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0","transactionTime":` + number + `,"settlementDate":` + number + `,"refundable":` + number +
			`,"responseDescription":` + number + `,"links":` + number + `,"new":` + number + `,"metadata":{"a":` + number + `}}`
		allocated := allocatedBy(func() {
			tx, err := clientOf(t, says(200, payment)).Transactions.Get(t.Context(), "R-1")
			require.NoError(t, err, "%.20s", number)
			assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(tx))
			assert.True(t, tx.TransactionTime.IsZero() && tx.SettlementDate.IsZero() && !tx.Refundable)
			assert.Equal(t, number, tx.Metadata["a"])
			terms, err := clientOf(t, says(200, agreement)).PayTo.Get(t.Context(), "A-1")
			require.NoError(t, err)
			assert.Nil(t, terms.PaymentTerms.PointInTime)
			for _, decides := range []string{"status", "summaryCode", "receiptNumber"} {
				_, err := clientOf(t, says(200, strings.Replace(payment, `"`+decides+`":`, `"`+decides+`":`+number+`,"old":`, 1)), quickstream.WithMaxAttempts(1)).Transactions.Get(t.Context(), "R-1")
				if strings.ContainsAny(number, ".eE") || decides == "receiptNumber" {
					assert.Equal(t, decoding, ending(err), "%s %.20s", decides, number)
				}
			}
			err = clientOf(t, says(200, `{"a":`+number+`}`), quickstream.WithMaxAttempts(1)).Do(t.Context(), quickstream.Request{Method: "GET", Route: "/notes"}, new(map[string]float64))
			assert.Equal(t, strings.HasPrefix(number, "0.") || strings.HasPrefix(number, "1e-"), err == nil, "%.20s: %v", number, err)
		})
		assert.Less(t, allocated, uint64(16*mebibyte), "%.20s", number)
	}
}

// TestAttackMetadataOfAnswers: metadata has the names of members that decide, of other
// languages' objects, and none. It stays metadata, and is stored as it came.
func TestAttackMetadataOfAnswers(t *testing.T) {
	const metadata = `{"":"empty","__proto__":"{}","constructor":"f","receiptNumber":"R-2","status":"Approved","summaryCode":"0","totalAmount":"0","metadata":"m","a.b":"c"}`
	const body = `{"receiptNumber":"R-1","status":"Declined","summaryCode":"1","metadata":` + metadata + `}`
	tx, err := clientOf(t, says(200, body)).Transactions.Get(t.Context(), "R-1")
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeDeclined, outcomeOf(tx))
	assert.Empty(t, tx.Extra())
	stored, err := json.Marshal(tx)
	require.NoError(t, err)
	assert.JSONEq(t, body, string(stored))
	assert.Len(t, tx.Metadata, 9)
}

// TestAttackTwoAnswersInOne: a decline holds an approval, in the member that an answer may
// stand in, or in one that nobody knows. What stands outside counts, or nothing does.
func TestAttackTwoAnswersInOne(t *testing.T) {
	const approved, decline = `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`, `"receiptNumber":"R-1","status":"Declined","summaryCode":"1"`
	for _, name := range []string{"data", "transaction", "creditCard", "metadata", "links", "DATA"} {
		tx, err := clientOf(t, says(200, `{`+decline+`,"`+name+`":`+approved+`}`)).Transactions.Get(t.Context(), "R-1")
		if err == nil {
			assert.Equal(t, quickstream.OutcomeDeclined, outcomeOf(tx), name)
		}
	}
	for _, body := range []string{
		`{"status":"Declined","summaryCode":"1","transaction":` + approved + `}`, `{"data":{"data":` + approved + `}}`, `{"data":[` + approved + `]}`, `[` + approved + `]`,
		`{"data":` + approved + `,"data":{` + decline + `}}`, `{"data":` + approved + `,"DATA":{` + decline + `}}`, `{"receiptNumber":"","Data":` + approved + `}`,
	} {
		_, err := clientOf(t, says(201, body)).Transactions.Pay(t.Context(), payment())
		assert.Equal(t, unknown, ending(err), body)
	}
}

// TestAttackDigitsOfAmounts: an amount in an answer has forty digits, or differs from the one
// that was sent where a float has no more digits. It is no answer to the payment.
func TestAttackDigitsOfAmounts(t *testing.T) {
	const sent, almost = "100000000000000001.01", "100000000000000001.02"
	pay := payment()
	pay.PrincipalAmount = decimal.RequireFromString(sent)
	body := `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0","principalAmount":{"currency":"AUD","amount":~}}`
	for amount, want := range map[string]string{
		sent: succeeds, `"` + sent + `"`: succeeds, almost: unknown, "1e17": unknown, strings.Repeat("9", 40): unknown, sent + strings.Repeat("0", 40): unknown, `"1,0"`: unknown,
		"-" + sent: unknown,
	} {
		_, err := clientOf(t, says(201, strings.Replace(body, "~", amount, 1))).Transactions.Pay(t.Context(), pay)
		assert.Equal(t, want, ending(err), amount)
	}
}

// TestAttackBidiInMessages: a message turns what is read around, or hides a part of it, in
// the words that go to a log or to a customer. What is shown has no such characters.
func TestAttackBidiInMessages(t *testing.T) {
	const hidden = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u200d\u2060\ufeff\u00ad\U000e0041\u2028\u2029\u0085\x1b"
	escaped, err := json.Marshal("not " + hidden + "paid")
	require.NoError(t, err)
	text := string(escaped)
	_, err = clientOf(t, says(422, `{"customerMessage":`+text+`,"developerMessage":`+text+`,"traceCode":`+text+`,"errors":[{"fieldName":`+text+`,"messages":[`+text+`]}]}`)).
		Transactions.Pay(t.Context(), payment())
	api, ok := errors.AsType[*quickstream.APIError](err)
	require.True(t, ok)
	for _, shown := range []string{
		api.CustomerMessage(), api.DeveloperMessage(), api.TraceCode, api.Fields()[0].FieldName, api.Fields()[0].Messages[0],
		err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%q", api.Fields()),
	} {
		assert.Equal(t, -1, strings.IndexFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", shown)
	}
	assert.Contains(t, api.CustomerMessage(), "paid")
}

// TestAttackListsForEver: the next page is the page itself, or two pages lead to each other for
// ever. Each is read once. Where the address changes every time the loop ends with its
// context, and Page.Shifted tells that the items are old ones.
func TestAttackListsForEver(t *testing.T) {
	for _, back := range []int{0, 1, 2} {
		asked := 0
		loop := pageOf(fmt.Sprintf("%s/customers?page=%d", baseURL, back), "3")
		client := clientOf(t, pages(&asked, pageOf(baseURL+"/customers?page=1", "1"), pageOf(baseURL+"/customers?page=2", "2"), loop))
		_, err := read(t.Context(), client.Customers.List(quickstream.ListCustomersParams{}))
		assert.Equal(t, decoding, ending(err), "%v", err)
		assert.LessOrEqual(t, asked, 6)
	}
	asked, shifted := 0, 0
	ctx, cancel := context.WithCancel(t.Context())
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		if asked++; asked == 50 {
			cancel()
		}
		return answer(200, pageOf(fmt.Sprintf("?page=%d&n=%d", asked%2, asked), fmt.Sprint(asked%2))), nil
	})
	var last error
	for page, err := range client.Customers.List(quickstream.ListCustomersParams{}).Pages(ctx) {
		if last = err; err == nil && page.Shifted {
			shifted++
		}
	}
	require.ErrorIs(t, last, context.Canceled)
	assert.Equal(t, []int{50, 48}, []int{asked, shifted})
}

// TestAttackDateHeader: a gateway's Date is years off, so that an earlier payment of the same
// order seems to be the lost one. No clock is that wrong, and it says nothing. One of the
// service that is hours off shifts its times and its Date alike.
func TestAttackDateHeader(t *testing.T) {
	for _, off := range []time.Duration{-time.Hour, -31 * time.Second, 31 * time.Second, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			own, bare := sent(t, "ORDER-1", quickstream.WithIntentMetadata(""))
			bare["transactionTime"] = time.Now().Add(off).Format(time.RFC3339)
			answered := lookedUp([][]object{{bare}})
			client := clientOf(t, func(r *http.Request) (*http.Response, error) {
				resp, err := answered(r)
				resp.Header.Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
				return resp, err
			})
			<-time.After(time.Minute)
			_, err := client.Transactions.Resume(t.Context(), own)
			require.NoError(t, err, off)
		})
	}
	for _, date := range []string{"Thu, 01 Jan 1970 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "soon", ""} {
		for _, earlier := range []time.Duration{0, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				own, bare := sent(t, "ORDER-1", quickstream.WithIntentMetadata(""))
				bare["transactionTime"] = time.Now().Add(-earlier).Format(time.RFC3339)
				answered := lookedUp([][]object{{bare}})
				client := clientOf(t, func(r *http.Request) (*http.Response, error) {
					resp, err := answered(r)
					resp.Header.Set("Date", date)
					return resp, err
				})
				tx, err := client.Transactions.Resume(t.Context(), own)
				if earlier == 0 {
					require.NoError(t, err, date)
					return
				}
				assert.Len(t, still(t, tx, err).Candidates, 1, "%s: an earlier payment is not this one", date)
			})
		}
	}
}
