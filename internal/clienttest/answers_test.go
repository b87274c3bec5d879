package clienttest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// A customer with another number is not the one that was created.
func TestCustomerOfAnotherNumber(t *testing.T) {
	for number, fits := range map[string]bool{`"N-1"`: true, `"n-1 "`: true, `null`: true, `"N-2"`: false} {
		_, err := clientOf(t, says(http.StatusCreated, `{"customerId":"1","customerNumber":`+number+`}`)).
			Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "N-1", CustomerName: "Ann"})
		assert.Equal(t, fits, err == nil, "%s: %v", number, err)
		assert.Equal(t, !fits, errors.Is(err, quickstream.ErrOutcomeUnknown), "%s: %v", number, err)
	}
}

// The original of a follow-up, and a follow-up of another kind, are not its answer.
func TestFollowUpOfAnotherKind(t *testing.T) {
	params := quickstream.TopUpParams{OriginalReceiptNumber: "R-0", PrincipalAmount: decimal.RequireFromString("10.50"), Currency: "AUD"}
	for _, c := range []struct {
		member, value string
		fits          bool
	}{
		{"authorisationType", "INCREMENTAL", true},
		{"authorisationType", "incremental", true},
		{"authorisationType", "INITIAL", true},
		{"authorisationType", "", true},
		{"authorisationType", "EXTENSION", false},
		{"authorisationType", "reauthorisation", false},
		{"receiptNumber", "R-0", false},
	} {
		_, err := clientOf(t, echoing(t, func(t object) { t[c.member] = c.value })).Transactions.TopUp(t.Context(), params)
		assert.Equal(t, c.fits, err == nil, "%v: %v", c, err)
		assert.Equal(t, !c.fits, errors.Is(err, quickstream.ErrOutcomeUnknown), "%v: %v", c, err)
	}
	_, err := clientOf(t, echoing(t, func(t object) { t["authorisationType"] = "INCREMENTAL" })).
		Transactions.Extend(t.Context(), quickstream.ExtendParams{OriginalReceiptNumber: "R-0", Currency: "AUD"})
	assert.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, "a top-up is no extension")
}

// An agreement that is still active has not been suspended, whatever the status of the answer is.
func TestAgreementThatIsStillActive(t *testing.T) {
	suspend := func(answer string) error {
		return clientOf(t, says(http.StatusOK, answer)).PayTo.Suspend(t.Context(), "A-1", quickstream.AgreementReason{Code: quickstream.AgreementReasonInitiatingParty})
	}
	assert.NoError(t, suspend(`{"agreementToken":"A-1","status":"SUSPENDED"}`))
	assert.NoError(t, suspend(`{"agreementToken":"A-1"}`))
	assert.ErrorIs(t, suspend(`{"agreementToken":"A-1","status":"ACTIVE"}`), quickstream.ErrOutcomeUnknown)
	terms := agreementTerms(t)
	client := clientOf(t, says(http.StatusOK, `{"agreementToken":"A-1","status":"ACTIVE","hasPendingBilateralAmendment":true}`))
	assert.NoError(t, client.PayTo.AmendBilaterally(t.Context(), terms), "which waits for the payer")
}

func agreementTerms(t *testing.T) *quickstream.BilateralTerms {
	t.Helper()
	var agreement quickstream.Agreement
	require.NoError(t, agreement.UnmarshalJSON([]byte(`{"agreementToken":"A-1","status":"ACTIVE","paymentDetails":{"automaticRenewal":true},"paymentTerms":{}}`)))
	terms, err := agreement.Terms()
	require.NoError(t, err)
	return terms
}

// What an answer says that is no HTTP stays out of the whole chain of causes, which error trackers print.
func TestAttackAnswersThatAreNoHTTP(t *testing.T) {
	const number, payID = "4242424242424242", "ann@example.com"
	for _, said := range []string{
		number + " " + payID + "\r\n\r\n", "HTTP/1.1 " + number + " OK\r\n\r\n", "HTTP/1.1 201 OK\r\n" + payID + "\r\n\r\n",
		"HTTP/1.1 201 OK\r\nTransfer-Encoding: " + payID + "\r\n\r\n", "HTTP/1.1 201 OK\r\nContent-Length: " + number + "x\r\n\r\n",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(listening(t, func(*http.Request, int) string { return said })), testKeys(), quickstream.WithMaxAttempts(1))
		require.NoError(t, err)
		_, err = client.Transactions.Get(t.Context(), "R-1")
		require.Error(t, err)
		client.CloseIdleConnections()
		for cause := err; cause != nil; cause = errors.Unwrap(cause) {
			printed := fmt.Sprintf("%v %+v %#v %q", cause, cause, cause, cause)
			assert.NotContains(t, printed, number, said)
			assert.NotContains(t, printed, payID, said)
		}
	}
}

// A token of another account would let the customer pay with another customer's card.
func TestTokenOfAnotherAccount(t *testing.T) {
	create := func(account quickstream.TokenAccount, answer string) error {
		_, err := clientOf(t, says(http.StatusOK, answer)).SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{
			SupplierBusinessCode: "SHOP", Account: account,
		})
		return err
	}
	card := quickstream.CardDetails{CardNumber: quickstream.NewSecret("4242424242424242"), Expiry: quickstream.YearMonth{Year: 2030, Month: time.May}}
	bank := quickstream.BankAccountDetails{AccountName: "Ann", BSB: "032-002", AccountNumber: quickstream.NewSecret("999994")}
	for _, fits := range []string{
		`"accountType":"CREDIT_CARD"`, `"accountType":"credit_card","creditCard":{}`, `"accountType":"NEW"`, `"creditCard":{"cardNumber":"424242xxxxxxx242"}`,
		`"creditCard":{"cardNumber":"4242 42•• •••• 4242"}`, `"creditCard":{"cardNumber":"...242","maskedCardNumber4Digits":"424242...4242"}`,
		`"creditCard":{"cardNumber":"xxxx"}`, `"creditCard":{"maskedCardNumber4Digits":"1111"}`,
	} {
		assert.NoError(t, create(card, `{"singleUseTokenId":"T",`+fits+`}`), fits)
	}
	for _, other := range []string{
		`"accountType":"DIRECT_DEBIT"`, `"accountType":"direct_debit_nz"`, `"creditCard":{"cardNumber":"411111xxxxxxx242"}`,
		`"creditCard":{"cardNumber":"424242xxxxxxx111"}`, `"creditCard":{"cardNumber":"424242xxxxxxx242","maskedCardNumber4Digits":"424242xxxxxx1111"}`,
	} {
		assert.ErrorIs(t, create(card, `{"singleUseTokenId":"T",`+other+`}`), quickstream.ErrOutcomeUnknown, other)
	}
	assert.NoError(t, create(bank, `{"singleUseTokenId":"T","accountType":"DIRECT_DEBIT"}`))
	assert.ErrorIs(t, create(bank, `{"singleUseTokenId":"T","accountType":"CREDIT_CARD","creditCard":{"cardNumber":"424242xxxxxxx242"}}`), quickstream.ErrOutcomeUnknown)
}

// A refusal that shows a transaction contradicts itself: the service may have executed the request.
func TestRefusalWithATransaction(t *testing.T) {
	const body = `{"customerMessage":"duplicate","receiptNumber":"R-7","status":"Approved","summaryCode":"0"}`
	_, err := clientOf(t, says(http.StatusUnprocessableEntity, body)).Transactions.Pay(t.Context(), payment())
	assert.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
}

// A 422 lists its errors by the contract, as texts or by members of the request. No other status does.
func TestRefusalWithAList(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		refused bool
	}{
		{http.StatusUnprocessableEntity, `{"errors":["Amount is invalid"]}`, true},
		{http.StatusUnprocessableEntity, `{"errors":{"principalAmount":["bad"]}}`, true},
		{http.StatusUnprocessableEntity, `{"errors":{"message":["bad"]}}`, false},
		{http.StatusUnprocessableEntity, `[{"code":1015}]`, false},
		{http.StatusBadRequest, `{"errors":["upstream timeout"]}`, false},
	} {
		_, err := clientOf(t, says(c.status, c.body)).Transactions.Pay(t.Context(), payment())
		_, refused := errors.AsType[*quickstream.APIError](err)
		assert.Equal(t, c.refused, refused, "%d %s: %v", c.status, c.body, err)
		assert.Equal(t, !c.refused, errors.Is(err, quickstream.ErrOutcomeUnknown), "%d %s: %v", c.status, c.body, err)
	}
}

// A read that is refused is not repeated because the body of the refusal was cut.
func TestRefusedReadIsCut(t *testing.T) {
	requests := 0
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		requests++
		resp := answer(http.StatusNotFound, "")
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"customer`), iotest.ErrReader(io.ErrUnexpectedEOF)))
		return resp, nil
	})
	_, err := client.Transactions.Get(t.Context(), "1234")
	assert.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.Equal(t, 1, requests)
}

// An answer without a body is no results of a payment file.
func TestNoResults(t *testing.T) {
	var results strings.Builder
	_, err := clientOf(t, says(http.StatusNoContent, "")).PaymentFiles.DownloadCSV(t.Context(), &results, "F-1")
	assert.Error(t, err)
}

// An agreement that shows another customer is not one of the customer's.
func TestAgreementOfAnotherCustomer(t *testing.T) {
	for shown, is := range map[string]bool{`,"payerDetails":{"customerId":"C-1"}`: true, "": true, `,"payerDetails":{"customerId":"C-2"}`: false} {
		client := clientOf(t, says(http.StatusOK, `{"data":[{"agreementToken":"A-1"`+shown+`}]}`))
		_, err := client.PayTo.List("C-1", quickstream.ListAgreementsParams{}).ReadAll(t.Context())
		assert.Equal(t, !is, errors.Is(err, quickstream.ErrUnreadableItem), "%s: %v", shown, err)
	}
}
