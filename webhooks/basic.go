package webhooks

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
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
// the pairs, for rotation. A pair with an empty user or password is never accepted.
func WithBasicAuth(user, password string) HandlerOption {
	return func(c *handlerConfig) {
		var accepted []credentials
		if c.basic != nil {
			accepted = c.basic()
		}
		if user != "" && password != "" {
			accepted = append(accepted, digestOf(user, password))
		}
		c.basic = func() []credentials { return accepted }
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
