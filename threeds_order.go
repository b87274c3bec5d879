package quickstream

// ThreeDSOrder describes what is bought. All members are optional.
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
	// PreOrderDate is when goods ordered early will be available.
	PreOrderDate Date                `json:"preOrderDate"`
	Availability ThreeDSAvailability `json:"preOrderPurchaseInd"`
	Reorder      ThreeDSReorder      `json:"reorderItemsInd"`
	Shipping     ThreeDSShipping     `json:"shipIndicator"`
}

// ThreeDSDelivery says how soon goods are delivered.
type ThreeDSDelivery string

// The time frames of delivery.
const (
	ThreeDSDeliveryElectronic ThreeDSDelivery = "01"
	ThreeDSDeliverySameDay    ThreeDSDelivery = "02"
	ThreeDSDeliveryOvernight  ThreeDSDelivery = "03"
	ThreeDSDeliveryLater      ThreeDSDelivery = "04" // two days or more
)

// ThreeDSAvailability says whether goods are available.
type ThreeDSAvailability string

// The availabilities.
const (
	ThreeDSAvailabilityNow   ThreeDSAvailability = "01"
	ThreeDSAvailabilityLater ThreeDSAvailability = "02"
)

// ThreeDSReorder says whether goods were ordered before.
type ThreeDSReorder string

// The kinds of order.
const (
	ThreeDSReorderFirst ThreeDSReorder = "01"
	ThreeDSReorderAgain ThreeDSReorder = "02"
)

// ThreeDSShipping says where goods are sent.
type ThreeDSShipping string

// The places.
const (
	ThreeDSShippingToBilling   ThreeDSShipping = "01"
	ThreeDSShippingToVerified  ThreeDSShipping = "02" // another verified address on file
	ThreeDSShippingToDifferent ThreeDSShipping = "03"
	ThreeDSShippingToStore     ThreeDSShipping = "04"
	ThreeDSShippingDigital     ThreeDSShipping = "05"
	ThreeDSShippingTickets     ThreeDSShipping = "06" // travel and events, not shipped
	ThreeDSShippingOther       ThreeDSShipping = "07"
)

// ThreeDSAccount describes the cardholder's account with the merchant. All members are optional.
type ThreeDSAccount struct {
	// ID identifies a signed-in cardholder; up to 64 characters.
	ID string `json:"acctID"`
	// Created and Age say when the account was created.
	Created Date       `json:"chAccDate"`
	Age     ThreeDSAge `json:"chAccAgeInd"`
	// Changed and ChangeAge say when it was last changed.
	Changed   Date             `json:"chAccChange"`
	ChangeAge ThreeDSChangeAge `json:"chAccChangeInd"`
	// PasswordChanged and PasswordAge say when its password was last changed.
	PasswordChanged Date               `json:"chAccPwChange"`
	PasswordAge     ThreeDSPasswordAge `json:"chAccPwChangeInd"`
	// PurchasesSixMonths counts purchases in six months, at most 9999.
	PurchasesSixMonths *int `json:"nbPurchaseAccount"`
	// PaymentAccountCreated and PaymentAccountAge say since when the card is stored.
	PaymentAccountCreated Date       `json:"paymentAccAge"`
	PaymentAccountAge     ThreeDSAge `json:"paymentAccInd"`
	// AddCardAttemptsDay counts attempts to add a card in 24 hours, at most 999.
	AddCardAttemptsDay *int `json:"provisionAttemptsDay"`
	// ShippingAddressUsed and ShippingAddressAge say when the shipping address was first used.
	ShippingAddressUsed Date                `json:"shipAddressUsage"`
	ShippingAddressAge  ThreeDSChangeAge    `json:"shipAddressUsageInd"`
	ShippingName        ThreeDSShippingName `json:"shipNameIndicator"`
	Suspicion           ThreeDSSuspicion    `json:"suspiciousAccActivity"`
	// TransactionsDay and TransactionsYear count transactions in 24 hours and in a year, at most
	// 999 each.
	TransactionsDay  *int `json:"txnActivityDay"`
	TransactionsYear *int `json:"txnActivityYear"`
}

// ThreeDSAge is the age of an account.
type ThreeDSAge string

// The ages.
const (
	ThreeDSAgeGuest           ThreeDSAge = "01" // no account
	ThreeDSAgeThisTransaction ThreeDSAge = "02"
	ThreeDSAgeUnder30Days     ThreeDSAge = "03"
	ThreeDSAge30To60Days      ThreeDSAge = "04"
	ThreeDSAgeOver60Days      ThreeDSAge = "05"
)

// ThreeDSChangeAge says how long ago something changed.
type ThreeDSChangeAge string

// The ages of a change.
const (
	ThreeDSChangeAgeThisTransaction ThreeDSChangeAge = "01"
	ThreeDSChangeAgeUnder30Days     ThreeDSChangeAge = "02"
	ThreeDSChangeAge30To60Days      ThreeDSChangeAge = "03"
	ThreeDSChangeAgeOver60Days      ThreeDSChangeAge = "04"
)

// ThreeDSPasswordAge says how long ago a password changed.
type ThreeDSPasswordAge string

// The ages of a password.
const (
	ThreeDSPasswordAgeNeverChanged    ThreeDSPasswordAge = "01"
	ThreeDSPasswordAgeThisTransaction ThreeDSPasswordAge = "02"
	ThreeDSPasswordAgeUnder30Days     ThreeDSPasswordAge = "03"
	ThreeDSPasswordAge30To60Days      ThreeDSPasswordAge = "04"
	ThreeDSPasswordAgeOver60Days      ThreeDSPasswordAge = "05"
)

// ThreeDSShippingName compares the account's name with the recipient's.
type ThreeDSShippingName string

// The comparisons.
const (
	ThreeDSShippingNameIdentical ThreeDSShippingName = "01"
	ThreeDSShippingNameDifferent ThreeDSShippingName = "02"
)

// ThreeDSSuspicion says whether suspicious activity was seen on the account.
type ThreeDSSuspicion string

// The suspicions.
const (
	ThreeDSSuspicionNone     ThreeDSSuspicion = "01"
	ThreeDSSuspicionObserved ThreeDSSuspicion = "02"
)
