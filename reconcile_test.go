package quickstream_test

import (
	"encoding/json"
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

// lose makes a payment whose answer never arrives and returns its intent.
func lose(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, kind sandbox.FaultKind) quickstream.PaymentIntent {
	t.Helper()
	require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: kind, Times: 1}))
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, "%v", err)
	require.NotNil(t, lost.Intent)
	return *lost.Intent
}

func TestReconcile(t *testing.T) {
	t.Run("committed, visible after a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			intent := lose(t, box, client, sandbox.ResetAfterCommit())
			found, err := client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileNotFoundYet, found.State)
			assert.Nil(t, found.Transaction)

			wait(time.Minute)
			found, err = client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			require.Equal(t, quickstream.ReconcileFound, found.State)
			assert.Equal(t, quickstream.OutcomeApproved, found.Transaction.Outcome())
			assert.Equal(t, box.Ledger()[0].Receipt, found.Transaction.ReceiptNumber)
		})
	})
	t.Run("never committed", func(t *testing.T) {
		for _, notFound := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.NotFoundByReference = notFound }))
				intent := lose(t, box, client, sandbox.ResetBeforeCommit())
				wait(48 * time.Hour)
				found, err := client.Transactions.Reconcile(t.Context(), intent)
				require.NoError(t, err)
				assert.Equal(t, quickstream.ReconcileNotFoundYet, found.State, "an empty list and a 404 mean the same")
			})
		}
	})
	t.Run("committed late", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			intent := lose(t, box, client, sandbox.CommitLate(3*time.Hour))
			wait(time.Hour)
			found, err := client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileNotFoundYet, found.State)
			wait(3 * time.Hour)
			found, err = client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileFound, found.State)
		})
	})
	t.Run("by the receipt that could be read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			intent := lose(t, box, client, sandbox.DuplicateMembers())
			require.NotEmpty(t, intent.ReceiptNumber)
			wait(time.Minute)
			box.ResetRequests()
			found, err := client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileFound, found.State)
			require.Len(t, box.Requests(), 1)
			assert.Equal(t, "GET /transactions/{receiptNumber}", box.Requests()[0].Operation)
		})
	})
	t.Run("an earlier payment with the same reference is not this one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			box.NextTransaction(sandbox.Declined("51"))
			params := payment()
			params.PaymentReferenceNumber = "REUSED"
			_, err := client.Transactions.Pay(t.Context(), params)
			require.NoError(t, err)
			wait(time.Minute)
			_, intent := params.Prepare() // stored, then the process crashed before sending
			wait(time.Minute)
			found, err := client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileNotFoundYet, found.State)
		})
	})
	t.Run("two that match are ambiguous", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, client := sandboxtest.New(t)
			params := payment()
			params, intent := params.Prepare()
			for range 2 {
				_, err := client.Transactions.Pay(t.Context(), params)
				require.NoError(t, err)
			}
			wait(time.Minute)
			found, err := client.Transactions.Reconcile(t.Context(), intent)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileAmbiguous, found.State)
			assert.Nil(t, found.Transaction)
			assert.Len(t, found.Candidates, 2)
		})
	})
	t.Run("a look-up that fails says nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			intent := lose(t, box, client, sandbox.ResetAfterCommit())
			require.NoError(t, box.Inject(sandbox.Fault{Kind: sandbox.Status(500, sandbox.ServiceError)}))
			found, err := client.Transactions.Reconcile(t.Context(), intent)
			assert.Error(t, err)
			assert.Nil(t, found)
		})
	})
}

// TestReconcileMatchesExactly changes one thing at a time between a payment and
// an intent that is otherwise its own.
func TestReconcileMatchesExactly(t *testing.T) {
	changes := map[string]func(*quickstream.PaymentIntent){
		"reference in another case": func(i *quickstream.PaymentIntent) { i.PaymentReferenceNumber = "order-77" },
		"type":                      func(i *quickstream.PaymentIntent) { i.TransactionType = quickstream.TransactionTypePreauth },
		"amount":                    func(i *quickstream.PaymentIntent) { i.PrincipalAmount = decimal.RequireFromString("10.51") },
		"currency":                  func(i *quickstream.PaymentIntent) { i.Currency = quickstream.CurrencyNZD },
		"business":                  func(i *quickstream.PaymentIntent) { i.SupplierBusinessCode = "OTHER" },
		"time":                      func(i *quickstream.PaymentIntent) { i.FirstSent = i.FirstSent.Add(time.Hour) },
	}
	synctest.Test(t, func(t *testing.T) {
		_, client := sandboxtest.New(t)
		params := payment()
		params.PaymentReferenceNumber = "ORDER-77"
		params, intent := params.Prepare()
		_, err := client.Transactions.Pay(t.Context(), params, quickstream.WithIntent(intent))
		require.NoError(t, err)
		wait(time.Minute)
		found, err := client.Transactions.Reconcile(t.Context(), intent)
		require.NoError(t, err)
		require.Equal(t, quickstream.ReconcileFound, found.State)
		for name, change := range changes {
			other := intent
			change(&other)
			found, err := client.Transactions.Reconcile(t.Context(), other)
			require.NoError(t, err)
			assert.Equal(t, quickstream.ReconcileNotFoundYet, found.State, name)
		}
	})
}

// TestIntentIsStored prepares, stores and restores an intent around a crash.
func TestIntentIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		params, intent := payment().Prepare()
		stored, err := json.Marshal(intent)
		require.NoError(t, err)
		assert.NotContains(t, string(stored), "4242", "no card details are stored")
		assert.Nil(t, intent.Source)

		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}))
		_, err = client.Transactions.Pay(t.Context(), params, quickstream.WithIntent(intent), quickstream.WithoutResend())
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		wait(time.Minute)

		var restored quickstream.PaymentIntent // by another process
		require.NoError(t, json.Unmarshal(stored, &restored))
		found, err := client.Transactions.Reconcile(t.Context(), restored)
		require.NoError(t, err)
		require.Equal(t, quickstream.ReconcileFound, found.State)
		assert.Equal(t, restored.PaymentReferenceNumber, found.Transaction.PaymentReferenceNumber)
		assert.Equal(t, restored.IdempotencyKey, box.Requests()[0].IdempotencyKey)
		assert.Len(t, box.Ledger().Charged(order), 1)
	})
}

// wait lets time pass inside a synctest bubble.
func wait(d time.Duration) { <-time.After(d) }
