// Package scheme finds how a webhook subscription signs its notifications, among the plausible
// ways to do so. What it finds can be used with package webhooks of quickstream.
package scheme

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// HMAC is one way to sign: it implements [signature.Scheme]. The zero value is not valid: take one
// from [All], [Find] or [Parse].
type HMAC struct{ hash, message, secret, encoding string }

//nolint:gochecknoglobals // immutable tables
var (
	hashes = map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}
	// messages are what is signed: t is the time of the header, as text.
	messages = []string{"t.body", "tbody", "t:body", "t,body", "t|body", "t\\nbody", "body", "bodyt", "body.t"}
	// secrets are how the subscription's secret becomes the key.
	secrets = map[string]func(string) ([]byte, error){
		"text":          func(s string) ([]byte, error) { return []byte(s), nil },
		"hexDecoded":    hex.DecodeString,
		"base64Decoded": base64.StdEncoding.DecodeString,
	}
	encodings = map[string]func([]byte) string{
		"hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString, "base64url": base64.RawURLEncoding.EncodeToString,
	}
)

// All returns the plausible schemes, the likely ones first.
func All() iter.Seq[HMAC] {
	return func(yield func(HMAC) bool) {
		for _, secret := range []string{"text", "hexDecoded", "base64Decoded"} {
			for _, message := range messages {
				for _, hash := range []string{"sha256", "sha512"} {
					for _, encoding := range []string{"hex", "base64", "base64url"} {
						if !yield(HMAC{hash, message, secret, encoding}) {
							return
						}
					}
				}
			}
		}
	}
}

// String names the scheme, such as "sha256 t.body text hex".
func (s HMAC) String() string {
	return strings.Join([]string{s.hash, s.message, s.secret, s.encoding}, " ")
}

// Parse returns the scheme with a name.
func Parse(name string) (HMAC, error) {
	for s := range All() {
		if s.String() == name {
			return s, nil
		}
	}
	return HMAC{}, errors.New("scheme: no such scheme")
}

// Find returns the first scheme that explains a notification: the value of its signature header,
// its body, and the secret of the subscription. It is false if none does.
func Find(header string, body []byte, secret string) (HMAC, bool) {
	timestamp, values := "", []string(nil)
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			timestamp = value
		case "v1":
			values = append(values, value)
		}
	}
	for s := range All() {
		if k, err := s.Key(secret); err == nil && k.Verify(timestamp, body, values) {
			return s, true
		}
	}
	return HMAC{}, false
}

// Key implements [signature.Scheme].
func (s HMAC) Key(secret string) (signature.Key, error) {
	decode := secrets[s.secret]
	if decode == nil {
		return nil, errors.New("scheme: not a scheme of this package")
	}
	bytes, err := decode(secret)
	if err != nil || len(bytes) == 0 {
		return nil, fmt.Errorf("scheme: the secret cannot be %s", s.secret)
	}
	// The key stays inside this function, where printing does not find it.
	return key(func(timestamp string, body []byte) string {
		mac := hmac.New(hashes[s.hash], bytes)
		before, after, _ := strings.Cut(s.message, "body")
		joint := strings.NewReplacer("t", timestamp, `\n`, "\n")
		_, _ = mac.Write([]byte(joint.Replace(before))) // a hash never returns an error
		_, _ = mac.Write(body)
		_, _ = mac.Write([]byte(joint.Replace(after)))
		return encodings[s.encoding](mac.Sum(nil))
	}), nil
}

// key signs; it implements [signature.Key].
type key func(timestamp string, body []byte) string

// Sign implements [signature.Key].
func (k key) Sign(timestamp string, body []byte) (string, error) { return k(timestamp, body), nil }

// Verify implements [signature.Key].
func (k key) Verify(timestamp string, body []byte, values []string) bool {
	want := []byte(k(timestamp, body))
	return slices.ContainsFunc(values, func(value string) bool { return hmac.Equal(want, []byte(value)) })
}
