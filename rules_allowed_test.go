package quickstream_test

import (
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
