package quickstream_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestTermsWithoutAnAmount: an amount that has no number is none, also after the
// agreement was stored.
func TestTermsWithoutAnAmount(t *testing.T) {
	agreement := new(quickstream.Agreement)
	require.NoError(t, json.Unmarshal([]byte(`{"agreementToken": "A-1", "paymentTerms": {
		"firstPaymentAmount": {"currency": "AUD", "amount": null}, "lastPaymentAmount": {"currency": "AUD"}, "paymentAmount": null,
		"maximumPaymentAmount": {"currency": "AUD", "amount": 0}
	}}`), agreement))
	for range 2 {
		terms := agreement.PaymentTerms
		assert.Nil(t, terms.FirstPaymentAmount)
		assert.Nil(t, terms.LastPaymentAmount)
		assert.Nil(t, terms.PaymentAmount)
		require.NotNil(t, terms.MaximumPaymentAmount)
		assert.True(t, terms.MaximumPaymentAmount.Amount.IsZero())
		stored, err := json.Marshal(agreement)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(stored, agreement))
	}
	assert.Error(t, json.Unmarshal([]byte(`{"paymentTerms": {"frequency": "WEEK", "frequency": "DAIL"}}`), agreement))
}
