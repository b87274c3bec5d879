package signature_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// openScheme makes keys that would show their secret to anyone who prints them.
type openScheme struct{}

type openKey struct {
	Text  string
	Bytes []byte
}

func (openScheme) Key(secret string) (signature.Key, error) {
	return openKey{secret, []byte(secret)}, nil
}

func (openKey) Sign(string, []byte) (string, error)  { return "x", nil }
func (openKey) Verify(string, []byte, []string) bool { return true }

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	for _, scheme := range []signature.Scheme{signature.AssumedHMAC{}, openScheme{}} {
		t.Run(fmt.Sprintf("%T", scheme), func(t *testing.T) {
			t.Parallel()
			v, err := signature.NewVerifier(scheme, []string{current}, clock(signedAt))
			if err != nil {
				t.Fatal(err)
			}
			// Used once, so that the pools hold something.
			if err := v.Verify([]string{"t=" + stamp + ",v1=" + hexCurrent}, []byte(body)); err != nil {
				t.Fatal(err)
			}
			checkPrinted(t, v)
			checkReachable(t, v)
		})
	}
}

func TestAssumedHMACKeyIsNeverPrinted(t *testing.T) {
	t.Parallel()
	key, err := signature.AssumedHMAC{}.Key(current)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := key.Sign(stamp, []byte(body)); err != nil {
		t.Fatal(err)
	}
	checkPrinted(t, key)
	checkReachable(t, key)
}

// The checks themselves must find a secret that is there.
func TestSecrecyChecksCanFail(t *testing.T) {
	t.Parallel()
	shown := struct{ inner any }{&openKey{Text: "x", Bytes: []byte(current)}}
	if !printed(*shown.inner.(*openKey)) {
		t.Error("printing does not find a secret")
	}
	if !reachable(reflect.ValueOf(&shown), map[uintptr]bool{}) {
		t.Error("walking does not find a secret")
	}
}

func checkPrinted(t *testing.T, v any) {
	t.Helper()
	if printed(v) || printed(struct{ V any }{v}) || printed([]any{v}) || printed(map[string]any{"v": v}) {
		t.Errorf("%T can be printed with its secret", v)
	}
}

func checkReachable(t *testing.T, v any) {
	t.Helper()
	if reachable(reflect.ValueOf(v), map[uintptr]bool{}) {
		t.Errorf("%T leads to its secret", v)
	}
}

// printed reports whether any usual way of printing v shows the secret.
func printed(v any) bool {
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
	text := out.String()
	return strings.Contains(text, current) ||
		strings.Contains(text, fmt.Sprintf("%x", current)) ||
		strings.Contains(text, fmt.Sprintf("%X", current)) ||
		strings.Contains(text, strings.Trim(fmt.Sprint([]byte(current)), "[]"))
}

// reachable reports whether reflection finds the secret behind v, following
// pointers and unexported fields as printers of test diffs do.
func reachable(v reflect.Value, seen map[uintptr]bool) bool {
	switch v.Kind() {
	case reflect.String:
		return strings.Contains(v.String(), current)
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return false
		}
		seen[v.Pointer()] = true
		return reachable(v.Elem(), seen)
	case reflect.Interface:
		return reachable(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			if reachable(v.Field(i), seen) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			text := make([]byte, v.Len())
			for i := range text {
				text[i] = byte(v.Index(i).Uint())
			}
			return bytes.Contains(text, []byte(current))
		}
		for i := range v.Len() {
			if reachable(v.Index(i), seen) {
				return true
			}
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if reachable(entry.Key(), seen) || reachable(entry.Value(), seen) {
				return true
			}
		}
	}
	return false
}
