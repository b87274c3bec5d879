package sandbox

import "net/http"

func (b *Sandbox) businessOperations() []operation {
	return []operation{
		{id: "GET /businesses", handle: b.listBusinesses},
		{id: "GET /businesses/{supplierBusinessCode}", handle: b.getBusiness},
		{id: "GET /businesses/{supplierBusinessCode}/list-card-surcharges", handle: b.cardSurcharges},
		{id: "GET /businesses/{supplierBusinessCode}/card-surcharges", key: needsPublishable, handle: b.cardSurcharges},
		{id: "GET /businesses/{supplierBusinessCode}/accepted-cards", key: needsPublishable, handle: b.acceptedCards},
	}
}

// businessBody has the members that public client code reads; unconfirmed.
type businessBody struct {
	Links             []link   `json:"links"`
	Name              string   `json:"supplierBusinessName"`
	Code              string   `json:"supplierBusinessCode"`
	RegisteredName    string   `json:"registeredName"`
	ABN               *string  `json:"abn"`
	ContactName       *string  `json:"contactName"`
	ContactEmail      *string  `json:"contactEmail"`
	ContactPhone      *string  `json:"contactPhone"`
	NotificationEmail *string  `json:"customerNotificationEmail"`
	Address           *address `json:"businessAddress"`
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
	return list(c, b.businesses, func(shop *business) string { return shop.code }, c.businessBody)
}

func (b *Sandbox) getBusiness(c *call) answer {
	shop := b.business(c.params["supplierBusinessCode"])
	if shop == nil {
		return c.notFound("business")
	}
	return reply(http.StatusOK, c.businessBody(shop))
}

// acceptedKinds are the cards that every business takes. Only two schemes tell
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
	Links    []link  `json:"links"`
	Scheme   string  `json:"cardScheme"`
	CardType *string `json:"cardType"`
	Rate     string  `json:"surchargePercentage"`
}

// cardSurcharges serves two paths: that of the contract, and that of public
// client code, which takes the Publishable key.
func (b *Sandbox) cardSurcharges(c *call) answer {
	shop := b.business(c.params["supplierBusinessCode"])
	if shop == nil {
		return c.notFound("business")
	}
	out := listBody{Links: c.links()}
	for _, kind := range acceptedKinds {
		out.Data = append(out.Data, surchargeBody{
			Links: c.links(), Scheme: kind.scheme, CardType: optional(kind.cardType),
			Rate: percentage(shop.rate(kind.scheme, kind.cardType)),
		})
	}
	return reply(http.StatusOK, out)
}

type acceptedCardBody struct {
	Links  []link `json:"links"`
	Scheme string `json:"cardScheme"`
}

func (b *Sandbox) acceptedCards(c *call) answer {
	if b.business(c.params["supplierBusinessCode"]) == nil {
		return c.notFound("business")
	}
	out := listBody{Links: c.links()}
	for i, kind := range acceptedKinds {
		if i == 0 || kind.scheme != acceptedKinds[i-1].scheme {
			out.Data = append(out.Data, acceptedCardBody{Links: c.links(), Scheme: kind.scheme})
		}
	}
	return reply(http.StatusOK, out)
}
