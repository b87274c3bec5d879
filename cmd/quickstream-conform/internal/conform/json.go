package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// value is a JSON value. One that is absent, or null, is nil.
type value struct{ any }

// parse keeps numbers as they were written.
func parse(doc []byte) (v value, err error) {
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	if err = decoder.Decode(&v.any); err != nil {
		return value{}, fmt.Errorf("conform: %w", err)
	}
	return v, nil
}

func (v value) members() map[string]any {
	members, _ := v.any.(map[string]any)
	return members
}

// get returns the value at a path of members.
func (v value) get(path ...string) value {
	for _, name := range path {
		v = value{v.members()[name]}
	}
	return v
}

// items are those of a list, or none.
func (v value) items() (items []value) {
	list, _ := v.any.([]any)
	for _, item := range list {
		items = append(items, value{item})
	}
	return items
}

// text is that of a text, a number or a boolean, or "".
func (v value) text() string {
	switch v.any.(type) {
	case string, json.Number, bool:
		return fmt.Sprint(v.any)
	default:
		return ""
	}
}

// names are those of the members, sorted.
func (v value) names() string { return strings.Join(slices.Sorted(maps.Keys(v.members())), ", ") }
