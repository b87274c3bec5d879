package clienttest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestRefundOfWhatDoesNotSayWhetherItMay: a member that is left out, or cannot be read,
// refuses nothing, also in a payment that was stored.
func TestRefundOfWhatDoesNotSayWhetherItMay(t *testing.T) {
	for said, refused := range map[string]bool{
		``: false, `,"refundable":null`: false, `,"refundable":"perhaps"`: false, `,"Refundable":false`: false,
		`,"refundable":true`: false, `,"refundable":false`: true,
	} {
		var paid, stored quickstream.Transaction
		require.NoError(t, json.Unmarshal([]byte(`{"receiptNumber":"R-1"`+said+`}`), &paid), said)
		text, err := json.Marshal(paid)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &stored))
		assert.Equal(t, refused, refusesRefund(t, &paid), said)
		assert.False(t, refusesRefund(t, &stored), "false is not stored: %s", said)
	}
	assert.True(t, refusesRefund(t, &quickstream.Transaction{ReceiptNumber: "R-1"}), "its field says so")
}

func refusesRefund(t *testing.T, paid *quickstream.Transaction) bool {
	t.Helper()
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		return answer(http.StatusCreated, `{"receiptNumber":"R-2","status":"Approved","summaryCode":"0","transactionType":"REFUND"}`), nil
	})
	_, err := client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		Original: paid, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
	})
	invalid, ok := errors.AsType[*quickstream.ValidationError](err)
	if !ok {
		require.NoError(t, err)
		return false
	}
	require.Len(t, invalid.Findings, 1)
	assert.Equal(t, "refund.refundable", invalid.Findings[0].Rule)
	return true
}

// TestBSBs: either form of a BSB is sent in the one that the request wants.
func TestBSBs(t *testing.T) {
	for form, opts := range map[string][]quickstream.ClientOption{"dash": nil, "digits": {quickstream.WithPlainBSB()}} {
		testBSBs(t, form, opts...)
	}
}

func testBSBs(t *testing.T, form string, opts ...quickstream.ClientOption) {
	t.Helper()
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.BSBForm, a.LookupLag = form, 0 }))
	t.Cleanup(box.Close)
	client := sandboxtest.Client(t, box, opts...)
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	number := quickstream.NewSecret("123465")
	for _, bsb := range []string{"650-000", "650000"} {
		bank := quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: bsb, AccountNumber: number}
		_, err := client.Transactions.Pay(t.Context(), quickstream.PayParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromBankAccount(bank), PrincipalAmount: decimal.New(100, 0), Currency: quickstream.CurrencyAUD,
		})
		require.NoError(t, err)
		_, err = client.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: bank})
		require.NoError(t, err)
		_, err = client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromBankAccount(bank)})
		require.NoError(t, err)
		_, err = client.Transactions.ByBankAccount(bsb, number).First(t.Context())
		require.NoError(t, err)
		agreement := agreementParams(bsb)
		agreement.Payer.BSB, agreement.Payer.AccountNumber = bsb, number
		agreement.Payer.PayIDType, agreement.Payer.PayID = "", quickstream.Secret{}
		_, err = client.PayTo.Create(t.Context(), customer.CustomerID, agreement)
		require.NoError(t, err)
		payer, _ := lastBody(t, box)["payerDetails"].(map[string]any)
		assert.NotContains(t, payer["bsb"], "-")
	}
}
