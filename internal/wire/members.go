package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// ErrDuplicateMember reports a body in which one object names a member twice.
// encoding/json lets the last one win, and matches names without regard to
// case, so that such a body could turn a decline into an approval.
var ErrDuplicateMember = errors.New("body names a member twice")

// freeForm is the member whose names are the merchant's own: there, two names
// that differ in case are two members.
const freeForm = "metadata"

// CheckMembers returns ErrDuplicateMember when any object in data, which must
// be valid JSON, holds two members that decoding would confuse.
func CheckMembers(data []byte) error {
	s := scanner{data: data, names: make([][]byte, 0, 64)}
	s.value(false)
	if s.twice {
		return ErrDuplicateMember
	}
	return nil
}

type scanner struct {
	data  []byte
	at    int
	names [][]byte
	twice bool
}

func (s *scanner) value(exact bool) {
	s.space()
	if s.at >= len(s.data) {
		return
	}
	switch s.data[s.at] {
	case '{':
		s.object(exact)
	case '[':
		s.at++
		for s.space(); s.at < len(s.data) && s.data[s.at] != ']'; s.space() {
			s.value(exact)
			s.space()
			if s.at < len(s.data) && s.data[s.at] == ',' {
				s.at++
			}
		}
		s.at++
	case '"':
		s.text()
	default:
		for s.at++; s.at < len(s.data) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(s.data[s.at])); s.at++ {
		}
	}
}

func (s *scanner) object(exact bool) {
	first := len(s.names)
	s.at++
	for s.space(); s.at < len(s.data) && s.data[s.at] == '"'; s.space() {
		name := s.text()
		s.names = append(s.names, name)
		s.space()
		s.at++ // colon
		s.value(exact || string(name) == freeForm)
		s.space()
		if s.at < len(s.data) && s.data[s.at] == ',' {
			s.at++
		}
	}
	s.at++
	s.twice = s.twice || anyTwice(s.names[first:], exact)
	s.names = s.names[:first]
}

// anyTwice compares the names of an object with each other. Objects of this
// service have tens of members; one with thousands is hostile, and must not be
// expensive.
func anyTwice(names [][]byte, exact bool) bool {
	const few = 64
	if len(names) > few {
		return anyTwiceOfMany(names, exact)
	}
	for i, name := range names {
		for _, other := range names[:i] {
			if bytes.Equal(name, other) || !exact && bytes.EqualFold(name, other) {
				return true
			}
		}
	}
	return false
}

func anyTwiceOfMany(names [][]byte, exact bool) bool {
	seen := make(map[string]struct{}, len(names))
	for _, name := range names {
		if !exact {
			name = bytes.Map(leastFold, name)
		}
		if _, ok := seen[string(name)]; ok {
			return true
		}
		seen[string(name)] = struct{}{}
	}
	return false
}

// leastFold returns one rune for all that bytes.EqualFold takes for equal.
func leastFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// text returns the content of the string at the cursor, unescaped where it has
// to be, and moves behind it.
func (s *scanner) text() []byte {
	start := s.at
	escaped := false
	for s.at++; s.at < len(s.data) && s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			escaped = true
			s.at++
		}
	}
	s.at = min(s.at+1, len(s.data))
	if !escaped {
		return s.data[start+1 : max(s.at-1, start+1)]
	}
	var plain string
	if json.Unmarshal(s.data[start:s.at], &plain) != nil {
		return nil
	}
	return []byte(plain)
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// Unknown returns the members of data that the type does not model, keyed by
// their path, such as "creditCard.newMember" or "links[0].title".
func Unknown(data []byte, model reflect.Type) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	unknown(data, model, "", found)
	return found
}

func unknown(data []byte, model reflect.Type, path string, found map[string]json.RawMessage) {
	model = deref(model)
	switch model.Kind() {
	case reflect.Struct:
		fields := modelled(model)
		var members map[string]json.RawMessage
		if len(fields) == 0 || json.Unmarshal(data, &members) != nil {
			return
		}
		for name, value := range members {
			if field, ok := fields.named(name); ok {
				unknown(value, field.model, join(path, name), found)
			} else {
				found[join(path, name)] = value
			}
		}
	case reflect.Slice:
		var items []json.RawMessage
		if json.Unmarshal(data, &items) != nil {
			return
		}
		for i, item := range items {
			unknown(item, model.Elem(), path+"["+strconv.Itoa(i)+"]", found)
		}
	}
}

// Graft returns known with every member of raw that the type does not model
// put back in its place, so that a model survives being stored and read again.
// What does not have the shape of the model is returned as it is.
func Graft(known, raw json.RawMessage, model reflect.Type) (json.RawMessage, error) {
	model = deref(model)
	switch model.Kind() {
	case reflect.Struct:
		var have, had map[string]json.RawMessage
		fields := modelled(model)
		if len(fields) > 0 && bothDecode(known, raw, &have, &had) && have != nil {
			return graftMembers(have, had, fields)
		}
	case reflect.Slice:
		var have, had []json.RawMessage
		if bothDecode(known, raw, &have, &had) && len(have) == len(had) {
			return graftItems(have, had, model.Elem())
		}
	}
	return known, nil
}

func bothDecode(known, raw json.RawMessage, have, had any) bool {
	return json.Unmarshal(known, have) == nil && json.Unmarshal(raw, had) == nil
}

func graftMembers(have, had map[string]json.RawMessage, fields members) (json.RawMessage, error) {
	for name, value := range had {
		field, ok := fields.named(name)
		if !ok {
			have[name] = value
			continue
		}
		if current, ok := have[field.name]; ok {
			grafted, err := Graft(current, value, field.model)
			if err != nil {
				return nil, err
			}
			have[field.name] = grafted
		}
	}
	return Marshal(have)
}

func graftItems(have, had []json.RawMessage, item reflect.Type) (json.RawMessage, error) {
	for i := range have {
		grafted, err := Graft(have[i], had[i], item)
		if err != nil {
			return nil, err
		}
		have[i] = grafted
	}
	return Marshal(have)
}

// member is a member of a JSON object that a model has a field for.
type member struct {
	name  string
	model reflect.Type
}

type members []member

// named returns the field that encoding/json decodes a member into: the one of
// that name, or else of that name in another case.
func (m members) named(name string) (member, bool) {
	for _, field := range m {
		if field.name == name {
			return field, true
		}
	}
	for _, field := range m {
		if strings.EqualFold(field.name, name) {
			return field, true
		}
	}
	return member{}, false
}

// modelled returns the members that a type has fields for; none for a type whose
// members are not ours to judge, such as a map or a date.
func modelled(model reflect.Type) members {
	var fields members
	for _, field := range reflect.VisibleFields(model) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			fields = append(fields, member{name, field.Type})
		}
	}
	return fields
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
