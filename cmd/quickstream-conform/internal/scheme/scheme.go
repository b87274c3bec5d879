// Package scheme finds how a webhook subscription signs its notifications, among the plausible
// ways to do so.
package scheme

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"iter"
	"strings"
)

// HMAC is one way to sign.
type HMAC struct{ hash, message, secret, encoding string }

// All returns the plausible schemes, the likely ones first. In what is signed, t is the time of the header, as
// text, and id the notification's.
func All() iter.Seq[HMAC] {
	return func(yield func(HMAC) bool) {
		for _, secret := range []string{"text", "hexDecoded", "base64Decoded"} {
			for _, message := range []string{"t.body", "t.id.body", "tbody", "t:body", "t,body", "t|body", "t\\nbody", "body", "bodyt", "body.t"} {
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

// WithoutTime ends the name of a scheme that does not sign the time of the header. Whoever has seen a
// notification of such a scheme can send it again under any time.
const WithoutTime = ", without the time"

// String names the scheme, such as "sha256 t.body text hex".
func (s HMAC) String() string {
	name := strings.Join([]string{s.hash, s.message, s.secret, s.encoding}, " ")
	if s.message == "body" {
		name += WithoutTime
	}
	return name
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
		value, ok := s.Sign(secret, timestamp, body)
		for _, sent := range values {
			if ok && hmac.Equal([]byte(value), []byte(sent)) {
				return s, true
			}
		}
	}
	return HMAC{}, false
}

// Sign returns the signature of a body. It is false if the secret cannot be decoded so.
func (s HMAC) Sign(secret, timestamp string, body []byte) (value string, ok bool) {
	key, err := []byte(secret), error(nil)
	switch s.secret {
	case "hexDecoded":
		key, err = hex.DecodeString(secret)
	case "base64Decoded":
		key, err = base64.StdEncoding.DecodeString(secret)
	}
	if err != nil || len(key) == 0 {
		return "", false
	}
	mac := hmac.New(sha256.New, key)
	if s.hash == "sha512" {
		mac = hmac.New(sha512.New, key)
	}
	before, after, _ := strings.Cut(s.message, "body")
	var named struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(body, &named) // without an id, no scheme with one fits
	joint := strings.NewReplacer("t", timestamp, "id", named.ID, `\n`, "\n")
	_, _ = mac.Write([]byte(joint.Replace(before))) // a hash never returns an error
	_, _ = mac.Write(body)
	_, _ = mac.Write([]byte(joint.Replace(after)))
	switch sum := mac.Sum(nil); s.encoding {
	case "hex":
		return hex.EncodeToString(sum), true
	case "base64":
		return base64.StdEncoding.EncodeToString(sum), true
	default:
		return base64.RawURLEncoding.EncodeToString(sum), true
	}
}
