package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
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

// still is the error of a Resume that settles nothing.
func still(t *testing.T, tx *quickstream.Transaction, err error) *quickstream.UnknownOutcomeError {
	t.Helper()
	assert.Nil(t, tx)
	assert.NotErrorIs(t, err, quickstream.ErrNotSent)
	assert.NotErrorIs(t, err, quickstream.ErrNotFound)
	open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, "%v", err)
	assert.True(t, open.NextLook.After(time.Now()))
	require.NotNil(t, open.Intent)
	return open
}

// handed returns an option that keeps the intent of a call.
func handed(intent *quickstream.Intent) quickstream.Option {
	return quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error { *intent = i; return nil })
}

// lose makes a payment whose answer never arrives and returns its intent.
func lose(t *testing.T, box *sandbox.Sandbox, client *quickstream.Client, kind sandbox.FaultKind) quickstream.Intent {
	t.Helper()
	require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: kind, Times: 1}))
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithoutResend())
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, "%v", err)
	require.NotNil(t, lost.Intent)
	return *lost.Intent
}

// TestResumeOfAnUnknownIntent: an intent that this version does not know, or that contradicts itself, is
// looked up by no request.
func TestResumeOfAnUnknownIntent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		intent := lose(t, box, client, sandbox.ResetAfterCommit())
		box.ResetRequests()
		for name, change := range map[string]func(*quickstream.Intent){
			"version":   func(i *quickstream.Intent) { i.Version++ },
			"operation": func(i *quickstream.Intent) { i.Operation = "PayTo.Create" },
			"request":   func(i *quickstream.Intent) { i.Request = nil },
			"reference": func(i *quickstream.Intent) { i.Reference = "ANOTHER" },
		} {
			other := intent
			change(&other)
			tx, err := client.Transactions.Resume(t.Context(), other)
			assert.Error(t, still(t, tx, err).Cause, name)
		}
		assert.Empty(t, box.Requests())
	})
}

// TestBeforeSend: hooks are called in order, once for each call, and may end it.
func TestBeforeSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, _ := sandboxtest.New(t)
		var seen []string
		hook := func(name string, fails func() error) quickstream.Option {
			return quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
				seen = append(seen, name+" "+string(intent.Operation))
				intent.Request[0] = 'x' // is its own
				return fails()
			})
		}
		fine := func() error { return nil }
		client := sandboxtest.Client(t, box, hook("client", fine))
		require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit(), Times: 2}))
		tx, err := client.Transactions.Pay(t.Context(), payment(), hook("call", fine))
		require.NoError(t, err)
		assert.Equal(t, []string{"client Transactions.Pay", "call Transactions.Pay"}, seen, "once, however many attempts there are")

		box.ResetRequests()
		full := errors.New("disk full")
		for name, fails := range map[string]func() error{"error": func() error { return full }, "panic": func() error { panic(full) }} {
			_, err = client.Transactions.Pay(t.Context(), payment(), hook("call", fails))
			require.ErrorIs(t, err, quickstream.ErrNotSent, name)
			require.NotErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
			require.ErrorContains(t, err, map[string]string{"error": "disk full", "panic": "panicked"}[name], name)
		}
		assert.Empty(t, box.Requests())

		seen = nil
		wait(time.Minute)
		_, err = client.Transactions.Pay(t.Context(), quickstream.PayParams{})
		require.ErrorIs(t, err, quickstream.ErrNotSent, "what is refused here is not handed out")
		_, err = client.Transactions.Get(t.Context(), tx.ReceiptNumber)
		require.NoError(t, err)
		assert.Empty(t, seen)
	})
}

// TestPlanAndSubmit plans every kind of transaction that is made of handles, stores
// the intent, and sends it once.
func TestPlanAndSubmit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		token, err := client.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: approvedCard()})
		require.NoError(t, err)
		params := payment()
		params.Source = quickstream.FromSingleUseToken(token.SingleUseTokenID, quickstream.AccountTypeCreditCard)
		box.ResetRequests()
		intent, err := client.Transactions.Plan(t.Context(), params)
		require.NoError(t, err)
		assert.Empty(t, box.Requests(), "planning sends nothing")
		text, err := json.Marshal(intent)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &intent))

		claims := 0
		claim := func(context.Context) error {
			if claims++; claims > 1 {
				return errors.New("claimed by another")
			}
			assert.Empty(t, box.Requests(), "the claim is the last thing before the first byte")
			return nil
		}
		_, err = client.Transactions.Submit(t.Context(), intent, nil)
		require.ErrorContains(t, err, "a claim is required")
		tx, err := client.Transactions.Submit(t.Context(), intent, claim)
		require.NoError(t, err)
		assert.Equal(t, quickstream.OutcomeApproved, tx.Outcome())
		assert.Equal(t, intent.Reference, tx.PaymentReferenceNumber)
		assert.Equal(t, intent.ID, tx.Metadata["intentId"])
		assert.Equal(t, intent.IdempotencyKey, box.Requests()[0].IdempotencyKey)
		_, err = client.Transactions.Submit(t.Context(), intent, claim)
		lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "this call sent nothing, and another one did: %v", err)
		require.NotErrorIs(t, err, quickstream.ErrNotSent)
		require.ErrorContains(t, lost, "claimed by another")
		assert.Equal(t, intent, *lost.Intent)
		assert.Len(t, box.Ledger().Charged(order), 1)

		void, err := client.Transactions.PlanVoid(t.Context(), tx.ReceiptNumber)
		require.NoError(t, err)
		claims = 0
		box.ResetRequests()
		voided, err := client.Transactions.Submit(t.Context(), void, claim)
		require.NoError(t, err)
		assert.Equal(t, quickstream.OutcomeVoided, voided.Outcome())
		wait(time.Minute)
		again, err := client.Transactions.Resume(t.Context(), void)
		require.NoError(t, err)
		assert.Equal(t, tx.ReceiptNumber, again.ReceiptNumber)

		_, err = client.Transactions.Plan(t.Context(), payment())
		require.ErrorIs(t, err, quickstream.ErrNotSent, "a card cannot be planned")
		_, err = client.Transactions.Plan(t.Context(), nil)
		require.ErrorIs(t, err, quickstream.ErrNotSent)
		for name, change := range map[string]func(*quickstream.Intent){
			"version": func(i *quickstream.Intent) { i.Version = 99 }, "sent": func(i *quickstream.Intent) { i.Attempts = 1 },
			"receipt": func(i *quickstream.Intent) { i.ReceiptNumber = "R-1" }, "incomplete": func(i *quickstream.Intent) { i.Complete = false },
			"operation": func(i *quickstream.Intent) { i.Operation = "Transactions.Refund" }, "foreign": func(i *quickstream.Intent) { i.Operation = "PayTo.Create" },
			"reference": func(i *quickstream.Intent) { i.Reference = "X" }, "id": func(i *quickstream.Intent) { i.ID = "X" },
		} {
			other := intent
			change(&other)
			_, err := client.Transactions.Submit(t.Context(), other, func(context.Context) error { t.Error(name); return nil })
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
		}
	})
}

// TestSubmitChecksTheStoredRequest: a stored request that was edited to break a rule is
// refused before the claim, and nothing is sent.
func TestSubmitChecksTheStoredRequest(t *testing.T) {
	sent := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		sent++
		return answer(http.StatusCreated, approvedBody), nil
	})
	pay := payment()
	pay.Source, pay.ECI = quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard), quickstream.ECIRecurring
	refund := quickstream.RefundParams{
		OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD, CardExpiry: quickstream.YearMonth{Year: 2035, Month: time.May},
	}
	payTo := quickstream.CollectParams{
		SupplierBusinessCode: "SHOP", AgreementToken: "T-1",
		PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
	}
	preauth := quickstream.PreauthoriseParams{
		SupplierBusinessCode: "SHOP", Source: pay.Source.(quickstream.CardSource), PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIRecurring, StoredCredential: pay.StoredCredential,
	}
	capture := quickstream.CaptureParams{
		OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD, StoredCredential: pay.StoredCredential,
	}
	for name, c := range map[string]struct {
		params quickstream.TransactionParams
		edit   func(request)
		rule   string
	}{
		"no amount":          {pay, func(r request) { delete(r, "principalAmount") }, "transaction.principalAmount.money"},
		"long reference":     {pay, func(r request) { r["paymentReferenceNumber"] = strings.Repeat("x", 101) }, "transaction.paymentReferenceNumber.length"},
		"two sources":        {pay, func(r request) { r["customerId"] = "C-1" }, "transaction.source.required"},
		"no source":          {pay, func(r request) { delete(r, "accountToken") }, "transaction.source.required"},
		"no business":        {pay, func(r request) { delete(r, "supplierBusinessCode") }, "transaction.supplierBusinessCode.required"},
		"no address":         {pay, func(r request) { r["ipAddress"] = "the customer's" }, "transaction.ipAddress.public"},
		"PayTo, no token":    {payTo, func(r request) { r["payToData"] = request{} }, "payToData.agreementToken.required"},
		"PayTo preauth":      {preauth, func(r request) { r["payToData"] = request{"agreementToken": "T-1"}; delete(r, "accountToken") }, "transaction.source.card"},
		"ECI of a payment":   {preauth, func(r request) { r["eci"] = "5" }, "transaction.eci.paymentsOnly"},
		"refund of nothing":  {refund, func(r request) { delete(r, "originalReceiptNumber") }, "transaction.originalReceiptNumber.required"},
		"refund, odd month":  {refund, func(r request) { r["creditCard"] = request{"expiryDateMonth": "13", "expiryDateYear": "2035"} }, "refund.cardExpiry.valid"},
		"refund, no month":   {refund, func(r request) { r["creditCard"] = request{"expiryDateMonth": "0a", "expiryDateYear": "2035"} }, "refund.cardExpiry.valid"},
		"refund, no year":    {refund, func(r request) { r["creditCard"] = request{"expiryDateMonth": "05", "expiryDateYear": "203a"} }, "refund.cardExpiry.valid"},
		"refund, long month": {refund, func(r request) { r["creditCard"] = request{"expiryDateMonth": "011", "expiryDateYear": "2035"} }, "refund.cardExpiry.valid"},
		"refund, odd year":   {refund, func(r request) { r["creditCard"] = request{"expiryDateMonth": "12", "expiryDateYear": "0999"} }, "refund.cardExpiry.valid"},
		"capture, no origin": {capture, func(r request) { r["storedCredentialData"] = request{"entryMode": ""} }, "capture.storedCredentialData.entryMode"},
	} {
		intent, err := client.Transactions.Plan(t.Context(), c.params)
		require.NoError(t, err, name)
		stored := edit(t, &intent, c.edit)
		intent.Reference, _ = stored["paymentReferenceNumber"].(string)

		claimed := false
		claim := func(context.Context) error { claimed = true; return nil }
		_, err = client.Transactions.Submit(t.Context(), intent, claim)
		lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%s: that nothing was sent now is no proof before the claim: %v", name, err)
		assert.Equal(t, []string{c.rule}, brokenRules(lost.Cause), name)
		require.NotErrorIs(t, err, quickstream.ErrNotSent, name)
		assert.False(t, claimed, name)
		assert.Zero(t, sent, name)

		_, err = client.Transactions.Submit(t.Context(), intent, claim, quickstream.WithoutRule(c.rule))
		invalid, _ := errors.AsType[*quickstream.ValidationError](err)
		assert.Nil(t, invalid, name)
		assert.True(t, claimed, "%s: a rule is switched off here too", name)
		sent = 0
	}
}

type request = map[string]any

// edit changes the stored request of an intent.
func edit(t *testing.T, intent *quickstream.Intent, change func(request)) request {
	t.Helper()
	stored := request{}
	decoder := json.NewDecoder(bytes.NewReader(intent.Request))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&stored))
	change(stored)
	var err error
	intent.Request, err = json.Marshal(stored)
	require.NoError(t, err)
	return stored
}

// TestSubmitAfterItsClaim: nobody else sends the intent any more, so that a request
// which did not leave is proof.
func TestSubmitAfterItsClaim(t *testing.T) {
	client, err := quickstream.NewClient(quickstream.CustomURL(closedPort(t)), testKeys(), quickstream.WithoutResend(), quickstream.WithRetryWait(time.Millisecond, time.Millisecond))
	require.NoError(t, err)
	void, err := client.Transactions.PlanVoid(t.Context(), "R-1")
	require.NoError(t, err)
	_, err = client.Transactions.Submit(t.Context(), void, func(context.Context) error { return nil })
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = client.Transactions.Submit(ctx, void, func(context.Context) error { cancel(); return nil })
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	_, err = client.Transactions.Submit(ctx, void, func(ctx context.Context) error { return ctx.Err() })
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, "that nothing was sent now is no proof before the claim")
	_, err = client.Transactions.Submit(t.Context(), void, func(context.Context) error { panic("mine") })
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, "the claim may have been stored")
}

// wait lets time pass inside a synctest bubble.
func wait(d time.Duration) { <-time.After(d) }
