package quickstream

import (
	"context"
	"net/netip"
	"reflect"
	"slices"

	"github.com/shopspring/decimal"
)

// Cases that several types of transaction share. They get the fields of the request.

func businessCases[T any]() []ruleCase[T] {
	code := member[T, string]("SupplierBusinessCode")
	return []ruleCase[T]{{rule: "transaction.supplierBusinessCode.required", pass: set(code, "B"), fail: set(code, "")}}
}

func amountCases[T any]() []ruleCase[T] {
	is := func(text string) func(*T) {
		return set(member[T, decimal.Decimal]("PrincipalAmount"), decimal.RequireFromString(text))
	}
	return []ruleCase[T]{
		{rule: "transaction.principalAmount.money", pass: is("1"), fail: is("-0.01")},
		{rule: "transaction.principalAmount.money", pass: is("10.55"), fail: is("10.555")},
		{rule: "transaction.principalAmount.money", pass: is("10.550"), fail: is("10.551")},
		{rule: "transaction.principalAmount.money", pass: is("10.55"), fail: is("0.001")},
	}
}

// zeroCases say whether the service may judge an amount of zero.
func zeroCases[T any](sent bool) []ruleCase[T] {
	amount := member[T, decimal.Decimal]("PrincipalAmount")
	if sent {
		return []ruleCase[T]{{rule: "transaction.principalAmount.money", pass: set(amount, decimal.Zero), fail: set(amount, decimal.New(-1, -2))}}
	}
	return []ruleCase[T]{{rule: "transaction.principalAmount.positive", pass: set(amount, decimal.New(1, -2)), fail: set(amount, decimal.Zero)}}
}

func currencyCases[T any]() []ruleCase[T] {
	currency := member[T, Currency]("Currency")
	return []ruleCase[T]{{rule: "transaction.currency.required", pass: set(currency, CurrencyAUD), fail: set(currency, "")}}
}

func referenceCases[T any]() []ruleCase[T] {
	customer, payment := member[T, string]("CustomerReferenceNumber"), member[T, string]("PaymentReferenceNumber")
	metadata := member[T, map[string]string]("Metadata")
	return []ruleCase[T]{
		{rule: "transaction.customerReferenceNumber.length", pass: set(customer, ascii(100)), fail: set(customer, ascii(101))},
		{rule: "transaction.customerReferenceNumber.ascii", pass: set(customer, " ~"), fail: set(customer, "é")},
		{rule: "transaction.customerReferenceNumber.ascii", pass: set(customer, "\x00\x7f"), fail: set(customer, "\u0080")},
		{rule: "transaction.paymentReferenceNumber.length", pass: set(payment, ascii(100)), fail: set(payment, ascii(101))},
		{rule: "transaction.paymentReferenceNumber.ascii", pass: set(payment, " ~"), fail: set(payment, "é")},
		{rule: "transaction.paymentReferenceNumber.ascii", pass: set(payment, "a\tb\n"), fail: set(payment, "a\u00a0b")},
		{rule: "transaction.metadata.intent", pass: set(metadata, map[string]string{"shop": "1"}), fail: set(metadata, map[string]string{"intentId": "1"})},
	}
}

func customerIP() netip.Addr { return netip.MustParseAddr("203.0.113.7") }

func manual() *StoredCredentialData { return &StoredCredentialData{EntryMode: EntryModeManual} }

// from is the change that puts an account, or none, into a payment.
func from[T any](source any) func(*T) {
	return func(request *T) {
		field := reflect.ValueOf(request).Elem().FieldByName("Source")
		if source == nil {
			field.SetZero()
			return
		}
		field.Set(reflect.ValueOf(source))
	}
}

func cardOrderCases[T any]() []ruleCase[T] {
	from, eci, ip := from[T], member[T, ECI]("ECI"), member[T, netip.Addr]("IPAddress")
	stored, threeDS := member[T, *StoredCredentialData]("StoredCredential"), member[T, *bool]("ThreeDS2")
	bare := validCard()
	bare.CVN = Secret{}
	signed := bare
	signed.WalletProvider, signed.Cryptogram = WalletProviderApplePay, NewSecret(canaryAccount)
	noCVN, token := from(FromCard(bare)), from(FromSingleUseToken(canaryToken))
	noIP := set(ip, netip.Addr{})
	cases := []ruleCase[T]{
		{rule: "transaction.source.required", pass: from(FromAccount(canaryToken)), fail: from(nil)},
		{rule: "transaction.source.required", pass: from(FromCustomer(canaryCustomer)), fail: from(FromCustomer(""))},
		{rule: "transaction.source.required", pass: token, fail: from(FromSingleUseToken(""))},
		{rule: "transaction.source.required", pass: token, fail: all(from(nil), set(eci, ECIPhone), set(threeDS, new(true)))},
		{rule: "transaction.eci.required", pass: set(eci, ECIPhone), fail: set(eci, "")},
		{rule: "transaction.cvn.required", pass: all(noCVN, set(eci, ECIMail)), fail: noCVN},
		{rule: "transaction.cvn.required", pass: from(FromCard(signed)), fail: noCVN},
		{rule: "transaction.storedCredentialData.required", pass: set(stored, nil), fail: all(from(FromAccount(canaryToken, AccountTypeCreditCard)), set(stored, nil))},
		{rule: "transaction.storedCredentialData.required", pass: all(set(eci, ECIMail), set(stored, nil)), fail: all(set(eci, ECIInstalment), set(stored, nil))},
		{
			rule: "transaction.storedCredentialData.entryMode",
			pass: set(stored, &StoredCredentialData{EntryMode: EntryModeStoredCredential}),
			fail: set(stored, &StoredCredentialData{Usage: CredentialUsageRecurring}),
		},
		{rule: "transaction.ipAddress.required", pass: all(noIP, set(eci, ECIPhone)), fail: noIP},
		{rule: "transaction.ipAddress.required", pass: all(noIP, set(eci, ECIMail)), fail: all(noIP, token)},
		{rule: "transaction.ipAddress.required", pass: all(noIP, from(FromAccount(canaryToken))), fail: noIP},
		{rule: "transaction.ipAddress.required", pass: all(noIP, from(FromCustomer(canaryCustomer))), fail: noIP},
		{rule: "transaction.ipAddress.required", pass: all(noIP, token, set(eci, ECIRecurring)), fail: all(noIP, token, set(eci, ECIInternet))},
		{rule: "transaction.ipAddress.required", pass: all(noIP, token, set(eci, ECIMail)), fail: all(noIP, token)},
		{rule: "transaction.ipAddress.required", pass: all(noIP, token, set(eci, ECIPhone)), fail: all(noIP, token)},
		{rule: "transaction.ipAddress.required", pass: all(noIP, token, set(eci, ECIInstalment)), fail: all(noIP, token, set(eci, "NEW"))},
		{rule: "transaction.eci.required", pass: set(threeDS, new(true)), fail: set(eci, "")},
	}
	for public, not := range map[string]string{
		"9.255.255.255": "10.0.0.0", "11.0.0.0": "10.255.255.255",
		"100.63.255.255": "100.64.0.0", "100.128.0.0": "100.127.255.255",
		"172.15.255.255": "172.16.0.0", "172.32.0.0": "172.31.255.255",
		"192.167.255.255": "192.168.0.0", "192.169.0.0": "192.168.255.255",
		"126.255.255.255": "127.0.0.1", "169.253.255.255": "169.254.0.1",
		"2001:db8::7": "fd00::1", "2000::1": "fe80::1", "::ffff:203.0.113.7": "::ffff:192.168.0.1",
		"223.255.255.255": "224.0.0.1", "1.0.0.0": "0.0.0.0", "2600::1": "::1", "2a00::1": "2a00::1%eth0",
	} {
		cases = append(cases, ruleCase[T]{
			rule: "transaction.ipAddress.public",
			pass: set(ip, netip.MustParseAddr(public)), fail: set(ip, netip.MustParseAddr(not)),
		})
	}
	return cases
}

// eciCases are for the types of transaction other than payments.
func eciCases[T any]() []ruleCase[T] {
	var cases []ruleCase[T]
	eci := member[T, ECI]("ECI")
	for allowed, not := range map[ECI]ECI{ECIPhone: ECI5, ECIRecurring: ECI6, "NEW": ECI7} {
		cases = append(cases, ruleCase[T]{rule: "transaction.eci.paymentsOnly", pass: set(eci, allowed), fail: set(eci, not)})
	}
	return cases
}

func payTable() ruleTable[PayParams] {
	type params = PayParams
	from := func(s AccountSource) func(*params) { return func(p *params) { *p = bankPayment(s) } }
	wallet := func(eci ECI, cryptogram string, mode EntryMode) func(*params) {
		return func(p *params) {
			card := validCard()
			card.WalletProvider, card.Cryptogram, card.CVN = WalletProviderApplePay, NewSecret(cryptogram), Secret{}
			p.Source, p.ECI, p.StoredCredential = FromCard(card), eci, &StoredCredentialData{EntryMode: mode}
		}
	}
	return ruleTable[params]{
		send: sends((*TransactionsService).Pay),
		wire: transactionJSON{},
		valid: func() params {
			return params{
				SupplierBusinessCode: canaryBusiness, Source: FromCard(validCard()), PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD,
				ECI: ECIInternet, IPAddress: customerIP(), StoredCredential: manual(),
				CustomerReferenceNumber: canaryReference, PaymentReferenceNumber: canaryReference,
			}
		},
		cases: slices.Concat(
			businessCases[params](),
			amountCases[params](), zeroCases[params](true),
			currencyCases[params](),
			referenceCases[params](),
			cardOrderCases[params](),
			cardCases(func(p *params, c CardDetails) { p.Source = FromCard(c) }),
			[]ruleCase[params]{
				{
					rule: "transaction.ipAddress.required",
					pass: from(FromBankAccount(validBankAccount())),
					fail: func(p *params) { *p = bankPayment(FromBankAccount(validBankAccount())); p.ECI = ECIInternet },
				},
				{
					rule: "transaction.ipAddress.required",
					pass: from(FromNZBankAccount(validNZBankAccount())),
					fail: func(p *params) { *p = bankPayment(FromNZBankAccount(validNZBankAccount())); p.ECI = ECIInternet },
				},
				// The account behind a handle decides only if the caller declared its kind.
				{
					rule: "transaction.eci.required",
					pass: from(FromAccount(canaryToken)),
					fail: func(p *params) {
						*p = bankPayment(FromAccount(canaryToken, AccountTypeCreditCard))
						p.StoredCredential = manual()
					},
				},
				{rule: "transaction.cryptogram.required", pass: wallet(ECIInternet, "a cryptogram", EntryModeManual), fail: wallet(ECIInternet, "", EntryModeManual)},
				{rule: "transaction.cryptogram.required", pass: wallet(ECIRecurring, "", EntryModeManual), fail: wallet(ECI5, "", EntryModeManual)},
				{rule: "transaction.cryptogram.required", pass: wallet(ECIInstalment, "", EntryModeManual), fail: wallet(ECIPhone, "", EntryModeManual)},
				{rule: "transaction.cryptogram.required", pass: wallet(ECIInternet, "", EntryModeStoredCredential), fail: wallet(ECIInternet, "", EntryModeManual)},
				// The service judges the details of a bank account.
				{rule: "transaction.source.required", pass: from(FromBankAccount(BankAccountDetails{})), fail: from(nil)},
				{rule: "transaction.source.required", pass: from(FromNZBankAccount(NZBankAccountDetails{})), fail: from(nil)},
			},
		),
	}
}

// bankPayment is a payment from an account that need not be a card.
func bankPayment(s AccountSource) PayParams {
	return PayParams{SupplierBusinessCode: canaryBusiness, Source: s, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD}
}

func collectTable() ruleTable[CollectParams] {
	type params = CollectParams
	token, ip := func(p *params) *string { return &p.AgreementToken }, member[params, netip.Addr]("IPAddress")
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.PayTo.Collect(context.Background(), p, opts...)
		},
		wire: transactionJSON{},
		valid: func() params {
			return params{
				SupplierBusinessCode: canaryBusiness, AgreementToken: canaryAgreement,
				PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD,
			}
		},
		cases: slices.Concat(
			businessCases[params](),
			amountCases[params](), zeroCases[params](true),
			currencyCases[params](),
			referenceCases[params](),
			[]ruleCase[params]{
				{rule: "transaction.ipAddress.public", pass: set(ip, customerIP()), fail: set(ip, netip.MustParseAddr("192.168.0.1"))},
				{rule: "payToData.agreementToken.required", pass: nil, fail: set(token, "")},
				{rule: "payToData.agreementToken.required", pass: nil, fail: func(p *params) { p.NewAgreement = &NewAgreementParams{Payer: validPayer()} }},
			},
			newPayToPaymentCases(func(p *params, n NewAgreementParams) { p.AgreementToken, p.NewAgreement = "", &n }),
		),
	}
}

func preauthoriseTable() ruleTable[PreauthoriseParams] {
	type params = PreauthoriseParams
	from := from[params]
	return ruleTable[params]{
		send: sends((*TransactionsService).Preauthorise),
		wire: transactionJSON{},
		valid: func() params {
			return params{
				SupplierBusinessCode: canaryBusiness, Source: FromCard(validCard()), PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD,
				ECI: ECIInternet, IPAddress: customerIP(), StoredCredential: manual(),
			}
		},
		cases: slices.Concat(
			businessCases[params](),
			amountCases[params](), zeroCases[params](true),
			currencyCases[params](),
			referenceCases[params](),
			eciCases[params](),
			[]ruleCase[params]{
				{
					rule: "transaction.source.card",
					pass: from(FromSingleUseToken(canaryToken, AccountTypeApplePay)), fail: from(FromSingleUseToken(canaryToken, AccountTypeDirectDebit)),
				},
				{rule: "transaction.source.card", pass: from(FromAccount(canaryToken)), fail: from(FromAccount(canaryToken, AccountTypePayTo))},
				{ // what is held is a card's, also if its kind is not given
					rule: "transaction.eci.required", pass: from(FromAccount(canaryToken)), fail: all(from(FromAccount(canaryToken)), set(member[params, ECI]("ECI"), "")),
				},
			},
			cardOrderCases[params](),
			cardCases(func(p *params, c CardDetails) { p.Source = FromCard(c) }),
		),
	}
}

func verifyAccountTable() ruleTable[VerifyAccountParams] {
	type params = VerifyAccountParams
	eci := func(p *params) *ECI { return &p.ECI }
	return ruleTable[params]{
		send: sends((*TransactionsService).VerifyAccount),
		wire: transactionJSON{},
		valid: func() params {
			return params{
				SupplierBusinessCode: canaryBusiness, Source: FromCard(validCard()),
				ECI: ECIInternet, IPAddress: customerIP(), StoredCredential: manual(),
			}
		},
		cases: slices.Concat(
			businessCases[params](),
			referenceCases[params](),
			eciCases[params](),
			[]ruleCase[params]{{
				rule: "transaction.eci.required",
				pass: func(p *params) {
					*p = params{SupplierBusinessCode: canaryBusiness, Source: FromAccount(canaryToken, AccountTypeDirectDebit)}
				},
				fail: set(eci, ""),
			}},
			cardOrderCases[params](),
			cardCases(func(p *params, c CardDetails) { p.Source = FromCard(c) }),
		),
	}
}
