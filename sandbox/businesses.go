package sandbox

import (
	"net/http"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox/internal/form"
)

// DefaultBusiness is the supplierBusinessCode of the business that every sandbox has. It has
// no surcharges on cards. [WithBusiness] can replace it.
const DefaultBusiness = "SANDBOX01"

// Surcharge is a business's surcharge on payments with a kind of card.
type Surcharge struct {
	Scheme      string // VISA, MASTERCARD, AMEX, DINERS, JCB or UNIONPAY
	CardType    string // CREDIT or DEBIT; empty for any
	BasisPoints int    // hundredths of a percent: 110 is 1.10%
}

type business struct {
	code, name string
	surcharges []Surcharge
}

func (b *Sandbox) business(code string) *business {
	for _, known := range b.businesses {
		if known.code == code {
			return known
		}
	}
	return nil
}

// knownBusiness checks a supplierBusinessCode.
func (b *Sandbox) knownBusiness(code string) string {
	if b.business(code) == nil {
		return "is not the code of a business of this facility"
	}
	return ""
}

// rate returns the surcharge for a card in basis points. The first surcharge that matches
// counts.
func (s *business) rate(scheme, cardType string) int {
	for _, row := range s.surcharges {
		if row.Scheme == scheme && (row.CardType == "" || row.CardType == cardType) {
			return row.BasisPoints
		}
	}
	return 0
}

func (b *Sandbox) businessOperations() []operation {
	return []operation{
		{id: "GET /businesses", query: paged(), handle: b.listBusinesses},
		{id: "GET /businesses/{supplierBusinessCode}", handle: shown("business", b.namedBusiness, (*call).businessBody)},
		{id: "GET /businesses/{supplierBusinessCode}/list-card-surcharges", handle: found("business", b.namedBusiness, b.cardSurcharges)},
		{id: "GET /businesses/{supplierBusinessCode}/card-surcharges", key: needsPublishable, handle: found("business", b.namedBusiness, b.cardSurcharges)},
		{id: "GET /businesses/{supplierBusinessCode}/accepted-cards", key: needsPublishable, handle: found("business", b.namedBusiness, b.acceptedCards)},
		{id: "POST /businesses/{supplierBusinessCode}/query-card-surcharge", key: needsPublishable, handle: found("business", b.namedBusiness, b.queryCardSurcharge)},
		{id: "GET /credit-cards/card-schemes/{firstSixDigits}", key: needsPublishable, handle: b.cardScheme},
	}
}

// businessBody has the members that public client code reads. Unconfirmed.
type businessBody struct {
	Links             []form.Link `json:"links"`
	Name              string      `json:"supplierBusinessName"`
	Code              string      `json:"supplierBusinessCode"`
	RegisteredName    string      `json:"registeredName"`
	ABN               *string     `json:"abn"`
	ContactName       *string     `json:"contactName"`
	ContactEmail      *string     `json:"contactEmail"`
	ContactPhone      *string     `json:"contactPhone"`
	NotificationEmail *string     `json:"customerNotificationEmail"`
	Address           *address    `json:"businessAddress"`
}

func (c *call) businessBody(shop *business) any {
	return businessBody{
		Links: c.related(
			get("self", c.href("businesses", shop.code)),
			get("list-card-surcharges", c.href("businesses", shop.code, "list-card-surcharges")),
		),
		Name: shop.name, Code: shop.code, RegisteredName: shop.name,
		Address: &address{Country: optional("Australia")},
	}
}

func (b *Sandbox) listBusinesses(c *call) answer {
	return list(c, b.businesses, func(shop *business) string { return shop.code }, (*call).businessBody)
}

func (b *Sandbox) namedBusiness(c *call) *business {
	return b.business(c.params["supplierBusinessCode"])
}

// acceptedKinds are the cards that every business accepts. Only two schemes distinguish
// credit from debit.
//
//nolint:gochecknoglobals // an immutable table
var acceptedKinds = []struct{ scheme, cardType string }{
	{schemeVisa, cardCredit},
	{schemeVisa, cardDebit},
	{schemeMastercard, cardCredit},
	{schemeMastercard, cardDebit},
	{schemeAmex, ""},
	{"DINERS", ""},
	{"JCB", ""},
	{"UNIONPAY", ""},
}

type surchargeBody struct {
	Links    []form.Link `json:"links"`
	Scheme   string      `json:"cardScheme"`
	CardType *string     `json:"cardType"`
	Rate     string      `json:"surchargePercentage"`
}

// cardSurcharges serves two paths: that of the contract and that of public client code, which
// takes the Publishable key.
func (b *Sandbox) cardSurcharges(c *call, shop *business) answer {
	out := listBody{Links: c.links()}
	for _, kind := range acceptedKinds {
		out.Data = append(out.Data, c.surchargeBody(shop, kind.scheme, kind.cardType))
	}
	return reply(http.StatusOK, out)
}

func (c *call) surchargeBody(shop *business, scheme, cardType string) surchargeBody {
	return surchargeBody{
		Links: c.links(), Scheme: scheme, CardType: optional(cardType), Rate: percentage(shop.rate(scheme, cardType)),
	}
}

func (b *Sandbox) queryCardSurcharge(c *call, shop *business) answer {
	f := c.readBody()
	number := f.need("cardNumber", digits(12, 19), publicTestCard)
	if !c.valid() {
		return c.invalid()
	}
	return reply(http.StatusOK, c.surchargeBody(shop, schemeOf(number), b.cardType(number)))
}

// cardScheme knows only the test numbers.
func (b *Sandbox) cardScheme(c *call) answer {
	first := c.params["firstSixDigits"]
	if wrong := digits(6, 6)(first); wrong != "" {
		c.refuse("firstSixDigits", first, wrong)
		return c.invalid()
	}
	for number := range testCards {
		if strings.HasPrefix(number, first) {
			return reply(http.StatusOK, schemeBody{Links: c.links(), Scheme: schemeOf(number)})
		}
	}
	return c.notFound("card scheme")
}

// schemeBody is a scheme that a business accepts, or the scheme of a card number.
type schemeBody struct {
	Links  []form.Link `json:"links"`
	Scheme string      `json:"cardScheme"`
}

func (b *Sandbox) acceptedCards(c *call, _ *business) answer {
	out := listBody{Links: c.links()}
	for i, kind := range acceptedKinds {
		if i == 0 || kind.scheme != acceptedKinds[i-1].scheme {
			out.Data = append(out.Data, schemeBody{Links: c.links(), Scheme: kind.scheme})
		}
	}
	return reply(http.StatusOK, out)
}
