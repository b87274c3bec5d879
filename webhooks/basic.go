package webhooks

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// basicAuth holds the accepted Basic credentials behind a function, where
// printing does not find them; nil when none are asked for.
type basicAuth func() []credentials

// credentials are kept as digests, whose comparison takes the same time whatever
// the length of what was sent.
type credentials struct{ user, password [sha256.Size]byte }

func digestOf(user, password string) credentials {
	return credentials{sha256.Sum256([]byte(user)), sha256.Sum256([]byte(password))}
}

// WithBasicAuth demands these HTTP Basic credentials in addition to the
// signature; in the vendor's public pages they are an optional part of a
// subscription. Used more than once, any of the pairs is accepted, which is for
// rotation.
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

// admits reports whether a request carries accepted credentials. User name and
// password are always both compared, and with every pair.
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
