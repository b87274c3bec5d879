// Package wire reads and writes the service's JSON. It reads members that decide strictly and
// members that inform leniently, handles both forms of money, and keeps unknown members.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// maxDecimalLength bounds the text, the digits and the exponent of an amount: a huge exponent is
// cheap to send and expensive to compute with.
const maxDecimalLength = 32

var (
	errAmount = errors.New("amount is neither a number nor a decimal string")
	errPlaces = errors.New("amount has more than two decimals or 32 digits")
)

// Number is an amount in transactions. It is written as a JSON number with exactly two decimals,
// and read in any form that [ParseDecimal] accepts. It does not depend on decimal's process-wide
// switches.
type Number struct{ d decimal.Decimal }

// Decimal returns the amount.
func (n Number) Decimal() decimal.Decimal { return n.d }

// NewNumber returns an amount for a member that is omitted if it is nil.
func NewNumber(d decimal.Decimal) *Number { return &Number{d} }

// UnmarshalJSON reads an amount as [ParseDecimal] does. Null and an empty text are the zero Number;
// an amount never is.
func (n *Number) UnmarshalJSON(data []byte) error {
	if IsNull(data) || string(data) == `""` {
		*n = Number{}
		return nil
	}
	d, err := ParseDecimal(data)
	*n = Number{d}
	return err
}

// MarshalJSON writes the number with two decimals, and returns an error instead of rounding.
func (n Number) MarshalJSON() ([]byte, error) {
	text, err := twoDecimals(n.d)
	return []byte(text), err
}

// Text is an amount in PayTo and 3D Secure: a JSON string with exactly two decimals.
type Text struct{ Number }

// OptionalText returns nil for nil, so that omitempty omits the member.
func OptionalText(d *decimal.Decimal) *Text {
	if d == nil {
		return nil
	}
	return &Text{Number{*d}}
}

// MarshalJSON writes the quoted amount with two decimals, and returns an error instead of rounding.
func (t Text) MarshalJSON() ([]byte, error) {
	text, err := twoDecimals(t.d)
	return []byte(strconv.Quote(text)), err
}

func twoDecimals(d decimal.Decimal) (string, error) {
	if !HasTwoDecimals(d) {
		return "", errPlaces
	}
	return d.StringFixed(2), nil
}

// HasTwoDecimals reports whether d is small and can be written with two decimals without rounding.
func HasTwoDecimals(d decimal.Decimal) bool {
	return IsSmall(d) && (d.Exponent() >= -2 || d.Equal(d.Truncate(2)))
}

// IsSmall reports whether arithmetic with d is cheap. Call it first: arithmetic scales the digits
// by the exponent.
func IsSmall(d decimal.Decimal) bool {
	const maxBits = 107 // of maxDecimalLength digits
	return d.Exponent() <= maxDecimalLength && d.Exponent() >= -maxDecimalLength && d.Coefficient().BitLen() <= maxBits
}

// ParseDecimal reads an amount of a response: a JSON number or a string that holds one. The error
// never repeats the input.
func ParseDecimal(data []byte) (decimal.Decimal, error) {
	text := data
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	if len(text) == 0 || len(text) > maxDecimalLength {
		return decimal.Decimal{}, errAmount
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return decimal.Decimal{}, errAmount
		}
	}
	d, err := decimal.NewFromString(string(text))
	if err != nil || !IsSmall(d) {
		return decimal.Decimal{}, errAmount
	}
	return d, nil
}

// Marshal encodes a wire struct without HTML escapes, which would only lengthen bodies.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// IsNull reports whether data is the JSON null.
func IsNull(data []byte) bool { return bytes.Equal(bytes.TrimSpace(data), []byte("null")) }

// IsObject reports whether data begins like a JSON object.
func IsObject(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && data[0] == '{'
}

// Same reports whether two texts are the same JSON, in any order of members and with any spacing, escapes
// and form of numbers.
func Same(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// SetMember returns the object with value added at path, and creates missing objects. A member that exists, or
// that the model has, is an error, also in another letter case: extra members never change what was checked.
func SetMember(object json.RawMessage, path []string, value json.RawMessage, model reflect.Type) (json.RawMessage, error) {
	members := map[string]json.RawMessage{}
	if len(object) > 0 {
		if err := json.Unmarshal(object, &members); err != nil {
			return nil, fmt.Errorf("%q is not inside an object", path[0])
		}
	}
	name, known := path[0], modelled(model)
	current, taken := members[name]
	for _, other := range slices.Concat(slices.Collect(maps.Keys(members)), slices.Collect(maps.Keys(known))) {
		taken = taken || other == name
		if other != name && strings.EqualFold(other, name) {
			return nil, fmt.Errorf("%q has the name of another member, in another case", name)
		}
	}
	if len(path) == 1 {
		if taken {
			return nil, fmt.Errorf("%q is already part of the request or of the parameters", name)
		}
		members[name] = value
		return Marshal(members)
	}
	inner, err := SetMember(current, path[1:], value, known[name])
	if err != nil {
		return nil, err
	}
	members[name] = inner
	return Marshal(members)
}
