package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// cents is an amount of money. As JSON it is a number with two decimals.
type cents int64

var (
	errAmountForm     = errors.New("must be a plain decimal number")
	errAmountDecimals = errors.New("must have at most two decimals")
	errAmountSize     = errors.New("is too large")
)

// parseCents reads a decimal without an exponent. It never rounds.
func parseCents(s string) (cents, error) {
	unsigned, negative := strings.CutPrefix(s, "-")
	whole, fraction, dotted := strings.Cut(unsigned, ".")
	if !allDigits(whole) || (dotted && !allDigits(fraction)) {
		return 0, errAmountForm
	}
	if len(fraction) > 2 {
		return 0, errAmountDecimals
	}
	if len(whole) > 12 {
		return 0, errAmountSize
	}
	n, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if err != nil {
		return 0, errAmountForm
	}
	if negative {
		n = -n
	}
	return cents(n), nil
}

// String is the amount with two decimals.
func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// MarshalJSON implements json.Marshaler.
func (c cents) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }

// display returns the amount as people write it, such as $1,234.50.
func (c cents) display() string {
	whole, fraction, _ := strings.Cut(c.String(), ".")
	sign := ""
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "-", rest
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + "$" + whole + "." + fraction
}

// share returns the part of the amount for a rate in basis points, rounded half up.
func (c cents) share(basisPoints int) cents { return (c*cents(basisPoints) + 5000) / 10000 }

// amountBody is the service's amount object.
type amountBody struct {
	Currency      string `json:"currency"`
	Amount        cents  `json:"amount"`
	DisplayAmount string `json:"displayAmount"`
}

func amountOf(currency string, c cents) amountBody {
	return amountBody{Currency: currency, Amount: c, DisplayAmount: c.display()}
}
