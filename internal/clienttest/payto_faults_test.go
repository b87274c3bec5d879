package clienttest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
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

// active returns a customer and an agreement of his that the payer has confirmed.
func active(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client) (customerID string, agreement *quickstream.Agreement) {
	t.Helper()
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
	require.NoError(t, err)
	agreement, err = client.PayTo.Create(t.Context(), customer.CustomerID, agreementParams("REF-ACTIVE"))
	require.NoError(t, err)
	wait(time.Minute)
	require.NoError(t, box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement))
	wait(24 * time.Hour) // until the first day of payments has come everywhere
	agreement, err = client.PayTo.Get(t.Context(), agreement.AgreementToken)
	require.NoError(t, err)
	require.Equal(t, quickstream.AgreementStatusActive, agreement.Status)
	return customer.CustomerID, agreement
}

// TestChangesAreFoundMade: a change whose intent was stored before it was sent is found in the agreement.
func TestChangesAreFoundMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		_, agreement := active(t, box, client)
		token := agreement.AgreementToken
		details, err := agreement.Details()
		require.NoError(t, err)
		details.Description = "Broadband and telephone"
		terms, err := agreement.Terms()
		require.NoError(t, err)
		reason := quickstream.AgreementReason{Code: quickstream.AgreementReasonInitiatingParty}
		type opts = []quickstream.CallOption
		for _, change := range []struct {
			method string
			make   func(opts) error
			fails  bool
		}{
			{"PayTo.AmendUnilaterally", func(o opts) error { return client.PayTo.AmendUnilaterally(t.Context(), details, o...) }, false},
			{"PayTo.AmendBilaterally", func(o opts) error { return client.PayTo.AmendBilaterally(t.Context(), terms, o...) }, false},
			{"PayTo.RecallAmendment", func(o opts) error { return client.PayTo.RecallAmendment(t.Context(), token, o...) }, false},
			{"PayTo.Recall", func(o opts) error { return client.PayTo.Recall(t.Context(), token, o...) }, true}, // it is not pending any more
			{"PayTo.Suspend", func(o opts) error { return client.PayTo.Suspend(t.Context(), token, reason, o...) }, false},
			{"PayTo.Reactivate", func(o opts) error {
				return client.PayTo.Reactivate(t.Context(), token, quickstream.AgreementReason{}, o...)
			}, false},
			{"PayTo.Cancel", func(o opts) error { return client.PayTo.Cancel(t.Context(), token, reason, o...) }, false},
		} {
			box.ResetRequests()
			var intent quickstream.Intent
			err := change.make(opts{handed(&intent)})
			assert.Equal(t, change.fails, err != nil, "%s: %v", change.method, err)
			assert.Equal(t, quickstream.Operation(change.method), intent.Operation)
			require.Len(t, box.Requests(), 1)
			assert.JSONEq(t, string(intent.Request), string(box.Requests()[0].Body), change.method)
			if change.fails || change.method == "PayTo.AmendBilaterally" {
				continue
			}
			wait(time.Minute)
			state, err := client.PayTo.ResumeChange(t.Context(), intent)
			require.NoError(t, err)
			assert.True(t, state.AsAsked, change.method)
		}
		pay := quickstream.Intent{}
		_, err = client.PayTo.Collect(t.Context(), payToPayment(token, "1"), handed(&pay))
		require.Error(t, err, "the agreement is cancelled")
		_, err = client.PayTo.ResumeChange(t.Context(), pay)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		err = client.PayTo.Suspend(t.Context(), token, quickstream.AgreementReason{})
		require.ErrorIs(t, err, quickstream.ErrInvalid, "a reason is required")
	})
}

func payToPayment(agreementToken, amount string) quickstream.CollectParams {
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, AgreementToken: agreementToken,
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: order,
	}
}
