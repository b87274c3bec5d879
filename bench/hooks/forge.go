package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The secrets of the endpoint, and of somebody else.
const (
	secret = "secret-for-nothing"
	other  = "secret-of-a-stranger"
)

// forgery is one way of making a request that has to be refused.
type forgery struct {
	name   string
	status int // as webhooks.NewHandler documents it
	reason error
	share  int // of all forgeries
	// breaksOff means that the end of the request is not sent.
	breaksOff bool
	request   func(ctx context.Context, f *forger, d delivery) (*http.Request, error)
}

// forgeries are all of them. Those about a body beyond the limit are rarer, so
// that they are not most of what is sent.
func forgeries() []forgery {
	return []forgery{
		{name: "byte of the body changed", status: http.StatusUnauthorized, reason: signature.ErrMismatch, share: 10, request: changedBody},
		{name: "byte of the signature changed", status: http.StatusUnauthorized, reason: signature.ErrMismatch, share: 10, request: changedSignature},
		{name: "signed by a stranger", status: http.StatusUnauthorized, reason: signature.ErrMismatch, share: 10, request: strange},
		{name: "signature of another body", status: http.StatusUnauthorized, reason: signature.ErrMismatch, share: 10, request: replayed},
		{name: "end of the body missing", status: http.StatusUnauthorized, reason: signature.ErrMismatch, share: 10, request: truncated},
		{name: "stale", status: http.StatusUnauthorized, reason: signature.ErrTooOld, share: 10, request: shifted(-time.Minute)},
		{name: "from the future", status: http.StatusUnauthorized, reason: signature.ErrTooNew, share: 10, request: shifted(time.Minute)},
		{name: "signature missing", status: http.StatusUnauthorized, reason: signature.ErrMissing, share: 10, request: unsigned},
		{name: "signature twice", status: http.StatusUnauthorized, reason: signature.ErrMalformed, share: 5, request: signedTwice},
		{name: "wrong method", status: http.StatusMethodNotAllowed, reason: webhooks.ErrMethod, share: 5, request: put},
		{name: "body broken off", status: http.StatusBadRequest, reason: webhooks.ErrBody, share: 2, breaksOff: true, request: honest},
		{name: "signed, not a notification", status: http.StatusBadRequest, share: 2, request: pointless},
		{name: "compressed", status: http.StatusUnsupportedMediaType, reason: webhooks.ErrContentEncoding, share: 2, request: compressed},
		{name: "body too large", status: http.StatusRequestEntityTooLarge, reason: webhooks.ErrBodyTooLarge, share: 2, request: large},
		{name: "body too large, unannounced", status: http.StatusRequestEntityTooLarge, reason: webhooks.ErrBodyTooLarge, share: 2, request: endless},
	}
}

// forger makes the requests of the service, and those of others.
type forger struct {
	target string
	book   *book
	large  []byte
}

func newForger(target string, b *book) *forger {
	// It is a notification like others but for its length.
	head, tail := `{"id":"`+forgedID+`large","eventType":"payto.payment.approved","data":{"comment":"`, `"}}`
	padding := strings.Repeat("x", webhooks.DefaultMaxBody+1-len(head)-len(tail))
	return &forger{target: target, book: b, large: []byte(head + padding + tail)}
}

// request returns the request of a delivery, and whether its end is not to be
// sent.
func (f *forger) request(ctx context.Context, d delivery) (r *http.Request, breaksOff bool, err error) {
	if d.kind < forged {
		r, err = f.genuine(ctx, d)
		return r, false, err
	}
	forgery := f.book.all[d.kind-forged]
	r, err = forgery.request(ctx, f, d)
	return r, forgery.breaksOff, err
}

// genuine returns a delivery as the service makes it. The same bytes come again,
// but for a redelivery after a failure, which is signed anew.
func (f *forger) genuine(ctx context.Context, d delivery) (*http.Request, error) {
	at := time.Now()
	if d.kind != repetition {
		at = f.book.sentAt(d.number)
	}
	return f.sign(ctx, secret, at, body(genuineID, d.number))
}

func (f *forger) sign(ctx context.Context, key string, at time.Time, body []byte) (*http.Request, error) {
	s := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: webhooks.NewSecret(key), Now: func() time.Time { return at }}
	return s.NewRequestWithBody(ctx, f.target, body)
}

// honest signs a body that nobody sent.
func honest(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	return f.sign(ctx, secret, time.Now(), body(forgedID, d.number))
}

// carry gives a request another body.
func carry(r *http.Request, body []byte) {
	r.Body, r.ContentLength, r.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
}

// changedBody is a genuine delivery in which somebody changed one bit.
func changedBody(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	b := body(genuineID, d.number)
	r, err := f.sign(ctx, secret, time.Now(), b)
	if err != nil {
		return nil, err
	}
	changed := bytes.Clone(b)
	changed[d.random%uint64(len(b))] ^= 1 << (d.random >> 32 % 7)
	carry(r, changed)
	return r, nil
}

func changedSignature(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := honest(ctx, f, d)
	if err != nil {
		return nil, err
	}
	value := []byte(r.Header.Get(signature.Header))
	digits := value[bytes.Index(value, []byte("v1="))+len("v1="):]
	digit := &digits[d.random%uint64(len(digits))]
	was, err := strconv.ParseUint(string(*digit), 16, 8)
	if err != nil {
		return nil, fmt.Errorf("the signature is not in hex: %w", err)
	}
	*digit = "0123456789abcdef"[was^(1+d.random>>32%15)]
	r.Header.Set(signature.Header, string(value))
	return r, nil
}

func strange(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	return f.sign(ctx, other, time.Now(), body(forgedID, d.number))
}

func replayed(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := f.sign(ctx, secret, time.Now(), body(genuineID, d.number))
	if err == nil {
		carry(r, body(forgedID, d.number))
	}
	return r, err
}

func truncated(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := honest(ctx, f, d)
	if err == nil {
		b := body(forgedID, d.number)
		carry(r, b[:d.random%uint64(len(b))])
	}
	return r, err
}

// shifted is signed beyond the tolerance, by up to an hour. The unit is a minute,
// in either direction.
func shifted(unit time.Duration) func(context.Context, *forger, delivery) (*http.Request, error) {
	return func(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
		units := int64(signature.DefaultTolerance/time.Minute) + 1 + int64(d.random%60)
		return f.sign(ctx, secret, time.Now().Add(time.Duration(units)*unit), body(forgedID, d.number))
	}
}

func unsigned(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := honest(ctx, f, d)
	if err == nil {
		r.Header.Del(signature.Header)
	}
	return r, err
}

func signedTwice(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := honest(ctx, f, d)
	if err == nil {
		r.Header.Add(signature.Header, r.Header.Get(signature.Header))
	}
	return r, err
}

func put(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := honest(ctx, f, d)
	if err == nil {
		r.Method = http.MethodPut
	}
	return r, err
}

func pointless(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	return f.sign(ctx, secret, time.Now(), fmt.Appendf(nil, `{"id":"%s%d"}`, forgedID, d.number))
}

func compressed(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := honest(ctx, f, d)
	if err == nil {
		r.Header.Set("Content-Encoding", "gzip")
	}
	return r, err
}

func large(ctx context.Context, f *forger, _ delivery) (*http.Request, error) {
	return f.sign(ctx, secret, time.Now(), f.large)
}

func endless(ctx context.Context, f *forger, d delivery) (*http.Request, error) {
	r, err := large(ctx, f, d)
	if err == nil {
		r.ContentLength = -1
	}
	return r, err
}
