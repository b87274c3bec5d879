package quickstream

import (
	"strconv"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// check judges the form of codes only: an unlisted code may be new.
func (p AuthenticateParams) check(all *findings) {
	f := threeDSFindings{all}
	f.require(p.MessageCategory != "", "threeDS.messageCategory.required", "messageCategory", "is required")
	f.code(string(p.MessageCategory), "messageCategory")
	f.require(p.Purpose != "", "threeDS.purpose.required", "threeDSRequestorAuthenticationInd", "is required")
	f.code(string(p.Purpose), "threeDSRequestorAuthenticationInd")
	p.checkTerms(f)
	f.length(p.Email, 254, "email")
	f.length(p.HomePhone, 15, "homePhone")
	f.length(p.MobilePhone, 15, "mobilePhone")
	f.length(p.WorkPhone, 15, "workPhone")
	// Which members make an address is not published, so any will do.
	f.require(p.MessageCategory != ThreeDSMessageCategoryPayment || p.BillingAddress != ThreeDSAddress{},
		"threeDS.billingAddress.required", "billAddrLine1", "or another member of the billing address is required for a payment")
	p.BillingAddress.check(f, "billAddr")
	p.ShippingAddress.check(f, "shipAddr")
	p.Order.check(f)
	p.Account.check(f)
}

func (p AuthenticateParams) checkTerms(f threeDSFindings) {
	repeats := p.Purpose == ThreeDSPurposeRecurring || p.Purpose == ThreeDSPurposeInstalment
	charges := repeats || p.Purpose == ThreeDSPurposePayment
	amount := p.PrincipalAmount
	f.require(!charges || amount != nil,
		"threeDS.principalAmount.required", "principalAmount", "is required for a payment, a recurring payment and an instalment")
	f.require(isAmount(wire.OptionalText(amount)), "threeDS.principalAmount.money", "principalAmount", "must not be negative or have more than two decimals or 32 digits")
	f.require(p.Currency == "" || p.Currency == CurrencyAUD, "threeDS.currency.aud", "currency", "must be AUD")
	f.require(!repeats || !p.RecurringExpiry.IsZero(),
		"threeDS.recurringExpiry.required", "recurringExpiry", "is required for a recurring payment and an instalment")
	f.date(p.RecurringExpiry, "recurringExpiry")
	f.require(!repeats || p.RecurringFrequency != nil,
		"threeDS.recurringFrequency.required", "recurringFrequency", "is required for a recurring payment and an instalment")
	f.count(p.RecurringFrequency, 9999, "recurringFrequency")
	f.require(p.Purpose != ThreeDSPurposeInstalment || p.Instalments != nil,
		"threeDS.purchaseInstalData.required", "purchaseInstalData", "is required for an instalment")
	f.count(p.Instalments, 999, "purchaseInstalData")
}

func (a ThreeDSAddress) check(f threeDSFindings, prefix string) {
	f.length(a.Line1, 50, prefix+"Line1")
	f.length(a.Line2, 50, prefix+"Line2")
	f.length(a.Line3, 50, prefix+"Line3")
	f.length(a.City, 50, prefix+"City")
	f.length(a.PostCode, 16, prefix+"PostCode")
	f.length(a.State, 3, prefix+"State")
	f.digits(a.Country, 3, prefix+"Country")
}

func (o ThreeDSOrder) check(f threeDSFindings) {
	f.length(o.DeliveryEmail, 254, "deliveryEmailAddress")
	f.code(string(o.Delivery), "deliveryTimeframe")
	f.require(inRange(o.GiftCardAmount, 0, 999_999_999_999_999), "threeDS.giftCardAmount.range", "giftCardAmount", "must be from 0 to 999999999999999")
	f.count(o.GiftCardCount, 99, "giftCardCount")
	f.digits(o.GiftCardCurrency, 3, "giftCardCurr")
	f.date(o.PreOrderDate, "preOrderDate")
	f.code(string(o.Availability), "preOrderPurchaseInd")
	f.code(string(o.Reorder), "reorderItemsInd")
	f.code(string(o.Shipping), "shipIndicator")
}

func (a ThreeDSAccount) check(f threeDSFindings) {
	f.length(a.ID, 64, "acctID")
	f.date(a.Created, "chAccDate")
	f.code(string(a.Age), "chAccAgeInd")
	f.date(a.Changed, "chAccChange")
	f.code(string(a.ChangeAge), "chAccChangeInd")
	f.date(a.PasswordChanged, "chAccPwChange")
	f.code(string(a.PasswordAge), "chAccPwChangeInd")
	f.count(a.PurchasesSixMonths, 9999, "nbPurchaseAccount")
	f.date(a.PaymentAccountCreated, "paymentAccAge")
	f.code(string(a.PaymentAccountAge), "paymentAccInd")
	f.count(a.AddCardAttemptsDay, 999, "provisionAttemptsDay")
	f.date(a.ShippingAddressUsed, "shipAddressUsage")
	f.code(string(a.ShippingAddressAge), "shipAddressUsageInd")
	f.code(string(a.ShippingName), "shipNameIndicator")
	f.code(string(a.Suspicion), "suspiciousAccActivity")
	f.count(a.TransactionsDay, 999, "txnActivityDay")
	f.count(a.TransactionsYear, 999, "txnActivityYear")
}

type threeDSFindings struct{ *findings }

func (f threeDSFindings) length(text string, longest int, member string) {
	f.require(lengthWithin(text, 0, longest), "threeDS."+member+".length", member, "must not be longer than "+strconv.Itoa(longest)+" characters")
}

func (f threeDSFindings) digits(text string, n int, member string) {
	f.require(text == "" || isDigits(text) && len(text) == n, "threeDS."+member+".digits", member, "must have "+strconv.Itoa(n)+" digits")
}

func (f threeDSFindings) code(text string, member string) { f.digits(text, 2, member) }

func (f threeDSFindings) count(n *int, most int, member string) {
	f.require(inRange(n, 0, most), "threeDS."+member+".range", member, "must be from 0 to "+strconv.Itoa(most))
}

func (f threeDSFindings) date(d Date, member string) {
	f.require(d.IsZero() || d.IsValid(), "threeDS."+member+".valid", member, "must be a date of the calendar")
}
