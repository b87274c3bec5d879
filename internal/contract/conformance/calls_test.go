package conformance

import (
	"cmp"
	"context"
	"slices"

	"github.com/quickstream-go/quickstream"
)

// run is what a call of the client is made with.
type run struct {
	ctx    context.Context
	client *quickstream.Client
	*values
	// agreement and transaction are as they were read before.
	agreement   *quickstream.Agreement
	transaction *quickstream.Transaction
}

// clientCall is one way to call a method of the client.
type clientCall struct {
	method    string // of the client, such as "Transactions.Pay"
	operation string // that it is made with
	form      string // which form of it, where there are several
	do        func(*run) (any, error)
}

// id is the value of a path parameter.
func id(parameter string) string { return cmp.Or(formats[parameter], parameter+"-1") }

// choice is one value of a union, named by what makes it.
type choice[T any] struct {
	maker string
	value func(*run) T
}

// pages reads a list and returns its pages.
func pages[T any](r *run, list quickstream.List[T]) (any, error) {
	var read []*quickstream.Page[T]
	for page, err := range list.Pages(r.ctx) {
		if err != nil {
			return nil, err
		}
		read = append(read, page)
	}
	return read, nil
}

// composed are the methods that make their requests through others, or none.
var composed = map[string]string{
	"Do":                       "none: it is for what has no method",
	"Accounts.Submit":          "Accounts.Register",
	"PayTo.Resume":             "PayTo.List",
	"PayTo.ResumeChange":       "PayTo.Get",
	"PayTo.Submit":             "the method that made the intent",
	"PayTo.Plan":               "nothing",
	"Accounts.Plan":            "nothing",
	"PaymentFiles.Resume":      "PaymentFiles.List",
	"Customers.GetByNumber":    "Customers.List",
	"PaymentFiles.Wait":        "PaymentFiles.Get",
	"Transactions.AwaitReport": "Transactions.DownloadReport",
	"Transactions.Resume":      "Transactions.Get, ByReference and Refunds",
	"Transactions.Submit":      "the method that made the intent",
	"Transactions.Plan":        "nothing",
	"Transactions.PlanVoid":    "nothing",
}

// clientCalls returns every way to call the client that sends a request of its own.
func clientCalls() []clientCall {
	return slices.Concat(
		connectivityCalls(), tokenCalls(), customerCalls(), accountCalls(), agreementCalls(), amendmentCalls(),
		paymentCalls(), cardOnlyCalls(), followUpCalls(), transactionReads(),
		fileCalls(), recurringPaymentCalls(), businessCalls(),
	)
}

func connectivityCalls() []clientCall {
	return []clientCall{
		{"Root", "GET /", "", func(r *run) (any, error) { return r.client.Root(r.ctx) }},
		{"Check", "GET /businesses", "", func(r *run) (any, error) { return nil, r.client.Check(r.ctx) }},
		{"APIKeys.Renew", "GET /api-keys/latest", "", func(r *run) (any, error) { return r.client.APIKeys.Renew(r.ctx) }},
	}
}

// withoutWallet is a card for what does not take the number of a wallet.
func withoutWallet(d *quickstream.CardDetails) {
	d.WalletProvider, d.Cryptogram = "", quickstream.Secret{}
}

// withoutCryptogram is a card for anything but a payment.
func withoutCryptogram(d *quickstream.CardDetails) { d.Cryptogram = quickstream.Secret{} }

func tokenAccounts() []choice[quickstream.TokenAccount] {
	return []choice[quickstream.TokenAccount]{
		{"CardDetails", func(r *run) quickstream.TokenAccount { return fill(r.values, withoutWallet) }},
		{"BankAccountDetails", func(r *run) quickstream.TokenAccount { return fill[quickstream.BankAccountDetails](r.values) }},
		{"NZBankAccountDetails", func(r *run) quickstream.TokenAccount { return fill[quickstream.NZBankAccountDetails](r.values) }},
	}
}

func tokenCalls() []clientCall {
	var calls []clientCall
	for _, account := range tokenAccounts() {
		calls = append(calls, clientCall{"SingleUseTokens.Create", "POST /single-use-tokens", account.maker, func(r *run) (any, error) {
			return r.client.SingleUseTokens.Create(r.ctx, fill(r.values, func(p *quickstream.CreateSingleUseTokenParams) {
				p.Account = account.value(r)
				if account.maker != "CardDetails" {
					p.ThreeDS = nil
				}
			}))
		}})
	}
	return append(calls, clientCall{
		"SingleUseTokens.Authenticate", "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication", "", func(r *run) (any, error) {
			return r.client.SingleUseTokens.Authenticate(r.ctx, id("singleUseTokenId"), fill[quickstream.AuthenticateParams](r.values))
		},
	})
}

func customerCalls() []clientCall {
	return []clientCall{
		{"Customers.Create", "POST /customers", "", func(r *run) (any, error) {
			return r.client.Customers.Create(r.ctx, fill[quickstream.CreateCustomerParams](r.values))
		}},
		{"Customers.Get", "GET /customers/{customerId}", "", func(r *run) (any, error) {
			return r.client.Customers.Get(r.ctx, id("customerId"))
		}},
		{"Customers.List", "GET /customers", "", func(r *run) (any, error) {
			return pages(r, r.client.Customers.List(fill[quickstream.ListCustomersParams](r.values)))
		}},
		{"Customers.Update", "PUT /customers/{customerId}", "", func(r *run) (any, error) {
			return r.client.Customers.Update(r.ctx, id("customerId"), fill[quickstream.UpdateCustomerParams](r.values))
		}},
	}
}

func newAccounts() []choice[quickstream.RegistrationSource] {
	return []choice[quickstream.RegistrationSource]{
		{"RegistrationFromSingleUseToken", func(*run) quickstream.RegistrationSource {
			return quickstream.RegistrationFromSingleUseToken("token-1")
		}},
		{"RegistrationFromReceipt", func(*run) quickstream.RegistrationSource { return quickstream.RegistrationFromReceipt("receipt-1") }},
		{"RegistrationFromCard", func(r *run) quickstream.RegistrationSource {
			return quickstream.RegistrationFromCard(fill(r.values, withoutCryptogram))
		}},
		{"RegistrationFromBankAccount", func(r *run) quickstream.RegistrationSource {
			return quickstream.RegistrationFromBankAccount(fill[quickstream.BankAccountDetails](r.values))
		}},
		{"RegistrationFromNZBankAccount", func(r *run) quickstream.RegistrationSource {
			return quickstream.RegistrationFromNZBankAccount(fill[quickstream.NZBankAccountDetails](r.values))
		}},
	}
}

func accountCalls() []clientCall {
	calls := []clientCall{
		{"Accounts.Get", "GET /accounts/{accountToken}", "", func(r *run) (any, error) {
			return r.client.Accounts.Get(r.ctx, id("accountToken"))
		}},
		{"Accounts.List", "GET /customers/{customerId}/accounts", "", func(r *run) (any, error) {
			return pages(r, r.client.Accounts.List(id("customerId")))
		}},
	}
	for _, account := range newAccounts() {
		calls = append(calls, clientCall{"Accounts.Register", "POST /customers/{customerId}/accounts", account.maker, func(r *run) (any, error) {
			return r.client.Accounts.Register(r.ctx, id("customerId"), fill(r.values, func(p *quickstream.RegisterAccountParams) {
				p.Source, p.ThreeDS2 = account.value(r), authenticated(account.maker)
			}))
		}})
	}
	return calls
}
