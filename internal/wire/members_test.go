package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// order, line and price are models with everything that Unknown and AddUnknown meet.
type order struct {
	ID    string            `json:"id"`
	Price *price            `json:"price,omitempty"`
	Lines []*line           `json:"lines,omitempty"`
	Notes map[string]string `json:"notes,omitempty"`
	When  day               `json:"when,omitzero"`
	Links []string          `json:"links,omitempty"`

	hidden string //nolint:unused // not a member
}

type line struct {
	Name  string  `json:"name"`
	Price price   `json:"price"`
	Sizes []int64 `json:"sizes,omitempty"`
}

type price struct {
	Amount   *json.Number `json:"amount,omitempty"`
	Currency string       `json:"currency,omitempty"`
}

// day has no members of its own, whatever it is written as.
type day struct{ Year, Month, Day int }

const rawOrder = `{"id":"1","new":{"a":[1]},"price":{"amount":10.50,"exponent":2},` +
	`"lines":[{"name":"x","price":{"amount":1},"size":"L"},{"name":"y","price":{"amount":2,"rounded":true}}],` +
	`"notes":{"own":"name"},"when":{"Year":1,"era":"CE"}}`

func TestGraft(t *testing.T) {
	var o order
	require.NoError(t, json.Unmarshal([]byte(rawOrder), &o))
	known, err := Marshal(o)
	require.NoError(t, err)
	grafted, err := AddUnknown(known, []byte(rawOrder), reflect.TypeFor[order]())
	require.NoError(t, err)
	assert.Equal(t, `{"id":"1","lines":[{"name":"x","price":{"amount":1},"size":"L"},{"name":"y","price":{"amount":2,"rounded":true}}],`+
		`"new":{"a":[1]},"notes":{"own":"name"},"price":{"amount":10.50,"exponent":2},"when":{"Year":1,"Month":0,"Day":0}}`, string(grafted))

	again, err := AddUnknown(grafted, []byte(rawOrder), reflect.TypeFor[order]())
	require.NoError(t, err)
	assert.Equal(t, string(grafted), string(again))
}

// TestGraftFollowsTheValue: what was changed, shortened or taken away after
// decoding stays so.
func TestGraftFollowsTheValue(t *testing.T) {
	for known, want := range map[string]string{
		`{"id":"2"}`:                             `{"id":"2","new":{"a":[1]}}`,
		`{"id":"2","price":null}`:                `{"id":"2","new":{"a":[1]},"price":null}`,
		`{"id":"2","lines":[]}`:                  `{"id":"2","lines":[],"new":{"a":[1]}}`,
		`{"id":"2","lines":[{"name":"x"}]}`:      `{"id":"2","lines":[{"name":"x"}],"new":{"a":[1]}}`,
		`{"id":"2","new":"mine","price":"free"}`: `{"id":"2","new":{"a":[1]},"price":"free"}`,
		`"not an object"`:                        `"not an object"`,
		`null`:                                   `null`,
	} {
		got, err := AddUnknown([]byte(known), []byte(rawOrder), reflect.TypeFor[order]())
		require.NoError(t, err)
		assert.Equal(t, want, string(got), known)
	}
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{`} {
		got, err := AddUnknown([]byte(`{"id":"2"}`), []byte(raw), reflect.TypeFor[order]())
		require.NoError(t, err)
		assert.Equal(t, `{"id":"2"}`, string(got), raw)
	}
}

// TestWhatCouldNotBeRead is kept, unless it was replaced.
func TestWhatCouldNotBeRead(t *testing.T) {
	raw := []byte(`{"id":{"a":1},"price":"free","lines":[{"name":[],"price":7,"sizes":"L"}],"notes":[1],"links":"https://h.invalid/?accountNumber=999994"}`)
	found := Unknown(raw, reflect.TypeFor[order]())
	got := map[string]string{}
	for path, value := range found {
		got[path] = string(value)
	}
	assert.Equal(t, map[string]string{
		"id": `{"a":1}`, "price": `"free"`, "lines[0].name": "[]", "lines[0].price": "7", "lines[0].sizes": `"L"`, "notes": "[1]",
	}, got)
	stored := storeOrder(t, raw)
	assert.NotContains(t, stored, "999994")
	assert.Equal(t, found, Unknown([]byte(stored), reflect.TypeFor[order]()))

	kept, err := AddUnknown([]byte(`{"id":"mine","price":null,"lines":[{"name":"","price":{"amount":1}}]}`), raw, reflect.TypeFor[order]())
	require.NoError(t, err)
	assert.Equal(t, `{"id":"mine","lines":[{"name":[],"price":{"amount":1},"sizes":"L"}],"notes":[1],"price":"free"}`, string(kept))
}

func storeOrder(t *testing.T, raw []byte) string {
	t.Helper()
	var o order
	require.NoError(t, Decode(raw, &o))
	known, err := Marshal(o)
	require.NoError(t, err)
	stored, err := AddUnknown(known, raw, reflect.TypeFor[order]())
	require.NoError(t, err)
	return string(stored)
}

// FuzzGraft: whatever was received, what is stored is read as the same, and loses
// nothing when it is stored again.
func FuzzGraft(f *testing.F) {
	f.Add([]byte(rawOrder))
	f.Add([]byte(`{"ID":"1","price":{"Amount":1,"x":null},"lines":[null,{"name":"<a>"}]}`))
	f.Add([]byte(`{"id":{},"id":7,"price":7,"lines":{},"notes":{"a":[1]},"links":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var o, again order
		if !utf8.Valid(raw) || !IsObject(raw) || Decode(raw, &o) != nil {
			return
		}
		known, err := Marshal(o)
		if err != nil {
			return // a json.Number that was ""
		}
		stored, err := AddUnknown(known, raw, reflect.TypeFor[order]())
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		err = Decode(stored, &again)
		if reread, _ := Marshal(again); err != nil || !bytes.Equal(known, reread) {
			t.Fatalf("%q is stored as %q and read as %q: %v", raw, stored, reread, err)
		}
		if unknown, kept := Unknown(raw, reflect.TypeFor[order]()), Unknown(stored, reflect.TypeFor[order]()); len(unknown) != len(kept) {
			t.Fatalf("%q is stored as %q: %d unknown members, want %d", raw, stored, len(kept), len(unknown))
		}
	})
}
