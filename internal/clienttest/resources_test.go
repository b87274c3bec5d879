package clienttest_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

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

func bankAccount() quickstream.BankAccountDetails {
	return quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: "650-000", AccountNumber: quickstream.NewSecret("999994")}
}

func nzBankAccount() quickstream.NZBankAccountDetails {
	return quickstream.NZBankAccountDetails{
		AccountName: "Kim Lee", BankCode: "12", BranchCode: "3405", AccountNumber: quickstream.NewSecret("0000001"), AccountSuffix: "00",
	}
}

// TestRegistrationAnswers: the contract does not show the answer to a registration.
func TestRegistrationAnswers(t *testing.T) {
	params := quickstream.RegisterAccountParams{SingleUseTokenID: "S-1"}
	for body, token := range map[string]string{
		`{"accountToken":"A-1"}`: "A-1", `{"creditCard":{"accountToken":"A-1"}}`: "", ``: "", `{}`: "", `{"links":[]}`: "",
	} {
		account, err := clientOf(t, says(http.StatusCreated, body)).Accounts.Register(t.Context(), "C-1", params)
		require.NoError(t, err, body)
		assert.Equal(t, token, account.AccountToken, body)
	}
	for _, body := range []string{
		"<html>OK</html>", `{"accountToken":"A-1","customerId":"C-2"}`, `{"accountToken":["A-1"]}`,
	} {
		_, err := clientOf(t, says(http.StatusOK, body)).Accounts.Register(t.Context(), "C-1", params)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, body)
	}
}

// TestRegistrationsOfOtherAccounts: an account of another kind, or another card's, is not the one that was sent.
func TestRegistrationsOfOtherAccounts(t *testing.T) {
	wallet := approvedCard()
	wallet.WalletProvider = quickstream.WalletProviderApplePay
	card, bank := quickstream.RegisterAccountParams{Card: new(approvedCard())}, quickstream.RegisterAccountParams{BankAccount: new(bankAccount())}
	for _, c := range []struct {
		params  quickstream.RegisterAccountParams
		members string
		fits    bool
	}{
		{card, `"accountType":"CREDIT_CARD","cardNumber":"424242...242","maskedCardNumber4Digits":"424242...4242"`, true},
		{card, `"accountType":"credit_card","cardNumber":"xxxxxx...242"`, true},
		{card, `"accountType":"NEW_KIND"`, true},
		{card, `"accountType":"DIRECT_DEBIT"`, false},
		{card, `"cardNumber":"411111...111"`, false},
		{card, `"maskedCardNumber4Digits":"424242...4243"`, false},
		{quickstream.RegisterAccountParams{Card: new(wallet)}, `"accountType":"CREDIT_CARD","cardNumber":"411111...111"`, true},
		{bank, `"accountType":"DIRECT_DEBIT","cardNumber":null`, true},
		{bank, `"accountType":"DIRECT_DEBIT_NZ"`, false},
		{bank, `"accountType":"CREDIT_CARD"`, false},
		{quickstream.RegisterAccountParams{NZBankAccount: new(nzBankAccount())}, `"accountType":"DIRECT_DEBIT"`, false},
		{quickstream.RegisterAccountParams{SingleUseTokenID: "S-1"}, `"accountType":"DIRECT_DEBIT","cardNumber":"411111...111"`, true},
	} {
		body := `{"accountToken":"A-1",` + c.members + `}`
		_, err := clientOf(t, says(http.StatusCreated, body)).Accounts.Register(t.Context(), "C-1", c.params)
		assert.Equal(t, c.fits, err == nil, "%s: %v", body, err)
		assert.Equal(t, !c.fits, errors.Is(err, quickstream.ErrOutcomeUnknown), body)
	}
}
