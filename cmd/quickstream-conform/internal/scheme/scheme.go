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
	"slices"
	"strings"
)

// HMAC is one way to sign.
type HMAC struct{ hash, message, secret, encoding string }

// All returns the plausible schemes, the likely ones first. In what is signed, t is the time of the header, as
// text, and id the notification's.
func All() (all []HMAC) {
	for _, secret := range []string{"text", "hexDecoded", "base64Decoded"} {
		for _, message := range []string{"t.body", "t.id.body", "id.t.body", "tbody", "t:body", "t,body", "t|body", "body", "bodyt", "body.t"} {
			for _, hash := range []string{"sha256", "sha512"} {
				for _, encoding := range []string{"hex", "base64", "base64url"} {
					all = append(all, HMAC{hash, message, secret, encoding})
				}
			}
		}
	}
	return all
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
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			timestamp = value
		case "v1":
			values = append(values, value)
		}
	}
	for _, s := range All() {
		if value := s.Sign(secret, timestamp, body); value != "" && slices.Contains(values, value) {
			return s, true
		}
	}
	return HMAC{}, false
}

// Sign returns the signature of a body. It is empty if the secret cannot be decoded so.
func (s HMAC) Sign(secret, timestamp string, body []byte) string {
	key, err := []byte(secret), error(nil)
	switch s.secret {
	case "hexDecoded":
		key, err = hex.DecodeString(secret)
	case "base64Decoded":
		key, err = base64.StdEncoding.DecodeString(secret)
	}
	if err != nil || len(key) == 0 {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	if s.hash == "sha512" {
		mac = hmac.New(sha512.New, key)
	}
	var named struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(body, &named) // without an id, no scheme with one fits
	before, after, _ := strings.Cut(s.message, "body")
	joint := strings.NewReplacer("t", timestamp, "id", named.ID)
	_, _ = mac.Write([]byte(joint.Replace(before) + string(body) + joint.Replace(after))) // a hash never returns an error
	switch sum := mac.Sum(nil); s.encoding {
	case "hex":
		return hex.EncodeToString(sum)
	case "base64":
		return base64.StdEncoding.EncodeToString(sum)
	default:
		return base64.RawURLEncoding.EncodeToString(sum)
	}
}
