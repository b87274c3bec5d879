package clienttest_test

import (
	"bytes"
	"context"
	"errors"
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

const patchAgreement = "PATCH /payto-agreements/{agreementToken}"

func agreementParams(reference string) quickstream.CreateAgreementParams {
	return quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PayeeReference: reference,
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeUtility, Description: "Broadband",
			StartDate: quickstream.DateOf(time.Now().Add(14 * time.Hour)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150")),
		},
		Payer: quickstream.PayToPayerParams{
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

// eachLoss runs a test for an answer that was lost before and after the commit.
func eachLoss(t *testing.T, test func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, loss sandbox.FaultKind, committed bool)) {
	t.Helper()
	for name, loss := range map[string]sandbox.FaultKind{
		"before the commit": sandbox.ResetBeforeCommit(), "after the commit": sandbox.ResetAfterCommit(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box, client := sandboxtest.New(t)
				test(t, box, client, loss, name == "after the commit")
			})
		})
	}
}

// unknownOnce checks that a call ended unknown after one request, with a way to
// find out.
func unknownOnce(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, unknown, ending(err), "%v", err)
	lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
	assert.Equal(t, 1, lost.Attempts, "it was not sent again")
}

// intentOf returns the intent of a lost write.
func intentOf(t *testing.T, err error) quickstream.Intent {
	t.Helper()
	unknownOnce(t, err)
	lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.NotNil(t, lost.Intent)
	return *lost.Intent
}

func TestAgreementAnswerIsLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, loss sandbox.FaultKind, committed bool) {
		customerID, _ := active(t, box, client)
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /customers/{customerId}/payto-agreements", Kind: loss, Times: 1}))
		_, err := client.PayTo.Create(t.Context(), customerID, agreementParams("REF-LOST"))
		intent := intentOf(t, err)
		assert.Equal(t, "REF-LOST", intent.Reference)
		assert.False(t, intent.Complete, "the payer's account or PayID is left out")
		assert.NotContains(t, string(intent.Request), "@")

		wait(time.Hour)
		agreement, err := client.PayTo.Resume(t.Context(), intent)
		if !committed {
			assert.Nil(t, agreement)
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
			return
		}
		require.NoError(t, err)
		assert.Equal(t, "REF-LOST", agreement.PayeeReference)
		intent.Request = bytes.Replace(intent.Request, []byte("150.00"), []byte("151.00"), 1)
		_, err = client.PayTo.Resume(t.Context(), intent)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, "other terms are another agreement")
		intent.Operation = "Transactions.Pay"
		_, err = client.PayTo.Resume(t.Context(), intent)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	})
}

func TestStatusAnswerIsLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, loss sandbox.FaultKind, committed bool) {
		_, agreement := active(t, box, client)
		token := agreement.AgreementToken
		require.NoError(t, box.Inject(sandbox.Fault{Operation: patchAgreement, Kind: loss, Times: 1}))
		intent := intentOf(t, client.PayTo.Cancel(t.Context(), token, quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty}))
		wait(time.Hour)
		state, err := client.PayTo.ResumeChange(t.Context(), intent)
		require.NoError(t, err)
		assert.Equal(t, committed, state.AsAsked)
	})
}

func TestAmendmentAnswerIsLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, loss sandbox.FaultKind, committed bool) {
		_, agreement := active(t, box, client)
		details, err := agreement.Details()
		require.NoError(t, err)
		details.Description = "Broadband and telephone"
		require.NoError(t, box.Inject(sandbox.Fault{Operation: patchAgreement, Kind: loss, Times: 1}))
		intent := intentOf(t, client.PayTo.AmendUnilaterally(t.Context(), details))
		wait(time.Hour)
		state, err := client.PayTo.ResumeChange(t.Context(), intent)
		require.NoError(t, err)
		assert.Equal(t, committed, state.AsAsked)

		terms, err := agreement.Terms()
		require.NoError(t, err)
		terms.MaximumPaymentAmount = new(decimal.RequireFromString("200"))
		require.NoError(t, box.Inject(sandbox.Fault{Operation: patchAgreement, Kind: loss, Times: 1}))
		intent = intentOf(t, client.PayTo.AmendBilaterally(t.Context(), terms))
		wait(time.Hour)
		state, err = client.PayTo.ResumeChange(t.Context(), intent)
		require.NoError(t, err)
		assert.False(t, state.AsAsked, "the payer has not agreed yet")
		assert.Equal(t, committed, state.Agreement.HasPendingBilateralAmendment)
		if committed {
			require.NoError(t, box.Payer(agreement.AgreementToken, sandbox.AcceptAmendment))
			wait(time.Hour)
			state, err = client.PayTo.ResumeChange(t.Context(), intent)
			require.NoError(t, err)
			assert.True(t, state.AsAsked)
		}
	})
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
		reason := quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty}
		for _, change := range []struct {
			method string
			change quickstream.AgreementChange
			fails  bool
		}{
			{"PayTo.AmendUnilaterally", details, false},
			{"PayTo.AmendBilaterally", terms, false},
			{"PayTo.RecallAmendment", quickstream.ChangingRecallAmendment(token), false},
			{"PayTo.Recall", quickstream.ChangingRecall(token), true}, // it is not pending any more
			{"PayTo.Suspend", quickstream.ChangingStatus(token, quickstream.AgreementStatusSuspended, reason), false},
			{"PayTo.Reactivate", quickstream.ChangingStatus(token, quickstream.AgreementStatusActive, quickstream.StatusReason{}), false},
			{"PayTo.Cancel", quickstream.ChangingStatus(token, quickstream.AgreementStatusCancelled, reason), false},
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
		other, err := client.PayTo.Plan(t.Context(), quickstream.ChangingRecall(token))
		require.NoError(t, err)
		other.Operation = "PayTo.Cancel"
		require.ErrorIs(t, client.PayTo.Submit(t.Context(), other, func(context.Context) error { return nil }), quickstream.ErrOutcomeUnknown)
		_, err = client.PayTo.ResumeChange(t.Context(), other)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		_, err = client.PayTo.Plan(t.Context(), quickstream.ChangingStatus(token, quickstream.AgreementStatusSuspended, quickstream.StatusReason{}))
		require.ErrorIs(t, err, quickstream.ErrInvalid, "a reason is required")
		_, err = client.PayTo.Plan(t.Context(), nil)
		require.ErrorIs(t, err, quickstream.ErrNotSent)
	})
}

func payToPayment(agreementToken, amount string) quickstream.CollectParams {
	return quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: agreementToken}),
		PrincipalAmount: decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD, CustomerReferenceNumber: order,
	}
}

// TestPayToPaymentAnswerIsLost loses a payment and finds it by its reference; the
// payer is charged once at most.
func TestPayToPaymentAnswerIsLost(t *testing.T) {
	eachLoss(t, func(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, loss sandbox.FaultKind, committed bool) {
		_, agreement := active(t, box, client)
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: loss, Times: 1}))
		_, err := client.PayTo.Collect(t.Context(), payToPayment(agreement.AgreementToken, "50"), quickstream.WithoutResend())
		unknownOnce(t, err)
		lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.NotNil(t, lost.Intent)
		require.True(t, lost.Intent.Complete, "an agreement token is a handle")

		wait(24 * time.Hour)
		tx, err := client.Transactions.Resume(t.Context(), *lost.Intent)
		if !committed {
			still(t, tx, err)
			assert.Empty(t, box.Ledger().Charged(order))
			return
		}
		require.NoError(t, err)
		assert.Equal(t, quickstream.OutcomeApproved, tx.Outcome())
		assert.Contains(t, string(lost.Intent.Request), tx.PayToData.EndToEndID)
		assert.Len(t, box.Ledger().Charged(order), 1)
	})
}
