package sandbox

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"time"
)

// threeDSRequest is what an authentication is for.
type threeDSRequest struct {
	category string
	amount   cents
	currency string
}

// The values of messageCategory.
const (
	forPayment = "01"
	forStoring = "02"
)

var (
	subdivision = regexp.MustCompile(`^[A-Z0-9]{1,3}$`)
	threeDSTel  = regexp.MustCompile(`^\+[0-9]{6,14}$`)
)

// threeDSOptional are the members that any authentication may have.
func threeDSOptional() map[string][]check {
	var (
		line    = []check{atMost(50)}
		post    = []check{atMost(16)}
		state   = []check{matching(subdivision, "must be an ISO 3166-2 subdivision code")}
		numeric = []check{digits(3, 3)}
		email   = []check{atMost(254), matching(emailPattern, "must be an email address")}
		phone   = []check{atMost(15), matching(threeDSTel, "must be a phone number in international form")}
		day     = []check{compactDate}
		upTo999 = []check{digits(1, 3)}
		between = func(last int) []check {
			codes := make([]string, 0, last)
			for i := range last {
				codes = append(codes, fmt.Sprintf("%02d", i+1))
			}
			return []check{oneOf(codes...)}
		}
	)
	return map[string][]check{
		"deliveryEmailAddress": email, "deliveryTimeframe": between(4),
		"giftCardAmount": {digits(1, 15)}, "giftCardCount": {digits(2, 2)}, "giftCardCurr": numeric,
		"preOrderDate": day, "preOrderPurchaseInd": between(2), "reorderItemsInd": between(2), "shipIndicator": between(7),
		"email": email, "homePhone": phone, "mobilePhone": phone, "workPhone": phone,
		"billAddrLine1": line, "billAddrLine2": line, "billAddrLine3": line, "billAddrCity": line,
		"billAddrPostCode": post, "billAddrState": state, "billAddrCountry": numeric, "addrMatch": {oneOf("Y", "N")},
		"shipAddrLine1": line, "shipAddrLine2": line, "shipAddrLine3": line, "shipAddrCity": line,
		"shipAddrPostCode": post, "shipAddrState": state, "shipAddrCountry": numeric,
		"acctID": {atMost(64)}, "chAccAgeInd": between(5), "chAccChange": day, "chAccChangeInd": between(4), "chAccDate": day,
		"chAccPwChange": day, "chAccPwChangeInd": between(5), "nbPurchaseAccount": {digits(1, 4)},
		"paymentAccAge": day, "paymentAccInd": between(5), "provisionAttemptsDay": upTo999,
		"shipAddressUsage": day, "shipAddressUsageInd": between(4), "shipNameIndicator": between(2),
		"suspiciousAccActivity": between(2), "txnActivityDay": upTo999, "txnActivityYear": upTo999,
	}
}

func compactDate(s string) string {
	if _, err := time.Parse("20060102", s); err != nil {
		return "must be a date in the form YYYYMMDD"
	}
	return ""
}

// moneyText reads an amount above zero that is written as a string with exactly
// two decimals.
func moneyText(s string) string {
	if amount, err := parseCents(s); err != nil || amount <= 0 || s != amount.String() {
		return "must be an amount above zero with two decimals"
	}
	return ""
}

// readThreeDS reads the body of an authentication.
func (b *Sandbox) readThreeDS(f *fields) threeDSRequest {
	r := threeDSRequest{category: f.need("messageCategory", oneOf(forPayment, forStoring))}
	indicator := f.need("threeDSRequestorAuthenticationInd", oneOf("01", "02", "03", "04", "05", "06"))
	requiredFor := func(indicators ...string) func(string, ...check) string {
		if slices.Contains(indicators, indicator) {
			return f.need
		}
		return f.text
	}
	amount := requiredFor("01", "02", "03")("principalAmount", moneyText)
	r.amount, _ = parseCents(amount)
	r.currency = requiredFor("01", "02", "03")("currency", oneOf("AUD"))
	requiredFor("02", "03")("recurringExpiry", compactDate)
	requiredFor("02", "03")("recurringFrequency", digits(1, 4))
	requiredFor("03")("purchaseInstalData", digits(1, 3))
	optional := threeDSOptional()
	for _, name := range slices.Sorted(maps.Keys(optional)) {
		checks := optional[name]
		if r.category == forPayment && slices.Contains(billingAddressMembers, name) {
			f.need(name, checks...)
			continue
		}
		f.text(name, checks...)
	}
	return r
}
