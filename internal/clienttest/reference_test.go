package clienttest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// WithUniqueReference stands for the references that the parameters leave out, and only for those. Unlike
// one in the parameters it is no other transaction's.
func TestWithReference(t *testing.T) {
	_, client := sandboxtest.New(t)
	const reference, own = "ABC234", "ORDER-1"
	params := quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		AgreementToken: "AGREEMENT",
	}
	planned := func(params quickstream.CollectParams) (quickstream.Intent, string) {
		intent, err := client.Transactions.Plan(t.Context(), params, quickstream.WithUniqueReference(reference))
		require.NoError(t, err)
		var request struct {
			PaymentReferenceNumber string `json:"paymentReferenceNumber"`
			PayToData              struct {
				EndToEndID string `json:"endToEndId"`
			} `json:"payToData"`
		}
		require.NoError(t, json.Unmarshal(intent.Request, &request))
		assert.Equal(t, intent.Reference, request.PaymentReferenceNumber)
		return intent, request.PayToData.EndToEndID
	}
	intent, endToEnd := planned(params)
	assert.Equal(t, reference, intent.Reference)
	assert.Equal(t, reference, endToEnd)
	assert.False(t, intent.OwnReference)
	again, _ := planned(params)
	assert.Equal(t, intent.ID, again.ID, "the same payment under the same reference")

	params.PaymentReferenceNumber = own
	params.AgreementToken, params.EndToEndID = "AGREEMENT", "END-1"
	intent, endToEnd = planned(params)
	assert.Equal(t, own, intent.Reference)
	assert.Equal(t, "END-1", endToEnd)
	assert.True(t, intent.OwnReference)

	for _, wrong := range []string{"", "abc", "A-1", strings.Repeat("A", 36)} {
		_, err := client.Transactions.Plan(t.Context(), params, quickstream.WithUniqueReference(wrong))
		assert.Error(t, err, wrong)
	}
}
