package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// sentBody returns what a call sends.
func sentBody(t *testing.T, call func(*quickstream.Client, ...quickstream.CallOption) error, opts ...quickstream.CallOption) (string, error) {
	t.Helper()
	body := ""
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(r.Body)
		body = string(data)
		return answer(422, errorBody), err
	})
	return body, errors.Join(call(client, opts...), func() error {
		if body == "" {
			return errNothingSent
		}
		return nil
	}())
}

var errNothingSent = errors.New("nothing was sent")

func payAmount(d decimal.Decimal) func(*quickstream.Client, ...quickstream.CallOption) error {
	return func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		params := payment()
		params.PrincipalAmount = d
		return second(c.Transactions.Pay(context.Background(), params, opts...))
	}
}

func agreeAmount(d decimal.Decimal) func(*quickstream.Client, ...quickstream.CallOption) error {
	return func(c *quickstream.Client, opts ...quickstream.CallOption) error {
		params := validArguments("")[reflect.TypeFor[quickstream.CreateAgreementParams]()].(quickstream.CreateAgreementParams)
		params.Terms.PaymentAmount = &d
		return second(c.PayTo.Create(context.Background(), "CUSTOMER-1", params, opts...))
	}
}

// TestDecimalsSwitches: transactions carry a number, PayTo a text, both with two
// decimals. decimal has switches that change its JSON for the whole process. Neither requests nor stored models depend on them. A process of its
// own throws each.
func TestDecimalsSwitches(t *testing.T) {
	const variable = "QUICKSTREAM_TEST_SWITCH"
	which, child := os.LookupEnv(variable)
	if !child {
		for _, which := range []string{"none", "quotes", "zeros", "scientific", "all"} {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDecimalsSwitches$", "-test.v")
			cmd.Env = append(os.Environ(), variable+"="+which, "GORACE=atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s: %s", which, out)
			assert.Contains(t, string(out), "checked "+which)
		}
		return
	}
	decimal.MarshalJSONWithoutQuotes, decimal.TrimTrailingZeros, decimal.UseScientificNotation =
		which == "quotes" || which == "all", which != "zeros" && which != "all", which == "scientific" || which == "all"
	for text, want := range map[string]string{
		"1500": "1500.00", "10.5": "10.50", "0.01": "0.01", "10.100": "10.10", "1e3": "1000.00", "15000000.10": "15000000.10", "99999999999999.99": "99999999999999.99",
	} {
		d := decimal.RequireFromString(text)
		body, _ := sentBody(t, payAmount(d))
		assert.Contains(t, body, `"principalAmount":`+want+`,`)
		body, _ = sentBody(t, agreeAmount(d))
		assert.Contains(t, body, `"paymentAmount":"`+want+`"`)
		stored, err := json.Marshal(quickstream.Amount{Currency: "AUD", Amount: d})
		require.NoError(t, err)
		assert.Equal(t, `{"currency":"AUD","amount":`+want+`}`, string(stored))
	}
	var tx quickstream.Transaction
	require.NoError(t, json.Unmarshal([]byte(`{"receiptNumber":"1","totalAmount":{"currency":"AUD","amount":1500.125}}`), &tx))
	stored, err := json.Marshal(tx)
	require.NoError(t, err)
	var again quickstream.Transaction
	require.NoError(t, json.Unmarshal(stored, &again), "%s", stored)
	assert.True(t, again.TotalAmount.Amount.Equal(decimal.New(1500125, -3)), "%s", stored)

	pay := payment()
	pay.PrincipalAmount = decimal.RequireFromString("1500.10")
	var intent quickstream.Intent
	_, err = clientOf(t, says(422, "")).Transactions.Pay(t.Context(), pay, handed(&intent))
	require.Error(t, err)
	assert.Contains(t, string(intent.Request), `"principalAmount":1500.10,`)
	t.Log("checked " + which)
}

// TestAttackRow09Amounts: an amount of millions of digits is refused before anything is
// computed with it.
func TestAttackRow09Amounts(t *testing.T) {
	huge := []decimal.Decimal{
		decimal.New(1, 10_000_000), decimal.New(1, -10_000_000), decimal.New(1, 1<<31-1), decimal.New(-1, -1<<31), decimal.RequireFromString("1e9999"),
		decimal.RequireFromString(strings.Repeat("9", 33)), decimal.RequireFromString("1e33"), decimal.RequireFromString("0." + strings.Repeat("0", 40)),
	}
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		t.Error("it was sent")
		return nil, http.ErrAbortHandler
	})
	for _, amount := range huge {
		for _, without := range [][]string{nil, {"transaction.principalAmount.money", "transaction.principalAmount.positive", "threeDS.principalAmount.money", "agreement.paymentAmount.money"}} {
			option, opts := quickstream.WithoutRule(without...), []error{}
			allocated := allocatedBy(mebibyte, func() {
				pay := payment()
				pay.PrincipalAmount = amount
				_, err := client.Transactions.Pay(t.Context(), pay, option)
				opts = append(opts, err)
				_, err = client.Transactions.Refund(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: "R-1", PrincipalAmount: amount, Currency: "AUD"}, option)
				opts = append(opts, err)
				_, err = client.SingleUseTokens.Authenticate(t.Context(), "T-1", quickstream.AuthenticateParams{
					MessageCategory: quickstream.ThreeDSMessageCategoryStoring, Purpose: quickstream.ThreeDSPurposeAddCard, PrincipalAmount: &amount,
				}, option)
				opts = append(opts, err)
			})
			for _, err := range opts {
				assert.ErrorIs(t, err, quickstream.ErrNotSent)
				assert.Less(t, len(fmt.Sprint(err)), 1<<10)
			}
			assert.LessOrEqual(t, allocated, uint64(mebibyte))
		}
	}
	for _, number := range []string{`1e9999`, `1e10000000`, `"1e9999"`, `1e-9999`, `1e33`, strings.Repeat("9", 33), `0.` + strings.Repeat("0", 1<<20)} {
		body := `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0","totalAmount":{"amount":` + number + `}}`
		_, err := clientOf(t, says(200, body), quickstream.WithMaxAttempts(1)).Transactions.Get(t.Context(), "R-1")
		assert.Equal(t, decoding, ending(err), "%.20s", number)
	}
}

// allocatedBy returns how many bytes f allocates, in the best of some tries: other goroutines, such as
// those of the runtime, may allocate meanwhile. It stops at enough.
func allocatedBy(enough uint64, f func()) uint64 {
	least := uint64(math.MaxUint64)
	for tries := 0; tries < 10 && least > enough; tries++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
