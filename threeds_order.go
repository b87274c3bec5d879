package quickstream

// What an issuer may be told about an order and about the cardholder's account
// with the merchant. Everything is optional, and the zero value means "not
// told".

// ThreeDSOrder describes what is bought.
type ThreeDSOrder struct {
	// DeliveryEmail has up to 254 characters.
	DeliveryEmail string          `json:"deliveryEmailAddress"`
	Delivery      ThreeDSDelivery `json:"deliveryTimeframe"`
	// GiftCardAmount is in whole units of GiftCardCurrency, with up to 15 digits.
	GiftCardAmount *int64 `json:"giftCardAmount"`
	// GiftCardCount is at most 99.
	GiftCardCount *int `json:"giftCardCount" format:"%02d"`
	// GiftCardCurrency is an ISO 4217 numeric code, such as 036 for AUD.
	GiftCardCurrency string `json:"giftCardCurr"`
	// PreOrderDate is when goods that are ordered early will be available.
	PreOrderDate Date                `json:"preOrderDate"`
	Availability ThreeDSAvailability `json:"preOrderPurchaseInd"`
	Reorder      ThreeDSReorder      `json:"reorderItemsInd"`
	Shipping     ThreeDSShipping     `json:"shipIndicator"`
}

// ThreeDSDelivery is how soon goods are delivered: the member deliveryTimeframe.
type ThreeDSDelivery string

// The time frames of delivery.
const (
	ThreeDSDeliveryElectronic ThreeDSDelivery = "01"
	ThreeDSDeliverySameDay    ThreeDSDelivery = "02"
	ThreeDSDeliveryOvernight  ThreeDSDelivery = "03"
	ThreeDSDeliveryLater      ThreeDSDelivery = "04" // two days or more
)

// ThreeDSAvailability says whether goods can be had yet: the member
// preOrderPurchaseInd.
type ThreeDSAvailability string

// The availabilities.
const (
	ThreeDSAvailabilityNow   ThreeDSAvailability = "01"
	ThreeDSAvailabilityLater ThreeDSAvailability = "02"
)

// ThreeDSReorder says whether goods were ordered before: the member
// reorderItemsInd.
type ThreeDSReorder string

// The kinds of order.
const (
	ThreeDSReorderFirst ThreeDSReorder = "01"
	ThreeDSReorderAgain ThreeDSReorder = "02"
)

// ThreeDSShipping is where goods go: the member shipIndicator.
type ThreeDSShipping string

// The places.
const (
	ThreeDSShippingToBilling   ThreeDSShipping = "01"
	ThreeDSShippingToVerified  ThreeDSShipping = "02" // another address that is on file and verified
	ThreeDSShippingToDifferent ThreeDSShipping = "03"
	ThreeDSShippingToStore     ThreeDSShipping = "04"
	ThreeDSShippingDigital     ThreeDSShipping = "05"
	ThreeDSShippingTickets     ThreeDSShipping = "06" // travel and events, not shipped
	ThreeDSShippingOther       ThreeDSShipping = "07"
)

// ThreeDSAccount describes the cardholder's account with the merchant.
type ThreeDSAccount struct {
	// ID is for a cardholder who is signed in; up to 64 characters.
	ID string `json:"acctID"`
	// Created and Age say since when there has been the account.
	Created Date       `json:"chAccDate"`
	Age     ThreeDSAge `json:"chAccAgeInd"`
	// Changed and ChangeAge say when it was changed last.
	Changed   Date             `json:"chAccChange"`
	ChangeAge ThreeDSChangeAge `json:"chAccChangeInd"`
	// PasswordChanged and PasswordAge say when its password was.
	PasswordChanged Date               `json:"chAccPwChange"`
	PasswordAge     ThreeDSPasswordAge `json:"chAccPwChangeInd"`
	// PurchasesSixMonths is the purchases in the previous six months, at most 9999.
	PurchasesSixMonths *int `json:"nbPurchaseAccount"`
	// PaymentAccountCreated and PaymentAccountAge say since when the card has been
	// stored with the account. The age can be told for a guest too.
	PaymentAccountCreated Date       `json:"paymentAccAge"`
	PaymentAccountAge     ThreeDSAge `json:"paymentAccInd"`
	// AddCardAttemptsDay is the attempts to add a card in the previous 24 hours, at
	// most 999.
	AddCardAttemptsDay *int `json:"provisionAttemptsDay"`
	// ShippingAddressUsed and ShippingAddressAge say when the shipping address was
	// used first.
	ShippingAddressUsed Date                `json:"shipAddressUsage"`
	ShippingAddressAge  ThreeDSChangeAge    `json:"shipAddressUsageInd"`
	ShippingName        ThreeDSShippingName `json:"shipNameIndicator"`
	Suspicion           ThreeDSSuspicion    `json:"suspiciousAccActivity"`
	// TransactionsDay and TransactionsYear are the transactions in the previous 24
	// hours and in the previous year, at most 999 each.
	TransactionsDay  *int `json:"txnActivityDay"`
	TransactionsYear *int `json:"txnActivityYear"`
}

// ThreeDSAge is the age of an account: the members chAccAgeInd and
// paymentAccInd.
type ThreeDSAge string

// The ages.
const (
	ThreeDSAgeGuest           ThreeDSAge = "01" // no account
	ThreeDSAgeThisTransaction ThreeDSAge = "02"
	ThreeDSAgeUnder30Days     ThreeDSAge = "03"
	ThreeDSAge30To60Days      ThreeDSAge = "04"
	ThreeDSAgeOver60Days      ThreeDSAge = "05"
)

// ThreeDSChangeAge is how long ago something changed: the members
// chAccChangeInd and shipAddressUsageInd.
type ThreeDSChangeAge string

// The ages of a change.
const (
	ThreeDSChangeAgeThisTransaction ThreeDSChangeAge = "01"
	ThreeDSChangeAgeUnder30Days     ThreeDSChangeAge = "02"
	ThreeDSChangeAge30To60Days      ThreeDSChangeAge = "03"
	ThreeDSChangeAgeOver60Days      ThreeDSChangeAge = "04"
)

// ThreeDSPasswordAge is how long ago a password changed: the member
// chAccPwChangeInd.
type ThreeDSPasswordAge string

// The ages of a password.
const (
	ThreeDSPasswordAgeNeverChanged    ThreeDSPasswordAge = "01"
	ThreeDSPasswordAgeThisTransaction ThreeDSPasswordAge = "02"
	ThreeDSPasswordAgeUnder30Days     ThreeDSPasswordAge = "03"
	ThreeDSPasswordAge30To60Days      ThreeDSPasswordAge = "04"
	ThreeDSPasswordAgeOver60Days      ThreeDSPasswordAge = "05"
)

// ThreeDSShippingName compares the name on the account with that of the
// recipient: the member shipNameIndicator.
type ThreeDSShippingName string

// The comparisons.
const (
	ThreeDSShippingNameIdentical ThreeDSShippingName = "01"
	ThreeDSShippingNameDifferent ThreeDSShippingName = "02"
)

// ThreeDSSuspicion says whether the account was seen to act suspiciously: the
// member suspiciousAccActivity.
type ThreeDSSuspicion string

// The suspicions.
const (
	ThreeDSSuspicionNone     ThreeDSSuspicion = "01"
	ThreeDSSuspicionObserved ThreeDSSuspicion = "02"
)
