package clienttest_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func agreementParams(reference string) quickstream.CreateAgreementParams {
	return quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PayeeReference: reference,
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband",
			StartDate: quickstream.DateOf(time.Now().Add(14 * time.Hour)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "P-1", Name: "Ann Example", BSB: "650000", AccountNumber: quickstream.NewSecret("111111"),
		},
	}
}

// TestChangesThatContradict: a stored change is sent and looked up as what was planned, by whoever has
// claimed it. All plans are sent in TestPlansAreReadBack.
func TestChangesThatContradict(t *testing.T) {
	client := clientOf(t, func(r *http.Request) (*http.Response, error) { t.Errorf("%s was sent", r.Method); return nil, io.EOF })
	intent, err := client.PayTo.Plan(t.Context(), quickstream.AgreementChange{Operation: quickstream.OperationRecallAgreement, AgreementToken: "A-1"})
	require.NoError(t, err)
	require.ErrorIs(t, client.PayTo.Submit(t.Context(), intent, nil), quickstream.ErrOutcomeUnknown)
	intent.Operation = quickstream.OperationCancelAgreement
	require.ErrorIs(t, client.PayTo.Submit(t.Context(), intent, func(context.Context) error { return nil }), quickstream.ErrOutcomeUnknown)
	_, err = client.PayTo.ResumeChange(t.Context(), intent)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	_, err = client.PayTo.Plan(t.Context(), quickstream.AgreementChange{Operation: quickstream.OperationSuspendAgreement, AgreementToken: "A-1"})
	require.ErrorIs(t, err, quickstream.ErrInvalid, "a reason is required")
	_, err = client.PayTo.Plan(t.Context(), quickstream.AgreementChange{Operation: quickstream.OperationPay})
	require.ErrorIs(t, err, quickstream.ErrNotSent)
}

func payToPayment(agreementToken, amount string) quickstream.CollectParams {
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, AgreementToken: agreementToken,
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: order,
	}
}
