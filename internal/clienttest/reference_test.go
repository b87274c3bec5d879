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

// WithReference stands for the references that the parameters leave out, and only for those. Unlike
// one in the parameters it is no other transaction's.
func TestWithReference(t *testing.T) {
	_, client := sandboxtest.New(t)
	const reference, own = "ABC234", "ORDER-1"
	params := quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		Source: quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: "AGREEMENT"}),
	}
	planned := func(params quickstream.CollectParams) (quickstream.Intent, string) {
		intent, err := client.Transactions.Plan(t.Context(), params, quickstream.WithReference(reference))
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
	params.Source = quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: "AGREEMENT", EndToEndID: "END-1"})
	intent, endToEnd = planned(params)
	assert.Equal(t, own, intent.Reference)
	assert.Equal(t, "END-1", endToEnd)
	assert.True(t, intent.OwnReference)

	for _, wrong := range []string{"", "abc", "A-1", strings.Repeat("A", 36)} {
		_, err := client.Transactions.Plan(t.Context(), params, quickstream.WithReference(wrong))
		assert.Error(t, err, wrong)
	}
}

// WithMetadata adds members to those of the parameters, and none where the facility refuses metadata. WithOptions
// gives each call what belongs to its operation.
func TestWithMetadata(t *testing.T) {
	_, client := sandboxtest.New(t)
	params := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		Source: quickstream.FromAccount("TOKEN"), Metadata: map[string]string{"table": "7", "order": "own"},
	}
	var asked []quickstream.Operation
	metadata := func(opts ...quickstream.CallOption) map[string]string {
		added := quickstream.WithOptions(func(o quickstream.Operation) []quickstream.CallOption {
			asked = append(asked, o)
			return []quickstream.CallOption{quickstream.WithMetadata(map[string]string{"order": "A"}), quickstream.WithReference("ABC234")}
		})
		intent, err := client.Transactions.Plan(t.Context(), params, append(opts, added)...)
		require.NoError(t, err)
		assert.Equal(t, "ABC234", intent.Reference)
		var request struct {
			Metadata map[string]string `json:"metadata"`
		}
		require.NoError(t, json.Unmarshal(intent.Request, &request))
		delete(request.Metadata, intent.MetadataName)
		return request.Metadata
	}
	assert.Equal(t, map[string]string{"table": "7", "order": "A"}, metadata())
	assert.Equal(t, map[string]string{"table": "7", "order": "own"}, metadata(quickstream.WithIntentMetadata("")))
	assert.Equal(t, []quickstream.Operation{quickstream.OperationPay, quickstream.OperationPay}, asked)
	assert.Equal(t, "own", params.Metadata["order"], "the caller's is unchanged")

	for _, wrong := range []func(quickstream.Operation) []quickstream.CallOption{
		nil,
		func(quickstream.Operation) []quickstream.CallOption { return []quickstream.CallOption{nil} },
		func(quickstream.Operation) []quickstream.CallOption {
			return []quickstream.CallOption{quickstream.WithReference("")}
		},
	} {
		_, err := client.Transactions.Plan(t.Context(), params, quickstream.WithOptions(wrong))
		require.ErrorIs(t, err, quickstream.ErrNotSent)
	}
}
