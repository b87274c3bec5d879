// Package shape reads JSON for its form: the order of members, what is null and what is absent,
// and the types of values.
package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kind is the JSON type of a value.
type Kind string

// The kinds.
const (
	Absent  Kind = "absent"
	Null    Kind = "null"
	Boolean Kind = "boolean"
	Number  Kind = "number"
	Text    Kind = "text"
	Array   Kind = "array"
	Object  Kind = "object"
)

// Value is a JSON value.
type Value struct {
	Kind  Kind
	Text  string   // of a text, number or boolean
	Names []string // of the members of an object, in order
	Items []Value  // of an array, or the members' values
}

var errTwice = errors.New("a member occurs twice")

// Parse reads a document. A member that occurs twice is an error.
func Parse(doc []byte) (Value, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	v, err := read(dec)
	if err != nil {
		return Value{Kind: Absent}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Value{Kind: Absent}, errors.New("something follows the document")
	}
	return v, nil
}

func read(dec *json.Decoder) (Value, error) {
	token, err := dec.Token()
	if err != nil {
		return Value{}, err
	}
	switch t := token.(type) {
	case json.Delim:
		return readNested(dec, t)
	case string:
		return Value{Kind: Text, Text: t}, nil
	case json.Number:
		return Value{Kind: Number, Text: t.String()}, nil
	case bool:
		return Value{Kind: Boolean, Text: strconv.FormatBool(t)}, nil
	default:
		return Value{Kind: Null}, nil
	}
}

func readNested(dec *json.Decoder, begin json.Delim) (v Value, err error) {
	v.Kind = Array
	if begin == '{' {
		v.Kind = Object
	}
	for dec.More() {
		if v.Kind == Object {
			name, err := dec.Token()
			if err != nil {
				return v, err
			}
			if v.Get(name.(string)).Kind != Absent { //nolint:forcetypeassert // the decoder has no other names
				return v, errTwice
			}
			v.Names = append(v.Names, name.(string)) //nolint:forcetypeassert // as above
		}
		item, err := read(dec)
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
	}
	_, err = dec.Token()
	return v, err
}

// Get returns the value at a path of members, Absent if there is none.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		i := slices.Index(v.Names, name)
		if i < 0 || i >= len(v.Items) {
			return Value{Kind: Absent}
		}
		v = v.Items[i]
	}
	return v
}

// Empty reports a value that says nothing: absent, null or the empty text.
func (v Value) Empty() bool {
	return v.Kind == Absent || v.Kind == Null || v.Kind == Text && v.Text == ""
}

// Each calls visit for the value and all in it, with the names on the way. Elements of arrays have
// their array's path.
func (v Value) Each(visit func(path []string, v Value)) { v.each(nil, visit) }

func (v Value) each(path []string, visit func([]string, Value)) {
	visit(path, v)
	for i, item := range v.Items {
		if v.Kind == Object {
			item.each(append(path[:len(path):len(path)], v.Names[i]), visit)
		} else {
			item.each(path, visit)
		}
	}
}

// Pattern is the form of a text without what it says: 0 for a digit, a for a letter.
func Pattern(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '0'
		case unicode.IsLetter(r):
			return 'a'
		default:
			return r
		}
	}, text[:min(len(text), 60)])
}
