package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMoneyIsWrittenWithTwoDecimals(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0.00", "-0": "0.00", "-0.00": "0.00", "10": "10.00", "10.5": "10.50", "10.50": "10.50", "10.500": "10.50", "10.05": "10.05",
		"0.01": "0.01", "-1.25": "-1.25", "1e3": "1000.00", "1.5e1": "15.00", "12.3400000000000000000000": "12.34",
		"99999999999999999999.99": "99999999999999999999.99",
	} {
		d := decimal.RequireFromString(text)
		number, err := Marshal(Number{d})
		require.NoError(t, err, text)
		assert.Equal(t, want, string(number), text)
		quoted, err := Marshal(OptionalText(&d))
		require.NoError(t, err, text)
		assert.Equal(t, `"`+want+`"`, string(quoted), text)
		assert.True(t, Number{d}.Decimal().Equal(d), text)
		var read Text
		require.NoError(t, json.Unmarshal(quoted, &read))
		assert.True(t, read.d.Equal(d), text)
	}
	assert.Error(t, json.Unmarshal([]byte(`"ten"`), new(Text)))
}

func TestMoneyIsNeverRounded(t *testing.T) {
	for _, text := range []string{"0.001", "10.505", "10.494999999", "-0.009", "1e-3", "99999999999999999999.999", "0.00000000000000000001"} {
		d := decimal.RequireFromString(text)
		assert.False(t, HasTwoDecimals(d), text)
		for _, money := range []any{Number{d}, OptionalText(&d), struct{ A *Number }{NewNumber(d)}} {
			out, err := Marshal(money)
			require.Error(t, err, text)
			assert.Empty(t, out)
			assert.NotContains(t, err.Error(), strings.TrimPrefix(text, "-"), "the error repeats the amount")
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{`10.50`, `"10.50"`, `1e32`, `-0`, `"+5"`, `"1e-32"`, `1E400`, `"`, `""`, `"9.9`, `0.000000000000000000000000000001`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDecimal(data)
		if err != nil {
			if !d.IsZero() {
				t.Fatalf("%q: %v with an error", data, d)
			}
			return
		}
		// What was read can be written, is valid JSON, and is read as the same.
		text := d.String()
		if len(text) > 3*maxDecimalLength || !json.Valid([]byte(text)) {
			t.Fatalf("%q is written as %q", data, text)
		}
		exact, parseErr := decimal.NewFromString(strings.Trim(string(data), `"`))
		if parseErr != nil || !exact.Equal(d) {
			t.Fatalf("%q was read as %s", data, d)
		}
		if HasTwoDecimals(d) != d.Equal(d.Round(2)) {
			t.Fatalf("%q: two decimals: %t", data, HasTwoDecimals(d))
		}
		if out, err := Marshal(Number{d}); (err == nil) != HasTwoDecimals(d) || err == nil && !json.Valid(out) {
			t.Fatalf("%q is written as %q: %v", data, out, err)
		}
	})
}
