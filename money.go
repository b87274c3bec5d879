package quickstream

import (
	"encoding/json"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// Currency is an ISO 4217 code. The service takes AUD and NZD.
type Currency string

// The currencies of the service.
const (
	CurrencyAUD Currency = "AUD"
	CurrencyNZD Currency = "NZD"
)

// Amount is money in a response. Compare the Amount member with
// decimal.Decimal's Equal; 1.5 and 1.50 are equal and differ under ==.
type Amount struct {
	// Currency is "" where the service left it out.
	Currency Currency        `json:"currency" wire:"decides"`
	Amount   decimal.Decimal `json:"amount" wire:"decides"`
	// DisplayAmount is the amount with its currency symbol, for people to read.
	DisplayAmount string `json:"displayAmount,omitempty"`
}

type amountJSON struct {
	Currency      Currency        `json:"currency"`
	Amount        json.RawMessage `json:"amount"`
	DisplayAmount string          `json:"displayAmount,omitempty"`
}

// MarshalJSON writes the amount as a number with at least two decimals, the form
// in which the service sends it.
func (a Amount) MarshalJSON() ([]byte, error) {
	text := a.Amount.String()
	if a.Amount.Exponent() > -2 || wire.HasTwoDecimals(a.Amount) {
		text = a.Amount.StringFixed(2)
	}
	return wire.Marshal(amountJSON{a.Currency, json.RawMessage(text), a.DisplayAmount})
}

// UnmarshalJSON reads the amount digit by digit, whether it is written as a number or
// as a text, alone or with its currency. What holds no number, such as null and {}, is
// the zero Amount, which an amount of 0.00 is not.
func (a *Amount) UnmarshalJSON(data []byte) error {
	var plain struct {
		Currency      Currency    `json:"currency" wire:"decides"`
		Amount        wire.Number `json:"amount" wire:"decides"`
		DisplayAmount string      `json:"displayAmount"`
	}
	var err error
	if wire.IsObject(data) {
		err = wire.Decode(data, &plain)
	} else {
		err = plain.Amount.UnmarshalJSON(data)
	}
	if *a = (Amount{}); err == nil && plain.Amount != (wire.Number{}) {
		*a = Amount{Currency: plain.Currency, Amount: plain.Amount.Decimal(), DisplayAmount: plain.DisplayAmount}
	}
	return err
}

// String returns the amount with its currency, such as "12.50 AUD".
func (a Amount) String() string { return a.Amount.StringFixed(2) + " " + string(a.Currency) }
