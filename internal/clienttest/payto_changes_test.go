package clienttest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// TestResumeOfNoChange: the intent of a payment is no change of its agreement, and is looked up by no
// request. What was changed is compared in TestChangesThatWereMade, and driven to its end by the walk.
func TestResumeOfNoChange(t *testing.T) {
	var pay quickstream.Intent
	_, err := clientOf(t, gone).PayTo.Collect(t.Context(), payToPayment("A-1", "1"), handed(&pay))
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	client := clientOf(t, func(r *http.Request) (*http.Response, error) { t.Errorf("%s was sent", r.Method); return nil, io.EOF })
	_, err = client.PayTo.ResumeChange(t.Context(), pay)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
}

func payToPayment(agreementToken, amount string) quickstream.CollectParams {
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, AgreementToken: agreementToken,
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: order,
	}
}
