package webhooks_test

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

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const password = "canary-password"

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	secret := webhooks.NewSecret(currentSecret)
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: secret, User: "user", Password: webhooks.NewSecret(password), Now: fixed}
	verifier := newVerifier(t, webhooks.WithBasicAuth("canary-user", signer.Password))
	handler := webhooks.NewHandler(verifier, new(calls).handle, webhooks.WithLogger(slog.New(slog.DiscardHandler)))
	// Used once, so that whatever they keep is there.
	post(handler, signedBy(t, signer, confirmedBody))

	// What came in and is not modelled is kept as well as a secret.
	quoted, _ := json.Marshal(currentSecret)
	received := parse(t, fmt.Sprintf(`{"id":"1","eventType":"x","data":{"a":%[1]s,"receiptNumber":%[1]s,"agreementToken":%[1]s}}`, quoted))
	unknown := eventOf[*webhooks.UnknownEvent](t, received)
	if unknown.ReceiptNumber() != currentSecret || reachable(reflect.ValueOf(received), map[uintptr]bool{}) {
		t.Error("the notification lacks its data, or leads to it")
	}

	for name, v := range map[string]any{
		"unknown event": unknown, "unknown event by value": *unknown,
		"secret": secret, "signer": signer, "verifier": verifier, "handler": handler,
		"verifier by value": reflect.ValueOf(verifier).Elem().Interface(),
	} {
		for _, v := range []any{v, &v, struct{ V any }{v}, struct{ v any }{v}, []any{v}, map[string]any{"v": v}} {
			if text := printed(v); shows(text) {
				t.Errorf("%s as %T is printed with a secret:\n%s", name, v, text)
			}
		}
		if reachable(reflect.ValueOf(v), map[uintptr]bool{}) {
			t.Errorf("%s leads to a secret", name)
		}
	}
}

// The checks themselves must find a secret that is there.
func TestSecrecyChecksCanFail(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		struct{ inner any }{currentSecret},
		&struct{ Bytes []byte }{[]byte(password)},
		map[string]any{"v": currentSecret},
	} {
		if !shows(printed(v)) || !reachable(reflect.ValueOf(v), map[uintptr]bool{}) {
			t.Errorf("nothing was found in %T", v)
		}
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	a, b := webhooks.NewSecret("a"), webhooks.NewSecret("b")
	if !a.Equal(webhooks.NewSecret("a")) || a.Equal(b) || a.Equal(webhooks.Secret{}) {
		t.Error("Equal does not compare the values")
	}
	if a.IsZero() || !webhooks.NewSecret("").IsZero() || !(webhooks.Secret{}).IsZero() {
		t.Error("IsZero does not tell what is given")
	}
	if _, err := json.Marshal(a); err == nil {
		t.Error("a secret was marshalled")
	}
}

// printed returns what the usual ways of printing make of v.
func printed(v any) string {
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

// shows reports whether text holds a secret in any of the forms that printing
// gives to texts and bytes.
func shows(text string) bool {
	for _, secret := range []string{currentSecret, previousSecret, password, "canary-user"} {
		for _, form := range []string{
			secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), strings.Trim(fmt.Sprint([]byte(secret)), "[]"),
		} {
			if strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

// reachable reports whether reflection finds a secret behind v, following
// pointers and unexported fields as printers of test differences do.
func reachable(v reflect.Value, seen map[uintptr]bool) bool {
	switch v.Kind() {
	case reflect.String:
		return shows(v.String())
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
			return shows(string(text))
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
