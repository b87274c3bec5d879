package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// value is a JSON value. The zero value is one that is absent.
type value struct {
	kind    string // "", null, boolean, number, text, array or object
	text    string // of a text, number or boolean
	items   []value
	members map[string]value
}

// parse reads a document, and keeps numbers as they were written.
func parse(doc []byte) (value, error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var decoded any
	if err := dec.Decode(&decoded); err != nil {
		return value{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return value{}, errors.New("something follows the document")
	}
	return valueOf(decoded), nil
}

func valueOf(decoded any) value {
	switch d := decoded.(type) {
	case map[string]any:
		v := value{kind: "object", members: map[string]value{}}
		for name, member := range d {
			v.members[name] = valueOf(member)
		}
		return v
	case []any:
		v := value{kind: "array"}
		for _, item := range d {
			v.items = append(v.items, valueOf(item))
		}
		return v
	case string:
		return value{kind: "text", text: d}
	case json.Number:
		return value{kind: "number", text: d.String()}
	case bool:
		return value{kind: "boolean", text: map[bool]string{true: "true", false: "false"}[d]}
	default:
		return value{kind: "null"}
	}
}

// get returns the value at a path of members, absent if there is none.
func (v value) get(path ...string) value {
	for _, name := range path {
		v = v.members[name]
	}
	return v
}

// has reports a member that is there, perhaps as null.
func (v value) has(name string) bool { return v.members[name].kind != "" }

// empty reports a value that says nothing: absent, null or the empty text.
func (v value) empty() bool {
	return v.kind == "" || v.kind == "null" || v.kind == "text" && v.text == ""
}

// names are those of the members, sorted.
func (v value) names() string { return strings.Join(slices.Sorted(maps.Keys(v.members)), ", ") }

// described is the form of a value in words, without what it says.
func (v value) described() string {
	switch v.kind {
	case "":
		return "absent"
	case "text", "number":
		return v.kind + " " + pattern(v.text)
	default:
		return v.kind
	}
}

// pattern is the form of a text without what it says: 0 for a digit, a for a letter.
func pattern(text string) string {
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
