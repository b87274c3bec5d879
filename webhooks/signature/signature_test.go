package signature_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func TestSign(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		scheme signature.Scheme
		want   string
	}{
		{"hex", signature.AssumedHMAC{}, "t=" + stamp + ",v1=" + hexCurrent},
		{"base64", signature.AssumedHMAC{Base64: true}, "t=" + stamp + ",v1=" + base64Current},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			// The zone and what is below a millisecond do not matter.
			at := signedAt.Add(999 * time.Microsecond).In(time.FixedZone("", 11*3600))
			got, err := signature.Sign(test.scheme, current, at, []byte(body))
			if err != nil || got != test.want {
				t.Fatalf("got %q, %v, want %q", got, err, test.want)
			}
			// A verifier takes both encodings, whichever of them its own scheme writes.
			for _, receiver := range []signature.AssumedHMAC{{}, {Base64: true}} {
				v, err := signature.NewVerifier(receiver, []string{current}, clock(signedAt))
				require.NoError(t, err)
				assert.NoError(t, v.Verify([]string{got}, []byte(body)), "received by %+v", receiver)
			}
		})
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	assumed := signature.AssumedHMAC{}
	tests := []struct {
		name   string
		scheme signature.Scheme
		secret string
		at     time.Time
		want   string
	}{
		{"no scheme", nil, current, signedAt, "no scheme"},
		{"empty secret", assumed, "", signedAt, "empty secret"},
		{"white space", assumed, current + "\r\n", signedAt, "white space"},
		{"scheme refuses", refusingScheme{errors.New("too short")}, current, signedAt, "too short"},
		{"scheme cannot sign", verifyOnly{}, current, signedAt, "only verifies"},
		{"zero time", assumed, current, time.Time{}, "out of range"},
		{"before 1973", assumed, current, time.UnixMilli(99_999_999_999), "out of range"},
		{"after 2286", assumed, current, time.UnixMilli(10_000_000_000_000), "out of range"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			header, err := signature.Sign(test.scheme, test.secret, test.at, []byte(body))
			if header != "" || err == nil {
				t.Fatalf("got %q, %v", header, err)
			}
			assert.Contains(t, err.Error(), test.want)
			assert.NotContains(t, err.Error(), current)
		})
	}
}

// verifyOnly is a scheme of the kind whose receiver cannot sign, and records
// what the verifier hands to a key.
type verifyOnly struct{ got *[]string }

func (s verifyOnly) Key(string) (signature.Key, error) { return s, nil }

func (verifyOnly) Sign(string, []byte) (string, error) {
	return "", errors.New("this key only verifies")
}

func (s verifyOnly) Verify(timestamp string, body []byte, values []string) bool {
	*s.got = append([]string{timestamp, string(body)}, values...)
	return values[len(values)-1] == "valid"
}
