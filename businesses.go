package quickstream

import (
	"context"
	"net/http"
)

// BusinessesService holds the operations on the merchant's businesses.
type BusinessesService struct{ client *Client }

// Business is one of the merchant's businesses, which payments name by its code.
// The members are known from public client code and are unconfirmed.
type Business struct {
	SupplierBusinessCode      string   `json:"supplierBusinessCode,omitempty"`
	SupplierBusinessName      string   `json:"supplierBusinessName,omitempty"`
	RegisteredName            string   `json:"registeredName,omitempty"`
	ABN                       string   `json:"abn,omitempty"`
	ContactName               string   `json:"contactName,omitempty"`
	ContactEmail              string   `json:"contactEmail,omitempty"`
	ContactPhone              string   `json:"contactPhone,omitempty"`
	CustomerNotificationEmail string   `json:"customerNotificationEmail,omitempty"`
	BusinessAddress           *Address `json:"businessAddress,omitempty"`
	Links                     []Link   `json:"links,omitempty"`

	envelope
}

// UnmarshalJSON reads a business.
func (b *Business) UnmarshalJSON(data []byte) error {
	type plain Business
	return decode(data, (*plain)(b), &b.envelope)
}

// MarshalJSON writes the business with the members that this package does not
// model, so that it can be stored.
func (b Business) MarshalJSON() ([]byte, error) {
	type plain Business
	return encode(plain(b), b.envelope)
}

func (b *Business) identified() bool { return b.SupplierBusinessCode != "" }

// List returns the merchant's businesses.
//
// GET /businesses with the secret key. The operation is described in the vendor's
// public pages.
func (s *BusinessesService) List(opts ...CallOption) List[Business] {
	return list[Business](s.client, operation{name: "Businesses.List", method: http.MethodGet, route: "/businesses"}, noQuery{}, nil, opts)
}

// Get returns a business.
//
// GET /businesses/{supplierBusinessCode} with the secret key. An unknown code is
// an APIError that matches ErrNotFound. The operation is described in the
// vendor's public pages.
func (s *BusinessesService) Get(ctx context.Context, supplierBusinessCode string, opts ...CallOption) (*Business, error) {
	return get[Business](ctx, s.client, operation{name: "Businesses.Get", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}"}, opts, supplierBusinessCode)
}

// CardSurcharge is what a business adds to payments with a kind of card. The
// members are known from public client code and are unconfirmed.
type CardSurcharge struct {
	CardScheme CardScheme `json:"cardScheme,omitempty"`
	// CardType is empty where the scheme does not tell credit from debit.
	CardType CardType `json:"cardType,omitempty"`
	// SurchargePercentage is a percentage as text, such as "1.10".
	SurchargePercentage string `json:"surchargePercentage,omitempty"`
	Links               []Link `json:"links,omitempty"`

	envelope
}

// UnmarshalJSON reads a surcharge.
func (c *CardSurcharge) UnmarshalJSON(data []byte) error {
	type plain CardSurcharge
	return decode(data, (*plain)(c), &c.envelope)
}

// MarshalJSON writes the surcharge with the members that this package does not
// model.
func (c CardSurcharge) MarshalJSON() ([]byte, error) {
	type plain CardSurcharge
	return encode(plain(c), c.envelope)
}

func (c *CardSurcharge) identified() bool { return c.CardScheme != "" }

// CardSurcharges returns the cards that a business accepts, with their
// surcharges.
//
// GET /businesses/{supplierBusinessCode}/list-card-surcharges with the secret
// key. That is the path of the specification; public client code asks for
// another one, which is PublicCardSurcharges. Where one of them is an APIError
// that matches ErrNotFound, try the other.
func (s *BusinessesService) CardSurcharges(supplierBusinessCode string, opts ...CallOption) List[CardSurcharge] {
	return list[CardSurcharge](s.client, operation{
		name: "Businesses.CardSurcharges", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}/list-card-surcharges",
	}, noQuery{}, nil, opts, supplierBusinessCode)
}

// PublicCardSurcharges returns what CardSurcharges does.
//
// GET /businesses/{supplierBusinessCode}/card-surcharges with the publishable
// key. The path and the kind of key are known from public client code and are
// unconfirmed.
func (s *BusinessesService) PublicCardSurcharges(supplierBusinessCode string, opts ...CallOption) List[CardSurcharge] {
	return list[CardSurcharge](s.client, operation{
		name: "Businesses.PublicCardSurcharges", method: http.MethodGet, route: "/businesses/{supplierBusinessCode}/card-surcharges",
		key: publishableKey,
	}, noQuery{}, nil, opts, supplierBusinessCode)
}
