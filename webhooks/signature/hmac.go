package signature

import (
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"sync"
)

// AssumedHMAC is HMAC-SHA256, keyed with the bytes of the secret, over the timestamp, a dot and the
// raw body. Verifying accepts hex in either case and padded standard base64.
//
// It is unconfirmed. The vendor's public pages give the form of the header and not the algorithm;
// other services with this form of header use this one. Test it against notifications of your own
// subscription. If a notification moves goods or money, confirm it with the API.
type AssumedHMAC struct {
	// Base64 makes signing write base64 instead of hex. Verifying accepts both.
	Base64 bool
}

// shortestFIPSKey is the shortest key, in bytes, with which crypto/hmac does not panic under
// GODEBUG=fips140=only.
const shortestFIPSKey = 14

// Key implements [Scheme]. It accepts every secret, and under GODEBUG=fips140=only those of at least
// 14 bytes.
func (s AssumedHMAC) Key(secret string) (Key, error) {
	if fips140.Enforced() && len(secret) < shortestFIPSKey {
		return nil, errors.New("secret is shorter than the 14 bytes that GODEBUG=fips140=only requires")
	}
	k := &hmacKey{base64: s.Base64}
	// The secret stays inside this function, where printing does not find it.
	k.states.New = func() any { return &hmacState{mac: hmac.New(sha256.New, []byte(secret))} }
	return k, nil
}

// hmacKey pools keyed hashes: keying one costs more than signing a short body.
type hmacKey struct {
	base64 bool
	states sync.Pool // of *hmacState
}

// hmacState is a keyed hash with its buffers, which would otherwise escape to the heap at each
// call.
type hmacState struct {
	mac    hash.Hash
	prefix []byte
	sum    []byte
	text   [2 * sha256.Size]byte // as long as the longest form, hex
	got    [2 * sha256.Size]byte
}

func (k *hmacKey) Sign(timestamp string, body []byte) (string, error) {
	s := k.states.Get().(*hmacState)
	defer k.states.Put(s)
	sum := s.compute(timestamp, body)
	if k.base64 {
		return base64.StdEncoding.EncodeToString(sum), nil
	}
	return hex.EncodeToString(sum), nil
}

func (k *hmacKey) Verify(timestamp string, body []byte, values []string) bool {
	s := k.states.Get().(*hmacState)
	defer k.states.Put(s)
	want := s.compute(timestamp, body)
	for _, value := range values {
		if got, ok := s.decode(value); ok && hmac.Equal(got, want) {
			return true
		}
	}
	return false
}

// compute returns the signature. It is valid until the next call.
func (s *hmacState) compute(timestamp string, body []byte) []byte {
	s.prefix = append(append(s.prefix[:0], timestamp...), '.')
	s.mac.Reset()
	s.mac.Write(s.prefix) // a hash never returns an error
	s.mac.Write(body)
	s.sum = s.mac.Sum(s.sum[:0])
	return s.sum
}

// decode returns the bytes of a v1 value, valid until the next call. The length distinguishes hex
// from base64.
func (s *hmacState) decode(value string) ([]byte, bool) {
	text := s.text[:copy(s.text[:], value)]
	var n int
	var err error
	switch len(value) {
	case hex.EncodedLen(sha256.Size):
		n, err = hex.Decode(s.got[:], text)
	case base64.StdEncoding.EncodedLen(sha256.Size):
		n, err = base64.StdEncoding.Strict().Decode(s.got[:], text)
	default:
		return nil, false
	}
	return s.got[:n], err == nil
}
