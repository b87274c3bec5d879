package quickstream

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// TransStatus is the result of a 3D Secure authentication. Use the service's answer to this server:
// never decide by one that came from a browser, such as after a challenge.
type TransStatus string

// The results.
const (
	TransStatusAuthenticated    TransStatus = "Y"
	TransStatusAttempted        TransStatus = "A" // the issuer could not authenticate but vouches for the attempt
	TransStatusChallenge        TransStatus = "C" // the cardholder has to answer first
	TransStatusNotAuthenticated TransStatus = "N"
	TransStatusRejected         TransStatus = "R"
	TransStatusUnavailable      TransStatus = "U"
)

// ThreeDSStep says what to do after an authentication.
type ThreeDSStep string

// The steps.
const (
	// ThreeDSStepProceed: pay or register the account with the token and ThreeDS2 true.
	ThreeDSStepProceed ThreeDSStep = "proceed"
	// ThreeDSStepChallenge: show the challenge in the cardholder's browser with the service's own
	// script, then authenticate again.
	ThreeDSStepChallenge ThreeDSStep = "show challenge"
	// ThreeDSStepStop: take no payment, register no account, and inform the cardholder.
	ThreeDSStepStop ThreeDSStep = "stop"
)

// Next returns what to do. An unknown or empty value means [ThreeDSStepStop].
func (s TransStatus) Next() ThreeDSStep {
	switch s {
	case TransStatusAuthenticated, TransStatusAttempted:
		return ThreeDSStepProceed
	case TransStatusChallenge:
		return ThreeDSStepChallenge
	default:
		return ThreeDSStepStop
	}
}

// AuthenticateParams describes a 3D Secure authentication. Members are optional unless they say
// otherwise. The more the issuer sees, the less often the cardholder is challenged.
type AuthenticateParams struct {
	// MessageCategory says what the token is for. Required.
	MessageCategory ThreeDSMessageCategory `json:"messageCategory"`
	// Purpose is the member threeDSRequestorAuthenticationInd. Required.
	Purpose ThreeDSPurpose `json:"threeDSRequestorAuthenticationInd"`
	// PrincipalAmount is the amount before surcharge, with at most two decimals. Required for
	// payments, recurring payments and instalments.
	PrincipalAmount *decimal.Decimal `json:"principalAmount"`
	// Currency of the amount: [CurrencyAUD], also if empty.
	Currency Currency `json:"currency"`
	// RecurringExpiry is the last day of authorisations, RecurringFrequency the least days between
	// two, up to 9999. Required for recurring payments and instalments.
	RecurringExpiry    Date `json:"recurringExpiry"`
	RecurringFrequency *int `json:"recurringFrequency"`
	// Instalments is the member purchaseInstalData, up to 999. Required for instalments.
	Instalments *int `json:"purchaseInstalData"`
	// Email has up to 254 characters, a phone number up to 15, in international form such as
	// +61400000000. They are sent unchanged.
	Email       string `json:"email"`
	HomePhone   string `json:"homePhone"`
	MobilePhone string `json:"mobilePhone"`
	WorkPhone   string `json:"workPhone"`
	// BillingAddress is required for [ThreeDSMessageCategoryPayment]; the service does not publish
	// which members.
	BillingAddress  ThreeDSAddress `prefix:"billAddr"`
	ShippingAddress ThreeDSAddress `prefix:"shipAddr"`
	// AddressesMatch says whether the two addresses are the same.
	AddressesMatch *bool `json:"addrMatch"`
	Order          ThreeDSOrder
	Account        ThreeDSAccount
}

// wire returns the members of the body, all of them texts: the fields that are not zero, by the
// names in their tags, and those of an address with a prefix.
func (p AuthenticateParams) wire() map[string]any {
	if p.Currency == "" && p.PrincipalAmount != nil {
		p.Currency = CurrencyAUD
	}
	members := map[string]any{}
	eachMember("", reflect.ValueOf(p), func(name, format string, value reflect.Value) {
		if value.IsZero() {
			return
		}
		switch v := value.Interface().(type) {
		case Date:
			members[name] = fmt.Sprintf("%04d%02d%02d", v.Year, int(v.Month), v.Day)
		case *bool:
			members[name] = map[bool]string{true: "Y", false: "N"}[*v]
		case *int, *int64:
			members[name] = fmt.Sprintf(cmp.Or(format, "%d"), value.Elem())
		case *decimal.Decimal:
			members[name] = wire.NewText(*v)
		default:
			members[name] = value.String()
		}
	})
	return members
}

// eachMember calls do for each field that is a member of the body.
func eachMember(prefix string, of reflect.Value, do func(name, format string, value reflect.Value)) {
	for field, value := range of.Fields() {
		switch value.Interface().(type) {
		case ThreeDSAddress, ThreeDSOrder, ThreeDSAccount:
			eachMember(field.Tag.Get("prefix"), value, do)
		default:
			do(cmp.Or(field.Tag.Get("json"), prefix+field.Name), field.Tag.Get("format"), value)
		}
	}
}

// ThreeDSMessageCategory says what an authenticated token is for.
type ThreeDSMessageCategory string

// The categories.
const (
	ThreeDSMessageCategoryPayment ThreeDSMessageCategory = "01"
	ThreeDSMessageCategoryStoring ThreeDSMessageCategory = "02"
)

// ThreeDSPurpose is the reason for an authentication.
type ThreeDSPurpose string

// The purposes.
const (
	ThreeDSPurposePayment      ThreeDSPurpose = "01"
	ThreeDSPurposeRecurring    ThreeDSPurpose = "02"
	ThreeDSPurposeInstalment   ThreeDSPurpose = "03"
	ThreeDSPurposeAddCard      ThreeDSPurpose = "04"
	ThreeDSPurposeMaintainCard ThreeDSPurpose = "05"
	// ThreeDSPurposeVerification verifies the cardholder before the card is tokenised.
	ThreeDSPurposeVerification ThreeDSPurpose = "06"
)

// ThreeDSAddress is a billing or shipping address.
type ThreeDSAddress struct {
	// Lines and City have up to 50 characters each.
	Line1, Line2, Line3 string
	City                string
	PostCode            string // up to 16 characters
	State               string // ISO 3166-2 subdivision, up to 3 characters, such as NSW
	Country             string // ISO 3166-1 numeric, such as 036 for Australia
}

// ThreeDSOrder describes what is bought. All members are optional. Codes have two digits.
type ThreeDSOrder struct {
	// DeliveryEmail has up to 254 characters.
	DeliveryEmail string `json:"deliveryEmailAddress"`
	// Delivery is deliveryTimeframe: 01 electronic, 02 the same day, 03 overnight, 04 two days or more.
	Delivery string `json:"deliveryTimeframe"`
	// GiftCardAmount is in whole units of GiftCardCurrency, with up to 15 digits. GiftCardCount is at
	// most 99.
	GiftCardAmount *int64 `json:"giftCardAmount"`
	GiftCardCount  *int   `json:"giftCardCount" format:"%02d"`
	// GiftCardCurrency is giftCardCurr, an ISO 4217 numeric code, such as 036 for AUD.
	GiftCardCurrency string `json:"giftCardCurr"`
	// PreOrderDate is when goods ordered early will be available.
	PreOrderDate Date `json:"preOrderDate"`
	// Availability is preOrderPurchaseInd: 01 available now, 02 later.
	Availability string `json:"preOrderPurchaseInd"`
	// Reorder is reorderItemsInd: 01 ordered for the first time, 02 ordered before.
	Reorder string `json:"reorderItemsInd"`
	// Shipping is shipIndicator: 01 to the billing address, 02 to another verified address on file, 03
	// to a different address, 04 to a store, 05 digital goods, 06 travel and event tickets that are not
	// shipped, 07 other.
	Shipping string `json:"shipIndicator"`
}

// ThreeDSAccount describes the cardholder's account with the merchant. All members are optional.
// Codes have two digits. Those of an age are 01 no account, 02 this transaction, 03 under 30 days, 04
// 30 to 60 days, 05 over 60 days; those of a change 01 this transaction, 02 under 30 days, 03 30 to 60
// days, 04 over 60 days.
type ThreeDSAccount struct {
	// ID is acctID of a signed-in cardholder; up to 64 characters.
	ID string `json:"acctID"`
	// Created is chAccDate, the account's first day, and Age is chAccAgeInd, an age.
	Created Date   `json:"chAccDate"`
	Age     string `json:"chAccAgeInd"`
	// Changed is chAccChange, its last change, and ChangeAge is chAccChangeInd, a change.
	Changed   Date   `json:"chAccChange"`
	ChangeAge string `json:"chAccChangeInd"`
	// PasswordChanged is chAccPwChange. PasswordAge is chAccPwChangeInd: 01 never changed, and then an
	// age.
	PasswordChanged Date   `json:"chAccPwChange"`
	PasswordAge     string `json:"chAccPwChangeInd"`
	// PurchasesSixMonths is nbPurchaseAccount, the purchases in six months, at most 9999.
	PurchasesSixMonths *int `json:"nbPurchaseAccount"`
	// PaymentAccountCreated is paymentAccAge, since when the card is stored, and PaymentAccountAge is
	// paymentAccInd, an age.
	PaymentAccountCreated Date   `json:"paymentAccAge"`
	PaymentAccountAge     string `json:"paymentAccInd"`
	// AddCardAttemptsDay is provisionAttemptsDay, the attempts to add a card in 24 hours, at most 999.
	AddCardAttemptsDay *int `json:"provisionAttemptsDay"`
	// ShippingAddressUsed is shipAddressUsage, when the shipping address was first used, and
	// ShippingAddressAge is shipAddressUsageInd, a change.
	ShippingAddressUsed Date   `json:"shipAddressUsage"`
	ShippingAddressAge  string `json:"shipAddressUsageInd"`
	// ShippingName is shipNameIndicator: 01 the account's name is the recipient's, 02 it is another.
	ShippingName string `json:"shipNameIndicator"`
	// Suspicion is suspiciousAccActivity: 01 none was observed, 02 some was.
	Suspicion string `json:"suspiciousAccActivity"`
	// TransactionsDay and TransactionsYear are txnActivityDay and txnActivityYear, the transactions in
	// 24 hours and in a year, at most 999 each.
	TransactionsDay  *int `json:"txnActivityDay"`
	TransactionsYear *int `json:"txnActivityYear"`
}

// Authenticate authenticates the cardholder of an unused card token that was created with a
// [BrowserProfile]. It does not use the token up. Act on [TransStatus.Next]: a failed
// authentication is not an error.
//
// POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication. A token that is unknown or
// older than 10 minutes matches [ErrNotFound]. Others can match [ErrInvalid], [ErrUnauthorized] or
// [ErrRateLimited]. A 503 matches [ErrThreeDSNotEnabled], and [ErrUnavailable] as well if it is not
// in the service's error body: never pay without authentication because of it. After an
// [UnknownOutcomeError] authenticate again: it charges nothing.
func (s *SingleUseTokensService) Authenticate(ctx context.Context, singleUseTokenID string, params AuthenticateParams, opts ...CallOption) (*ThreeDSResult, error) {
	call := s.client.begin("SingleUseTokens.Authenticate", opts, singleUseTokenID)
	call.check(params.check)
	call.body = params.wire()
	return send[ThreeDSResult](ctx, call)
}

// ThreeDSResult is the answer to an authentication.
type ThreeDSResult struct {
	TransStatus TransStatus `json:"transStatus,omitempty" wire:"decides"`
	Links       []Link      `json:"links,omitempty"`

	envelope
}

func (r *ThreeDSResult) identifier() string { return string(r.TransStatus) }

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
	f.code(o.Delivery, "deliveryTimeframe")
	f.require(inRange(o.GiftCardAmount, 0, 999_999_999_999_999), "threeDS.giftCardAmount.range", "giftCardAmount", "must be from 0 to 999999999999999")
	f.count(o.GiftCardCount, 99, "giftCardCount")
	f.digits(o.GiftCardCurrency, 3, "giftCardCurr")
	f.date(o.PreOrderDate, "preOrderDate")
	f.code(o.Availability, "preOrderPurchaseInd")
	f.code(o.Reorder, "reorderItemsInd")
	f.code(o.Shipping, "shipIndicator")
}

func (a ThreeDSAccount) check(f threeDSFindings) {
	f.length(a.ID, 64, "acctID")
	f.date(a.Created, "chAccDate")
	f.code(a.Age, "chAccAgeInd")
	f.date(a.Changed, "chAccChange")
	f.code(a.ChangeAge, "chAccChangeInd")
	f.date(a.PasswordChanged, "chAccPwChange")
	f.code(a.PasswordAge, "chAccPwChangeInd")
	f.count(a.PurchasesSixMonths, 9999, "nbPurchaseAccount")
	f.date(a.PaymentAccountCreated, "paymentAccAge")
	f.code(a.PaymentAccountAge, "paymentAccInd")
	f.count(a.AddCardAttemptsDay, 999, "provisionAttemptsDay")
	f.date(a.ShippingAddressUsed, "shipAddressUsage")
	f.code(a.ShippingAddressAge, "shipAddressUsageInd")
	f.code(a.ShippingName, "shipNameIndicator")
	f.code(a.Suspicion, "suspiciousAccActivity")
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
