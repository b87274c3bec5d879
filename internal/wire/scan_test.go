package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// TestAttack35DuplicatedMembers: an object names a member twice, far apart, escaped, or in a
// case that another decoder takes for the same.
func TestAttack35DuplicatedMembers(t *testing.T) {
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
		err := Unambiguous([]byte(body))
		if twice {
			assert.ErrorIs(t, err, ErrDuplicateMember, body)
		} else {
			assert.NoError(t, err, body)
		}
	}
}

// reference looks for duplicated members with json.Decoder's tokens, at any
// cost.
func reference(data []byte) error {
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

func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"a":1,"A":2}`, `{"metadata":{"a":1,"A":2}}`, `[{"a":{"b":[1,2,{"c":null}]}},"x",-1.5e3,true]`,
		`{"\u0061":1,"a":2}`, `{"k":1,"\u212a":2}`, `{"a\\":"\\\"","a":[]}`, "{\"a\"\t:\r\n1 }", `{"s":1,"ſ":1}`, `"\ud800"`,
		`[-0,0.0,1e9,1E+09,-1.25e-2]`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `[1,]`, `{"a":1,}`, `{,}`, `[,1]`, `{"a"}`, `{"a":}`, `"\x"`, `"\u00g0"`,
		"\"\x00\"", "\"\xff\"", `nul`, `nulll`, `true false`, `"a`, `"a\`, `"\u12`, `{"a":1`, `[`, ` `, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := Unambiguous(data)
		if !json.Valid(data) {
			if got == nil {
				t.Fatalf("%q is not JSON", data)
			}
			return
		}
		if !utf8.Valid(data) {
			return // the reference compares names after, we before they are repaired
		}
		want := reference(data)
		if want != nil && !errors.Is(want, ErrDuplicateMember) {
			t.Fatalf("the reference failed: %v", want)
		}
		if errors.Is(got, errFolded) && strings.ContainsAny(fmt.Sprint(decoded(data)), "\u017f\u212a") {
			return // the only letters that fold to an ASCII one
		}
		if !errors.Is(got, want) {
			t.Fatalf("%q: %v, want %v", data, got, want)
		}
	})
}

func decoded(data []byte) (tree any) {
	_ = json.Unmarshal(data, &tree)
	return tree
}
