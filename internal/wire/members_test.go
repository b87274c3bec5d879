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

// order, line and price are models with everything that Unknown and Graft meet.
type order struct {
	ID    string            `json:"id"`
	Price *price            `json:"price,omitempty"`
	Lines []*line           `json:"lines,omitempty"`
	Notes map[string]string `json:"notes,omitempty"`
	When  day               `json:"when,omitzero"`

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

func TestUnknown(t *testing.T) {
	found := Unknown([]byte(rawOrder), reflect.TypeFor[*order]())
	got := map[string]string{}
	for path, value := range found {
		got[path] = string(value)
	}
	assert.Equal(t, map[string]string{
		"new": `{"a":[1]}`, "price.exponent": "2", "lines[0].size": `"L"`, "lines[1].price.rounded": "true",
	}, got)

	for _, odd := range []string{``, `null`, `[]`, `"x"`, `{"price":[],"lines":{"a":1},"notes":3}`, `{"price":null,"lines":[null,7]}`, `{`} {
		assert.Empty(t, Unknown([]byte(odd), reflect.TypeFor[order]()), odd)
	}
	assert.Empty(t, Unknown([]byte(`{"a":1}`), reflect.TypeFor[map[string]any]()))
}

func TestGraft(t *testing.T) {
	var o order
	require.NoError(t, json.Unmarshal([]byte(rawOrder), &o))
	known, err := Marshal(o)
	require.NoError(t, err)
	grafted, err := Graft(known, []byte(rawOrder), reflect.TypeFor[order]())
	require.NoError(t, err)
	assert.Equal(t, `{"id":"1","lines":[{"name":"x","price":{"amount":1},"size":"L"},{"name":"y","price":{"amount":2,"rounded":true}}],`+
		`"new":{"a":[1]},"notes":{"own":"name"},"price":{"amount":10.50,"exponent":2},"when":{"Year":1,"Month":0,"Day":0}}`, string(grafted))

	again, err := Graft(grafted, []byte(rawOrder), reflect.TypeFor[order]())
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
		got, err := Graft([]byte(known), []byte(rawOrder), reflect.TypeFor[order]())
		require.NoError(t, err)
		assert.Equal(t, want, string(got), known)
	}
	for _, raw := range []string{``, `null`, `[]`, `"x"`, `{`} {
		got, err := Graft([]byte(`{"id":"2"}`), []byte(raw), reflect.TypeFor[order]())
		require.NoError(t, err)
		assert.Equal(t, `{"id":"2"}`, string(got), raw)
	}
}

// TestModelledNamesFold: encoding/json takes a member for a field's whatever its
// case. Put back under the name it came with, it would stand there twice, and
// what was stored could not be read again.
func TestModelledNamesFold(t *testing.T) {
	raw := []byte(`{"ID":"1","Price":{"AMOUNT":3,"exponent":2},"LINES":[{"name":"x","ſizes":[7]}]}`)
	var o order
	require.NoError(t, json.Unmarshal(raw, &o))
	require.Equal(t, "1", o.ID)
	require.Equal(t, []int64{7}, o.Lines[0].Sizes)
	found := Unknown(raw, reflect.TypeFor[order]())
	assert.Len(t, found, 1)
	assert.Equal(t, "2", string(found["Price.exponent"]))

	known, err := Marshal(o)
	require.NoError(t, err)
	grafted, err := Graft(known, raw, reflect.TypeFor[order]())
	require.NoError(t, err)
	assert.NoError(t, scan(grafted), string(grafted))
	var again order
	require.NoError(t, json.Unmarshal(grafted, &again))
	assert.Equal(t, o, again)
}

// FuzzGraft: whatever was received, what is stored can be read, names no member
// twice, and loses nothing when it is stored again.
func FuzzGraft(f *testing.F) {
	f.Add([]byte(rawOrder))
	f.Add([]byte(`{"ID":"1","price":{"Amount":1,"x":null},"lines":[null,{"name":"<a>"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var o order
		if !utf8.Valid(raw) || json.Unmarshal(raw, &o) != nil || scan(raw) != nil || !IsObject(raw) {
			return
		}
		known, err := Marshal(o)
		if err != nil {
			return // a json.Number that was ""
		}
		stored, err := Graft(known, raw, reflect.TypeFor[order]())
		if err != nil || scan(stored) != nil {
			t.Fatalf("%q is stored as %q: %v", raw, stored, err)
		}
		var again order
		err = json.Unmarshal(stored, &again)
		if reread, _ := Marshal(again); err != nil || !bytes.Equal(known, reread) {
			t.Fatalf("%q is stored as %q and read as %q: %v", raw, stored, reread, err)
		}
		if unknown, kept := Unknown(raw, reflect.TypeFor[order]()), Unknown(stored, reflect.TypeFor[order]()); len(unknown) != len(kept) {
			t.Fatalf("%q is stored as %q: %d unknown members, want %d", raw, stored, len(kept), len(unknown))
		}
	})
}
