package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"sync"
)

// AssumedHMAC is HMAC-SHA256, keyed with the bytes of the secret as they are,
// over the timestamp, a dot and the raw body. When verifying, it takes the
// signature as hex in either case or as padded standard base64.
//
// It is unconfirmed. The vendor's public pages that could be read give the form
// of the header and not the algorithm; this is what other services with the
// same header form do. Test it against notifications of your own subscription
// before relying on it, and where a notification moves goods or money, ask the
// API whether what it says is so.
type AssumedHMAC struct {
	// Base64 makes signing write base64 instead of hex. Verifying takes both.
	Base64 bool
}

// Key implements [Scheme]. It accepts every secret.
func (s AssumedHMAC) Key(secret string) (Key, error) {
	k := &hmacKey{base64: s.Base64}
	// The secret stays inside this func, where no way of printing finds it.
	k.states.New = func() any {
		return &hmacState{
			mac:  hmac.New(sha256.New, []byte(secret)),
			text: make([]byte, hex.EncodedLen(sha256.Size)),
			got:  make([]byte, hex.EncodedLen(sha256.Size)),
		}
	}
	return k, nil
}

// hmacKey pools keyed hashes: keying one costs more than signing a short body.
type hmacKey struct {
	base64 bool
	states sync.Pool // of *hmacState
}

// hmacState is a keyed hash and room for what would otherwise be allocated for
// each signature, since buffers handed to a hash.Hash escape to the heap.
type hmacState struct {
	mac    hash.Hash
	prefix []byte
	sum    []byte
	text   []byte
	got    []byte
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

// decode returns the bytes of a v1 value, valid until the next call. The length
// tells hex from base64.
func (s *hmacState) decode(value string) ([]byte, bool) {
	text := s.text[:copy(s.text, value)]
	var n int
	var err error
	switch len(value) {
	case hex.EncodedLen(sha256.Size):
		n, err = hex.Decode(s.got, text)
	case base64.StdEncoding.EncodedLen(sha256.Size):
		n, err = base64.StdEncoding.Strict().Decode(s.got, text)
	default:
		return nil, false
	}
	return s.got[:n], err == nil
}
