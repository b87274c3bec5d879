package wire

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

var (
	errText    = errors.New("a text of the request is not valid UTF-8, and would be sent as another one")
	errNesting = errors.New("a value of the request is nested too deeply, or contains itself")
	errValue   = errors.New("a value of the request cannot be written in JSON")
)

// Encode encodes a value of a request as [Marshal] does, after [CheckText]. Its errors show no value,
// unless one is in an error of the caller's own method.
func Encode(v any) ([]byte, error) {
	if err := CheckText(v); err != nil {
		return nil, err
	}
	body, err := Marshal(v)
	if err != nil {
		return nil, withoutValue(err)
	}
	return body, nil
}

// withoutValue replaces an error of encoding/json: it may show numbers, pieces of texts and names.
func withoutValue(err error) error {
	if method, is := errors.AsType[*json.MarshalerError](err); is && deref(method.Type).PkgPath() != "encoding/json" {
		return withoutValue(method.Err) // and not the name of our type
	} else if is {
		return errValue // of a json.Number or a json.RawMessage
	}
	if kind, is := errors.AsType[*json.UnsupportedTypeError](err); is {
		return kind
	}
	text := err.Error()
	if _, is := errors.AsType[*json.SyntaxError](err); is || strings.Contains(text, "json: ") || strings.Contains(text, "jsontext: ") {
		return errValue
	}
	return err
}

// CheckText refuses a value with a text that is not valid UTF-8, which encoding/json would silently
// replace. Strings, keys of maps and [json.RawMessage] are texts. Output of MarshalJSON and
// MarshalText is not checked. It also refuses a value without end, which would exhaust the stack of
// encoding/json. The error does not show the value.
func CheckText(v any) error { return checkText(reflect.ValueOf(v), 0, false) }

// checkText checks an embedded struct by its fields, whatever its methods are: they count as fields
// of the struct around it.
func checkText(v reflect.Value, depth int, embedded bool) error {
	if v.Kind() <= reflect.Complex128 { // nil, a bool or a number
		return nil
	}
	t := v.Type()
	written := writtenOf(t)
	switch kind := t.Kind(); {
	case depth > maxDepth:
		return errNesting
	case written.raw && kind == reflect.Slice:
		return refuse(!utf8.Valid(v.Bytes()))
	case !embedded && (!written.raw && written.own || written.ownPointer && v.CanAddr()):
		return nil
	case kind == reflect.String:
		return refuse(!utf8.ValidString(v.String()))
	case kind == reflect.Pointer || kind == reflect.Interface:
		return checkText(v.Elem(), depth+1, embedded)
	case kind == reflect.Map:
		return checkMap(v, depth)
	case kind == reflect.Struct:
		return checkFields(v, written.fields, depth)
	case (kind == reflect.Slice || kind == reflect.Array) && t.Elem().Kind() > reflect.Complex128:
		for i := range v.Len() {
			if err := checkText(v.Index(i), depth+1, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func refuse(is bool) error {
	if is {
		return errText
	}
	return nil
}

func checkMap(m reflect.Value, depth int) error {
	for i := m.MapRange(); i.Next(); {
		key := i.Key()
		if err := refuse(key.Kind() == reflect.String && !utf8.ValidString(key.String())); err != nil {
			return err
		}
		if err := checkText(i.Value(), depth+1, false); err != nil {
			return err
		}
	}
	return nil
}

func checkFields(s reflect.Value, fields []textField, depth int) error {
	for _, field := range fields {
		if err := checkText(s.Field(field.index), depth+1, field.embedded); err != nil {
			return err
		}
	}
	return nil
}

// written says what encoding/json writes for a type.
type written struct {
	raw             bool // json.RawMessage, or a pointer to it
	own, ownPointer bool // a method of the type, or of its pointer, writes it
	fields          []textField
}

// textField is a field of a struct.
type textField struct {
	index    int
	embedded bool
}

// writers remembers what writtenOf made.
//
//nolint:gochecknoglobals // a memo: nothing but the time it takes depends on it
var writers sync.Map // of *written, by reflect.Type

func writtenOf(t reflect.Type) *written {
	if known, ok := writers.Load(t); ok {
		return known.(*written)
	}
	pointer := t.Kind() == reflect.Pointer
	found := &written{raw: t == reflect.TypeFor[json.RawMessage]() || t == reflect.TypeFor[*json.RawMessage]()}
	for _, method := range [...]reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		found.own = found.own || t.Implements(method)
		found.ownPointer = found.ownPointer || !pointer && reflect.PointerTo(t).Implements(method)
	}
	if t.Kind() == reflect.Struct {
		found.fields = textFieldsOf(t)
	}
	writers.Store(t, found)
	return found
}

func textFieldsOf(t reflect.Type) []textField {
	var fields []textField
	for i := range t.NumField() {
		field := t.Field(i)
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		part := field.Anonymous && inner.Kind() == reflect.Struct
		tag := field.Tag.Get("json")
		if tag == "-" || !field.IsExported() && !part || inner.Kind() <= reflect.Complex128 {
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		fields = append(fields, textField{i, part && name == ""})
	}
	return fields
}
