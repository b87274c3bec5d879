package signature_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The signatures below were computed with openssl dgst -sha256 -hmac, over
// stamp + "." + body.
const (
	current  = "current-secret"
	previous = "previous-secret"

	stamp = "1707312770123"
	body  = `{"id":"8e3c"}`

	hexCurrent    = "c46e76422fce898b9d1fa109d309efe85b008f63bee06a3f9792f4b6bc7f4618"
	base64Current = "xG52Qi/OiYudH6EJ0wnv6FsAj2O+4Go/l5L0trx/Rhg="
	hexPrevious   = "d9a5ce34d0616c72649e3cac607350a5d92f3cc1d676d050dd4f323c8df5182f"
	hexEmptyBody  = "167466de1b5840363d7da7fec5862d7fae9465244f5de4226c8c9b46273f0eeb"
	hexSeconds    = "00abf804d3ed3af23f8b69e6a714b7404ab5545ef5546fce32ba61c5fe730d9a" // stamp in seconds
)

var signedAt = time.UnixMilli(1707312770123)

func clock(at time.Time) signature.Option {
	return signature.WithClock(func() time.Time { return at })
}

func newVerifier(t *testing.T, opts ...signature.Option) *signature.Verifier {
	t.Helper()
	opts = append([]signature.Option{clock(signedAt)}, opts...)
	v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{current, previous}, opts...)
	require.NoError(t, err)
	return v
}

type refusingScheme struct{ err error }

func (s refusingScheme) Key(string) (signature.Key, error) { return nil, s.err }

func TestNewVerifierRefuses(t *testing.T) {
	t.Parallel()
	assumed := signature.AssumedHMAC{}
	tests := []struct {
		name    string
		scheme  signature.Scheme
		secrets []string
		opts    []signature.Option
		want    string
	}{
		{"no scheme", nil, []string{current}, nil, "no scheme"},
		{"no secrets", assumed, nil, nil, "no secrets"},
		{"no secrets in the list", assumed, []string{}, nil, "no secrets"},
		{"empty secret", assumed, []string{""}, nil, "secret 1 of 1: empty"},
		{"one empty secret", assumed, []string{current, ""}, nil, "secret 2 of 2: empty"},
		{"line break", assumed, []string{current + "\n"}, nil, "white space"},
		{"space in front", assumed, []string{" " + current}, nil, "white space"},
		{"only space", assumed, []string{"\t"}, nil, "white space"},
		{"scheme refuses", refusingScheme{errors.New("too short")}, []string{current}, nil, "too short"},
		{"scheme gives no key", refusingScheme{}, []string{current}, nil, "no key"},
		{"no clock", assumed, []string{current}, []signature.Option{signature.WithClock(nil)}, "no clock"},
		{"nil option", assumed, []string{current}, []signature.Option{nil}, "nil option"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			v, err := signature.NewVerifier(test.scheme, test.secrets, test.opts...)
			if v != nil || err == nil {
				t.Fatalf("got %v, %v", v, err)
			}
			assert.Contains(t, err.Error(), test.want)
			assert.NotContains(t, err.Error(), current)
		})
	}
}
