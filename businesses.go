package quickstream

import (
	"context"
)

// BusinessesService has the operations on the merchant's businesses.
type BusinessesService struct{ client *Client }

// Business is one of the merchant's businesses. Its members are from public client code;
// unconfirmed.
type Business struct {
	SupplierBusinessCode      string   `json:"supplierBusinessCode,omitempty" wire:"identifies"`
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

func (b *Business) identifier() string { return b.SupplierBusinessCode }

// List returns the merchant's businesses.
//
// GET /businesses. A wrong key matches [ErrUnauthorized]. From the vendor's public pages.
func (s *BusinessesService) List(opts ...CallOption) List[Business] {
	return list[Business](s.client, "Businesses.List", nil, nil, opts)
}

// Get returns a business.
//
// GET /businesses/{supplierBusinessCode}. An unknown code matches [ErrNotFound]. From the vendor's
// public pages.
func (s *BusinessesService) Get(ctx context.Context, supplierBusinessCode string, opts ...CallOption) (*Business, error) {
	return get[Business](ctx, s.client, "Businesses.Get", opts, supplierBusinessCode)
}

// CardSurcharge is a business's surcharge on payments by a kind of card. Its members are from
// public client code; unconfirmed.
type CardSurcharge struct {
	CardScheme CardScheme `json:"cardScheme,omitempty" wire:"decides"`
	CardType   string     `json:"cardType,omitempty"` // CREDIT or DEBIT, of Visa and Mastercard
	// SurchargePercentage is a percentage as text, such as "1.10".
	SurchargePercentage string `json:"surchargePercentage,omitempty"`
	Links               []Link `json:"links,omitempty"`

	envelope
}

func (c *CardSurcharge) identifier() string {
	if c.CardScheme == "" {
		return ""
	}
	return string(c.CardScheme) + " " + c.CardType
}

// CardSurcharges returns the cards that a business accepts, with their surcharges.
//
// GET /businesses/{supplierBusinessCode}/list-card-surcharges with the secret key. The path is the
// specification's; public client code uses that of PublicCardSurcharges. If one of them matches
// [ErrNotFound], try the other. Since 1 October 2026 Visa, Mastercard and eftpos may not be
// surcharged in Australia (public reports; unconfirmed): check before you charge one.
func (s *BusinessesService) CardSurcharges(supplierBusinessCode string, opts ...CallOption) List[CardSurcharge] {
	return list[CardSurcharge](s.client, "Businesses.CardSurcharges", nil, nil, opts, supplierBusinessCode)
}

// PublicCardSurcharges returns the same as CardSurcharges.
//
// GET /businesses/{supplierBusinessCode}/card-surcharges with the publishable key. Path and key are
// from public client code; unconfirmed. An unknown business matches [ErrNotFound].
func (s *BusinessesService) PublicCardSurcharges(supplierBusinessCode string, opts ...CallOption) List[CardSurcharge] {
	return list[CardSurcharge](s.client, "Businesses.PublicCardSurcharges", nil, nil, opts, supplierBusinessCode)
}

// QueryCardSurcharge returns a business's surcharge on payments by one card. The card number passes
// through this server; a token made in the browser shows the surcharge too.
//
// POST /businesses/{supplierBusinessCode}/query-card-surcharge with the publishable key. It changes nothing
// and is repeated like a GET. From public client code; unconfirmed. An unknown business matches
// [ErrNotFound], an invalid number [ErrInvalid]. See CardSurcharges about surcharges that are not allowed.
func (s *BusinessesService) QueryCardSurcharge(ctx context.Context, supplierBusinessCode string, cardNumber Secret, opts ...CallOption) (*CardSurcharge, error) {
	call := s.client.begin("Businesses.QueryCardSurcharge", opts, supplierBusinessCode)
	call.body = struct {
		CardNumber string `json:"cardNumber"`
	}{cardNumber.text()}
	return send[CardSurcharge](ctx, call)
}

// AcceptedCard is a card scheme that a business accepts, or that a number belongs to. Its members
// are from public client code; unconfirmed.
type AcceptedCard struct {
	CardScheme CardScheme `json:"cardScheme,omitempty" wire:"decides"`
	Links      []Link     `json:"links,omitempty"`

	envelope
}

func (a *AcceptedCard) identifier() string { return string(a.CardScheme) }

// AcceptedCards returns the card schemes that a business accepts. CardSurcharges has them too.
//
// GET /businesses/{supplierBusinessCode}/accepted-cards with the publishable key. From public
// client code; unconfirmed. An unknown business matches [ErrNotFound].
func (s *BusinessesService) AcceptedCards(supplierBusinessCode string, opts ...CallOption) List[AcceptedCard] {
	return list[AcceptedCard](s.client, "Businesses.AcceptedCards", nil, nil, opts, supplierBusinessCode)
}

// CardScheme returns the scheme of the cards whose numbers begin with these six digits.
//
// GET /credit-cards/card-schemes/{firstSixDigits} with the publishable key. From public client
// code; unconfirmed. Unknown digits may match [ErrNotFound] or [ErrInvalid].
func (s *BusinessesService) CardScheme(ctx context.Context, firstSix string, opts ...CallOption) (*AcceptedCard, error) {
	call := s.client.begin("Businesses.CardScheme", opts, firstSix)
	call.check(func(f *findings) {
		f.require(isDigits(firstSix) && len(firstSix) == 6, "cardScheme.firstSixDigits.digits", "firstSixDigits", "must have 6 digits")
	})
	return send[AcceptedCard](ctx, call)
}
