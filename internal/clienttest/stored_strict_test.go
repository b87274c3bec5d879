package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// plannable are valid parameters of every transaction, without a secret.
func plannable() []quickstream.TransactionParams {
	amount, token := decimal.RequireFromString("10.50"), quickstream.FromSingleUseToken("S-1")
	pay := payment()
	pay.Source, pay.Comment, pay.Metadata = token, textsThatDiffer, map[string]string{"B": "1", "b": "2", "": textsThatDiffer}
	return []quickstream.TransactionParams{
		pay,
		quickstream.RefundParams{OriginalReceiptNumber: "R-1", PrincipalAmount: amount, Currency: pay.Currency, CardExpiry: quickstream.YearMonth{Year: 2035, Month: time.May}},
		quickstream.PreauthoriseParams{
			SupplierBusinessCode: "SHOP", Source: token, PrincipalAmount: amount, Currency: pay.Currency, ECI: quickstream.ECIMail, StoredCredential: pay.StoredCredential, IPAddress: pay.IPAddress,
		},
		quickstream.VerifyAccountParams{SupplierBusinessCode: "SHOP", Source: token, ECI: quickstream.ECIMail, StoredCredential: pay.StoredCredential, IPAddress: pay.IPAddress},
		quickstream.TopUpParams{OriginalReceiptNumber: "R-1", PrincipalAmount: amount, Currency: pay.Currency},
		quickstream.ReauthoriseParams{OriginalReceiptNumber: "R-1", PrincipalAmount: amount, Currency: pay.Currency},
		quickstream.ExtendParams{OriginalReceiptNumber: "R-1", Currency: pay.Currency},
		quickstream.CaptureParams{OriginalReceiptNumber: "R-1", PrincipalAmount: amount, Currency: pay.Currency, StoredCredential: pay.StoredCredential},
		quickstream.CancelPreauthorisationParams{OriginalReceiptNumber: "R-1", Type: quickstream.CancellationTypePartial, PrincipalAmount: amount, Currency: pay.Currency},
		quickstream.CollectParams{
			SupplierBusinessCode: "SHOP", PrincipalAmount: amount, Currency: pay.Currency,
			AgreementToken: "A-1", RemittanceInformation1: "a b",
		},
	}
}

// allPlans returns a planned intent of every operation that can be planned, by its name.
func allPlans(t *testing.T, client *quickstream.Client) map[string]quickstream.Intent {
	t.Helper()
	found := map[string]quickstream.Intent{}
	keep := func(intent quickstream.Intent, err error) {
		require.NoError(t, err)
		found[string(intent.Operation)] = intent
	}
	for _, params := range plannable() {
		keep(client.Transactions.Plan(t.Context(), params))
	}
	keep(client.Transactions.PlanVoid(t.Context(), "R-1"))
	return found
}

// submit sends a stored intent.
func submit(t *testing.T, client *quickstream.Client, intent quickstream.Intent, claim quickstream.Claim, opts ...quickstream.CallOption) error {
	t.Helper()
	return second(client.Transactions.Submit(t.Context(), intent, claim, opts...))
}

// databaseForm is a JSON text as a database may give it back: in another order, with other
// spacing, escapes and numbers.
func databaseForm(t *testing.T, stored []byte) []byte {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(stored, &v))
	other, err := json.MarshalIndent(v, " ", "\t")
	require.NoError(t, err)
	return other
}

// TestPlansAreReadBack: everything that Plan writes can be stored, read and sent.
func TestPlansAreReadBack(t *testing.T) {
	client, sent := keeping(t)
	all := allPlans(t, client)
	assert.Len(t, all, 11)
	for operation, intent := range all {
		assert.True(t, intent.Complete, operation)
		assert.False(t, intent.OwnReference, operation)
		row, err := json.Marshal(intent)
		require.NoError(t, err)
		forms := []quickstream.Intent{intent, {}, {}}
		require.NoError(t, json.Unmarshal(row, &forms[1]), operation)
		require.NoError(t, json.Unmarshal(databaseForm(t, row), &forms[2]), operation)
		for i, read := range forms {
			claimed := 0
			*sent = nil
			err := submit(t, client, read, func(context.Context) error { claimed++; return nil })
			require.ErrorIs(t, err, quickstream.ErrInvalid, operation)
			assert.Equal(t, 1, claimed, operation)
			require.Len(t, *sent, 1, operation)
			if i == 0 {
				assert.Equal(t, string(intent.Request), (*sent)[0], "%s: what was planned is sent", operation)
			}
		}
	}
}

// refusedUnread submits an intent, which has to be refused before its claim, with an error that
// shows nothing of it.
func refusedUnread(t *testing.T, name string, intent quickstream.Intent, secret string, opts ...quickstream.CallOption) {
	t.Helper()
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		t.Errorf("%s: a request was sent", name)
		return answer(http.StatusCreated, approvedBody), nil
	})
	err := submit(t, client, intent, func(context.Context) error { t.Errorf("%s: claimed", name); return nil }, opts...)
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
	open, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(t, ok, name)
	for _, text := range []string{err.Error(), open.Cause.Error()} {
		assert.NotContains(t, text, secret, name)
	}
	invalid, _ := errors.AsType[*quickstream.ValidationError](open.Cause)
	assert.Nil(t, invalid, "%s: no rule can be switched off to send it: %v", name, open.Cause)
}

// TestStoredRequestsAreReadStrictly: what Plan does not write is refused before the claim.
func TestStoredRequestsAreReadStrictly(t *testing.T) {
	all := allPlans(t, clientOf(t, gone))
	const card = "4242424242424242"
	for name, c := range map[string]struct {
		of, old, new string
	}{
		"amount twice":             {"Transactions.Pay", `"principalAmount":10.50`, `"principalAmount":10.50,"principalAmount":99999.00`},
		"amount in another case":   {"Transactions.Pay", `"principalAmount":10.50`, `"principalAmount":10.50,"PrincipalAmount":99999.00`},
		"another case alone":       {"Transactions.Pay", `"principalAmount"`, `"PRINCIPALAMOUNT"`},
		"amount as a text":         {"Transactions.Pay", `"principalAmount":10.50`, `"principalAmount":"10.50"`},
		"three decimals":           {"Transactions.Pay", `"principalAmount":10.50`, `"principalAmount":10.505`},
		"null":                     {"Transactions.Pay", `"principalAmount":10.50`, `"principalAmount":10.50,"comment":null`},
		"metadata twice":           {"Transactions.Pay", `"b":"2"`, `"b":"2","b":"` + card + `"`},
		"metadata of another type": {"Transactions.Pay", `"b":"2"`, `"b":2`},
		"unknown member":           {"Transactions.Pay", `"principalAmount"`, `"newMember":"` + card + `","principalAmount"`},
		"card":                     {"Transactions.Pay", `"singleUseTokenId":"S-1"`, `"creditCard":{"cardNumber":"` + card + `","expiryDateMonth":"12","expiryDateYear":"2035"}`},
		"bank account":             {"Transactions.Preauthorise", `"singleUseTokenId":"S-1"`, `"bankAccount":{"accountName":"a","bsb":"650-000","accountNumber":"111111"}`},
		"cryptogram":               {"Transactions.Preauthorise", `"singleUseTokenId"`, `"cryptogram":"AAAA","singleUseTokenId"`},
		"gateway's data":           {"Transactions.Pay", `"singleUseTokenId"`, `"mpgsData":{"a":1},"singleUseTokenId"`},
		"card of a refund":         {"Transactions.Refund", `"expiryDateMonth"`, `"cardNumber":"` + card + `","expiryDateMonth"`},
		"card as its month":        {"Transactions.Refund", `"05"`, `"` + card + `"`},
		"agreement of a card":      {"Transactions.Pay", `"singleUseTokenId":"S-1"`, `"payToData":{"payToAgreement":{"supplierBusinessCode":"SHOP","paymentDetails":{},"payerDetails":{"payId":"a@b"}}}`},
		"trailing data":            {"Transactions.Capture", `"transactionType":"CAPTURE"`, `"transactionType":"CAPTURE"}{"a":1`},
		"cut off":                  {"Transactions.Capture", `}`, ``},
		"list":                     {"Transactions.Capture", `{`, `[{`},
	} {
		intent := all[c.of]
		require.Contains(t, string(intent.Request), c.old, name)
		intent.Request = json.RawMessage(strings.Replace(string(intent.Request), c.old, c.new, 1))
		refusedUnread(t, name, intent, card)
	}
	pay := all["Transactions.Pay"]
	for _, request := range []string{``, `null`, `{}`, `"a"`, "{\"comment\":\"\xff\"}"} {
		pay.Request = json.RawMessage(request)
		refusedUnread(t, request, pay, card)
	}
}

// TestStoredKeysAndOptions: an intent is sent under its own key and as it was stored.
func TestStoredKeysAndOptions(t *testing.T) {
	for name, intent := range allPlans(t, clientOf(t, gone)) {
		refusedUnread(t, name, intent, "4242", quickstream.WithIdempotencyKey("another-4242"))
		refusedUnread(t, name, intent, "4242", quickstream.WithIdempotencyKey(intent.IdempotencyKey))
		refusedUnread(t, name, intent, "4242", quickstream.WithExtraField("newMember", "4242"))
		for key, fine := range map[string]bool{
			"": false, "k": true, strings.Repeat("k", 255): true, strings.Repeat("k", 256): false, "a b": false, "a\r\nb: c": false, "4242\u00e9": false,
		} {
			if intent.IdempotencyKey = key; !fine {
				refusedUnread(t, name+" "+key, intent, "4242")
				continue
			}
			client := clientOf(t, says(http.StatusBadRequest, `{"developerMessage":"No."}`))
			require.ErrorIs(t, submit(t, client, intent, func(context.Context) error { return nil }), quickstream.ErrInvalid, name)
		}
	}
}

// TestStoredIntentsAreReadStrictly: a row has every member once, by its name. One of a later version
// is read, so that the process that knows it can have it, and refused.
func TestStoredIntentsAreReadStrictly(t *testing.T) {
	all := allPlans(t, clientOf(t, gone))
	row, err := json.Marshal(all["Transactions.Capture"])
	require.NoError(t, err)
	for old, changed := range map[string]string{
		`"version":1`:   `"version":1,"version":1`,
		`"complete"`:    `"Complete"`,
		`"operation"`:   `"operation":"Transactions.Pay","operation"`,
		`"reference"`:   `"newMember":"R-4242","reference"`,
		`"request":`:    `"Request":{},"request":`,
		`R-1`:           "R-\xff",
		`"notBefore":"`: `"notBefore":"4242`,
	} {
		require.Contains(t, string(row), old)
		var read quickstream.Intent
		err := json.Unmarshal([]byte(strings.Replace(string(row), old, changed, 1)), &read)
		require.Error(t, err, changed)
		assert.NotContains(t, err.Error(), "4242")
		assert.Zero(t, read, changed)
	}
	var later quickstream.Intent
	require.NoError(t, json.Unmarshal([]byte(strings.Replace(string(row), `"version":1`, `"version":2,"newMember":1`, 1)), &later))
	refusedUnread(t, "later version", later, "4242")
}
