package clienttest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
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

// A pre-authorisation takes a wallet's number without a cryptogram, and Do what no method of this package makes.
func TestNoRuleOfOurs(t *testing.T) {
	requests := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		requests++
		return answer(http.StatusUnprocessableEntity, errorBody), nil
	})
	card := approvedCard()
	card.WalletProvider = quickstream.WalletProviderApplePay
	_, err := client.Transactions.Preauthorise(t.Context(), quickstream.PreauthoriseParams{
		SupplierBusinessCode: "SHOP", Source: quickstream.FromCard(card), PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIPhone,
	})
	require.NotErrorIs(t, err, quickstream.ErrNotSent)
	err = client.Do(t.Context(), quickstream.Request{Method: http.MethodDelete, Route: "/customers/{customerId}", Path: []string{"C-1"}}, nil)
	require.NotErrorIs(t, err, quickstream.ErrNotSent)
	require.Equal(t, 2, requests)
}

// Data of a gateway may hold secrets, so a payment with them cannot be planned.
func TestGatewayDataIsNotPlanned(t *testing.T) {
	pay := payment()
	pay.Source, pay.MPGSData = quickstream.FromSingleUseToken("S-1"), map[string]any{"transaction": "1"}
	_, err := clientOf(t, says(http.StatusOK, "{}")).Transactions.Plan(t.Context(), pay)
	require.Error(t, err)
}
