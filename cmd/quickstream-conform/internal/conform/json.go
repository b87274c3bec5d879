package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// value is a JSON value. The zero value is one that is absent.
type value struct {
	kind    string // "", null, boolean, number, text, array or object
	text    string // of a text, number or boolean
	items   []value
	members map[string]value
}

// UnmarshalJSON keeps numbers as they were written.
func (v *value) UnmarshalJSON(doc []byte) (err error) {
	switch doc[0] {
	case '{':
		v.kind, err = "object", json.Unmarshal(doc, &v.members)
	case '[':
		v.kind, err = "array", json.Unmarshal(doc, &v.items)
	case '"':
		v.kind, err = "text", json.Unmarshal(doc, &v.text)
	case 't', 'f':
		v.kind, v.text = "boolean", string(doc)
	case 'n':
		v.kind = "null"
	default:
		v.kind, v.text = "number", string(doc)
	}
	return err
}

func parse(doc []byte) (v value, err error) {
	if err = json.Unmarshal(doc, &v); err != nil {
		return value{}, fmt.Errorf("conform: %w", err)
	}
	return v, nil
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

// described is the form of a value without what it says.
func (v value) described() string {
	if v.kind == "" {
		return "absent"
	}
	return v.kind
}
