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

// DefaultMaxBody is the longest body of a notification, in bytes. Change it with [WithMaxBody].
const DefaultMaxBody = 1 << 20

// StoreTolerance is how old a signature may be if notifications are remembered for longer: see
// [NewInbox] and [WithStore]. The service may sign a notification once and deliver it for days.
const StoreTolerance = 7 * 24 * time.Hour

// presize bounds the memory allocated for an announced body.
const presize = 16 << 10

// The errors of [Verifier.Verify], together with those of package signature and [ParseError]. Log
// them, but do not disclose the reason to the sender.
var (
	// ErrMethod means that the request is not a POST.
	ErrMethod = errors.New("webhooks: the method is not POST")
	// ErrContentEncoding means that the body has a content encoding, such as gzip. The service is
	// not known to use one, and decompressing would precede verifying.
	ErrContentEncoding = errors.New("webhooks: the body has a content encoding")
	// ErrCredentials means that the Basic credentials are missing or wrong.
	ErrCredentials = errors.New("webhooks: the Basic credentials are missing or wrong")
	// ErrBodyTooLarge means that the body is longer than the limit.
	ErrBodyTooLarge = errors.New("webhooks: the body is too large")
	// ErrBody means that the body could not be read to its end, because the sender was too slow or
	// went away.
	ErrBody = errors.New("webhooks: the body could not be read")
)

// A Verifier checks that a request is a notification from the service. It is safe for concurrent
// use, and printing does not show its secrets.
type Verifier struct {
	signature *signature.Verifier
	tolerance time.Duration // 0: the caller's
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

// A VerifierOption configures [NewVerifier].
type VerifierOption func(*verifierConfig) error

// WithTolerance sets how old a signature may be. It must be positive. The default is
// [StoreTolerance] for handlers that remember notifications, and [signature.DefaultTolerance]
// otherwise, as in [Verifier.Verify]. A signature may lie [signature.DefaultTolerance] in the
// future. It protects from replays only if the [signature.Scheme] signs the time.
func WithTolerance(d time.Duration) VerifierOption {
	return func(c *verifierConfig) error {
		c.signature, c.tolerance = append(c.signature, signature.WithTolerance(d)), d
		return nil
	}
}

// WithClock makes the verifier use now instead of [time.Now].
func WithClock(now func() time.Time) VerifierOption {
	return func(c *verifierConfig) error {
		c.signature, c.now = append(c.signature, signature.WithClock(now)), now
		return nil
	}
}

// WithMaxBody sets the longest body, in bytes. It must be positive.
func WithMaxBody(n int64) VerifierOption {
	return func(c *verifierConfig) error {
		if n <= 0 {
			return errors.New("the longest body must have a positive length")
		}
		c.maxBody = n
		return nil
	}
}

// NewVerifier returns a verifier of notifications signed by scheme with any of secrets. To rotate a
// secret, give the new and the old one, and drop the old one when the service no longer uses it.
//
// There is no default scheme: see [signature.AssumedHMAC]. A missing scheme, no secret, an empty
// secret, one with white space around it, or an invalid option is an error.
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

// Verify reads the body of a request, checks its signature over the exact bytes, and only then
// decodes it. It does not limit the time for reading; [NewHandler] does.
//
// The error is [ErrMethod], [ErrContentEncoding], [ErrCredentials], [ErrBodyTooLarge], [ErrBody],
// an error of package signature, or a [ParseError].
func (v *Verifier) Verify(r *http.Request) (*Notification, error) {
	return v.verify(nil, r, signature.DefaultTolerance)
}

// VerifyBody is [Verifier.Verify] for a body that was read already, as in functions without an
// [http.Request]. Body must be the exact bytes that were sent. Names in header must have the form
// of [http.Header.Set].
func (v *Verifier) VerifyBody(header http.Header, body []byte) (*Notification, error) {
	return v.verify(nil, &http.Request{
		Method: http.MethodPost, Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, signature.DefaultTolerance)
}

// verify uses past unless the verifier has a tolerance. w, which may be nil, closes the connection
// if the body is too large.
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

// admit checks what needs no body, so that bodies of strangers are not read.
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
