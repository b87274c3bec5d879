package wire

import (
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
// replace. Texts are strings in exported fields, keys of maps and [json.RawMessage], also of a type
// that marshals itself. It also refuses a value that contains itself, or is nested as deeply, which
// would exhaust the stack of encoding/json. The error does not show the value.
func CheckText(v any) error { return checkText(reflect.ValueOf(v), 0) }

func checkText(v reflect.Value, depth int) error {
	if v.Kind() <= reflect.Complex128 { // nil, a bool or a number
		return nil
	}
	switch t := v.Type(); {
	case depth > maxDepth:
		return errNesting
	case t == reflect.TypeFor[json.RawMessage]():
		return refuse(!utf8.Valid(v.Bytes()))
	case t.Kind() == reflect.String:
		return refuse(!utf8.ValidString(v.String()))
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
		return checkText(v.Elem(), depth+1)
	case t.Kind() == reflect.Map:
		return checkMap(v, depth)
	case t.Kind() == reflect.Struct:
		for _, field := range textFieldsOf(t) {
			if err := checkText(v.Field(field), depth+1); err != nil {
				return err
			}
		}
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && t.Elem().Kind() > reflect.Complex128:
		for i := range v.Len() {
			if err := checkText(v.Index(i), depth+1); err != nil {
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
		if err := checkText(i.Value(), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// textFields keeps the results of textFieldsOf.
//
//nolint:gochecknoglobals // a memo: nothing but the time it takes depends on it
var textFields sync.Map // of []int, by reflect.Type

// textFieldsOf are the fields of a struct that may hold a text and are written.
func textFieldsOf(t reflect.Type) (fields []int) {
	if known, ok := textFields.Load(t); ok {
		return known.([]int)
	}
	for i := range t.NumField() {
		field := t.Field(i)
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		part := field.Anonymous && inner.Kind() == reflect.Struct
		if field.Tag.Get("json") != "-" && (field.IsExported() || part) && inner.Kind() > reflect.Complex128 {
			fields = append(fields, i)
		}
	}
	textFields.Store(t, fields)
	return fields
}
