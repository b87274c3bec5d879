package csvreport

import (
	"strings"

	"github.com/shopspring/decimal"
)

const (
	// maxFastDigits is how many digits always fit into an int64, in hundredths too.
	maxFastDigits = 16

	// maxAmount is the greatest length of an amount.
	maxAmount = 64
)

// number is an amount in a report, in an int64 if it fits there.
type number struct {
	units  int64 // without the point
	places int
	fits   bool
}

// parseNumber reads an optional minus sign, digits and, if there are decimals, a
// point and digits: no exponent, no plus sign and no thousands separators.
func parseNumber(b []byte) (n number, ok bool) {
	if len(b) > maxAmount {
		return n, false
	}
	text := b
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	count, point := 0, -1
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			count++
			if count <= maxFastDigits {
				n.units = 10*n.units + int64(c-'0')
			}
		case c == '.' && point < 0 && i > 0 && i < len(text)-1:
			point = i
		default:
			return number{}, false
		}
	}
	if point >= 0 {
		n.places = len(text) - 1 - point
	}
	if negative {
		n.units = -n.units
	}
	n.fits = count <= maxFastDigits
	return n, count > 0
}

func (f *formats) decimal(b []byte) (decimal.Decimal, bool) {
	if f.amount != nil {
		return f.amount(string(b))
	}
	n, ok := parseNumber(b)
	switch {
	case !ok:
		return decimal.Decimal{}, false
	case n.fits:
		return decimal.New(n.units, -int32(n.places)), true //nolint:gosec // at most maxAmount
	default:
		d, err := decimal.NewFromString(string(b))
		return d, err == nil
	}
}

// cents returns an amount in hundredths. If there is an amount at all but it is
// no whole number of them, or too many, kind says so.
func (f *formats) cents(b []byte) (cents int64, kind Kind) {
	var n number // does not fit, unless it is read here
	if f.amount == nil {
		var ok bool
		if n, ok = parseNumber(b); !ok {
			return 0, KindAmount
		}
	}
	switch {
	case !n.fits:
	case n.places == 2:
		return n.units, ""
	case n.places == 1:
		return 10 * n.units, ""
	case n.places == 0:
		return 100 * n.units, ""
	}
	d, ok := f.decimal(b)
	if !ok {
		return 0, KindAmount
	}
	d = d.Shift(2)
	if !d.IsInteger() || !d.BigInt().IsInt64() {
		return 0, KindCents
	}
	return d.IntPart(), ""
}

func (f *formats) bool(b []byte) (value, ok bool) {
	for _, text := range f.yes {
		if same(text, b) {
			return true, true
		}
	}
	for _, text := range f.no {
		if same(text, b) {
			return false, true
		}
	}
	return false, false
}

// same compares without regard to case.
func same(text string, b []byte) bool {
	return len(text) == len(b) && (text == string(b) || strings.EqualFold(text, string(b)))
}
