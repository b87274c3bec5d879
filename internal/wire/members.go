package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
)

// links is the member whose addresses can contain account numbers.
const links = "links"

// Unknown returns the members of data that the type does not model and those that Decode could not
// read, by path, such as "creditCard.newMember" or "items[0].newMember". Unreadable links are left
// out.
func Unknown(data []byte, model reflect.Type) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	unknown(data, model, "", found)
	return found
}

func unknown(data []byte, model reflect.Type, path string, found map[string]json.RawMessage) {
	model = deref(model)
	switch model.Kind() {
	case reflect.Struct:
		known := decodersOf(model).members
		var members map[string]json.RawMessage
		if len(known.fields) == 0 || json.Unmarshal(data, &members) != nil {
			return
		}
		for name, value := range members {
			i, ok := known.byName[name]
			switch {
			case !ok, name != links && known.fields[i].unreadable(value):
				found[join(path, name)] = value
			default:
				unknown(value, known.fields[i].model, join(path, name), found)
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

// AddUnknown returns known with every member of raw that Unknown finds added in its place, so that a
// model survives storing and reading. Data without the shape of the model is returned unchanged,
// and changed members are kept.
func AddUnknown(known, raw json.RawMessage, model reflect.Type) (json.RawMessage, error) {
	model = deref(model)
	switch model.Kind() {
	case reflect.Struct:
		var have, had map[string]json.RawMessage
		fields := decodersOf(model).members
		if len(fields.fields) > 0 && json.Unmarshal(known, &have) == nil && json.Unmarshal(raw, &had) == nil && have != nil {
			return addMembers(have, had, fields)
		}
	case reflect.Slice:
		var have, had []json.RawMessage
		if json.Unmarshal(known, &have) == nil && json.Unmarshal(raw, &had) == nil && len(have) == len(had) {
			return addItems(have, had, model.Elem())
		}
	}
	return known, nil
}

// addMembers adds the unknown members of an object at any depth.
func addMembers(have, had map[string]json.RawMessage, known *structReader) (json.RawMessage, error) {
	for name, value := range had {
		current, given := have[name]
		i, ok := known.byName[name]
		switch {
		case !ok, name != links && known.fields[i].unreadable(value) && (!given || isZero(current, known.fields[i].model)):
			have[name] = value
		case given:
			with, err := AddUnknown(current, value, known.fields[i].model)
			if err != nil {
				return nil, err
			}
			have[name] = with
		}
	}
	return Marshal(have)
}

func addItems(have, had []json.RawMessage, item reflect.Type) (json.RawMessage, error) {
	for i := range have {
		with, err := AddUnknown(have[i], had[i], item)
		if err != nil {
			return nil, err
		}
		have[i] = with
	}
	return Marshal(have)
}

// isZero reports whether data is the JSON of the type's zero value.
func isZero(data []byte, model reflect.Type) bool {
	zero, err := Marshal(reflect.Zero(model).Interface())
	return err == nil && bytes.Equal(data, zero)
}

// modelled returns the types of a struct's members by name.
func modelled(model reflect.Type) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	if model = deref(model); model != nil && model.Kind() == reflect.Struct {
		for _, field := range decodersOf(model).members.fields {
			types[field.name] = field.model
		}
	}
	return types
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
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
