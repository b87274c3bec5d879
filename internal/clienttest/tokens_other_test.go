package clienttest_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

func otherToken(kind quickstream.AccountType, members map[string]any) quickstream.CreateSingleUseTokenParams {
	return quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: quickstream.OtherAccount(kind, members)}
}

// TestTokenOfAnyKind: the members are sent as they were given, whatever becomes of the map later, and
// the answer may name the account below a wallet or a payer.
func TestTokenOfAnyKind(t *testing.T) {
	for answered, test := range map[string]struct {
		kind    quickstream.AccountType
		members map[string]any
		body    string
	}{
		"CREDIT_CARD":  {quickstream.AccountTypeApplePay, map[string]any{"applePayToken": json.RawMessage(`{"data":"x","n":1.50}`)}, `"accountType":"APPLE_PAY","applePayToken":{"data":"x","n":1.50}`},
		"GOOGLE_PAY":   {quickstream.AccountTypeGooglePay, map[string]any{"googlePayToken": quickstream.NewSecret(callCard)}, `"accountType":"GOOGLE_PAY","googlePayToken":"` + callCard + `"`},
		"DIRECT_DEBIT": {"PAYER", map[string]any{"accountName": "Ann", "accountNumber": quickstream.NewSecret("999994"), "bsb": "032-002"}, `"accountName":"Ann","accountNumber":"999994","accountType":"PAYER","bsb":"032-002"`},
		"NEW":          {quickstream.AccountTypePayTo, nil, `"accountType":"PAYTO"`},
	} {
		var sent string
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			sent = string(body)
			return answer(200, `{"singleUseTokenId":"T-1","accountType":"`+answered+`"}`), err
		})
		params := otherToken(test.kind, test.members)
		for name := range test.members {
			test.members[name] = "another"
		}
		token, err := client.SingleUseTokens.Create(t.Context(), params, quickstream.WithExtraField("new", true))
		require.NoError(t, err, answered)
		assert.Equal(t, "T-1", token.SingleUseTokenID)
		assert.JSONEq(t, `{"supplierBusinessCode":"SHOP","new":true,`+test.body+`}`, sent)
	}
}

// TestTokenOfAnyKindRefuses what would contradict itself, and a kind whose details are checked.
func TestTokenOfAnyKindRefuses(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) { t.Error("sent"); return answer(200, "{}"), nil })
	for _, kind := range []quickstream.AccountType{"", quickstream.AccountTypeCreditCard, quickstream.AccountTypeDirectDebit, quickstream.AccountTypeDirectDebitNZ} {
		_, err := client.SingleUseTokens.Create(t.Context(), otherToken(kind, nil))
		require.ErrorIs(t, err, quickstream.ErrInvalid, kind)
	}
	for _, members := range []map[string]any{
		{"accountType": callHandle}, {"AccountType": callHandle}, {"supplierBusinessCode": callHandle}, {"x": make(chan int)}, {"x": json.RawMessage(callCard + "x")}, {"x": "\xff" + callCard},
	} {
		_, err := client.SingleUseTokens.Create(t.Context(), otherToken("NEW", members))
		require.ErrorIs(t, err, quickstream.ErrNotSent, "%v", members)
		for ; err != nil; err = errors.Unwrap(err) {
			assert.Empty(t, secretIn(err.Error()))
		}
	}
}
