package clienttest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestTheSameKeyIsTheSameRequest: with a key of the caller's the same call has the same bytes, and
// whatever differs has another reference and id.
func TestTheSameKeyIsTheSameRequest(t *testing.T) {
	sent := func(environment, key string, params quickstream.TransactionParams) (body string, named [2]string) {
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			read, err := io.ReadAll(r.Body)
			body = string(read)
			return answer(422, errorBody), err
		})
		if environment != "" {
			var err error
			client, err = quickstream.NewClient(quickstream.CustomURL(environment), testKeys(), quickstream.WithHTTPClient(&http.Client{Transport: service(func(r *http.Request) (*http.Response, error) {
				read, err := io.ReadAll(r.Body)
				body = string(read)
				return answer(422, errorBody), err
			})}))
			require.NoError(t, err)
		}
		switch p := params.(type) {
		case quickstream.PayParams:
			_, _ = client.Transactions.Pay(t.Context(), p, quickstream.WithIdempotencyKey(key))
		case quickstream.CollectParams:
			_, _ = client.PayTo.Collect(t.Context(), p, quickstream.WithIdempotencyKey(key))
		case quickstream.TopUpParams:
			_, _ = client.Transactions.TopUp(t.Context(), p, quickstream.WithIdempotencyKey(key))
		case quickstream.ReauthoriseParams:
			_, _ = client.Transactions.Reauthorise(t.Context(), p, quickstream.WithIdempotencyKey(key))
		}
		var read struct {
			PaymentReferenceNumber string
			Metadata               map[string]string
		}
		require.NoError(t, json.Unmarshal([]byte(body), &read))
		return body, [2]string{read.PaymentReferenceNumber, read.Metadata["intentId"]}
	}
	pay := payment()
	pay.PaymentReferenceNumber = ""
	dearer, otherCard, otherToken := pay, pay, pay
	dearer.PrincipalAmount = pay.PrincipalAmount.Add(decimal.New(1, -2))
	otherCard.Source = quickstream.FromCard(sandboxtest.Card("5105105105105100"))
	otherToken.Source = quickstream.FromSingleUseToken("T-1")
	topUp := quickstream.TopUpParams{OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD}
	collect := quickstream.CollectParams{
		SupplierBusinessCode: pay.SupplierBusinessCode, PrincipalAmount: pay.PrincipalAmount, Currency: pay.Currency,
		Source: quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: "A-1"}),
	}
	names := map[string]string{}
	for name, of := range map[string]struct {
		environment, key string
		params           quickstream.TransactionParams
	}{
		"a payment": {"", "K1", pay}, "another key": {"", "K2", pay}, "another amount": {"", "K1", dearer}, "another card": {"", "K1", otherCard},
		"a token": {"", "K1", otherToken}, "another environment": {"https://other.invalid/rest/v1", "K1", pay},
		"a top-up": {"", "K1", topUp}, "a re-authorisation": {"", "K1", quickstream.ReauthoriseParams(topUp)}, "a collection": {"", "K1", collect},
	} {
		body, named := sent(of.environment, of.key, of.params)
		again, _ := sent(of.environment, of.key, of.params)
		assert.Equal(t, body, again, name)
		for _, text := range named {
			assert.Len(t, text, 26, name)
			assert.Empty(t, names[text], "%s, too", name)
			names[text] = name
		}
	}
	first, _ := sent("", "K1", pay)
	random, _ := clientOf(t, says(422, errorBody)).Transactions.Plan(t.Context(), otherToken)
	assert.NotContains(t, first, random.ID)
}

// TestAnswersToTheCallersKey: the service may answer with what an earlier process made under the key, so
// the answer has to show amount, currency and reference.
func TestAnswersToTheCallersKey(t *testing.T) {
	pay := payment()
	pay.PaymentReferenceNumber = "ORDER-1"
	approved := `"receiptNumber":"R-1","status":"Approved","summaryCode":"0"`
	for members, shows := range map[string]bool{
		`,"paymentReferenceNumber":"ORDER-1","principalAmount":{"amount":` + pay.PrincipalAmount.String() + `,"currency":"AUD"}`: true,
		`,"paymentReferenceNumber":"ORDER-1","principalAmount":{"amount":` + pay.PrincipalAmount.String() + `}`:                  false,
		`,"principalAmount":{"amount":` + pay.PrincipalAmount.String() + `,"currency":"AUD"}`:                                    false,
		`,"paymentReferenceNumber":"ORDER-1"`: false,
		``:                                    false,
	} {
		client := clientOf(t, says(201, `{`+approved+members+`}`))
		_, err := client.Transactions.Pay(t.Context(), pay, quickstream.WithIdempotencyKey("K1"))
		_, random := client.Transactions.Pay(t.Context(), pay)
		require.NoError(t, random, "under a key of this call: %s", members)
		if shows {
			require.NoError(t, err, members)
			continue
		}
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, members)
	}
	verify := quickstream.VerifyAccountParams{
		SupplierBusinessCode: "B", Source: quickstream.FromAccount("A-1"), PaymentReferenceNumber: "ORDER-1", ECI: quickstream.ECIMail,
	}
	client := clientOf(t, says(201, `{`+approved+`,"paymentReferenceNumber":"ORDER-1"}`))
	_, err := client.Transactions.VerifyAccount(t.Context(), verify, quickstream.WithIdempotencyKey("K1"))
	require.NoError(t, err, "a verification has no amount")
}

// TestConflicts: a 409 to a POST may be about a key in use, and leaves the outcome unknown. A PATCH and a
// PUT carry no key.
func TestConflicts(t *testing.T) {
	for _, op := range operations() {
		var method string
		_, err := op.call(t.Context(), clientOf(t, func(r *http.Request) (*http.Response, error) {
			method = r.Method
			return answer(409, errorBody), nil
		}), "ID-1")
		if method == http.MethodGet || op.name == "Businesses.QueryCardSurcharge" {
			continue
		}
		if method == http.MethodPost {
			assert.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, op.name)
			continue
		}
		refused, _ := err.(*quickstream.APIError) //nolint:errorlint // what the call returns
		require.NotNil(t, refused, op.name)
		assert.Equal(t, quickstream.ReasonConflict, refused.Reason, op.name)
	}
}

// TestDeclinesUnderTheCallersKey: a decline that a look-up finds may be one of two processes', while the
// other's payment is not visible yet. It settles after the cut-off. A claim proves one sender.
func TestDeclinesUnderTheCallersKey(t *testing.T) {
	morning := time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC) // ten o'clock in Sydney
	clock := sandbox.NewClock(morning)
	box := sandbox.New(sandbox.WithClock(clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.LookupLag = 0 }))
	t.Cleanup(box.Close)
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now))
	require.NoError(t, err)
	box.NextTransaction(sandbox.Declined("54"))
	require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1}))
	pay := payment()
	pay.SupplierBusinessCode = sandbox.DefaultBusiness
	tx, err := client.Transactions.Pay(t.Context(), pay, quickstream.WithIdempotencyKey("K1"), quickstream.WithoutResend())
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
	result := resolve.After(tx, err, clock.Now())
	require.Equal(t, resolve.ResultOpen, result.Status)
	assert.True(t, result.Case.Intent.OwnKey)
	policy, c := resolve.DefaultPolicy(resolve.ServiceRetriesOff()), *result.Case
	settledAt := time.Time{}
	for c.Status == resolve.StatusOpen {
		clock.Advance(c.NextLook.Sub(clock.Now()))
		settledAt = clock.Now()
		c = policy.Next(c, policy.LookUp(t.Context(), client.Transactions, c), settledAt)
	}
	assert.Equal(t, resolve.StatusSettled, c.Status)
	assert.Equal(t, quickstream.OutcomeDeclined, c.Outcome)
	assert.GreaterOrEqual(t, settledAt.Sub(morning), 8*time.Hour, "the cut-off is at 18:00")

	planned, err := client.Transactions.Plan(t.Context(), quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: pay.PrincipalAmount, Currency: pay.Currency, ECI: quickstream.ECIMail,
		Source: quickstream.FromAccount("ACCOUNT"), StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
	}, quickstream.WithIdempotencyKey("K2"))
	require.NoError(t, err)
	assert.False(t, planned.OwnKey)
	assert.Equal(t, "K2", planned.IdempotencyKey)
}
