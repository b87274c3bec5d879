package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type (
	own     struct{ Text string }
	textKey string
	label   string
	itself  *itself
	embeds  struct {
		*embeds
		Text string
	}
	failing struct{}

	embedded struct{ Text string }
	withPart struct {
		embedded
		*otherPart
	}
	otherPart struct{ Other []string }
	hiding    struct {
		Text   string `json:"-"`
		Named  int    `json:"-,"` //nolint:staticcheck // a member whose name is "-"
		hidden string
	}
	node struct {
		Text string `json:"text,omitempty"`
		Next *node  `json:"next,omitempty"`
	}
)

func (own) MarshalJSON() ([]byte, error)     { return []byte(`"own"`), nil }
func (textKey) MarshalText() ([]byte, error) { return []byte("own"), nil }

var errMine = errors.New("mine")

func (failing) MarshalJSON() ([]byte, error) { return nil, errMine }

// TestCheckText: every text of a value that can be written is judged, because encoding/json puts another
// text in the place of one that is not UTF-8.
func TestCheckText(t *testing.T) {
	for _, bad := range []string{"\xff", "Ann\xff", "\xed\xa0\x80", "a\xc3"} {
		for name, value := range map[string]any{
			"string": bad, "pointer": &bad, "named": label(bad), "number": json.Number(bad),
			"slice": []string{"a", bad}, "array": [1]string{bad}, "any": []any{1, map[string]any{"a": []any{bad}}},
			"value": map[string]string{"a": bad}, "key": map[string]int{bad: 1}, "key with a method": map[textKey]int{textKey(bad): 1},
			"struct": embedded{bad}, "embedded": withPart{embedded: embedded{bad}}, "embedded pointer": &withPart{otherPart: &otherPart{[]string{bad}}},
			"writes itself": own{bad}, "deep": &node{Next: &node{Next: &node{Text: bad}}},
			"raw": json.RawMessage(`"` + bad + `"`), "raw pointer": new(json.RawMessage(`"` + bad + `"`)), "raw member": map[string]json.RawMessage{"a": json.RawMessage(`"` + bad + `"`)},
		} {
			err := CheckText(value)
			require.ErrorIs(t, err, errText, "%s %q", name, bad)
			assert.NotContains(t, err.Error(), "Ann")
			_, err = Encode(value)
			require.ErrorIs(t, err, errText, "%s %q", name, bad)
		}
		for name, value := range map[string]any{
			"bytes": []byte(bad), "hidden": hiding{Text: bad, hidden: bad}, "named bytes": map[string][]byte{"a": []byte(bad)},
		} {
			require.NoError(t, CheckText(value), name)
			body, err := Encode(value)
			require.NoError(t, err, name)
			assert.NotContains(t, string(body), "\ufffd", name)
		}
		replaced, err := Marshal(map[string]string{bad: bad})
		require.NoError(t, err)
		var read map[string]string
		require.NoError(t, json.Unmarshal(replaced, &read))
		assert.NotContains(t, read, bad, "encoding/json changes it without a word: %s", replaced)
	}
	for _, value := range []any{
		nil, true, 1.5, "", "\ufffd", `\ufffd`, `"\`, "é\u202e\x00",
		map[string]string{"\ufffd": "\ufffd"},
		(*node)(nil), (*string)(nil), map[string]any(nil),
		[]any{nil},
		withPart{},
		json.RawMessage(`"\ufffd"`), json.RawMessage(nil),
		Number{decimal.New(1, 0)},
	} {
		assert.NoError(t, CheckText(value), "%#v", value)
	}
}

// TestEncodeWithoutEnd: a value that contains itself, or is nested without end, is refused
// and does not take the stack.
func TestEncodeWithoutEnd(t *testing.T) {
	loop := &node{}
	loop.Next = loop
	list, table := make([]any, 1), map[string]any{}
	list[0], table["a"] = list, table
	turn := new(itself)
	*turn = turn
	inner := &embeds{}
	inner.embeds = inner
	long := &node{}
	for range 10 * maxDepth {
		long = &node{Next: long}
	}
	for name, value := range map[string]any{"pointer": loop, "slice": list, "map": table, "turn": turn, "long": long, "embedded": inner} {
		_, err := Encode(value)
		require.ErrorIs(t, err, errNesting, name)
	}
	short := &node{Text: strings.Repeat("a", 10)}
	for range 1_000 {
		short = &node{Next: short}
	}
	_, err := Encode(short)
	require.NoError(t, err)
	_, err = Encode(failing{})
	require.Equal(t, errMine, err, "without the name of the type")
}

// raw writes itself, or a text for [json.Marshal].
type (
	raw    struct{ json string }
	nested struct{ value any }
)

func (r raw) MarshalJSON() ([]byte, error)    { return []byte(r.json), nil }
func (n nested) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// TestEncodeShowsNothing: an error of encoding/json may repeat what cannot be encoded.
func TestEncodeShowsNothing(t *testing.T) {
	const secret = "4111111111111111"
	bad := json.Number(secret + "x")
	for name, value := range map[string]any{
		"number": bad, "in a map": map[string]any{"a": bad}, "of a method": nested{bad}, "of two methods": []any{nested{map[string]any{secret: nested{bad}}}},
		"infinite": map[string]any{secret: math.Inf(1)}, "no JSON": map[string]any{secret: raw{secret + "x"}}, "half a text": raw{`"` + secret}, "raw": json.RawMessage(secret + "x"),
		"a function": map[string]any{secret: func() {}}, "named": map[textKey]any{secret: bad},
	} {
		body, err := Encode(value)
		require.Error(t, err, name)
		assert.Empty(t, body, name)
		for ; err != nil; err = errors.Unwrap(err) {
			assert.NotContains(t, err.Error(), "4111", name)
		}
	}
	_, err := Encode([]any{func() {}})
	require.ErrorContains(t, err, "func()")
}
