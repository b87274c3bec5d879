package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckMembers(t *testing.T) {
	for body, twice := range map[string]bool{
		`{}`:                                false,
		`[]`:                                false,
		`"a"`:                               false,
		` { "a" : 1 , "b" : [ ] } `:         false,
		`{"a":1,"b":{"a":1},"c":[{"a":1}]}`: false, // one name in different objects
		`{"a":"\"a\":","b":"{\"a\":1"}`:     false, // names within texts
		`{"a\"":1,"a":2}`:                   false,
		`{"":1}`:                            false,

		`{"a":1,"a":1}`:                            true,
		`{"a":1,"b":[{}, {"x":"}"}],"a":2}`:        true,
		`{"":1,"":2}`:                              true,
		`{"summaryCode":"1","SUMMARYCODE":"0"}`:    true,
		`{"summaryCode":"1","ſummaryCode":"0"}`:    true, // U+017F folds to s
		`{"linkKey":1,"lin\u212aKey":2}`:           true, // the Kelvin sign folds to k
		`{"summaryCode":"1","summary\u0043ode":1}`: true, // an escaped name
		`{"x":{"y":[[{"a":1},{"a":1,"A":2}]]}}`:    true,

		`{"metadata":{"Colour":"1","colour":"2"}}`:         false, // the merchant's own names
		`{"metadata":{"x":{"A":1,"a":2}}}`:                 false,
		`{"metadata":{"a":1},"b":{"c":1,"C":2}}`:           true,
		`{"metadata":{"colour":"1","colour":"2"}}`:         true,
		`{"metadata":{"colour":"1","colou\u0072":"2"}}`:    true,
		`{"metadata":{"a":"1"},"Metadata":{"a":"1"}}`:      true,
		`{"Metadata":{"Colour":"1","colour":"2"}}`:         true,
		`{"data":[{"metadata":{"A":1,"a":1}},{"b":true}]}`: false,
	} {
		err := CheckMembers([]byte(body))
		if twice {
			assert.ErrorIs(t, err, ErrDuplicateMember, body)
		} else {
			assert.NoError(t, err, body)
		}
	}
}

// TestCheckMembersOfHugeObjects puts the two members far apart, and sees that an
// object with very many members is not expensive.
func TestCheckMembersOfHugeObjects(t *testing.T) {
	const many = 100_000
	var filler strings.Builder
	for i := range many {
		fmt.Fprintf(&filler, `"member%d":0,`, i)
	}
	distinct := `{` + filler.String() + `"summaryCode":"0"}`
	assert.NoError(t, CheckMembers([]byte(distinct)))
	for _, again := range []string{`"summaryCode":"0"`, `"SummaryCode":"0"`, `"ſummaryCode":"0"`, `"summary\u0043ode":"0"`} {
		body := `{"summaryCode":"1",` + filler.String() + again + `}`
		assert.ErrorIs(t, CheckMembers([]byte(body)), ErrDuplicateMember, again)
	}
	assert.NoError(t, CheckMembers([]byte(`{"metadata":{"Colour":1,`+filler.String()+`"colour":1}}`)))
	assert.ErrorIs(t, CheckMembers([]byte(`{"metadata":{"colour":1,`+filler.String()+`"colour":1}}`)), ErrDuplicateMember)
}

// referenceCheck does what CheckMembers does with json.Decoder's tokens, at any
// cost.
func referenceCheck(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var walk func(exact bool) error
	walk = func(exact bool) error {
		token, err := dec.Token()
		if err != nil {
			return err
		}
		var names []string
		for token == json.Delim('{') && dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			for _, other := range names {
				if other == name || !exact && strings.EqualFold(other, name.(string)) {
					return ErrDuplicateMember
				}
			}
			names = append(names, name.(string))
			if err := walk(exact || name == "metadata"); err != nil {
				return err
			}
		}
		for token == json.Delim('[') && dec.More() {
			if err := walk(exact); err != nil {
				return err
			}
		}
		if token == json.Delim('{') || token == json.Delim('[') {
			_, err = dec.Token()
		}
		return err
	}
	return walk(false)
}

func FuzzCheckMembers(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"A":2}`, `{"metadata":{"a":1,"A":2}}`, `[{"a":{"b":[1,2,{"c":null}]}},"x",-1.5e3,true]`,
		`{"\u0061":1,"a":2}`, `{"k":1,"\u212a":2}`, `{"a\\":"\\\"","a":[]}`, "{\"a\"\t:\r\n1 }", `{"s":1,"ſ":1}`, `"\ud800"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := CheckMembers(data) // any input: it must not panic
		if !json.Valid(data) || !utf8.Valid(data) {
			return
		}
		want := referenceCheck(data)
		if want != nil && !errors.Is(want, ErrDuplicateMember) {
			t.Fatalf("the reference failed: %v", want)
		}
		if !errors.Is(got, want) {
			t.Fatalf("%q: %v, want %v", data, got, want)
		}
	})
}

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
	assert.NoError(t, CheckMembers(grafted), string(grafted))
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
		if !utf8.Valid(raw) || json.Unmarshal(raw, &o) != nil || CheckMembers(raw) != nil || !IsObject(raw) {
			return
		}
		known, err := Marshal(o)
		if err != nil {
			return // a json.Number that was ""
		}
		stored, err := Graft(known, raw, reflect.TypeFor[order]())
		if err != nil || CheckMembers(stored) != nil {
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
