package clienttest_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

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
	paid := &quickstream.Transaction{
		ReceiptNumber: "R-1", Refundable: true, PayToData: &quickstream.PayToData{},
		PrincipalAmount: &quickstream.Amount{Amount: decimal.New(10, 0)}, SurchargeAmount: &quickstream.Amount{Amount: decimal.New(1, 0)},
	}
	for _, amount := range huge {
		for _, without := range [][]string{nil, {"transaction.principalAmount.decimals", "transaction.principalAmount.positive", "refund.principalAmount.payment", "refund.principalAmount.payTo", "threeDS.principalAmount.money", "agreement.paymentAmount.money"}} {
			option, opts := quickstream.WithoutRule(without...), []error{}
			allocated := allocatedBy(func() {
				pay := payment()
				pay.PrincipalAmount = amount
				_, err := client.Transactions.Pay(t.Context(), pay, option)
				opts = append(opts, err)
				_, err = client.Transactions.Refund(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: "R-1", Original: paid, PrincipalAmount: amount, Currency: "AUD"}, option)
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
			assert.Less(t, allocated, uint64(mebibyte))
		}
	}
	for _, number := range []string{`1e9999`, `1e10000000`, `"1e9999"`, `1e-9999`, `1e33`, strings.Repeat("9", 33), `0.` + strings.Repeat("0", 1<<20)} {
		body := `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0","totalAmount":{"amount":` + number + `}}`
		_, err := clientOf(t, says(200, body), quickstream.WithMaxAttempts(1)).Transactions.Get(t.Context(), "R-1")
		assert.Equal(t, decoding, ending(err), "%.20s", number)
	}
}

func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestAttackRow11ExtraFields: an extra member cannot be read as one that was checked.
func TestAttackRow11ExtraFields(t *testing.T) {
	sent := ""
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		sent = string(body)
		return answer(200, approvedBody), err
	})
	for _, name := range []string{
		"PRINCIPALAMOUNT", "PrincipalAmount", "principalamount", "tran\u017factionType", "CREDITCARD.cvn", "creditCard.CVN", "creditcard.new", "creditCard.cardHolderName", "creditCard.WalletProvider", "threeds2", "metaData.x", "principalAmount",
	} {
		_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithExtraField(name, 1))
		assert.ErrorIs(t, err, quickstream.ErrNotSent, name)
		assert.Empty(t, sent, name)
	}
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithExtraField("new", 1), quickstream.WithExtraField("NEW", 2))
	assert.ErrorIs(t, err, quickstream.ErrNotSent, "nor as each other")
	err = client.Do(t.Context(), quickstream.Request{Method: "POST", Route: "/notes", Body: map[string]int{"a": 1}}, nil, quickstream.WithExtraField("A", 2))
	assert.ErrorIs(t, err, quickstream.ErrNotSent)
	assert.Empty(t, sent)
	_, err = client.Transactions.Pay(t.Context(), payment(), quickstream.WithExtraField("creditCard.new", 1), quickstream.WithExtraField("newObject.NEW", 1))
	require.NoError(t, err)
	assert.Contains(t, sent, `"new":1`)
}
