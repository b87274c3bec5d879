package clienttest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestFollowUpsNameABusiness: a transaction that follows another sends the business that it is
// given, its plan is complete, and the client's default stays out of it.
func TestFollowUpsNameABusiness(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) { return answer(422, errorBody), nil }, quickstream.WithSupplierBusinessCode("CLIENT"))
	plan := func(params quickstream.TransactionParams) quickstream.Intent {
		t.Helper()
		intent, err := client.Transactions.Plan(context.Background(), params)
		require.NoError(t, err)
		return intent
	}
	one, stored := decimal.New(1, 0), &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	const receipt, aud = "1000999888", quickstream.CurrencyAUD
	for code, want := range map[string]string{"": "", "SHOP": `"supplierBusinessCode":"SHOP"`} {
		for _, params := range []quickstream.TransactionParams{
			quickstream.RefundParams{OriginalReceiptNumber: receipt, PrincipalAmount: one, Currency: aud, SupplierBusinessCode: code},
			quickstream.TopUpParams{OriginalReceiptNumber: receipt, PrincipalAmount: one, Currency: aud, SupplierBusinessCode: code},
			quickstream.ReauthoriseParams{OriginalReceiptNumber: receipt, PrincipalAmount: one, Currency: aud, SupplierBusinessCode: code},
			quickstream.ExtendParams{OriginalReceiptNumber: receipt, Currency: aud, SupplierBusinessCode: code},
			quickstream.CaptureParams{OriginalReceiptNumber: receipt, PrincipalAmount: one, Currency: aud, StoredCredential: stored, SupplierBusinessCode: code},
			quickstream.CancelPreauthorisationParams{
				OriginalReceiptNumber: receipt, Type: quickstream.CancellationTypeFull, PrincipalAmount: one, Currency: aud, SupplierBusinessCode: code,
			},
		} {
			intent := plan(params)
			assert.True(t, intent.Complete, "%T", params)
			assert.Contains(t, string(intent.Request), want, "%T", params)
			assert.NotContains(t, string(intent.Request), "CLIENT", "%T", params)
		}
	}
}
