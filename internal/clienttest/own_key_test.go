package clienttest_test

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestTheSameKeyIsTheSameRequest: with a key of the caller's the same call has the same bytes, and
// whatever differs has another reference and id.
func TestTheSameKeyIsTheSameRequest(t *testing.T) {
	sent := func(environment, key string, params quickstream.TransactionParams) (body string, named [2]string) {
		client, err := quickstream.NewClient(quickstream.CustomURL(cmp.Or(environment, baseURL)), testKeys(), quickstream.WithHTTPClient(&http.Client{
			Transport: service(func(r *http.Request) (*http.Response, error) {
				read, err := io.ReadAll(r.Body)
				body = string(read)
				return answer(422, errorBody), err
			}),
		}))
		require.NoError(t, err)
		_, _ = making(t, params).callWith(t.Context(), client, "", reflect.ValueOf(params), quickstream.WithIdempotencyKey(key))
		var read struct {
			PaymentReferenceNumber string
			Metadata               map[string]string
		}
		require.NoError(t, json.Unmarshal([]byte(body), &read))
		return body, [2]string{read.PaymentReferenceNumber, read.Metadata["intentId"]}
	}
	pay := payment()
	pay.PaymentReferenceNumber, pay.Source = "", quickstream.FromCard(sandboxtest.Card("4242424242424242"))
	dearer, otherCard, otherToken := pay, pay, pay
	dearer.PrincipalAmount = pay.PrincipalAmount.Add(decimal.New(1, -2))
	otherCard.Source = quickstream.FromCard(sandboxtest.Card("5105105105105100"))
	otherToken.Source = quickstream.FromSingleUseToken("T-1")
	from := func(source quickstream.AccountSource) quickstream.PayParams {
		p := pay
		p.Source, p.ECI, p.StoredCredential = source, "", nil
		return p
	}
	card := func(number string, month time.Month) quickstream.PayParams {
		p, details := pay, sandboxtest.Card(number)
		details.Expiry.Month = month
		p.Source = quickstream.FromCard(details)
		return p
	}
	bank := func(bsb, number string) quickstream.PayParams {
		return from(quickstream.FromBankAccount(quickstream.BankAccountDetails{AccountName: "Ann", BSB: bsb, AccountNumber: quickstream.NewSecret(number)}))
	}
	nz := func(bank, branch, number string) quickstream.PayParams {
		return from(quickstream.FromNZBankAccount(quickstream.NZBankAccountDetails{AccountName: "Ann", BankCode: bank, BranchCode: branch, AccountNumber: quickstream.NewSecret(number)}))
	}
	topUp := quickstream.TopUpParams{OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD}
	collect := quickstream.CollectParams{
		SupplierBusinessCode: pay.SupplierBusinessCode, PrincipalAmount: pay.PrincipalAmount, Currency: pay.Currency,
		AgreementToken: "A-1",
	}
	names := map[string]string{}
	for name, of := range map[string]struct {
		environment, key string
		params           quickstream.TransactionParams
	}{
		"a payment": {"", "K1", pay}, "another key": {"", "K2", pay}, "another amount": {"", "K1", dearer}, "another card": {"", "K1", otherCard},
		"a token": {"", "K1", otherToken}, "another environment": {"https://other.invalid/rest/v1", "K1", pay},
		"a top-up": {"", "K1", topUp}, "a re-authorisation": {"", "K1", quickstream.ReauthoriseParams(topUp)}, "a collection": {"", "K1", collect},
		"a card in May": {"", "K1", card("4111111111444496", time.May)}, "in June": {"", "K1", card("4111111111444496", time.June)},
		"with other last digits": {"", "K1", card("4111111115444492", time.May)},
		"a bank account":         {"", "K1", bank("032-002", "999994")}, "another branch": {"", "K1", bank("032-003", "999994")}, "another number": {"", "K1", bank("032-002", "123465")},
		"a New Zealand account": {"", "K1", nz("01", "0001", "0000001")}, "another bank's": {"", "K1", nz("02", "0001", "0000001")},
		"another branch's": {"", "K1", nz("01", "0002", "0000001")}, "another number there": {"", "K1", nz("01", "0001", "9999940")},
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
