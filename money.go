package quickstream

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// Currency is an ISO 4217 code. The service uses AUD and NZD.
type Currency string

// The service's currencies.
const (
	CurrencyAUD Currency = "AUD"
	CurrencyNZD Currency = "NZD"
)

// Amount is money in a response. Compare with decimal.Decimal's Equal: 1.5 and 1.50 are equal but
// differ under ==.
type Amount struct {
	// Currency is "" if the service omitted it.
	Currency Currency        `json:"currency" wire:"decides"`
	Amount   decimal.Decimal `json:"amount" wire:"amount"`
	// DisplayAmount is the amount with its currency symbol, for display.
	DisplayAmount string `json:"displayAmount,omitempty"`
}

type amountJSON struct {
	Currency      Currency        `json:"currency"`
	Amount        json.RawMessage `json:"amount"`
	DisplayAmount string          `json:"displayAmount,omitempty"`
}

// MarshalJSON writes a number with at least two decimals.
func (a Amount) MarshalJSON() ([]byte, error) {
	text := a.Amount.String()
	if a.Amount.Exponent() > -2 || wire.HasTwoDecimals(a.Amount) {
		text = a.Amount.StringFixed(2)
	}
	return wire.Marshal(amountJSON{a.Currency, json.RawMessage(text), a.DisplayAmount})
}

// UnmarshalJSON reads a number or a text digit by digit. Without a number, as in null and {}, it is
// the zero Amount, which differs from 0.00.
func (a *Amount) UnmarshalJSON(data []byte) error {
	var read Amount
	err := wire.Decode(data, &read)
	if err != nil {
		read = Amount{}
	}
	*a = read
	return err
}

// String returns the amount with its currency, such as "12.50 AUD".
func (a Amount) String() string { return a.Amount.StringFixed(2) + " " + string(a.Currency) }
