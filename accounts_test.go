package quickstream

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Cases for accounts, which several types of request contain, and for requests about accounts and
// customers.

func validCard() CardDetails {
	return CardDetails{
		CardholderName: "Ann Example", CardNumber: NewSecret(canaryCard),
		Expiry: YearMonth{2035, time.March}, CVN: NewSecret("123"),
	}
}

func validBankAccount() BankAccountDetails {
	return BankAccountDetails{AccountName: "Kim Lee", BSB: "032-002", AccountNumber: NewSecret(canaryAccount)}
}

func validNZBankAccount() NZBankAccountDetails {
	return NZBankAccountDetails{
		AccountName: "Kim Lee", BankCode: "12", BranchCode: "3405",
		AccountNumber: NewSecret(canaryNZAccount), AccountSuffix: "00",
	}
}

// changing returns a function that puts a changed copy of a valid part into a request.
func changing[T, V any](valid func() V, put func(*T, V)) func(func(*V)) func(*T) {
	return func(change func(*V)) func(*T) {
		return func(request *T) {
			part := valid()
			change(&part)
			put(request, part)
		}
	}
}

// cardCases are the cases of CardDetails in a request; put sets the card.
func cardCases[T any](put func(*T, CardDetails)) []ruleCase[T] {
	with := changing(validCard, put)
	number := func(text string) func(*T) {
		return with(func(c *CardDetails) { c.CardNumber = NewSecret(text) })
	}
	expiry := func(year int, month time.Month) func(*T) {
		return with(func(c *CardDetails) { c.Expiry = YearMonth{year, month} })
	}
	cvn := func(text string) func(*T) {
		return with(func(c *CardDetails) { c.CVN = NewSecret(text) })
	}
	return []ruleCase[T]{
		{rule: "card.cardNumber.required", pass: number(canaryCard), fail: number("")},
		{rule: "card.cardNumber.digits", pass: number("4111111111111111"), fail: number("4111 1111 1111 1111")},
		{rule: "card.cardNumber.digits", pass: number("340000000636513"), fail: number("4111-1111-1111-1111")},
		{rule: "card.expiryDate.required", pass: expiry(2035, time.March), fail: expiry(0, 0)},
		{rule: "card.expiryDate.valid", pass: expiry(9999, time.December), fail: expiry(9999, 13)},
		{rule: "card.expiryDate.valid", pass: expiry(1000, time.January), fail: expiry(2035, 0)},
		{rule: "card.expiryDate.valid", pass: expiry(2035, time.January), fail: expiry(10000, time.January)},
		{rule: "card.expiryDate.valid", pass: expiry(2035, time.January), fail: expiry(35, time.January)}, // two digits
		{rule: "card.cvn.digits", pass: cvn("123"), fail: cvn("12")},
		{rule: "card.cvn.digits", pass: cvn("1234"), fail: cvn("12345")},
		{rule: "card.cvn.digits", pass: cvn("000"), fail: cvn("12a")},
	}
}

// bankAccountCases are the cases of BankAccountDetails: a token requires all its members.
func bankAccountCases[T any](put func(*T, BankAccountDetails)) []ruleCase[T] {
	with := changing(validBankAccount, put)
	whole := with(func(*BankAccountDetails) {})
	return []ruleCase[T]{
		{rule: "bankAccount.accountName.required", pass: whole, fail: with(func(a *BankAccountDetails) { a.AccountName = "" })},
		{rule: "bankAccount.bsb.required", pass: whole, fail: with(func(a *BankAccountDetails) { a.BSB = "" })},
		{rule: "bankAccount.accountNumber.required", pass: whole, fail: with(func(a *BankAccountDetails) { a.AccountNumber = Secret{} })},
	}
}

// nzBankAccountCases are the cases of NZBankAccountDetails.
func nzBankAccountCases[T any](put func(*T, NZBankAccountDetails)) []ruleCase[T] {
	with := changing(validNZBankAccount, put)
	whole := with(func(*NZBankAccountDetails) {})
	return []ruleCase[T]{
		{rule: "nzBankAccount.nzAccountName.required", pass: whole, fail: with(func(a *NZBankAccountDetails) { a.AccountName = "" })},
		{rule: "nzBankAccount.nzBankCode.required", pass: whole, fail: with(func(a *NZBankAccountDetails) { a.BankCode = "" })},
		{rule: "nzBankAccount.nzBranchCode.required", pass: whole, fail: with(func(a *NZBankAccountDetails) { a.BranchCode = "" })},
		{rule: "nzBankAccount.nzAccountNumber.required", pass: whole, fail: with(func(a *NZBankAccountDetails) { a.AccountNumber = Secret{} })},
		{rule: "nzBankAccount.nzAccountSuffix.required", pass: whole, fail: with(func(a *NZBankAccountDetails) { a.AccountSuffix = "" })},
	}
}

func accountRegisterTable() ruleTable[RegisterAccountParams] {
	type params = RegisterAccountParams
	to := func(a params) func(*params) { return func(p *params) { *p = a } }
	wallet := validCard()
	wallet.WalletProvider = WalletProviderApplePay
	cryptogram := validCard()
	cryptogram.Cryptogram = NewSecret("a cryptogram")
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.Accounts.Register(context.Background(), canaryCustomer, p, opts...)
		},
		wire:  accountRegisterJSON{},
		valid: func() params { return params{Card: new(validCard())} },
		cases: slices.Concat(
			[]ruleCase[params]{
				{rule: "account.source.required", pass: to(params{SingleUseTokenID: "1"}), fail: to(params{})},
				{rule: "account.source.required", pass: to(params{ReceiptNumber: "1"}), fail: func(p *params) { p.ReceiptNumber = "1" }},
				{rule: "account.source.required", pass: to(params{BankAccount: new(BankAccountDetails)}), fail: func(p *params) { p.SingleUseTokenID = "1" }},
				{rule: "account.cryptogram.none", pass: to(params{Card: &wallet}), fail: to(params{Card: &cryptogram})},
				{rule: "account.source.required", pass: to(params{ReceiptNumber: canaryReceipt, ThreeDS2: new(true)}), fail: to(params{ThreeDS2: new(true)})},
				{rule: "account.source.required", pass: to(params{NZBankAccount: new(NZBankAccountDetails)}), fail: func(p *params) { p.NZBankAccount = new(NZBankAccountDetails) }},
			},
			cardCases(func(p *params, c CardDetails) { p.Card = &c }),
		),
	}
}

func validBrowser() BrowserProfile {
	return BrowserProfile{JavaEnabled: true, Language: "en-AU", ScreenHeight: 1080, ScreenWidth: 1920, ColorDepth: 24, TZ: -600}
}

func singleUseTokenTable() ruleTable[CreateSingleUseTokenParams] {
	type params = CreateSingleUseTokenParams
	account := func(a TokenAccount) func(*params) { return func(p *params) { p.Account = a } }
	threeDS := func(a TokenAccount) func(*params) {
		browser := validBrowser()
		return func(p *params) { p.Account, p.ThreeDS = a, &browser }
	}
	wallet := validCard()
	wallet.WalletProvider = WalletProviderApplePay
	cryptogram := validCard()
	cryptogram.Cryptogram = NewSecret("a cryptogram")
	var none *CardDetails
	card := validCard()

	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.SingleUseTokens.Create(context.Background(), p, opts...)
		},
		wire:      singleUseTokenJSON{},
		elsewhere: []string{"walletProvider"},
		valid:     func() params { return params{SupplierBusinessCode: canaryBusiness, Account: validCard()} },
		cases: slices.Concat(
			[]ruleCase[params]{
				{rule: "token.supplierBusinessCode.required", fail: set(func(p *params) *string { return &p.SupplierBusinessCode }, "")},
				{rule: "token.account.required", pass: account(validBankAccount()), fail: account(nil)},
				{rule: "token.account.required", pass: account(OtherAccount("NEW", nil)), fail: account(OtherAccount(AccountTypeCreditCard, nil))},
				{rule: "token.account.required", pass: account(validNZBankAccount()), fail: account(none)},
				{rule: "token.account.required", pass: account(validCard()), fail: account(&card)},
				{rule: "token.account.required", pass: threeDS(validBankAccount()), fail: account(nil)},
				{rule: "token.walletProvider.none", pass: account(validCard()), fail: account(wallet)},
				{rule: "token.walletProvider.none", pass: account(validCard()), fail: account(cryptogram)},
			},
			cardCases(func(p *params, c CardDetails) { p.Account = c }),
			bankAccountCases(func(p *params, a BankAccountDetails) { p.Account = a }),
			nzBankAccountCases(func(p *params, a NZBankAccountDetails) { p.Account = a }),
			browserCases(),
		),
	}
}

func browserCases() []ruleCase[CreateSingleUseTokenParams] {
	type params = CreateSingleUseTokenParams
	with := changing(validBrowser, func(p *params, b BrowserProfile) { p.ThreeDS = &b })
	language := func(text string) func(*params) { return with(func(b *BrowserProfile) { b.Language = text }) }
	height := func(n int) func(*params) { return with(func(b *BrowserProfile) { b.ScreenHeight = n }) }
	width := func(n int) func(*params) { return with(func(b *BrowserProfile) { b.ScreenWidth = n }) }
	zone := func(n int) func(*params) { return with(func(b *BrowserProfile) { b.TZ = n }) }
	cases := []ruleCase[params]{
		{rule: "browserProfile.browserLanguage", pass: language(strings.Repeat("e", 8)), fail: language(strings.Repeat("e", 9))},
		{rule: "browserProfile.browserLanguage", pass: language("e"), fail: language("")},
		{rule: "browserProfile.browserScreenHeight", pass: height(999999), fail: height(1000000)},
		{rule: "browserProfile.browserScreenHeight", pass: height(1), fail: height(0)},
		{rule: "browserProfile.browserScreenWidth", pass: width(999999), fail: width(1000000)},
		{rule: "browserProfile.browserScreenWidth", pass: width(1), fail: width(0)},
		{rule: "browserProfile.browserTZ", pass: zone(99999), fail: zone(100000)},
		{rule: "browserProfile.browserTZ", pass: zone(-9999), fail: zone(-10000)},
	}
	for _, depth := range []struct{ good, bad int }{{1, 0}, {4, 3}, {8, 9}, {15, 14}, {16, 17}, {24, 30}, {32, 31}, {48, 64}} {
		cases = append(cases, ruleCase[params]{
			rule: "browserProfile.browserColorDepth",
			pass: with(func(b *BrowserProfile) { b.ColorDepth = depth.good }),
			fail: with(func(b *BrowserProfile) { b.ColorDepth = depth.bad }),
		})
	}
	return cases
}

func customerCreateTable() ruleTable[CreateCustomerParams] {
	type params = CreateCustomerParams
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.Customers.Create(context.Background(), p, opts...)
		},
		wire:  CreateCustomerParams{},
		valid: func() params { return params{CustomerNumber: canaryCustomer, CustomerName: "Ann Example"} },
		cases: []ruleCase[params]{
			{rule: "customer.customerNumber.required", fail: set(func(p *params) *string { return &p.CustomerNumber }, "")},
			{rule: "customer.customerName.required", fail: set(func(p *params) *string { return &p.CustomerName }, "")},
		},
	}
}

func payIDTable() ruleTable[RegisterPayIDParams] {
	type params = RegisterPayIDParams
	use := func(p *params) *PayIDUse { return &p.Use }
	amount := func(text string) func(*params) {
		return func(p *params) { p.PaymentAmount = new(decimal.RequireFromString(text)) }
	}
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return nil, c.PayIDs.Register(context.Background(), canaryCustomer, p, opts...)
		},
		wire:  payIDJSON{},
		valid: func() params { return params{PayID: NewSecret(canaryPayID), Use: PayIDUseSingle} },
		cases: []ruleCase[params]{
			{rule: "payId.payId.required", fail: func(p *params) { p.PayID = Secret{} }},
			{rule: "payId.type.known", pass: set(use, PayIDUseStatic), fail: set(use, "")},
			{rule: "payId.paymentAmount.single", pass: amount("1.00"), fail: all(set(use, PayIDUseStatic), amount("1.00"))},
			{rule: "payId.paymentAmount.money", pass: amount("0.01"), fail: amount("0.001")},
		},
	}
}

func cardSchemeTable() ruleTable[string] {
	itself := func(s *string) *string { return s }
	const rule = "cardScheme.firstSixDigits.digits"
	return ruleTable[string]{
		send: func(c *Client, firstSix string, opts ...CallOption) (any, error) {
			return c.Businesses.CardScheme(context.Background(), firstSix, opts...)
		},
		wire:      struct{}{},
		valid:     func() string { return "424242" },
		cases:     append(digitRows(rule, 6, 6, itself), ruleCase[string]{rule: rule, pass: set(itself, "340000"), fail: set(itself, canaryCard)}),
		elsewhere: []string{"firstSixDigits"},
	}
}
