package signature

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// DefaultTolerance is how far the time of a notification may lie in the verifier's
// future, and in its past unless [WithTolerance] says otherwise.
const DefaultTolerance = 5 * time.Minute

// The reasons why [Verifier.Verify] refuses a notification. They are for the
// receiver's own logs: a sender should not be told which one it was.
var (
	// ErrMissing means that the header is absent or empty.
	ErrMissing = errors.New("webhook signature: header missing")

	// ErrMalformed means that the header does not have the form
	// t=<milliseconds>,v1=<signature>: a part is missing, t is given twice or is
	// not a time in milliseconds, there are more than five v1 values, or the header
	// was sent more than once. The order of the parts, blanks around them, and parts
	// with other names do not matter.
	ErrMalformed = errors.New("webhook signature: header malformed")

	// ErrMismatch means that no v1 value is the signature of this body at this
	// time under any of the secrets.
	ErrMismatch = errors.New("webhook signature: no signature matches")

	// ErrTooOld means that the signature is right, but older than the tolerance:
	// the notification was delayed or replayed, or the receiver's clock is fast.
	ErrTooOld = errors.New("webhook signature: timestamp too old")

	// ErrTooNew means that the signature is right, but further in the future than
	// the tolerance: the receiver's clock, or the sender's, is wrong.
	ErrTooNew = errors.New("webhook signature: timestamp too far in the future")
)

// A Verifier checks the signature of notifications. It is safe for concurrent
// use, and does not reveal its secrets however it is printed.
type Verifier struct {
	keys    func() []Key // a func, so that printing cannot reach what keys hold
	options options
	headers sync.Pool // of *parsed
}

type options struct {
	tolerance time.Duration
	now       func() time.Time
}

// An Option changes how a [Verifier] works.
type Option func(*options) error

// WithTolerance sets how far the time of a notification may lie in the verifier's
// past. A notification exactly that old is accepted. It cannot be switched off: d
// must be positive. For what is ahead it remains [DefaultTolerance], which is for
// clocks that differ.
//
// A sender may sign a notification once and deliver it for days. Accepting that
// is safe for a receiver that remembers the ids of all notifications for longer,
// and so recognises one that was recorded and is played again.
func WithTolerance(d time.Duration) Option {
	return func(o *options) error {
		if d <= 0 {
			return errors.New("tolerance must be positive")
		}
		o.tolerance = d
		return nil
	}
}

// WithClock makes the verifier read the time from now instead of [time.Now].
func WithClock(now func() time.Time) Option {
	return func(o *options) error {
		if now == nil {
			return errors.New("no clock given")
		}
		o.now = now
		return nil
	}
}

// NewVerifier returns a verifier that accepts notifications signed by scheme
// with any of secrets. More than one secret is for rotation: give the new one
// and the old one, and drop the old one when the sender no longer uses it.
//
// A missing scheme, no secret at all, a secret that is empty or has white space
// around it, and a tolerance that is not positive are errors here, so that none
// of them can turn into a check that always fails or never does.
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
	v := &Verifier{
		keys:    func() []Key { return keys },
		options: options{tolerance: DefaultTolerance, now: time.Now},
	}
	v.headers.New = func() any { return &parsed{values: make([]string, 0, maxValues)} }
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("webhook verifier: nil option")
		}
		if err := opt(&v.options); err != nil {
			return nil, fmt.Errorf("webhook verifier: %w", err)
		}
	}
	return v, nil
}

// CheckHeader judges the form of the header alone, for callers that have not read the
// body yet: a stranger's need not be. The header is that of Verify, and the error is
// [ErrMissing] or [ErrMalformed].
func CheckHeader(header []string) error { return new(parsed).read(header) }

// Verify checks that body carries a signature by one of the secrets and was
// signed within the tolerance. The header is every value of [Header] that the
// request has, as http.Header.Values returns them, so that a header sent twice
// is seen and refused. The body is the raw bytes of the request.
//
// The error is [ErrMissing], [ErrMalformed], [ErrMismatch], [ErrTooOld] or
// [ErrTooNew]. The time is judged last: the latter two come with a signature
// that is genuine.
//
// A genuine notification can arrive any number of times within the tolerance.
// Recognise the second one by the id in its body.
func (v *Verifier) Verify(header []string, body []byte) error {
	_, err := v.VerifyWithin(v.options.tolerance, header, body)
	return err
}

// VerifyWithin is Verify with a tolerance into the past of its own, and returns
// when the notification was signed.
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
	now := v.options.now()
	if now.Sub(signed) > past {
		return time.Time{}, ErrTooOld
	}
	if signed.Sub(now) > DefaultTolerance {
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
