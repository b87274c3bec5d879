package clienttest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestKeysAreUUIDs: a service that takes only UUIDs as idempotency keys takes every POST: a
// call's own key, a planned one, and that of a renewed intent.
func TestKeysAreUUIDs(t *testing.T) {
	box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.KeyForm = "uuid" }))
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithIdempotencyKey("my-key"))
	require.ErrorIs(t, err, quickstream.ErrInvalid)

	_, err = client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	params := payment()
	token, err := sandboxtest.CardToken(t.Context(), client, sandbox.CardAttempted)
	require.NoError(t, err)
	params.Source = quickstream.FromSingleUseToken(token)
	planned, err := client.Transactions.Plan(t.Context(), params)
	require.NoError(t, err)
	for _, intent := range []quickstream.Intent{planned.Renewed(), planned.Renewed()} {
		assert.NotEqual(t, planned.IdempotencyKey, intent.IdempotencyKey)
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, intent.IdempotencyKey)
	}
	_, err = client.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil })
	require.NoError(t, err)
	assert.Len(t, box.Ledger(), 1)
}

// TestErrorBodiesOfTheSister: the sister product's error bodies are read for people. As the words
// of another service they do not settle a payment.
func TestErrorBodiesOfTheSister(t *testing.T) {
	client := clientOf(t, says(422, `{"data":[{"fieldName":"currency","message":"is required","fieldValue":"4111111111111111"}]}`))
	lost := new(quickstream.UnknownOutcomeError)
	_, err := client.Transactions.Pay(t.Context(), payment())
	require.ErrorAs(t, err, &lost)
	refused := new(quickstream.APIError)
	require.ErrorAs(t, lost.Cause, &refused)
	require.Len(t, refused.Fields(), 1)
	assert.Equal(t, "currency", refused.Fields()[0].FieldName)

	_, err = clientOf(t, says(http.StatusInternalServerError, `{"errorNumber":"E-1","traceCode":"T-1"}`)).Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "T-1", refused.TraceCode)

	_, client = sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.ErrorForm = "data" }))
	_, err = client.Transactions.BySettlementDate(quickstream.Date{Year: 2026, Month: 1, Day: 1}).First(t.Context())
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	_, err = client.Transactions.Get(t.Context(), "R-1")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	require.ErrorAs(t, err, &refused)
	assert.NotEmpty(t, refused.Fields())
}
