package quickstream

import (
	"slices"
	"strconv"
)

// threeDSRules are the rules of POST
// /single-use-tokens/{singleUseTokenId}/three-ds2-authentication. A code that is
// not listed may be a new one, so that only its form is judged.
//
//nolint:gochecknoglobals // an immutable table
var threeDSRules = slices.Concat(
	[]rule[ThreeDSParams]{
		{
			"threeDS.messageCategory.required", local, "messageCategory", "is required",
			func(p ThreeDSParams) bool { return p.MessageCategory == "" },
		},
		codeRule("messageCategory", func(p ThreeDSParams) ThreeDSMessageCategory { return p.MessageCategory }),
		{
			"threeDS.purpose.required", local, "threeDSRequestorAuthenticationInd", "is required",
			func(p ThreeDSParams) bool { return p.Purpose == "" },
		},
		codeRule("threeDSRequestorAuthenticationInd", func(p ThreeDSParams) ThreeDSPurpose { return p.Purpose }),
		{
			"threeDS.principalAmount.required", local, "principalAmount", "is required for a payment, a recurring payment and an instalment",
			func(p ThreeDSParams) bool { return p.Purpose.charges() && p.PrincipalAmount == nil },
		},
		{
			"threeDS.principalAmount.positive", local, "principalAmount", "must be more than zero",
			func(p ThreeDSParams) bool { return p.PrincipalAmount != nil && !p.PrincipalAmount.IsPositive() },
		},
		{
			"threeDS.principalAmount.decimals", local, "principalAmount", "must not have more than two decimals",
			func(p ThreeDSParams) bool { return p.PrincipalAmount != nil && notMoney(*p.PrincipalAmount) },
		},
		{
			"threeDS.currency.aud", local, "currency", "must be AUD",
			func(p ThreeDSParams) bool { return p.Currency != "" && p.Currency != CurrencyAUD },
		},
		{
			"threeDS.recurringExpiry.required", local, "recurringExpiry", "is required for a recurring payment and an instalment",
			func(p ThreeDSParams) bool { return p.Purpose.repeats() && p.RecurringExpiry.IsZero() },
		},
		dateRule("recurringExpiry", func(p ThreeDSParams) Date { return p.RecurringExpiry }),
		{
			"threeDS.recurringFrequency.required", local, "recurringFrequency", "is required for a recurring payment and an instalment",
			func(p ThreeDSParams) bool { return p.Purpose.repeats() && p.RecurringFrequency == nil },
		},
		countRule("recurringFrequency", 9999, func(p ThreeDSParams) *int { return p.RecurringFrequency }),
		{
			"threeDS.purchaseInstalData.required", local, "purchaseInstalData", "is required for an instalment",
			func(p ThreeDSParams) bool { return p.Purpose == ThreeDSPurposeInstalment && p.Instalments == nil },
		},
		countRule("purchaseInstalData", 999, func(p ThreeDSParams) *int { return p.Instalments }),
		lengthRule("email", 254, func(p ThreeDSParams) string { return p.Email }),
		lengthRule("homePhone", 15, func(p ThreeDSParams) string { return p.HomePhone }),
		lengthRule("mobilePhone", 15, func(p ThreeDSParams) string { return p.MobilePhone }),
		lengthRule("workPhone", 15, func(p ThreeDSParams) string { return p.WorkPhone }),
		{"threeDS.phone.international", service, "(phone numbers)", "must be in international form", nil},
		{
			// Which members make an address is not published: a street and a city do.
			"threeDS.billingAddress.required", local, "billAddrLine1", "is required for a payment, with billAddrCity",
			func(p ThreeDSParams) bool {
				return p.MessageCategory == ThreeDSForPayment && (p.BillingAddress.Line1 == "" || p.BillingAddress.City == "")
			},
		},
		{"threeDS.token.browserProfile", service, "singleUseTokenId", "must be of a card, with a browser profile, unused and not older than 10 minutes", nil},
	},
	addressRules("billAddr", func(p ThreeDSParams) ThreeDSAddress { return p.BillingAddress }),
	addressRules("shipAddr", func(p ThreeDSParams) ThreeDSAddress { return p.ShippingAddress }),
	within("", threeDSOrderRules, func(p ThreeDSParams) (ThreeDSOrder, bool) { return p.Order, true }),
	within("", threeDSAccountRules, func(p ThreeDSParams) (ThreeDSAccount, bool) { return p.Account, true }),
)

//nolint:gochecknoglobals // an immutable table
var threeDSOrderRules = []rule[ThreeDSOrder]{
	lengthRule("deliveryEmailAddress", 254, func(o ThreeDSOrder) string { return o.DeliveryEmail }),
	codeRule("deliveryTimeframe", func(o ThreeDSOrder) ThreeDSDelivery { return o.Delivery }),
	countRule("giftCardAmount", 999_999_999_999_999, func(o ThreeDSOrder) *int64 { return o.GiftCardAmount }),
	countRule("giftCardCount", 99, func(o ThreeDSOrder) *int { return o.GiftCardCount }),
	digitsRule("giftCardCurr", 3, func(o ThreeDSOrder) string { return o.GiftCardCurrency }),
	dateRule("preOrderDate", func(o ThreeDSOrder) Date { return o.PreOrderDate }),
	codeRule("preOrderPurchaseInd", func(o ThreeDSOrder) ThreeDSAvailability { return o.Availability }),
	codeRule("reorderItemsInd", func(o ThreeDSOrder) ThreeDSReorder { return o.Reorder }),
	codeRule("shipIndicator", func(o ThreeDSOrder) ThreeDSShipping { return o.Shipping }),
}

//nolint:gochecknoglobals // an immutable table
var threeDSAccountRules = []rule[ThreeDSAccount]{
	lengthRule("acctID", 64, func(a ThreeDSAccount) string { return a.ID }),
	dateRule("chAccDate", func(a ThreeDSAccount) Date { return a.Created }),
	codeRule("chAccAgeInd", func(a ThreeDSAccount) ThreeDSAge { return a.Age }),
	dateRule("chAccChange", func(a ThreeDSAccount) Date { return a.Changed }),
	codeRule("chAccChangeInd", func(a ThreeDSAccount) ThreeDSChangeAge { return a.ChangeAge }),
	dateRule("chAccPwChange", func(a ThreeDSAccount) Date { return a.PasswordChanged }),
	codeRule("chAccPwChangeInd", func(a ThreeDSAccount) ThreeDSPasswordAge { return a.PasswordAge }),
	countRule("nbPurchaseAccount", 9999, func(a ThreeDSAccount) *int { return a.PurchasesSixMonths }),
	dateRule("paymentAccAge", func(a ThreeDSAccount) Date { return a.PaymentAccountCreated }),
	codeRule("paymentAccInd", func(a ThreeDSAccount) ThreeDSAge { return a.PaymentAccountAge }),
	countRule("provisionAttemptsDay", 999, func(a ThreeDSAccount) *int { return a.AddCardAttemptsDay }),
	dateRule("shipAddressUsage", func(a ThreeDSAccount) Date { return a.ShippingAddressUsed }),
	codeRule("shipAddressUsageInd", func(a ThreeDSAccount) ThreeDSChangeAge { return a.ShippingAddressAge }),
	codeRule("shipNameIndicator", func(a ThreeDSAccount) ThreeDSShippingName { return a.ShippingName }),
	codeRule("suspiciousAccActivity", func(a ThreeDSAccount) ThreeDSSuspicion { return a.Suspicion }),
	countRule("txnActivityDay", 999, func(a ThreeDSAccount) *int { return a.TransactionsDay }),
	countRule("txnActivityYear", 999, func(a ThreeDSAccount) *int { return a.TransactionsYear }),
}

// addressRules are the rules of an address whose members begin with a prefix.
func addressRules(prefix string, get func(ThreeDSParams) ThreeDSAddress) []rule[ThreeDSParams] {
	return within("", []rule[ThreeDSAddress]{
		lengthRule(prefix+"Line1", 50, func(a ThreeDSAddress) string { return a.Line1 }),
		lengthRule(prefix+"Line2", 50, func(a ThreeDSAddress) string { return a.Line2 }),
		lengthRule(prefix+"Line3", 50, func(a ThreeDSAddress) string { return a.Line3 }),
		lengthRule(prefix+"City", 50, func(a ThreeDSAddress) string { return a.City }),
		lengthRule(prefix+"PostCode", 16, func(a ThreeDSAddress) string { return a.PostCode }),
		lengthRule(prefix+"State", 3, func(a ThreeDSAddress) string { return a.State }),
		digitsRule(prefix+"Country", 3, func(a ThreeDSAddress) string { return a.Country }),
	}, func(p ThreeDSParams) (ThreeDSAddress, bool) { return get(p), true })
}

// charges reports whether a purpose needs an amount.
func (p ThreeDSPurpose) charges() bool { return p == ThreeDSPurposePayment || p.repeats() }

// repeats reports whether a purpose needs the terms of what follows.
func (p ThreeDSPurpose) repeats() bool {
	return p == ThreeDSPurposeRecurring || p == ThreeDSPurposeInstalment
}

func lengthRule[T any](member string, longest int, get func(T) string) rule[T] {
	return rule[T]{
		"threeDS." + member + ".length", local, member, "must not be longer than " + strconv.Itoa(longest) + " characters",
		func(v T) bool { return lengthOutside(get(v), 0, longest) },
	}
}

func digitsRule[T any, S ~string](member string, digits int, get func(T) S) rule[T] {
	return rule[T]{
		"threeDS." + member + ".digits", local, member, "must have " + strconv.Itoa(digits) + " digits",
		func(v T) bool {
			code := string(get(v))
			return code != "" && (!isDigits(code) || len(code) != digits)
		},
	}
}

func codeRule[T any, S ~string](member string, get func(T) S) rule[T] {
	return digitsRule(member, 2, get)
}

func countRule[T any, N int | int64](member string, most int64, get func(T) *N) rule[T] {
	return rule[T]{
		"threeDS." + member + ".range", local, member, "must be from 0 to " + strconv.FormatInt(most, 10),
		func(v T) bool {
			n := get(v)
			return n != nil && (*n < 0 || int64(*n) > most)
		},
	}
}

func dateRule[T any](member string, get func(T) Date) rule[T] {
	return rule[T]{
		"threeDS." + member + ".valid", local, member, "must be a date of the calendar",
		func(v T) bool { return !get(v).IsZero() && !get(v).IsValid() },
	}
}
