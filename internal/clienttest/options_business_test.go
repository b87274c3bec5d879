package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestWithSupplierBusinessCode fills in every request that has a business and was given
// none, and nothing else.
func TestWithSupplierBusinessCode(t *testing.T) {
	var sent *http.Request
	var body []byte
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		sent = r
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		return answer(422, errorBody), nil
	}, quickstream.WithSupplierBusinessCode("DEFAULT-1"))
	filled := map[string]bool{}
	for _, op := range operations() {
		for of, value := range validArguments("ID-1") {
			params := reflect.New(of).Elem()
			params.Set(reflect.ValueOf(value))
			has := false
			if of.Kind() == reflect.Struct {
				if field := params.FieldByName("SupplierBusinessCode"); field.IsValid() {
					has = field.Kind() == reflect.String
					field.SetZero()
				}
			}
			sent, body = nil, nil
			if _, err := op.callWith(t.Context(), client, "ID-1", params); errors.Is(err, errNotTaken) || sent == nil {
				continue
			}
			assert.Equal(t, has && sent.Method == http.MethodPost, strings.Contains(string(body), `"supplierBusinessCode":"DEFAULT-1"`), op.name)
			assert.NotContains(t, sent.URL.String(), "DEFAULT-1", op.name)
			if has && sent.Method == http.MethodPost {
				filled[op.name] = true
			}
		}
	}
	assert.Equal(t, map[string]bool{
		"Transactions.Pay": true, "Transactions.Preauthorise": true, "Transactions.VerifyAccount": true,
		"PayTo.Create": true, "SingleUseTokens.Create": true, "Customers.Create": true,
	}, filled)
	for _, refused := range []string{"", "A B", "é"} {
		_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithSupplierBusinessCode(refused))
		assert.Error(t, err)
	}
}

// TestWithSupplierBusinessCodeInIntents: what was planned keeps its business, and the
// nearest name counts: the parameters', the call's, the client's.
func TestWithSupplierBusinessCodeInIntents(t *testing.T) {
	client := clientOf(t, says(422, errorBody), quickstream.WithSupplierBusinessCode("CLIENT"))
	params := bankDebit("")
	business := func(params quickstream.PayParams, opts ...quickstream.CallOption) string {
		var intent quickstream.Intent
		_, err := client.Transactions.Pay(t.Context(), params, append(opts, quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error {
			intent = i
			return nil
		}))...)
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		var request struct{ SupplierBusinessCode string }
		require.NoError(t, json.Unmarshal(intent.Request, &request))
		return request.SupplierBusinessCode
	}
	assert.Equal(t, "CLIENT", business(params))
	assert.Equal(t, "CALL", business(params, quickstream.WithSupplierBusinessCode("CALL")))
	assert.Equal(t, "OWN", business(bankDebit("OWN"), quickstream.WithSupplierBusinessCode("CALL")))
	assert.Empty(t, params.SupplierBusinessCode)

	params.Source = quickstream.FromAccount("A-1")
	intent, err := client.Transactions.Plan(t.Context(), params)
	require.NoError(t, err)
	assert.Contains(t, string(intent.Request), `"supplierBusinessCode":"CLIENT"`)
	var body []byte
	worker := clientOf(t, func(r *http.Request) (*http.Response, error) {
		body, _ = io.ReadAll(r.Body)
		return answer(422, errorBody), nil
	}, quickstream.WithSupplierBusinessCode("WORKER"))
	_, err = worker.Transactions.Submit(t.Context(), intent, func(context.Context) error { return nil })
	require.ErrorIs(t, err, quickstream.ErrInvalid)
	assert.JSONEq(t, string(intent.Request), string(body))

	// The agreement that a payment brings along is for the payment's business.
	params = bankDebit("OWN")
	agreement := quickstream.PayToPaymentWithAgreement{
		Purpose: quickstream.PayToPurposeRetail, Description: "Order 1", Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: "P-1", Name: "Ann Example", BSB: "032999", AccountNumber: quickstream.NewSecret("999994"),
		},
	}
	for own, want := range map[string]string{"": "OWN", "SHOP": "SHOP"} {
		agreement.SupplierBusinessCode = own
		params.Source = quickstream.FromPayToWithAgreement(agreement)
		_, err = worker.Transactions.Pay(t.Context(), params)
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Contains(t, string(body), `"payToAgreement":{"supplierBusinessCode":"`+want+`"`)
	}
}

// bankDebit is a payment from a bank account.
func bankDebit(business string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: business, PrincipalAmount: decimal.RequireFromString("10.50"), Currency: quickstream.CurrencyAUD,
		Source: quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032999", AccountNumber: quickstream.NewSecret("999994")}),
	}
}
