package clienttest_test

import (
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

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
