package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestCardsOfABusiness asks with the publishable key, and again where an answer was
// lost: nothing of it is a write.
func TestCardsOfABusiness(t *testing.T) {
	number := approvedCard().CardNumber
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t, sandbox.WithBusiness("SHOP", "Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.UnknownEnumValues = false }))
		require.NoError(t, box.Inject(sandbox.Fault{Kind: sandbox.ResetAfterCommit(), Times: 1}))
		surcharge, err := client.Businesses.QueryCardSurcharge(t.Context(), "SHOP", number)
		require.NoError(t, err)
		assert.Equal(t, []any{quickstream.CardSchemeVisa, quickstream.CardTypeCredit, "1.10"}, []any{surcharge.CardScheme, surcharge.CardType, surcharge.SurchargePercentage})
		requests := box.Requests()
		require.Len(t, requests, 2)
		for _, r := range requests {
			assert.Equal(t, sandbox.KeyPublishable, r.Key)
		}
		assert.Equal(t, requests[0].IdempotencyKey, requests[1].IdempotencyKey)
	})
	// In every way to fail there is no unknown outcome.
	for name, way := range failures() {
		synctest.Test(t, func(t *testing.T) {
			_, err := clientOf(t, way).Businesses.QueryCardSurcharge(t.Context(), "SHOP", number)
			require.Error(t, err, name)
			assert.NotErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
		})
	}
}

// TestCheckProvesTheSecretKey: a publishable key in its place is answered at the root,
// and is found out.
func TestCheckProvesTheSecretKey(t *testing.T) {
	box := sandbox.New()
	t.Cleanup(box.Close)
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), quickstream.Keys{Secret: quickstream.NewSecretKey(box.Keys().Publishable)},
		quickstream.WithHTTPClient(box.HTTPClient()))
	require.NoError(t, err)
	_, err = client.Root(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, client.Check(t.Context()), quickstream.ErrUnauthorized)
	require.NoError(t, sandboxtest.Client(t, box).Check(t.Context()))

	for _, body := range []string{`{"data":[]}`, `{"data":null}`, `{"data":[{}]}`, `{"data":[{"newMember":1}],"links":[]}`} {
		assert.NoError(t, clientOf(t, says(200, body)).Check(t.Context()), body)
	}
	for _, body := range []string{``, `<html>`, `{}`, `[]`, `{"data":7}`} {
		_, unreadable := errors.AsType[*quickstream.DecodeError](clientOf(t, says(200, body)).Check(t.Context(), quickstream.WithMaxAttempts(1)))
		assert.True(t, unreadable, body)
	}
}

const registerOperation = "POST /customers/{customerId}/accounts"

func newCustomer(t *testing.T, client *quickstream.Client) string {
	t.Helper()
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	return customer.CustomerID
}

func bankAccount() quickstream.BankAccountDetails {
	return quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: "650-000", AccountNumber: quickstream.NewSecret("999994")}
}

func nzBankAccount() quickstream.NZBankAccountDetails {
	return quickstream.NZBankAccountDetails{
		AccountName: "Kim Lee", BankCode: "12", BranchCode: "3405", AccountNumber: quickstream.NewSecret("0000001"), AccountSuffix: "00",
	}
}

// TestLostRegistration loses the answer, which is not sent again.
func TestLostRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		customer := newCustomer(t, client)
		require.NoError(t, box.Inject(sandbox.Fault{Operation: registerOperation, Kind: sandbox.ResetAfterCommit()}))
		box.ResetRequests()
		_, err := client.Accounts.Register(t.Context(), customer, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromCard(approvedCard())})
		require.Equal(t, unknown, ending(err), "%v", err)
		assert.Len(t, box.Requests(), 1)
		lost, _ := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.NotNil(t, lost.Intent)
		assert.False(t, lost.Intent.Complete, "a card is left out")

		assert.Contains(t, lost.FindOut, "Accounts.List")

		account, err := client.Accounts.List(lost.Intent.Target).First(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "424242...242", account.CardNumber)
	})
}

// TestRegistrationIsPlanned from a token and from a receipt, and sent once.
func TestRegistrationIsPlanned(t *testing.T) {
	box, client := sandboxtest.New(t)
	customer := newCustomer(t, client)
	token, err := client.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: approvedCard()})
	require.NoError(t, err)
	box.ResetRequests()
	intent, err := client.Accounts.Plan(t.Context(), customer, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromSingleUseToken(token.SingleUseTokenID)})
	require.NoError(t, err)
	assert.Empty(t, box.Requests())
	_, err = client.Accounts.Submit(t.Context(), intent, func(context.Context) error { return errors.New("claimed") })
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, "somebody else may have sent it")
	account, err := client.Accounts.Submit(t.Context(), intent, func(context.Context) error { return nil })
	require.NoError(t, err)
	assert.Equal(t, "424242...242", account.CardNumber)
	require.Len(t, box.Requests(), 1)
	assert.Equal(t, intent.IdempotencyKey, box.Requests()[0].IdempotencyKey)

	_, err = client.Accounts.Plan(t.Context(), customer, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromReceipt("R-1")})
	require.NoError(t, err)
	_, err = client.Accounts.Plan(t.Context(), customer, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromCard(approvedCard())})
	require.ErrorIs(t, err, quickstream.ErrNotSent, "a card cannot be planned")
	intent.Request = []byte("{")
	_, err = client.Accounts.Submit(t.Context(), intent, func(context.Context) error { return nil })
	require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
}

// TestRegistrationAnswers: the contract does not show the answer to a registration.
func TestRegistrationAnswers(t *testing.T) {
	params := quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromSingleUseToken("S-1")}
	for body, token := range map[string]string{
		`{"accountToken":"A-1"}`: "A-1", `{"creditCard":{"accountToken":"A-1"}}`: "A-1", ``: "", `{}`: "", `{"links":[]}`: "",
		`{"creditCard":{"accountToken":"A-1"},"customer":{"customerId":"C-1"},"account":{"accountToken":"A-1"}}`: "A-1",
	} {
		account, err := clientOf(t, says(http.StatusCreated, body)).Accounts.Register(t.Context(), "C-1", params)
		require.NoError(t, err, body)
		assert.Equal(t, token, account.AccountToken, body)
	}
	for _, body := range []string{
		"<html>OK</html>", `{"accountToken":"A-1","customerId":"C-2"}`, `{"creditCard":{"accountToken":"A-1","customerId":"C-2"}}`,
		`{"creditCard":{"accountToken":["A-1"]}}`, `{"creditCard":{"AccountToken":"A-1"}}`,
		`{"creditCard":{"accountToken":"A-1"},"bankAccount":{"accountToken":"A-2"}}`,
	} {
		_, err := clientOf(t, says(http.StatusOK, body)).Accounts.Register(t.Context(), "C-1", params)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, body)
	}
}

// TestRegistrationsOfOtherAccounts: an account of another kind, or another card's, is not the one that was sent.
func TestRegistrationsOfOtherAccounts(t *testing.T) {
	wallet := approvedCard()
	wallet.WalletProvider = quickstream.WalletProviderApplePay
	card, bank := quickstream.RegistrationFromCard(approvedCard()), quickstream.RegistrationFromBankAccount(bankAccount())
	for _, c := range []struct {
		source  quickstream.RegistrationSource
		members string
		fits    bool
	}{
		{card, `"accountType":"CREDIT_CARD","cardNumber":"424242...242","maskedCardNumber4Digits":"424242...4242"`, true},
		{card, `"accountType":"credit_card","cardNumber":"xxxxxx...242"`, true},
		{card, `"accountType":"NEW_KIND"`, true},
		{card, `"accountType":"DIRECT_DEBIT"`, false},
		{card, `"cardNumber":"411111...111"`, false},
		{card, `"maskedCardNumber4Digits":"424242...4243"`, false},
		{quickstream.RegistrationFromCard(wallet), `"accountType":"CREDIT_CARD","cardNumber":"411111...111"`, true},
		{bank, `"accountType":"DIRECT_DEBIT","cardNumber":null`, true},
		{bank, `"accountType":"DIRECT_DEBIT_NZ"`, false},
		{bank, `"accountType":"CREDIT_CARD"`, false},
		{quickstream.RegistrationFromNZBankAccount(nzBankAccount()), `"accountType":"DIRECT_DEBIT"`, false},
		{quickstream.RegistrationFromSingleUseToken("S-1"), `"accountType":"DIRECT_DEBIT","cardNumber":"411111...111"`, true},
	} {
		for _, body := range []string{`{"accountToken":"A-1",` + c.members + `}`, `{"account":{"accountToken":"A-1",` + c.members + `}}`} {
			_, err := clientOf(t, says(http.StatusCreated, body)).Accounts.Register(t.Context(), "C-1", quickstream.RegisterAccountParams{Source: c.source})
			assert.Equal(t, c.fits, err == nil, "%s: %v", body, err)
			assert.Equal(t, !c.fits, errors.Is(err, quickstream.ErrOutcomeUnknown), body)
		}
	}
}

// TestBatchOfAnotherID is not the one that was asked for.
func TestBatchOfAnotherID(t *testing.T) {
	for body, fits := range map[string]bool{
		`{"paymentBatchId":"B-1"}`: true, `{"paymentBatchId":"b-1"}`: true, `{"paymentBatchId":1}`: false, `{"paymentBatchId":"B-2"}`: false, `{"id":"B-2"}`: true,
	} {
		_, err := clientOf(t, says(http.StatusOK, body)).PaymentFiles.Batch(t.Context(), "B-1", quickstream.WithMaxAttempts(1))
		assert.Equal(t, fits, err == nil, "%s: %v", body, err)
	}
}

// TestAgreementOfAnotherCustomer is not the one that was asked for.
func TestAgreementOfAnotherCustomer(t *testing.T) {
	for customer, fits := range map[string]bool{"C-1": true, "c-1": true, "C-2": false} {
		body := fmt.Sprintf(`{"agreementToken":"A-1","status":"Pending","payerDetails":{"customerId":%q}}`, customer)
		_, err := clientOf(t, says(http.StatusCreated, body)).PayTo.Create(t.Context(), "C-1", agreementParams("P-1"))
		assert.Equal(t, fits, err == nil, "%s: %v", customer, err)
	}
}
