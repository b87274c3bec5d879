// Package printtest finds texts that a value shows when it is printed.
package printtest

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
)

// Printed returns v as the usual ways of printing show it.
func Printed(v any) string {
	var out bytes.Buffer
	for _, verb := range "vsqxXdTpeg" {
		for _, flag := range []string{"", "+", "#"} {
			fmt.Fprintf(&out, "%"+flag+string(verb)+"\n", v)
		}
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("text", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "v", v)
	for _, encode := range []func(any) error{json.NewEncoder(&out).Encode, xml.NewEncoder(&out).Encode, gob.NewEncoder(&out).Encode} {
		if err := encode(v); err != nil {
			out.WriteString(err.Error())
		}
	}
	return out.String()
}

// Shows reports whether text holds a secret in any of the forms that printing gives to
// texts and bytes.
func Shows(text string, secrets ...string) bool {
	return slices.ContainsFunc(secrets, func(secret string) bool {
		return strings.Contains(text, secret) || strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", secret)) ||
			strings.Contains(text, strings.Trim(fmt.Sprint([]byte(secret)), "[]"))
	})
}

// Reachable reports whether reflection finds a secret behind v, following pointers and
// unexported fields as printers of test differences do.
func Reachable(v any, secrets ...string) bool {
	return reachable(reflect.ValueOf(v), map[uintptr]bool{}, secrets)
}

func reachable(v reflect.Value, seen map[uintptr]bool, secrets []string) bool {
	switch v.Kind() {
	case reflect.String:
		return Shows(v.String(), secrets...)
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return false
		}
		seen[v.Pointer()] = true
		return reachable(v.Elem(), seen, secrets)
	case reflect.Interface:
		return reachable(v.Elem(), seen, secrets)
	case reflect.Struct:
		for i := range v.NumField() {
			if reachable(v.Field(i), seen, secrets) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			text := make([]byte, v.Len())
			for i := range text {
				text[i] = byte(v.Index(i).Uint()) //nolint:gosec // it is one
			}
			return Shows(string(text), secrets...)
		}
		for i := range v.Len() {
			if reachable(v.Index(i), seen, secrets) {
				return true
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if reachable(entry.Key(), seen, secrets) || reachable(entry.Value(), seen, secrets) {
				return true
			}
		}
	}
	return false
}
