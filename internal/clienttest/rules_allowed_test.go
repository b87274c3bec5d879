package clienttest_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestWhatWasReadMayBeOld: a payment that was not refundable, and an agreement that was pending or has
// terms that a new one could not have, are judged by the service as they are now.
func TestWhatWasReadMayBeOld(t *testing.T) {
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPatch {
			return answer(http.StatusNoContent, ""), nil
		}
		return answer(http.StatusCreated, `{"receiptNumber":"R-2","status":"Approved","summaryCode":"0","transactionType":"REFUND"}`), nil
	})
	var paid quickstream.Transaction
	require.NoError(t, json.Unmarshal([]byte(`{"receiptNumber":"R-1","refundable":false,"voidable":false}`), &paid))
	for _, original := range []*quickstream.Transaction{&paid, {ReceiptNumber: "R-1"}} {
		_, err := client.Transactions.Refund(t.Context(), quickstream.RefundParams{
			Original: original, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
		})
		require.NoError(t, err)
	}
	for _, status := range []string{"CREATED", "REJECTED", "PENDING", "CANCELLED", "ACTIVE"} {
		var agreement quickstream.Agreement
		require.NoError(t, json.Unmarshal([]byte(`{"agreementToken":"A-1","status":"`+status+`","payeeDetails":{"supplierBusinessCode":"B"},
			"paymentDetails":{"automaticRenewal":true},"paymentTerms":{"frequency":"ADHO","numberOfPaymentsPermitted":null,"agreementType":"VARI"}}`), &agreement))
		details, err := agreement.Details()
		require.NoError(t, err)
		require.NoError(t, client.PayTo.AmendUnilaterally(t.Context(), details), status)
		terms, err := agreement.Terms()
		require.NoError(t, err)
		require.NoError(t, client.PayTo.AmendBilaterally(t.Context(), terms), status)
	}
}

// TestBSBs: a BSB is sent as it was given.
func TestBSBs(t *testing.T) {
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	t.Cleanup(box.Close)
	client := sandboxtest.Client(t, box)
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	number := quickstream.NewSecret("123465")
	const bsb = "650-000"
	bank := quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: bsb, AccountNumber: number}
	sent := func(member string) any {
		inner, _ := lastBody(t, box)[member].(map[string]any)
		return cmp.Or(inner["bsb"], lastBody(t, box)["bsb"])
	}
	_, err = client.Transactions.Pay(t.Context(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromBankAccount(bank), PrincipalAmount: decimal.New(100, 0), Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	assert.Equal(t, bsb, sent("bankAccount"))
	_, err = client.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: bank})
	require.NoError(t, err)
	assert.Equal(t, bsb, sent("bankAccount"))
	_, err = client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromBankAccount(bank)})
	require.NoError(t, err)
	assert.Equal(t, bsb, sent("bankAccount"))
	_, err = client.Transactions.ByBankAccount(bsb, number).First(t.Context())
	require.NoError(t, err)
}
