package wire

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Unknown returns the members of data that the type does not model, keyed by
// their path, such as "creditCard.newMember" or "items[0].newMember".
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
