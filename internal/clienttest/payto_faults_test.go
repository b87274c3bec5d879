package clienttest_test

import (
	"context"
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

// TestChangesArePlanned, stored, and sent once as they were planned.
func TestChangesArePlanned(t *testing.T) {
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
		for _, change := range []struct {
			method string
			change quickstream.AgreementChange
			fails  bool
		}{
			{"PayTo.AmendUnilaterally", quickstream.AgreementChange{Operation: quickstream.OperationAmendUnilaterally, Details: details}, false},
			{"PayTo.AmendBilaterally", quickstream.AgreementChange{Operation: quickstream.OperationAmendBilaterally, Terms: terms}, false},
			{"PayTo.RecallAmendment", quickstream.AgreementChange{Operation: quickstream.OperationRecallAmendment, AgreementToken: token}, false},
			{"PayTo.Recall", quickstream.AgreementChange{Operation: quickstream.OperationRecallAgreement, AgreementToken: token}, true}, // it is not pending any more
			{"PayTo.Suspend", quickstream.AgreementChange{Operation: quickstream.OperationSuspendAgreement, AgreementToken: token, Reason: reason}, false},
			{"PayTo.Reactivate", quickstream.AgreementChange{Operation: quickstream.OperationReactivateAgreement, AgreementToken: token}, false},
			{"PayTo.Cancel", quickstream.AgreementChange{Operation: quickstream.OperationCancelAgreement, AgreementToken: token, Reason: reason}, false},
		} {
			box.ResetRequests()
			intent, err := client.PayTo.Plan(t.Context(), change.change)
			require.NoError(t, err, change.method)
			assert.Equal(t, quickstream.Operation(change.method), intent.Operation)
			assert.Empty(t, box.Requests())
			require.ErrorIs(t, client.PayTo.Submit(t.Context(), intent, nil), quickstream.ErrOutcomeUnknown)
			err = client.PayTo.Submit(t.Context(), intent, func(context.Context) error { return nil })
			assert.Equal(t, change.fails, err != nil, "%s: %v", change.method, err)
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
		other, err := client.PayTo.Plan(t.Context(), quickstream.AgreementChange{Operation: quickstream.OperationRecallAgreement, AgreementToken: token})
		require.NoError(t, err)
		other.Operation = "PayTo.Cancel"
		require.ErrorIs(t, client.PayTo.Submit(t.Context(), other, func(context.Context) error { return nil }), quickstream.ErrOutcomeUnknown)
		_, err = client.PayTo.ResumeChange(t.Context(), other)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		_, err = client.PayTo.Plan(t.Context(), quickstream.AgreementChange{Operation: quickstream.OperationSuspendAgreement, AgreementToken: token})
		require.ErrorIs(t, err, quickstream.ErrInvalid, "a reason is required")
		_, err = client.PayTo.Plan(t.Context(), quickstream.AgreementChange{Operation: quickstream.OperationPay})
		require.ErrorIs(t, err, quickstream.ErrNotSent)
	})
}

func payToPayment(agreementToken, amount string) quickstream.CollectParams {
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, AgreementToken: agreementToken,
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: order,
	}
}
