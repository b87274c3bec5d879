package quickstream

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// TransStatus is the result of a 3D Secure authentication, not of a transaction. Decide by the one
// that the service returns to this server, never by one from a browser, such as after a challenge.
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
	// script, then authenticate again (unconfirmed).
	ThreeDSStepChallenge ThreeDSStep = "show_challenge"
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
	MessageCategory ThreeDSMessageCategory `json:"messageCategory" rule:"digits=2"`
	// Purpose is the member threeDSRequestorAuthenticationInd. Required.
	Purpose ThreeDSPurpose `json:"threeDSRequestorAuthenticationInd" rule:"digits=2"`
	// PrincipalAmount is the amount before surcharge, with at most two decimals. Required for
	// payments, recurring payments and instalments.
	PrincipalAmount *decimal.Decimal `json:"principalAmount"`
	// Currency is that of the amount: [CurrencyAUD], also if empty.
	Currency Currency `json:"currency"`
	// RecurringExpiry is the last day of authorisations. RecurringFrequency is the least number of
	// days between two, up to 9999. Required for recurring payments and instalments.
	RecurringExpiry    Date `json:"recurringExpiry" rule:"date"`
	RecurringFrequency *int `json:"recurringFrequency" rule:"count=9999"`
	// Instalments is the member purchaseInstalData, up to 999. Required for instalments.
	Instalments *int `json:"purchaseInstalData" rule:"count=999"`
	// Email has up to 254 characters, a phone number up to 15, in international form such as
	// +61400000000. They are sent unchanged.
	Email       string `json:"email" rule:"length=254"`
	HomePhone   string `json:"homePhone" rule:"length=15"`
	MobilePhone string `json:"mobilePhone" rule:"length=15"`
	WorkPhone   string `json:"workPhone" rule:"length=15"`
	// BillingAddress is required for [ThreeDSMessageCategoryPayment]; the service does not publish
	// which of its members.
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
	eachMember("", reflect.ValueOf(p), func(name string, tag reflect.StructTag, value reflect.Value) {
		switch v := value.Interface().(type) {
		case Date:
			members[name] = fmt.Sprintf("%04d%02d%02d", v.Year, int(v.Month), v.Day)
		case *bool:
			members[name] = map[bool]string{true: "Y", false: "N"}[*v]
		case *int, *int64:
			members[name] = fmt.Sprintf(cmp.Or(tag.Get("format"), "%d"), value.Elem())
		case *decimal.Decimal:
			members[name] = wire.OptionalText(v)
		default:
			members[name] = value.String()
		}
	})
	return members
}

// eachMember calls do for each field that is a member of the body and is not zero.
func eachMember(prefix string, of reflect.Value, do func(name string, tag reflect.StructTag, value reflect.Value)) {
	for field, value := range of.Fields() {
		if value.IsZero() {
			continue
		}
		switch value.Interface().(type) {
		case ThreeDSAddress, ThreeDSOrder, ThreeDSAccount:
			eachMember(field.Tag.Get("prefix"), value, do)
		default:
			do(cmp.Or(field.Tag.Get("json"), prefix+field.Name), field.Tag, value)
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
	Line1    string `rule:"length=50"`
	Line2    string `rule:"length=50"`
	Line3    string `rule:"length=50"`
	City     string `rule:"length=50"`
	PostCode string `rule:"length=16"` // up to 16 characters
	State    string `rule:"length=3"`  // ISO 3166-2 subdivision, up to 3 characters, such as NSW
	Country  string `rule:"digits=3"`  // ISO 3166-1 numeric, such as 036 for Australia
}

// ThreeDSOrder describes what is bought. All members are optional. Codes have two digits.
type ThreeDSOrder struct {
	// DeliveryEmail has up to 254 characters.
	DeliveryEmail string `json:"deliveryEmailAddress" rule:"length=254"`
	// Delivery is deliveryTimeframe: 01 electronic, 02 the same day, 03 overnight, 04 two days or more.
	Delivery string `json:"deliveryTimeframe" rule:"digits=2"`
	// GiftCardAmount is in whole units of GiftCardCurrency, with up to 15 digits. GiftCardCount is at
	// most 99.
	GiftCardAmount *int64 `json:"giftCardAmount" rule:"count=999999999999999"`
	GiftCardCount  *int   `json:"giftCardCount" format:"%02d" rule:"count=99"`
	// GiftCardCurrency is giftCardCurr, an ISO 4217 numeric code, such as 036 for AUD.
	GiftCardCurrency string `json:"giftCardCurr" rule:"digits=3"`
	// PreOrderDate is when goods ordered early will be available.
	PreOrderDate Date `json:"preOrderDate" rule:"date"`
	// Availability is preOrderPurchaseInd: 01 available now, 02 later.
	Availability string `json:"preOrderPurchaseInd" rule:"digits=2"`
	// Reorder is reorderItemsInd: 01 ordered for the first time, 02 ordered before.
	Reorder string `json:"reorderItemsInd" rule:"digits=2"`
	// Shipping is shipIndicator: 01 to the billing address, 02 to another verified address on file, 03
	// to a different address, 04 to a store, 05 digital goods, 06 travel and event tickets that are not
	// shipped, 07 other.
	Shipping string `json:"shipIndicator" rule:"digits=2"`
}

// ThreeDSAccount describes the cardholder's account with the merchant. All members are optional.
// Codes have two digits. Those of an age are 01 no account, 02 this transaction, 03 under 30 days, 04
// 30 to 60 days, 05 over 60 days; those of a change 01 this transaction, 02 under 30 days, 03 30 to 60
// days, 04 over 60 days.
type ThreeDSAccount struct {
	// ID is acctID of a signed-in cardholder; up to 64 characters.
	ID string `json:"acctID" rule:"length=64"`
	// Created is chAccDate, the account's first day, and Age is chAccAgeInd, an age.
	Created Date   `json:"chAccDate" rule:"date"`
	Age     string `json:"chAccAgeInd" rule:"digits=2"`
	// Changed is chAccChange, its last change, and ChangeAge is chAccChangeInd, a change.
	Changed   Date   `json:"chAccChange" rule:"date"`
	ChangeAge string `json:"chAccChangeInd" rule:"digits=2"`
	// PasswordChanged is chAccPwChange. PasswordAge is chAccPwChangeInd: 01 never changed, and then an
	// age.
	PasswordChanged Date   `json:"chAccPwChange" rule:"date"`
	PasswordAge     string `json:"chAccPwChangeInd" rule:"digits=2"`
	// PurchasesSixMonths is nbPurchaseAccount, the purchases in six months, at most 9999.
	PurchasesSixMonths *int `json:"nbPurchaseAccount" rule:"count=9999"`
	// PaymentAccountCreated is paymentAccAge, the day on which the card was stored.
	// PaymentAccountAge is paymentAccInd, an age.
	PaymentAccountCreated Date   `json:"paymentAccAge" rule:"date"`
	PaymentAccountAge     string `json:"paymentAccInd" rule:"digits=2"`
	// AddCardAttemptsDay is provisionAttemptsDay, the attempts to add a card in 24 hours, at most 999.
	AddCardAttemptsDay *int `json:"provisionAttemptsDay" rule:"count=999"`
	// ShippingAddressUsed is shipAddressUsage, when the shipping address was first used, and
	// ShippingAddressAge is shipAddressUsageInd, a change.
	ShippingAddressUsed Date   `json:"shipAddressUsage" rule:"date"`
	ShippingAddressAge  string `json:"shipAddressUsageInd" rule:"digits=2"`
	// ShippingName is shipNameIndicator: 01 the account's name is the recipient's, 02 it is another.
	ShippingName string `json:"shipNameIndicator" rule:"digits=2"`
	// Suspicion is suspiciousAccActivity: 01 none was observed, 02 some was.
	Suspicion string `json:"suspiciousAccActivity" rule:"digits=2"`
	// TransactionsDay and TransactionsYear are txnActivityDay and txnActivityYear, the transactions in
	// 24 hours and in a year, at most 999 each.
	TransactionsDay  *int `json:"txnActivityDay" rule:"count=999"`
	TransactionsYear *int `json:"txnActivityYear" rule:"count=999"`
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
func (p AuthenticateParams) check(f *findings) {
	f.require(p.MessageCategory != "", "threeDS.messageCategory.required", "messageCategory", "is required")
	f.require(p.Purpose != "", "threeDS.purpose.required", "threeDSRequestorAuthenticationInd", "is required")
	repeats := p.Purpose == ThreeDSPurposeRecurring || p.Purpose == ThreeDSPurposeInstalment
	charges := repeats || p.Purpose == ThreeDSPurposePayment
	amount := p.PrincipalAmount
	f.require(!charges || amount != nil,
		"threeDS.principalAmount.required", "principalAmount", "is required for a payment, a recurring payment and an instalment")
	f.require(isAmount(wire.OptionalText(amount)), "threeDS.principalAmount.money", "principalAmount", "must not be negative or have more than two decimals or 32 digits")
	f.require(p.Currency == "" || p.Currency == CurrencyAUD, "threeDS.currency.aud", "currency", "must be AUD")
	f.require(!repeats || !p.RecurringExpiry.IsZero(),
		"threeDS.recurringExpiry.required", "recurringExpiry", "is required for a recurring payment and an instalment")
	f.require(!repeats || p.RecurringFrequency != nil,
		"threeDS.recurringFrequency.required", "recurringFrequency", "is required for a recurring payment and an instalment")
	f.require(p.Purpose != ThreeDSPurposeInstalment || p.Instalments != nil,
		"threeDS.purchaseInstalData.required", "purchaseInstalData", "is required for an instalment")
	// Which members make an address is not published, so any will do.
	f.require(p.MessageCategory != ThreeDSMessageCategoryPayment || p.BillingAddress != ThreeDSAddress{},
		"threeDS.billingAddress.required", "billAddrLine1", "or another member of the billing address is required for a payment")
	eachMember("", reflect.ValueOf(p), func(name string, tag reflect.StructTag, value reflect.Value) {
		f.threeDSMember(name, tag.Get("rule"), value)
	})
}

// threeDSMember checks a member by the rule in its tag.
func (f *findings) threeDSMember(name, rule string, value reflect.Value) {
	kind, bound, _ := strings.Cut(rule, "=")
	most, _ := strconv.ParseInt(bound, 10, 64)
	rule = "threeDS." + name + "."
	switch kind {
	case "length":
		f.require(lengthWithin(value.String(), 0, int(most)), rule+"length", name, "must not be longer than "+bound+" characters")
	case "digits":
		text := value.String()
		f.require(isDigits(text) && len(text) == int(most), rule+"digits", name, "must have "+bound+" digits")
	case "count":
		n := value.Elem().Int()
		f.require(n >= 0 && n <= most, rule+"range", name, "must be from 0 to "+bound)
	case "date":
		f.require(value.Interface().(Date).IsValid(), rule+"valid", name, "must be a date of the calendar") //nolint:forcetypeassert // by its tag
	}
}
