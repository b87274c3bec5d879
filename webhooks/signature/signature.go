// Package signature signs and verifies the X-Webhook-Signature header of
// QuickStream webhook notifications. It uses the standard library only.
//
// The header reads
//
//	X-Webhook-Signature: t=<milliseconds since 1970>,v1=<signature>
//
// That form is public; the algorithm behind v1 is not. So nothing here is a
// default: the caller names a [Scheme], either [AssumedHMAC], which is a guess,
// or one of his own, written from what the vendor tells him.
//
// Verify the bytes as they arrived, before anything decodes them: a body that
// was decoded and encoded again is a different message.
package signature

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Header is the name of the HTTP header that carries the signature.
const Header = "X-Webhook-Signature"

// A Scheme is the algorithm that turns a secret, a timestamp and a body into
// the v1 value of the header. Implement it to use an algorithm that the vendor
// has confirmed to you.
type Scheme interface {
	// Key prepares the scheme for one secret, once. It may refuse a secret that
	// the algorithm cannot use; its error must not contain the secret.
	Key(secret string) (Key, error)
}

// A Key signs and verifies with one secret. It must be safe for concurrent use,
// and must neither change nor keep its arguments.
//
// The timestamp is the text of the t element exactly as it stands in the
// header, because that text is what a sender signs.
type Key interface {
	// Sign returns the v1 value for body.
	Sign(timestamp string, body []byte) (string, error)

	// Verify reports whether any of values, the v1 values of one header, is the
	// signature of body. There are between one and five of them, none of them
	// empty. Compare decoded bytes with [crypto/hmac.Equal], whose duration
	// tells nothing about where a wrong signature starts to differ.
	Verify(timestamp string, body []byte, values []string) bool
}

// Sign returns the value of [Header] for a notification with the given body,
// sent at the given time. It is the sender's side: a simulator of the service
// uses it, and tests of a webhook endpoint.
func Sign(scheme Scheme, secret string, at time.Time, body []byte) (string, error) {
	key, err := newKey(scheme, secret)
	if err != nil {
		return "", fmt.Errorf("webhook signature: %w", err)
	}
	timestamp := strconv.FormatInt(at.UnixMilli(), 10)
	if _, ok := parseTimestamp(timestamp); !ok {
		return "", fmt.Errorf("webhook signature: time out of range: %s", at.UTC().Format(time.RFC3339))
	}
	value, err := key.Sign(timestamp, body)
	if err != nil {
		return "", fmt.Errorf("webhook signature: %w", err)
	}
	return "t=" + timestamp + ",v1=" + value, nil
}

func newKey(scheme Scheme, secret string) (Key, error) {
	if scheme == nil {
		return nil, errors.New("no scheme given")
	}
	if secret == "" {
		return nil, errors.New("empty secret")
	}
	// Mostly the line break at the end of a file. Such a secret never verifies
	// anything, and says so only once real notifications are being refused.
	if strings.TrimSpace(secret) != secret {
		return nil, errors.New("secret begins or ends with white space")
	}
	key, err := scheme.Key(secret)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("scheme returned no key")
	}
	return key, nil
}
