package webhooks

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// basicAuth holds the accepted Basic credentials in a function, where printing does not find them.
// It is nil if none are required.
type basicAuth func() []credentials

// credentials are digests: comparing them takes the same time for every length of input.
type credentials struct{ user, password [sha256.Size]byte }

func digestOf(user, password string) credentials {
	return credentials{sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))}
}

// WithBasicAuth requires these HTTP Basic credentials in addition to the signature. In the vendor's
// public pages they are an optional part of a subscription. Used more than once, it accepts any of
// the pairs, for rotation. An empty user or password, or a user with a colon, is an error of
// [NewVerifier].
func WithBasicAuth(user string, password Secret) VerifierOption {
	return func(c *verifierConfig) error {
		switch {
		case user == "" || password.text() == "":
			return errors.New("HTTP Basic credentials need a user name and a password")
		case strings.Contains(user, ":"):
			return errors.New("a user name with a colon cannot be sent as Basic credentials")
		}
		var accepted []credentials
		if c.basic != nil {
			accepted = c.basic()
		}
		accepted = append(accepted, digestOf(user, password.text()))
		c.basic = func() []credentials { return accepted }
		return nil
	}
}

// admits reports whether a request carries accepted credentials. It compares user name and password
// with every pair, in constant time.
func (b basicAuth) admits(header http.Header) bool {
	if b == nil {
		return true
	}
	user, password, ok := (&http.Request{Header: header}).BasicAuth()
	got := digestOf(user, password)
	match := 0
	for _, want := range b() {
		match |= subtle.ConstantTimeCompare(got.user[:], want.user[:]) &
			subtle.ConstantTimeCompare(got.password[:], want.password[:])
	}
	return ok && len(header["Authorization"]) == 1 && match == 1
}
