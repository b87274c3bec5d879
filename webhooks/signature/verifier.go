package signature

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultTolerance is how far the time of a notification may be in the past, unless the call gives
// another limit. For a time in the future it is always the limit.
const DefaultTolerance = 5 * time.Minute

// The errors of [Verifier.Verify]. Log them, but do not disclose the reason to the sender.
var (
	// ErrMissing means that the header is absent or empty.
	ErrMissing = errors.New("webhook signature: header missing")

	// ErrMalformed means that the header does not have the form t=<milliseconds>,v1=<signature>: a
	// part is missing, t is given twice or is not in milliseconds, there are more than five v1
	// values, or the header was sent more than once. Order, blanks and unknown parts do not matter.
	ErrMalformed = errors.New("webhook signature: header malformed")

	// ErrMismatch means that no v1 value is the signature of this body at this time with any of the
	// secrets.
	ErrMismatch = errors.New("webhook signature: no signature matches")

	// ErrTooOld means that the signature is right but older than the tolerance: the notification
	// was delayed or replayed, or the receiver's clock is fast.
	ErrTooOld = errors.New("webhook signature: timestamp too old")

	// ErrTooNew means that the signature is right but further in the future than the tolerance: one
	// of the clocks is wrong.
	ErrTooNew = errors.New("webhook signature: timestamp too far in the future")
)

// A Verifier checks signatures of notifications. It is safe for concurrent use, and printing does
// not show its secrets.
type Verifier struct {
	keys    func() []Key // a function, where printing does not find them
	now     func() time.Time
	headers sync.Pool // of *parsed
}

// An Option configures [NewVerifier].
type Option func(*Verifier) error

// WithClock makes the verifier use now instead of [time.Now].
func WithClock(now func() time.Time) Option {
	return func(v *Verifier) error {
		if now == nil {
			return errors.New("no clock given")
		}
		v.now = now
		return nil
	}
}

// NewVerifier returns a verifier that accepts notifications signed by scheme with any of secrets.
// To rotate a secret, give the new and the old one, and drop the old one when the sender no longer
// uses it.
//
// There is no default scheme: see [AssumedHMAC]. A missing scheme, no secret, a secret that is empty
// or has white space around it, or an invalid option is an error.
func NewVerifier(scheme Scheme, secrets []string, opts ...Option) (*Verifier, error) {
	if len(secrets) == 0 {
		return nil, errors.New("webhook verifier: no secrets given")
	}
	keys := make([]Key, len(secrets))
	for i, secret := range secrets {
		key, err := newKey(scheme, secret)
		if err != nil {
			return nil, fmt.Errorf("webhook verifier: secret %d of %d: %w", i+1, len(secrets), err)
		}
		keys[i] = key
	}
	v := &Verifier{keys: func() []Key { return keys }, now: time.Now}
	v.headers.New = func() any { return &parsed{values: make([]string, 0, maxValues)} }
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("webhook verifier: nil option")
		}
		if err := opt(v); err != nil {
			return nil, fmt.Errorf("webhook verifier: %w", err)
		}
	}
	return v, nil
}

// CheckHeader checks the form of the header, before the body is read. It takes the header as
// [Verifier.Verify] does, and returns [ErrMissing] or [ErrMalformed].
func CheckHeader(header []string) error { return new(parsed).read(header) }

// Now returns the present time by the verifier's clock.
func (v *Verifier) Now() time.Time { return v.now() }

// Verify checks that body carries a signature by one of the secrets and was signed within
// [DefaultTolerance]. Header is all values of [Header] in the request, as http.Header.Values returns
// them; body is the raw bytes of the request.
//
// The error is [ErrMissing], [ErrMalformed], [ErrMismatch], [ErrTooOld] or [ErrTooNew]. The last
// two mean that the signature is genuine. A genuine notification can arrive any number of times
// within the tolerance: recognise duplicates by the id in its body.
func (v *Verifier) Verify(header []string, body []byte) error {
	_, err := v.VerifyWithin(DefaultTolerance, header, body)
	return err
}

// VerifyWithin is [Verifier.Verify] with another limit for the age of the signature, inclusive. It
// returns the time of signing. A sender may sign a notification once and deliver it for days. Accept
// that only if you remember the ids of all notifications for longer, and so recognise replays.
func (v *Verifier) VerifyWithin(past time.Duration, header []string, body []byte) (signed time.Time, err error) {
	p := v.headers.Get().(*parsed)
	defer v.headers.Put(p)
	if err := p.read(header); err != nil {
		return time.Time{}, err
	}
	if !v.matches(p, body) {
		return time.Time{}, ErrMismatch
	}
	signed = time.UnixMilli(p.ms)
	switch age := v.now().Sub(signed); {
	case age > past:
		return time.Time{}, ErrTooOld
	case age < -DefaultTolerance:
		return time.Time{}, ErrTooNew
	}
	return signed, nil
}

func (v *Verifier) matches(p *parsed, body []byte) bool {
	for _, key := range v.keys() {
		if key.Verify(p.timestamp, body, p.values) {
			return true
		}
	}
	return false
}
