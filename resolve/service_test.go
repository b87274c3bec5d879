package resolve_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// planned returns a payment of ORDER-1, made by a token.
func planned(t *testing.T, client *quickstream.Client) quickstream.PayParams {
	t.Helper()
	token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242")
	require.NoError(t, err)
	params := exampleOrder()
	params.Source, params.PaymentReferenceNumber = quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), "ORDER-1"
	return params
}

// run drives a case until its status is final, or another one.
func run(t *testing.T, service resolve.Service, c resolve.Case) resolve.Case {
	t.Helper()
	for begun := c.Status; !c.NextLook.IsZero() && (!c.Status.Final() || c.Status == begun); {
		<-time.After(time.Until(c.NextLook))
		c = policy().Next(c, policy().LookUp(t.Context(), service, c), time.Now())
	}
	return c
}

// TestLostVoid: that the payment stands says nothing about a void which may still
// come, and a refund beside it would give the money back twice.
func TestLostVoid(t *testing.T) {
	for name, tt := range map[string]struct {
		fault  sandbox.FaultKind
		status resolve.Status
	}{
		"carried out late": {sandbox.CommitLate(2 * time.Hour), resolve.StatusSettled},
		"never arrived":    {sandbox.ResetBeforeCommit(), resolve.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				box, client := sandboxtest.New(t)
				payment, err := client.Transactions.Pay(t.Context(), planned(t, client))
				require.NoError(t, err)
				require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: tt.fault}))
				_, err = client.Transactions.Void(t.Context(), payment.ReceiptNumber, quickstream.WithoutResend())
				require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
				end := run(t, client.Transactions, resolve.Begin(quickstream.Intent{
					Version: quickstream.IntentVersion, Operation: "Transactions.Void", Target: payment.ReceiptNumber, NotBefore: time.Now(),
				}, time.Now()))
				assert.Equal(t, tt.status, end.Status)
				if tt.status == resolve.StatusSettled {
					assert.Equal(t, quickstream.OutcomeVoided, end.Outcome)
				}
			})
		})
	}
}

// TestRefundOfAnotherPayment: the refund of one payment is not that of another, though
// all else is the same.
func TestRefundOfAnotherPayment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, _ := sandboxtest.New(t)
		client := sandboxtest.Client(t, box, quickstream.WithIntentMetadata(""))
		var receipts []string
		for range 2 {
			payment, err := client.Transactions.Pay(t.Context(), planned(t, client))
			require.NoError(t, err)
			receipts = append(receipts, payment.ReceiptNumber)
		}
		<-time.After(72 * time.Hour) // they are settled
		refund := func(receipt string) error {
			_, err := client.Transactions.Refund(t.Context(), quickstream.RefundParams{
				OriginalReceiptNumber: receipt, PrincipalAmount: decimal.New(25, 0), Currency: quickstream.CurrencyAUD, PaymentReferenceNumber: "REFUND-1",
			}, quickstream.WithoutResend())
			return err
		}
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit(), Times: 1}))
		lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](refund(receipts[0]))
		require.True(t, ok)
		require.NoError(t, refund(receipts[1]))
		assert.NotEqual(t, resolve.StatusSettled, run(t, client.Transactions, resolve.Begin(*lost.Intent, time.Now())).Status)
	})
}

// TestRenewedAfterTheEnd: a person lets a payment that was not found be made again. Where the service
// shows no ids the case of the first must not take the second one for it.
func TestRenewedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.Metadata = "dropped" }))
		token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242")
		require.NoError(t, err)
		account, err := client.Accounts.RegisterWithoutCustomer(t.Context(), token)
		require.NoError(t, err)
		params := exampleOrder()
		params.Source, params.PaymentReferenceNumber = quickstream.FromAccount(account.AccountToken, quickstream.AccountTypeCreditCard), ""
		plan, err := client.Transactions.Plan(t.Context(), params)
		require.NoError(t, err)
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit(), Times: 1}))
		claim := func(context.Context) error { return nil }
		_, err = client.Transactions.Submit(t.Context(), plan, claim, quickstream.WithoutResend())
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		p, c := policy(), resolve.Begin(plan, time.Now())
		look := func() {
			<-time.After(time.Until(c.NextLook))
			c = p.Next(c, p.LookUp(t.Context(), client.Transactions, c), time.Now())
		}
		for !c.Status.Final() {
			look()
		}
		require.Equal(t, resolve.StatusNotFound, c.Status)

		_, err = client.Transactions.Submit(t.Context(), plan.Renewed(), claim)
		require.NoError(t, err)
		for !c.NextLook.IsZero() {
			look()
		}
		assert.NotEqual(t, resolve.StatusSettled, c.Status)
	})
}

// TestOutcomeAfterTheEnd: a webhook may bring what nobody could find in two days.
func TestOutcomeAfterTheEnd(t *testing.T) {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	sent := at("2026-06-10 09:00")
	later := at("2026-06-16 09:00")
	approved := resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeApproved, ReceiptNumber: "R1"}
	_, absent := looks(resolve.Begin(quickstream.Intent{Reference: "ORDER-1", NotBefore: sent}, sent), foundNothing())
	today := approved
	today.SettlementDate = quickstream.DateOf(later)
	assert.Equal(t, resolve.StatusSettled, policy.Next(absent, today, later).Status, "an approval waits for no cut-off")
	today.Outcome = quickstream.OutcomeDeclined
	assert.Equal(t, resolve.StatusEscalated, policy.Next(absent, today, later).Status, "a decline of one of several attempts does, and is not nothing")
	assert.Equal(t, resolve.StatusSettled, policy.Next(absent, today, later.Add(24*time.Hour)).Status)
	soft := today
	soft.Retryable = true
	retrying := resolve.DefaultPolicy(resolve.ServiceRetriesFor(10 * 24 * time.Hour))
	assert.Equal(t, resolve.StatusEscalated, retrying.Next(absent, soft, later.Add(24*time.Hour)).Status, "the service may retry it")
}

var _ resolve.Service = (*quickstream.TransactionsService)(nil)

// progress is how far an open case has come.
type progress string

const (
	openSoon        progress = "open 0"
	openHeld        progress = "open 1"
	openAfterCutOff progress = "open 2"
	openDaily       progress = "open 3"
)

func progressOf(c resolve.Case) progress { return progress(fmt.Sprint(c.Status, " ", c.Step)) }
