package quickstream

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

func validPayer() AgreementPayerParams {
	return AgreementPayerParams{Type: PayerTypePerson, ID: canaryCustomer, Name: "Ann Example", PayIDType: PayIDTypeEmail, PayID: NewSecret(canaryPayID)}
}

// payerCases are the cases of AgreementPayerParams.
func payerCases[T any](payer func(*T) *AgreementPayerParams) []ruleCase[T] {
	account := func(bsb, number string) func(*T) {
		return func(request *T) { payer(request).BSB, payer(request).AccountNumber = bsb, NewSecret(number) }
	}
	payID := func(kind PayIDType, id string) func(*T) {
		return func(request *T) { payer(request).PayIDType, payer(request).PayID = kind, NewSecret(id) }
	}
	kind := func(request *T) *PayerType { return &payer(request).Type }
	return []ruleCase[T]{
		{rule: "payer.account.pair", pass: account("032001", canaryAccount), fail: account("032001", "")},
		{rule: "payer.account.pair", pass: account("", ""), fail: account("", canaryAccount)},
		{rule: "payer.bsb.digits", pass: account("032001", canaryAccount), fail: account("03200", canaryAccount)},
		{rule: "payer.bsb.digits", pass: account("123456", canaryAccount), fail: account("032-001", canaryAccount)},
		{rule: "payer.bsb.digits", pass: account("999999", canaryAccount), fail: account("0320011", canaryAccount)},
		{rule: "payer.bsb.digits", pass: account("000000", canaryAccount), fail: account("032-01", canaryAccount)},
		{rule: "payer.accountNumber.digits", pass: account("032001", "111110"), fail: account("032001", "11111")},
		{rule: "payer.accountNumber.digits", pass: account("032001", "000000000"), fail: account("032001", "0000000000")},
		{rule: "payer.accountNumber.digits", pass: account("032001", "999994"), fail: account("032001", "99999x")},
		{rule: "payer.payId.pair", pass: payID(PayIDTypePhone, "+61-400000000"), fail: payID(PayIDTypePhone, "")},
		{rule: "payer.payId.pair", pass: payID("", ""), fail: payID("", canaryPayID)},
		{rule: "payer.payId.pair", pass: set(kind, ""), fail: payID("", canaryPayID)},
		{rule: "payer.payId.pair", pass: func(request *T) { payer(request).ID, payer(request).Name = "", "" }, fail: payID("", canaryPayID)},
	}
}

// newPayToPaymentCases are the cases of NewAgreementParams.
func newPayToPaymentCases[T any](put func(*T, NewAgreementParams)) []ruleCase[T] {
	with := changing(func() NewAgreementParams {
		return NewAgreementParams{SupplierBusinessCode: canaryBusiness, Purpose: AgreementPurposeRetail, Description: "One order", Payer: validPayer()}
	}, put)
	description := func(text string) func(*T) {
		return with(func(n *NewAgreementParams) { n.Description = text })
	}
	cases := []ruleCase[T]{
		{rule: "payToAgreement.description.length", pass: with(func(n *NewAgreementParams) { n.SupplierBusinessCode = "" }), fail: description(letters(141))},
		{rule: "payToAgreement.description.length", pass: with(func(n *NewAgreementParams) { n.Purpose = "" }), fail: description(letters(141))},
		{rule: "payToAgreement.description.length", pass: description(""), fail: description(letters(141))},
		{rule: "payToAgreement.description.length", pass: description(letters(140)), fail: description(letters(141))},
	}
	for _, c := range payerCases(func(n *NewAgreementParams) *AgreementPayerParams { return &n.Payer }) {
		cases = append(cases, ruleCase[T]{rule: c.rule, pass: with(c.pass), fail: with(c.fail)})
	}
	return cases
}

// termsCases are the cases of AgreementTermsParams.
func termsCases[T any](terms func(*T) *AgreementTermsParams) []ruleCase[T] {
	with := func(change func(*AgreementTermsParams)) func(*T) {
		return func(request *T) { change(terms(request)) }
	}
	adhoc := func(n *int64) func(*T) {
		return with(func(a *AgreementTermsParams) { a.Frequency, a.NumberOfPaymentsPermitted = AgreementFrequencyAdhoc, n })
	}
	point := func(f AgreementFrequency, n *int64) func(*T) {
		return with(func(a *AgreementTermsParams) {
			a.Frequency, a.PointInTime, a.NumberOfPaymentsPermitted = f, n, new(int64(1))
		})
	}
	frequency := func(a *AgreementTermsParams) *AgreementFrequency { return &a.Frequency }
	currency := func(a *AgreementTermsParams) *Currency { return &a.Currency }
	kind := func(t AgreementType) func(*T) {
		return with(func(a *AgreementTermsParams) { a.Type = t })
	}
	balloon := func(last *decimal.Decimal) func(*T) {
		return with(func(a *AgreementTermsParams) { a.Type, a.LastPaymentAmount = AgreementTypeBalloon, last })
	}
	fixed := func(amount *decimal.Decimal) func(*T) {
		return with(func(a *AgreementTermsParams) { a.Type, a.PaymentAmount = AgreementTypeFixed, amount })
	}
	ten := new(decimal.New(10, 0))
	cases := []ruleCase[T]{
		{rule: "agreement.currency.aud", pass: with(set(frequency, "NEW")), fail: with(set(currency, CurrencyNZD))},
		{rule: "agreement.currency.aud", pass: with(set(frequency, "")), fail: with(set(currency, CurrencyNZD))},
		{rule: "agreement.currency.aud", pass: kind("NEW"), fail: with(set(currency, CurrencyNZD))},
		{rule: "agreement.currency.aud", pass: kind(""), fail: with(set(currency, CurrencyNZD))},
		{rule: "agreement.numberOfPaymentsPermitted.range", pass: adhoc(new(int64(999_999_999_999_999_999))), fail: adhoc(new(int64(1_000_000_000_000_000_000)))},
		{rule: "agreement.numberOfPaymentsPermitted.range", pass: adhoc(new(int64(0))), fail: adhoc(new(int64(-1)))},
		{rule: "agreement.pointInTime.adhoc", pass: point(AgreementFrequencyAdhoc, nil), fail: point(AgreementFrequencyAdhoc, new(int64(1)))},
		{rule: "agreement.lastPaymentAmount.required", pass: balloon(ten), fail: balloon(nil)},
		{rule: "agreement.paymentAmount.money", pass: fixed(nil), fail: fixed(new(decimal.New(-1, 0)))},
		{rule: "agreement.currency.aud", pass: with(set(currency, CurrencyAUD)), fail: with(set(currency, CurrencyNZD))},
		{rule: "agreement.currency.aud", pass: with(set(currency, "")), fail: with(set(currency, "aud"))},
	}
	for f, last := range map[AgreementFrequency]int64{
		AgreementFrequencyDaily: 24, AgreementFrequencyWeekly: 7, AgreementFrequencyFortnightly: 14, AgreementFrequencyMonthly: 31,
		AgreementFrequencyQuarterly: 3, AgreementFrequencySemiAnnually: 6, AgreementFrequencyYearly: 12, "NEW": 99,
	} {
		cases = append(
			cases,
			ruleCase[T]{rule: "agreement.pointInTime.range", pass: point(f, new(last)), fail: point(f, new(last+1))},
			ruleCase[T]{rule: "agreement.pointInTime.range", pass: point(f, new(int64(1))), fail: point(f, new(int64(0)))},
			ruleCase[T]{rule: "agreement.pointInTime.range", pass: point(f, nil), fail: point(f, new(int64(-1)))},
		)
	}
	for rule, field := range map[string]func(*AgreementTermsParams) **decimal.Decimal{
		"agreement.firstPaymentAmount.money":   func(a *AgreementTermsParams) **decimal.Decimal { return &a.FirstPaymentAmount },
		"agreement.lastPaymentAmount.money":    func(a *AgreementTermsParams) **decimal.Decimal { return &a.LastPaymentAmount },
		"agreement.paymentAmount.money":        func(a *AgreementTermsParams) **decimal.Decimal { return &a.PaymentAmount },
		"agreement.maximumPaymentAmount.money": func(a *AgreementTermsParams) **decimal.Decimal { return &a.MaximumPaymentAmount },
	} {
		for good, bad := range map[string]string{"10.55": "10.555", "0.00": "-0.01", "0.010": "0.001"} {
			cases = append(cases, ruleCase[T]{
				rule: rule,
				pass: with(set(field, new(decimal.RequireFromString(good)))), fail: with(set(field, new(decimal.RequireFromString(bad)))),
			})
		}
	}
	for rule, field := range map[string]func(*AgreementTermsParams) *Date{
		"agreement.firstPaymentDue.valid": func(a *AgreementTermsParams) *Date { return &a.FirstPaymentDue },
		"agreement.lastPaymentDue.valid":  func(a *AgreementTermsParams) *Date { return &a.LastPaymentDue },
	} {
		for _, c := range []struct{ good, bad Date }{
			{Date{2028, time.February, 29}, Date{2026, time.February, 29}},
			{Date{9999, time.December, 31}, Date{10000, time.January, 1}},
			{Date{}, Date{2026, time.April, 31}},
		} {
			cases = append(cases, ruleCase[T]{rule: rule, pass: with(set(field, c.good)), fail: with(set(field, c.bad))})
		}
	}
	return cases
}

// endCases are the cases of the members that new agreements and amendments share, for an agreement
// that starts on 1 July 2026. The caller sets the fields, because an amendment changes them in
// another way.
func endCases[T any](end func(renewal bool, end Date) func(*T), info func(*T) *string) []ruleCase[T] {
	start := Date{2026, time.July, 1}
	return []ruleCase[T]{
		{rule: "agreement.endDate.required", pass: end(false, start), fail: end(false, Date{})},
		{rule: "agreement.endDate.renewal", pass: end(true, Date{}), fail: end(true, start)},
		{rule: "agreement.endDate.valid", pass: end(false, start.AddDays(-1)), fail: end(false, Date{2026, time.June, 31})},
		{rule: "agreement.endDate.valid", pass: end(false, Date{2028, time.February, 29}), fail: end(false, Date{2027, time.February, 29})},
		{rule: "agreement.additionalInformation.length", pass: set(info, letters(140)), fail: set(info, letters(141))},
	}
}

func validTerms() AgreementTermsParams {
	return AgreementTermsParams{
		Frequency: AgreementFrequencyMonthly, Type: AgreementTypeVariable,
		MaximumPaymentAmount: new(decimal.New(10000, -2)), Currency: CurrencyAUD,
	}
}

func agreementCreateTable() ruleTable[CreateAgreementParams] {
	type params = CreateAgreementParams
	minutes := func(n *int64) func(*params) { return func(p *params) { p.RespondByTimeMinutes = n } }
	reference := func(p *params) *string { return &p.PayeeReference }
	migrated := func(reference, number string) func(*params) {
		return func(p *params) {
			p.CreationType, p.PayeeReference = AgreementCreationTypeMigratedDDR, reference
			p.Payment.AdditionalInformation = number
		}
	}
	start, description := func(p *params) *Date { return &p.Payment.StartDate }, func(p *params) *string { return &p.Payment.Description }
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.PayTo.Create(context.Background(), canaryCustomer, p, opts...)
		},
		wire: agreementJSON{},
		valid: func() params {
			return params{
				SupplierBusinessCode: canaryBusiness, PayeeReference: canaryReference,
				Payment: AgreementPaymentDetails{
					Purpose: AgreementPurposeUtility, Description: "Electricity", StartDate: Date{2026, time.July, 1}, AutomaticRenewal: true,
				},
				Terms: validTerms(), Payer: validPayer(),
			}
		},
		cases: slices.Concat(
			[]ruleCase[params]{
				{rule: "agreement.supplierBusinessCode.required", fail: set(func(p *params) *string { return &p.SupplierBusinessCode }, "")},
				{rule: "agreement.respondByTimeMinutes.range", pass: minutes(new(int64(7200))), fail: minutes(new(int64(7201)))},
				{rule: "agreement.respondByTimeMinutes.range", pass: minutes(new(int64(0))), fail: minutes(new(int64(-1)))},
				{rule: "agreement.respondByTimeMinutes.range", pass: minutes(nil), fail: minutes(new(int64(-2)))},
				{rule: "agreement.payeeReference.length", pass: set(reference, letters(35)), fail: set(reference, letters(36))},
				{rule: "agreement.payeeReference.migrated", pass: migrated("L", "123456"), fail: migrated("", "123456")},
				{rule: "agreement.additionalInformation.migrated", pass: migrated("L", "000000"), fail: migrated("L", "00000")},
				{rule: "agreement.additionalInformation.migrated", pass: migrated("L", "999999"), fail: migrated("L", "9999999")},
				{rule: "agreement.additionalInformation.migrated", pass: migrated("L", "123456"), fail: migrated("L", "12345x")},
				{rule: "agreement.additionalInformation.migrated", pass: migrated("L", "123456"), fail: migrated("L", "")},
				{
					rule: "agreement.description.length",
					pass: set(func(p *params) *AgreementPurpose { return &p.Payment.Purpose }, ""), fail: set(description, letters(141)),
				},
				{rule: "agreement.description.length", pass: set(description, ""), fail: set(description, letters(141))},
				{rule: "agreement.description.length", pass: set(description, letters(140)), fail: set(description, letters(141))},
				{rule: "agreement.startDate.valid", pass: set(start, Date{}), fail: set(start, Date{2026, time.February, 29})},
				{rule: "agreement.startDate.valid", pass: set(start, Date{2026, time.July, 31}), fail: set(start, Date{2026, time.June, 31})},
			},
			endCases(func(renewal bool, end Date) func(*params) {
				return func(p *params) { p.Payment.AutomaticRenewal, p.Payment.EndDate = renewal, end }
			}, func(p *params) *string { return &p.Payment.AdditionalInformation }),
			termsCases(func(p *params) *AgreementTermsParams { return &p.Terms }),
			[]ruleCase[params]{{
				rule: "agreement.numberOfPaymentsPermitted.required",
				pass: func(p *params) {
					p.Terms = AgreementTermsParams{Frequency: AgreementFrequencyAdhoc, NumberOfPaymentsPermitted: new(int64(1))}
				},
				fail: func(p *params) { p.Terms = AgreementTermsParams{Frequency: AgreementFrequencyAdhoc} },
			}},
			payerCases(func(p *params) *AgreementPayerParams { return &p.Payer }),
		),
	}
}
