package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAttack41ManyValues: a body of two bytes for each value is refused before it costs
// more than it has. A plain decoder takes all of it.
func TestAttack41ManyValues(t *testing.T) {
	type answer struct {
		List  []struct{} `json:"list"`
		Spans Spans      `json:"spans"`
	}
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	for body, ok := range map[string]bool{
		`{"list":` + list(maxElements, `{}`) + `}`: true, `{"list":` + list(maxElements+1, `{}`) + `}`: false,
		`{"spans":` + list(maxElements, `{}`) + `}`: true, `{"spans":` + list(maxElements+1, `{}`) + `}`: false,
		`{"new":` + list(maxElements, `0`) + `}`: true, `{"new":` + list(maxElements+1, `0`) + `}`: false,
		`{"new":` + list(29, list(maxElements, `0`)) + `}`: true, `{"new":` + list(30, list(maxElements, `0`)) + `}`: false,
	} {
		into := new(answer)
		err := Decode([]byte(body), into)
		assert.Equal(t, ok, err == nil, "%.40s %d", body, len(body))
		assert.Equal(t, ok, Unambiguous([]byte(body)) == nil)
	}
	for n, ok := range map[int]bool{maxErrorValues - 3: true, maxErrorValues: false} {
		body := fmt.Sprintf(`{"customerMessage":"c","new":%s}`, list(n, `0`))
		assert.Equal(t, ok, ParseErrorBody([]byte(body)).FromService, n)
	}
	long := strings.Repeat("x", maxErrorJSON)
	assert.False(t, ParseErrorBody([]byte(`{"customerMessage":"`+long+`"}`)).FromService)
	assert.Len(t, Scrub([]byte(`{"customerMessage":"`+long+`"}`)), longestText)
}

// TestAttackRow06ShownTexts: what is printed of a text is short, of one line, and no card
// number.
func TestAttackRow06ShownTexts(t *testing.T) {
	for text, want := range map[string]string{
		"Please check.": "Please check.", "é, 日本": "é, 日本", "12345678901": "12345678901", "2026-11-20 10:11:12": "2026-11-20 10:11:12",
		"4111111111111111": masked, "card 4111 1111 1111 1111!": "card " + masked + "!", "4111-1111-1111-1111": masked, "x411111111111y": "x" + masked + "y",
		"4111\u00a01111\u20131111\n1111": masked, "\uff14111111111111111": masked, "a\r\nb": "a  b", "a\u202eb\x00": "a b ", "\xff": "\ufffd",
		strings.Repeat("x", 200): strings.Repeat("x", 64), strings.Repeat("x", 60) + " 4111111111111111": strings.Repeat("x", 60), strings.Repeat("9", 200): "",
	} {
		assert.Equal(t, want, Shown(text, 64), "%q", text)
	}
}

// TestAttack40Depth: what nests too deeply is refused where encoding/json refuses it, and
// does not exhaust the stack.
func TestAttack40Depth(t *testing.T) {
	for depth, ok := range map[int]bool{maxDepth: true, maxDepth + 1: false, 5_000_000: false} {
		data := []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))
		assert.Equal(t, ok, Unambiguous(data) == nil, depth)
		assert.Equal(t, ok, json.Valid(data), depth)
	}
}

// TestAttack33AmountsRead: an amount in an answer has a huge exponent, a comma, digits of
// another script, or is no number. It is read digit by digit or not at all. A plus sign
// within quotes changes nothing.
func TestAttack33AmountsRead(t *testing.T) {
	for text, want := range map[string]string{
		`0`: "0", `-0`: "0", `10.50`: "10.5", `"10.50"`: "10.5", `1e2`: "100", `"1E+2"`: "100", `-1.25`: "-1.25", `"-.5"`: "-0.5", `"+1"`: "1", `"5."`: "5",
		`0.1`: "0.1", `100000000000000001`: "100000000000000001", `1.10000000000000000001`: "1.10000000000000000001", `1e32`: "1" + strings.Repeat("0", 32),
	} {
		got, err := ParseDecimal([]byte(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{
		``, `""`, `"`, `null`, `true`, `{}`, `[]`, `" 1"`, `"1 "`, `"1,000.00"`, `"$1"`, `"NaN"`, `"Infinity"`, `"0x10"`, `"1_000"`, `"١٢"`, `"−1"`,
		`1e400`, `1e33`, `1e-33`, `"1e999999999999"`, `e`, `"+"`, `"-"`, `"."`, `"1.2.3"`, `"1e1e1"`, `"\u0031"`, `"10`, `10"`,
		strings.Repeat("9", 33), "1." + strings.Repeat("0", 40),
	} {
		got, err := ParseDecimal([]byte(text))
		require.Error(t, err, text)
		assert.True(t, got.IsZero(), text)
		assert.Equal(t, errAmount, err, "the error is always the same, and repeats nothing")
	}
}
