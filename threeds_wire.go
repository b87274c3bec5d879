package quickstream

import (
	"fmt"
	"strconv"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// threeDSJSON is the body of an authentication. All its members are strings.
type threeDSJSON struct {
	MessageCategory    ThreeDSMessageCategory `json:"messageCategory"`
	Purpose            ThreeDSPurpose         `json:"threeDSRequestorAuthenticationInd"`
	PrincipalAmount    *wire.Text             `json:"principalAmount,omitempty"`
	Currency           Currency               `json:"currency,omitempty"`
	RecurringExpiry    string                 `json:"recurringExpiry,omitempty"`
	RecurringFrequency string                 `json:"recurringFrequency,omitempty"`
	Instalments        string                 `json:"purchaseInstalData,omitempty"`
	Email              string                 `json:"email,omitempty"`
	HomePhone          string                 `json:"homePhone,omitempty"`
	MobilePhone        string                 `json:"mobilePhone,omitempty"`
	WorkPhone          string                 `json:"workPhone,omitempty"`
	AddressesMatch     string                 `json:"addrMatch,omitempty"`

	BillLine1    string `json:"billAddrLine1,omitempty"`
	BillLine2    string `json:"billAddrLine2,omitempty"`
	BillLine3    string `json:"billAddrLine3,omitempty"`
	BillCity     string `json:"billAddrCity,omitempty"`
	BillPostCode string `json:"billAddrPostCode,omitempty"`
	BillState    string `json:"billAddrState,omitempty"`
	BillCountry  string `json:"billAddrCountry,omitempty"`
	ShipLine1    string `json:"shipAddrLine1,omitempty"`
	ShipLine2    string `json:"shipAddrLine2,omitempty"`
	ShipLine3    string `json:"shipAddrLine3,omitempty"`
	ShipCity     string `json:"shipAddrCity,omitempty"`
	ShipPostCode string `json:"shipAddrPostCode,omitempty"`
	ShipState    string `json:"shipAddrState,omitempty"`
	ShipCountry  string `json:"shipAddrCountry,omitempty"`

	DeliveryEmail    string              `json:"deliveryEmailAddress,omitempty"`
	Delivery         ThreeDSDelivery     `json:"deliveryTimeframe,omitempty"`
	GiftCardAmount   string              `json:"giftCardAmount,omitempty"`
	GiftCardCount    string              `json:"giftCardCount,omitempty"`
	GiftCardCurrency string              `json:"giftCardCurr,omitempty"`
	PreOrderDate     string              `json:"preOrderDate,omitempty"`
	Availability     ThreeDSAvailability `json:"preOrderPurchaseInd,omitempty"`
	Reorder          ThreeDSReorder      `json:"reorderItemsInd,omitempty"`
	Shipping         ThreeDSShipping     `json:"shipIndicator,omitempty"`

	AccountID           string              `json:"acctID,omitempty"`
	AccountAge          ThreeDSAge          `json:"chAccAgeInd,omitempty"`
	AccountChanged      string              `json:"chAccChange,omitempty"`
	AccountChangeAge    ThreeDSChangeAge    `json:"chAccChangeInd,omitempty"`
	AccountCreated      string              `json:"chAccDate,omitempty"`
	PasswordChanged     string              `json:"chAccPwChange,omitempty"`
	PasswordAge         ThreeDSPasswordAge  `json:"chAccPwChangeInd,omitempty"`
	PurchasesSixMonths  string              `json:"nbPurchaseAccount,omitempty"`
	PaymentCreated      string              `json:"paymentAccAge,omitempty"`
	PaymentAge          ThreeDSAge          `json:"paymentAccInd,omitempty"`
	AddCardAttemptsDay  string              `json:"provisionAttemptsDay,omitempty"`
	ShippingAddressUsed string              `json:"shipAddressUsage,omitempty"`
	ShippingAddressAge  ThreeDSChangeAge    `json:"shipAddressUsageInd,omitempty"`
	ShippingName        ThreeDSShippingName `json:"shipNameIndicator,omitempty"`
	Suspicion           ThreeDSSuspicion    `json:"suspiciousAccActivity,omitempty"`
	TransactionsDay     string              `json:"txnActivityDay,omitempty"`
	TransactionsYear    string              `json:"txnActivityYear,omitempty"`
}

func (p AuthenticateParams) wire() threeDSJSON {
	b, s, o, a := p.BillingAddress, p.ShippingAddress, p.Order, p.Account
	currency := p.Currency
	if currency == "" && p.PrincipalAmount != nil {
		currency = CurrencyAUD
	}
	return threeDSJSON{
		MessageCategory: p.MessageCategory, Purpose: p.Purpose,
		PrincipalAmount: wire.OptionalText(p.PrincipalAmount), Currency: currency,
		RecurringExpiry: compact(p.RecurringExpiry), RecurringFrequency: number(p.RecurringFrequency), Instalments: number(p.Instalments),
		Email: p.Email, HomePhone: p.HomePhone, MobilePhone: p.MobilePhone, WorkPhone: p.WorkPhone, AddressesMatch: yesNo(p.AddressesMatch),

		BillLine1: b.Line1, BillLine2: b.Line2, BillLine3: b.Line3, BillCity: b.City,
		BillPostCode: b.PostCode, BillState: b.State, BillCountry: b.Country,
		ShipLine1: s.Line1, ShipLine2: s.Line2, ShipLine3: s.Line3, ShipCity: s.City,
		ShipPostCode: s.PostCode, ShipState: s.State, ShipCountry: s.Country,

		DeliveryEmail: o.DeliveryEmail, Delivery: o.Delivery,
		GiftCardAmount: number(o.GiftCardAmount), GiftCardCount: twoDigits(o.GiftCardCount), GiftCardCurrency: o.GiftCardCurrency,
		PreOrderDate: compact(o.PreOrderDate), Availability: o.Availability, Reorder: o.Reorder, Shipping: o.Shipping,

		AccountID: a.ID, AccountCreated: compact(a.Created), AccountAge: a.Age,
		AccountChanged: compact(a.Changed), AccountChangeAge: a.ChangeAge,
		PasswordChanged: compact(a.PasswordChanged), PasswordAge: a.PasswordAge, PurchasesSixMonths: number(a.PurchasesSixMonths),
		PaymentCreated: compact(a.PaymentAccountCreated), PaymentAge: a.PaymentAccountAge, AddCardAttemptsDay: number(a.AddCardAttemptsDay),
		ShippingAddressUsed: compact(a.ShippingAddressUsed), ShippingAddressAge: a.ShippingAddressAge,
		ShippingName: a.ShippingName, Suspicion: a.Suspicion,
		TransactionsDay: number(a.TransactionsDay), TransactionsYear: number(a.TransactionsYear),
	}
}

// compact writes a date as YYYYMMDD, and nothing for the zero Date.
func compact(d Date) string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d%02d%02d", d.Year, int(d.Month), d.Day)
}

func number[T int | int64](n *T) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

func twoDigits(n *int) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%02d", *n)
}

func yesNo(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "Y"
	default:
		return "N"
	}
}
