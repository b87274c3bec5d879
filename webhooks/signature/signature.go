// Package signature signs and verifies the X-Webhook-Signature header of QuickStream notifications.
// It uses the standard library only.
//
// The header is
//
//	X-Webhook-Signature: t=<milliseconds since 1970>,v1=<signature>
//
// This form is public; the algorithm of v1 is not. So there is no default: name a [Scheme], either
// [AssumedHMAC], which is unconfirmed, or your own, written from the vendor's information.
//
// Verify the bytes as they arrived, before anything decodes them. A body that was decoded and
// encoded again is a different message.
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

// A Scheme is the algorithm that makes the v1 value from a secret, a timestamp and a body.
// Implement it for an algorithm that the vendor has confirmed to you.
//
// [AssumedHMAC] signs the time. If your scheme does not, a notification that leaks can be sent
// again with any time, and a tolerance protects nothing: remember ID and digest for ever.
type Scheme interface {
	// Key prepares the scheme for one secret. It may refuse a secret that the algorithm cannot use;
	// its error must not contain the secret.
	Key(secret string) (Key, error)
}

// A Key signs and verifies with one secret. It must be safe for concurrent use, and must neither
// change nor keep its arguments. The timestamp is the exact text of the header's t element, because
// the sender signs that text.
type Key interface {
	// Sign returns the v1 value for body.
	Sign(timestamp string, body []byte) (string, error)

	// Verify reports whether one of values is the signature of body. They are the one to five v1
	// values of a header, none of them empty. Compare decoded bytes with [crypto/hmac.Equal], which
	// takes constant time.
	Verify(timestamp string, body []byte, values []string) bool
}

// Sign returns the value of [Header] for a notification with this body, sent at this time.
// Simulators of the service and tests use it.
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
	// Usually the line break at the end of a file: such a secret never verifies anything.
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
