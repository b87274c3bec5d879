package quickstream

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// The cases of the kinds of members that 3D Secure has many of, each by the field that becomes the
// member.

func lengthCases(member string, longest int, field func(*AuthenticateParams) *string) []ruleCase[AuthenticateParams] {
	return []ruleCase[AuthenticateParams]{{
		rule: "threeDS." + member + ".length", pass: set(field, letters(longest)), fail: set(field, letters(longest+1)),
	}}
}

func digitsCases[S ~string](member string, digits int, field func(*AuthenticateParams) *S) []ruleCase[AuthenticateParams] {
	return digitRows("threeDS."+member+".digits", digits, digits, field)
}

func codeCases[S ~string](member string, field func(*AuthenticateParams) *S) []ruleCase[AuthenticateParams] {
	return digitsCases(member, 2, field)
}

func countCases[N int | int64](member string, most N, field func(*AuthenticateParams) **N) []ruleCase[AuthenticateParams] {
	rule := "threeDS." + member + ".range"
	return []ruleCase[AuthenticateParams]{
		{rule: rule, pass: set(field, new(most)), fail: set(field, new(most+1))},
		{rule: rule, pass: set(field, new(N(0))), fail: set(field, new(N(-1)))},
	}
}

func dateCases(member string, field func(*AuthenticateParams) *Date) []ruleCase[AuthenticateParams] {
	return []ruleCase[AuthenticateParams]{{
		rule: "threeDS." + member + ".valid",
		pass: set(field, Date{2028, time.February, 29}), fail: set(field, Date{2026, time.February, 29}),
	}}
}

func threeDSAddressCases(prefix string, address func(*AuthenticateParams) *ThreeDSAddress) []ruleCase[AuthenticateParams] {
	type params = AuthenticateParams
	return slices.Concat(
		lengthCases(prefix+"Line1", 50, func(p *params) *string { return &address(p).Line1 }),
		lengthCases(prefix+"Line2", 50, func(p *params) *string { return &address(p).Line2 }),
		lengthCases(prefix+"Line3", 50, func(p *params) *string { return &address(p).Line3 }),
		lengthCases(prefix+"City", 50, func(p *params) *string { return &address(p).City }),
		lengthCases(prefix+"PostCode", 16, func(p *params) *string { return &address(p).PostCode }),
		lengthCases(prefix+"State", 3, func(p *params) *string { return &address(p).State }),
		digitsCases(prefix+"Country", 3, func(p *params) *string { return &address(p).Country }),
	)
}

func threeDSTable() ruleTable[AuthenticateParams] {
	type params = AuthenticateParams
	amount := func(d *decimal.Decimal) func(*params) { return func(p *params) { p.PrincipalAmount = d } }
	money := func(text string) func(*params) { return amount(new(decimal.RequireFromString(text))) }
	// to is an authentication for a purpose, with the terms that it may need.
	to := func(purpose ThreeDSPurpose, expiry Date, frequency, instalments *int) func(*params) {
		return func(p *params) {
			p.Purpose, p.RecurringExpiry, p.RecurringFrequency, p.Instalments = purpose, expiry, frequency, instalments
		}
	}
	const recurring, instalment = ThreeDSPurposeRecurring, ThreeDSPurposeInstalment
	until := Date{2027, time.July, 1}
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.SingleUseTokens.Authenticate(context.Background(), canaryToken, p, opts...)
		},
		wire: AuthenticateParams{},
		valid: func() params {
			return params{
				MessageCategory: ThreeDSMessageCategoryPayment, Purpose: ThreeDSPurposePayment, PrincipalAmount: new(decimal.New(1050, -2)),
				BillingAddress: ThreeDSAddress{Line1: "1 Example Street", City: "Sydney"},
			}
		},
		cases: slices.Concat(
			[]ruleCase[params]{
				{rule: "threeDS.messageCategory.required", pass: set(func(p *params) *ThreeDSMessageCategory { return &p.MessageCategory }, "02"), fail: func(p *params) { p.MessageCategory = "" }},
				{rule: "threeDS.purpose.required", pass: func(p *params) { p.Purpose = "07" }, fail: func(p *params) { p.Purpose = "" }},
				{rule: "threeDS.principalAmount.required", pass: func(p *params) { p.Purpose, p.PrincipalAmount = ThreeDSPurposeAddCard, nil }, fail: amount(nil)},
				{rule: "threeDS.principalAmount.money", pass: money("0.00"), fail: money("-0.01")},
				{rule: "threeDS.principalAmount.money", pass: money("10.550"), fail: money("10.555")},
				{rule: "threeDS.currency.aud", pass: func(p *params) { p.Currency = CurrencyAUD }, fail: func(p *params) { p.Currency = CurrencyNZD }},
				{rule: "threeDS.recurringExpiry.required", pass: to(recurring, until, new(28), nil), fail: to(recurring, Date{}, new(28), nil)},
				{rule: "threeDS.recurringExpiry.required", pass: to(ThreeDSPurposePayment, Date{}, nil, nil), fail: to(instalment, Date{}, new(28), new(12))},
				{rule: "threeDS.recurringFrequency.required", pass: to(recurring, until, new(0), nil), fail: to(recurring, until, nil, nil)},
				{rule: "threeDS.recurringFrequency.required", pass: to(ThreeDSPurposeVerification, Date{}, nil, nil), fail: to(instalment, until, nil, new(12))},
				{rule: "threeDS.purchaseInstalData.required", pass: to(recurring, until, new(28), nil), fail: to(instalment, until, new(28), nil)},
				{rule: "threeDS.billingAddress.required", pass: func(p *params) { p.MessageCategory, p.BillingAddress = ThreeDSMessageCategoryStoring, ThreeDSAddress{} }, fail: func(p *params) { p.BillingAddress = ThreeDSAddress{} }},
				{rule: "threeDS.billingAddress.required", pass: func(p *params) { p.BillingAddress = ThreeDSAddress{PostCode: "2000"} }, fail: func(p *params) { p.BillingAddress = ThreeDSAddress{} }},
			},
			codeCases("messageCategory", func(p *params) *ThreeDSMessageCategory { return &p.MessageCategory }),
			codeCases("threeDSRequestorAuthenticationInd", func(p *params) *ThreeDSPurpose { return &p.Purpose })[:1],
			dateCases("recurringExpiry", func(p *params) *Date { return &p.RecurringExpiry }),
			countCases("recurringFrequency", 9999, func(p *params) **int { return &p.RecurringFrequency }),
			countCases("purchaseInstalData", 999, func(p *params) **int { return &p.Instalments }),
			lengthCases("email", 254, func(p *params) *string { return &p.Email }),
			lengthCases("homePhone", 15, func(p *params) *string { return &p.HomePhone }),
			lengthCases("mobilePhone", 15, func(p *params) *string { return &p.MobilePhone }),
			lengthCases("workPhone", 15, func(p *params) *string { return &p.WorkPhone }),
			threeDSAddressCases("billAddr", func(p *params) *ThreeDSAddress { return &p.BillingAddress }),
			threeDSAddressCases("shipAddr", func(p *params) *ThreeDSAddress { return &p.ShippingAddress }),
			threeDSOrderCases(), threeDSAccountCases(),
		),
	}
}

func threeDSOrderCases() []ruleCase[AuthenticateParams] {
	type params = AuthenticateParams
	return slices.Concat(
		lengthCases("deliveryEmailAddress", 254, func(p *params) *string { return &p.Order.DeliveryEmail }),
		codeCases("deliveryTimeframe", func(p *params) *string { return &p.Order.Delivery }),
		countCases("giftCardAmount", 999_999_999_999_999, func(p *params) **int64 { return &p.Order.GiftCardAmount }),
		countCases("giftCardCount", 99, func(p *params) **int { return &p.Order.GiftCardCount }),
		digitsCases("giftCardCurr", 3, func(p *params) *string { return &p.Order.GiftCardCurrency }),
		dateCases("preOrderDate", func(p *params) *Date { return &p.Order.PreOrderDate }),
		codeCases("preOrderPurchaseInd", func(p *params) *string { return &p.Order.Availability }),
		codeCases("reorderItemsInd", func(p *params) *string { return &p.Order.Reorder }),
		codeCases("shipIndicator", func(p *params) *string { return &p.Order.Shipping }),
	)
}

func threeDSAccountCases() []ruleCase[AuthenticateParams] {
	type params = AuthenticateParams
	return slices.Concat(
		lengthCases("acctID", 64, func(p *params) *string { return &p.Account.ID }),
		dateCases("chAccDate", func(p *params) *Date { return &p.Account.Created }),
		codeCases("chAccAgeInd", func(p *params) *string { return &p.Account.Age }),
		dateCases("chAccChange", func(p *params) *Date { return &p.Account.Changed }),
		codeCases("chAccChangeInd", func(p *params) *string { return &p.Account.ChangeAge }),
		dateCases("chAccPwChange", func(p *params) *Date { return &p.Account.PasswordChanged }),
		codeCases("chAccPwChangeInd", func(p *params) *string { return &p.Account.PasswordAge }),
		countCases("nbPurchaseAccount", 9999, func(p *params) **int { return &p.Account.PurchasesSixMonths }),
		dateCases("paymentAccAge", func(p *params) *Date { return &p.Account.PaymentAccountCreated }),
		codeCases("paymentAccInd", func(p *params) *string { return &p.Account.PaymentAccountAge }),
		countCases("provisionAttemptsDay", 999, func(p *params) **int { return &p.Account.AddCardAttemptsDay }),
		dateCases("shipAddressUsage", func(p *params) *Date { return &p.Account.ShippingAddressUsed }),
		codeCases("shipAddressUsageInd", func(p *params) *string { return &p.Account.ShippingAddressAge }),
		codeCases("shipNameIndicator", func(p *params) *string { return &p.Account.ShippingName }),
		codeCases("suspiciousAccActivity", func(p *params) *string { return &p.Account.Suspicion }),
		countCases("txnActivityDay", 999, func(p *params) **int { return &p.Account.TransactionsDay }),
		countCases("txnActivityYear", 999, func(p *params) **int { return &p.Account.TransactionsYear }),
	)
}
