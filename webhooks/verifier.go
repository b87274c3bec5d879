package webhooks

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// DefaultMaxBody is how long the body of a notification may be, in bytes, unless
// [WithMaxBody] says otherwise.
const DefaultMaxBody = 1 << 20

// StoreTolerance is how far the time of a signature may lie in the past where
// what was received is remembered for longer: see [NewInbox] and [WithStore]. A
// service may sign a notification once and deliver it for days.
const StoreTolerance = 7 * 24 * time.Hour

// presize bounds the memory that a request gets for announcing a long body.
const presize = 16 << 10

// The reasons why [Verifier.Verify] refuses a request, next to those of package
// signature and to [ParseError]. They are for the receiver's own logs: a sender
// should not be told which one it was.
var (
	// ErrMethod means that the request is not a POST.
	ErrMethod = errors.New("webhooks: the method is not POST")
	// ErrContentEncoding means that the body is compressed or otherwise encoded.
	// The service is not known to do that, and unpacking comes before verifying.
	ErrContentEncoding = errors.New("webhooks: the body has a content encoding")
	// ErrCredentials means that the Basic credentials are missing or wrong.
	ErrCredentials = errors.New("webhooks: the Basic credentials are missing or wrong")
	// ErrBodyTooLarge means that the body is longer than the limit.
	ErrBodyTooLarge = errors.New("webhooks: the body is too large")
	// ErrBody means that the body could not be read to its end: the sender was too
	// slow, or went away.
	ErrBody = errors.New("webhooks: the body could not be read")
)

// A Verifier checks that a request is a notification sent by the service. It is
// safe for concurrent use, and does not reveal its secrets however it is printed.
type Verifier struct {
	signature *signature.Verifier
	tolerance time.Duration // 0 where it depends on what is remembered
	now       func() time.Time
	basic     basicAuth
	maxBody   int64
}

type verifierConfig struct {
	signature []signature.Option
	tolerance time.Duration
	now       func() time.Time
	basic     basicAuth
	maxBody   int64
}

// A VerifierOption changes how a [Verifier] works.
type VerifierOption func(*verifierConfig) error

// WithTolerance sets how far the time of a signature may lie in the past. Without
// it that is [StoreTolerance] for handlers that remember what they received, and
// [signature.DefaultTolerance] for everything else, [Verifier.Verify] included. It
// must be positive. In the future it is always the latter.
func WithTolerance(d time.Duration) VerifierOption {
	return func(c *verifierConfig) error {
		c.signature, c.tolerance = append(c.signature, signature.WithTolerance(d)), d
		return nil
	}
}

// WithClock makes the verifier read the time from now instead of [time.Now].
func WithClock(now func() time.Time) VerifierOption {
	return func(c *verifierConfig) error {
		c.signature, c.now = append(c.signature, signature.WithClock(now)), now
		return nil
	}
}

// WithMaxBody sets how long a body may be, in bytes.
func WithMaxBody(n int64) VerifierOption {
	return func(c *verifierConfig) error {
		if n <= 0 {
			return errors.New("the longest body must have a positive length")
		}
		c.maxBody = n
		return nil
	}
}

// NewVerifier returns a verifier of notifications that are signed by scheme with
// any of secrets. More than one secret is for rotation: give the new one and the
// old one, and drop the old one when the service no longer uses it.
//
// There is no default scheme; see [signature.AssumedHMAC]. A missing scheme, no
// secret, an empty one, or an option that makes no sense is an error here, so
// that none of them can turn into a check that always fails or never does.
func NewVerifier(scheme signature.Scheme, secrets []Secret, opts ...VerifierOption) (*Verifier, error) {
	config := verifierConfig{maxBody: DefaultMaxBody, now: time.Now}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("webhooks: nil option")
		}
		if err := opt(&config); err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
	}
	texts := make([]string, len(secrets))
	for i, secret := range secrets {
		texts[i] = secret.text()
	}
	verifier, err := signature.NewVerifier(scheme, texts, config.signature...)
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return &Verifier{verifier, config.tolerance, config.now, config.basic, config.maxBody}, nil
}

// Verify reads the body of a request, checks that the request is a notification
// sent by the service, and decodes it. Nothing is decoded before the signature
// over the exact bytes of the body has been found right.
//
// The error is [ErrMethod], [ErrContentEncoding], [ErrCredentials],
// [ErrBodyTooLarge], [ErrBody], one of package signature's, or a [ParseError].
// How long reading may take is up to the caller; [NewHandler] limits it.
func (v *Verifier) Verify(r *http.Request) (*Notification, error) {
	return v.verify(nil, r, signature.DefaultTolerance)
}

// VerifyBody is Verify for a body that has been read already, as in functions that are
// not given an [http.Request]. The body has to be the exact bytes that were sent; the
// names in the header have to be in the form that [http.Header.Set] gives them.
func (v *Verifier) VerifyBody(header http.Header, body []byte) (*Notification, error) {
	return v.verify(nil, &http.Request{
		Method: http.MethodPost, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, signature.DefaultTolerance)
}

// verify is Verify with a tolerance unless one was asked for; w, which may be nil,
// is told to close the connection when the body is too large.
func (v *Verifier) verify(w http.ResponseWriter, r *http.Request, past time.Duration) (*Notification, error) {
	if err := v.admit(r); err != nil {
		return nil, err
	}
	var body bytes.Buffer
	body.Grow(int(min(max(r.ContentLength, 0), presize)) + bytes.MinRead)
	if r.Body != nil { // as in every request that a server received
		_, err := io.Copy(&body, http.MaxBytesReader(w, r.Body, v.maxBody))
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			return nil, ErrBodyTooLarge
		} else if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBody, err)
		}
	}
	signed, err := v.signature.VerifyWithin(cmp.Or(v.tolerance, past), r.Header.Values(signature.Header), body.Bytes())
	if err != nil {
		return nil, err
	}
	n, err := Parse(body.Bytes())
	if err != nil {
		return nil, err
	}
	n.signed, n.arrived = signed, v.now()
	return n, nil
}

// admit judges what can be judged without the body, so that a stranger's is not read.
func (v *Verifier) admit(r *http.Request) error {
	if r.Method != http.MethodPost {
		return ErrMethod
	}
	for _, encoding := range r.Header["Content-Encoding"] {
		if encoding != "" && encoding != "identity" {
			return ErrContentEncoding
		}
	}
	if !v.basic.admits(r.Header) {
		return ErrCredentials
	}
	if err := signature.CheckHeader(r.Header.Values(signature.Header)); err != nil {
		return err
	}
	if r.ContentLength > v.maxBody {
		return ErrBodyTooLarge
	}
	return nil
}
