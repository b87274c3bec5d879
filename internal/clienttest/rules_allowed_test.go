package clienttest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The requests of this file are allowed by the contract, or it does not say that
// they are not. They have to reach the service, and the sandbox takes them.

// TestCaptureAfterTopUp: the limit is double of what is held, which the original
// does not show.
func TestCaptureAfterTopUp(t *testing.T) {
	_, client := sandboxtest.New(t)
	stored := &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	preauth, err := client.Transactions.Preauthorise(t.Context(), quickstream.PreauthoriseParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromCard(approvedCard()), PrincipalAmount: decimal.New(100, 0),
		Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIPhone, StoredCredential: stored,
	})
	require.NoError(t, err)
	_, err = client.Transactions.TopUp(t.Context(), quickstream.TopUpParams{
		OriginalReceiptNumber: preauth.ReceiptNumber, PrincipalAmount: decimal.New(50, 0), Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	capture, err := client.Transactions.Capture(t.Context(), quickstream.CaptureParams{
		Original: preauth, PrincipalAmount: decimal.New(300, 0), Currency: quickstream.CurrencyAUD, StoredCredential: stored,
	})
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(capture))
}

// TestRefundOfTheTotal is for merchants whose facility refunds surcharges.
func TestRefundOfTheTotal(t *testing.T) {
	_, client := sandboxtest.New(t,
		sandbox.WithBusiness("SHOP", "The Shop", sandbox.Surcharge{Scheme: "VISA", BasisPoints: 110}),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.RefundsIncludeSurcharge, a.RefundBeforeCutOff, a.LookupLag = true, true, 0
		}))
	paid, err := client.Transactions.Pay(t.Context(), quickstream.PayParams{
		SupplierBusinessCode: "SHOP", Source: quickstream.FromCard(approvedCard()), PrincipalAmount: decimal.New(100, 0), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIPhone, StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	})
	require.NoError(t, err)
	refund, err := client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		Original: paid, PrincipalAmount: decimal.New(10110, -2), Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(refund))
}

// TestRefundOfWhatDoesNotSayWhetherItMay: a member that is left out, or cannot be read,
// refuses nothing, also in a payment that was stored.
func TestRefundOfWhatDoesNotSayWhetherItMay(t *testing.T) {
	for said, refused := range map[string]bool{
		``: false, `,"refundable":null`: false, `,"refundable":"perhaps"`: false, `,"Refundable":false`: false,
		`,"refundable":true`: false, `,"refundable":false`: true,
	} {
		var paid, stored quickstream.Transaction
		require.NoError(t, json.Unmarshal([]byte(`{"receiptNumber":"R-1"`+said+`}`), &paid), said)
		text, err := json.Marshal(paid)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &stored))
		assert.Equal(t, refused, refusesRefund(t, &paid), said)
		assert.False(t, refusesRefund(t, &stored), "false is not stored: %s", said)
	}
	assert.True(t, refusesRefund(t, &quickstream.Transaction{ReceiptNumber: "R-1"}), "its field says so")
}

func refusesRefund(t *testing.T, paid *quickstream.Transaction) bool {
	t.Helper()
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		return answer(http.StatusCreated, `{"receiptNumber":"R-2","status":"Approved","summaryCode":"0","transactionType":"REFUND"}`), nil
	})
	_, err := client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		Original: paid, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
	})
	invalid, ok := errors.AsType[*quickstream.ValidationError](err)
	if !ok {
		require.NoError(t, err)
		return false
	}
	require.Len(t, invalid.Findings, 1)
	assert.Equal(t, "refund.refundable", invalid.Findings[0].Rule)
	return true
}

// TestVerifyABankAccount: nothing says that only cards can be verified.
func TestVerifyABankAccount(t *testing.T) {
	_, client := sandboxtest.New(t)
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	account, err := client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{
		Source: quickstream.RegistrationFromBankAccount(quickstream.BankAccountDetails{
			AccountName: "Kim Lee", BSB: "650000", AccountNumber: quickstream.NewSecret("123465"),
		}),
	})
	require.NoError(t, err)
	for _, source := range []quickstream.CardSource{
		quickstream.FromAccount(account.AccountToken),
		quickstream.FromAccount(account.AccountToken, quickstream.AccountTypeDirectDebit),
		quickstream.FromCustomer(customer.CustomerID),
	} {
		verified, err := client.Transactions.VerifyAccount(t.Context(), quickstream.VerifyAccountParams{SupplierBusinessCode: sandbox.DefaultBusiness, Source: source})
		require.NoError(t, err)
		assert.Equal(t, quickstream.TransactionTypeAccountVerification, verified.TransactionType)
	}
}

// TestPaymentsThatTheContractAllows: a wallet without a cryptogram, and a stored
// account without the customer's address.
func TestPaymentsThatTheContractAllows(t *testing.T) {
	_, client := sandboxtest.New(t)
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	account, err := client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromCard(approvedCard())})
	require.NoError(t, err)
	wallet := approvedCard()
	wallet.WalletProvider = quickstream.WalletProviderApplePay
	params := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(100, 0), Currency: quickstream.CurrencyAUD,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
	for _, order := range []struct {
		source quickstream.AccountSource
		eci    quickstream.ECI
	}{
		{quickstream.FromCard(wallet), quickstream.ECIPhone},
		{quickstream.FromAccount(account.AccountToken), quickstream.ECIInternet},
		{quickstream.FromCustomer(customer.CustomerID), quickstream.ECIInternet},
	} {
		params.Source, params.ECI = order.source, order.eci
		paid, err := client.Transactions.Pay(t.Context(), params)
		require.NoError(t, err)
		assert.Equal(t, quickstream.OutcomeApproved, outcomeOf(paid))
	}
}

// TestBSBs: either form of a BSB is sent in the one that the request wants.
func TestBSBs(t *testing.T) {
	box, client := sandboxtest.New(t, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.HyphenatedBSB, a.LookupLag = true, 0 }))
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee"})
	require.NoError(t, err)
	number := quickstream.NewSecret("123465")
	for _, bsb := range []string{"650-000", "650000"} {
		bank := quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: bsb, AccountNumber: number}
		_, err := client.Transactions.Pay(t.Context(), quickstream.PayParams{
			SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromBankAccount(bank), PrincipalAmount: decimal.New(100, 0), Currency: quickstream.CurrencyAUD,
		})
		require.NoError(t, err)
		_, err = client.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: sandbox.DefaultBusiness, Account: bank})
		require.NoError(t, err)
		_, err = client.Accounts.Register(t.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromBankAccount(bank)})
		require.NoError(t, err)
		_, err = client.Transactions.ByBankAccount(bsb, number).First(t.Context())
		require.NoError(t, err)
		agreement := agreementParams(bsb)
		agreement.Payer.BSB, agreement.Payer.AccountNumber = bsb, number
		agreement.Payer.PayIDType, agreement.Payer.PayID = "", quickstream.Secret{}
		_, err = client.PayTo.Create(t.Context(), customer.CustomerID, agreement)
		require.NoError(t, err)
		payer, _ := lastBody(t, box)["payerDetails"].(map[string]any)
		assert.NotContains(t, payer["bsb"], "-")
	}
}

// TestAgreementsThatTheContractAllows have only what it says is required.
func TestAgreementsThatTheContractAllows(t *testing.T) {
	_, client := sandboxtest.New(t)
	customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Kim Lee", PhoneNumber: "0400 000 000"})
	require.NoError(t, err)
	for name, change := range map[string]func(*quickstream.CreateAgreementParams){
		"no description":         func(p *quickstream.CreateAgreementParams) { p.Payment.Description = "" },
		"no start":               func(p *quickstream.CreateAgreementParams) { p.Payment.StartDate = quickstream.Date{} },
		"fixed without amount":   func(p *quickstream.CreateAgreementParams) { p.Terms.Type = quickstream.PayToAgreementTypeFixed },
		"no payments permitted":  func(p *quickstream.CreateAgreementParams) { p.Terms.NumberOfPaymentsPermitted = new(int64(0)) },
		"payer without name, id": func(p *quickstream.CreateAgreementParams) { p.Payer.Name, p.Payer.ID = "", "" },
		"no time to respond":     func(p *quickstream.CreateAgreementParams) { p.RespondByTimeMinutes = new(int64(0)) },
	} {
		params := agreementParams("REF")
		change(&params)
		_, err := client.PayTo.Create(t.Context(), customer.CustomerID, params)
		require.NoError(t, err, name)
	}
}

// TestAuthenticationsThatTheContractAllows: which members make a billing address is
// not stated, and neither is that an amount must be above zero.
func TestAuthenticationsThatTheContractAllows(t *testing.T) {
	_, client := sandboxtest.New(t)
	for _, address := range []quickstream.ThreeDSAddress{{PostCode: "2000"}, {Line1: "1 High Street"}, {State: "NSW", Country: "036"}} {
		params := authentication()
		params.BillingAddress, params.HomePhone, params.PrincipalAmount = address, "(02) 5550 0000", new(decimal.Decimal{})
		_, err := client.SingleUseTokens.Authenticate(t.Context(), browserToken(t.Context(), t, client, "4242424242424242"), params)
		require.NoError(t, err)
	}
}
