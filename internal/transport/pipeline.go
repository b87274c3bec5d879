// Package transport carries one logical call to the service: it decides how
// often a request may be sent, what an answer or its absence means, and never
// more than that. What the bodies mean is the caller's business.
package transport

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Limits bound one logical call.
type Limits struct {
	MaxAttempts    int
	AttemptTimeout time.Duration // one attempt, its body included; of a stream, one wait
	CallTimeout    time.Duration // all attempts and waits; 0 means no limit
	WaitMin        time.Duration
	WaitMax        time.Duration
	NoResend       bool // look-up only: a lost answer ends the call
	NewKeyAfter503 bool // the documented wait and new key after a 503
}

// Call is one operation with everything that is needed to send it.
type Call struct {
	Operation string // method of the client, such as "Transactions.Pay"
	Method    string
	Route     string // path with the contract's parameter names
	URL       *url.URL
	Body      []byte
	Upload    *Upload     // takes the place of Body
	Header    http.Header // extra members; may be nil
	Accept    []string
	Class     Class
	ThreeDS   bool // a 503 means that 3D Secure is not enabled
	Key       string
	Limits    *Limits
	// Authorise returns the values of the Authorization header.
	Authorise func(ctx context.Context) ([]string, error)
	// Sink, unless it is nil, says where the body of an answer goes while it
	// arrives; nil for an answer that is read and decoded like any other. Nothing
	// is repeated once something went there.
	Sink func(status int, header http.Header) io.Writer
	// Decode takes a 2xx body. Its error makes the answer undecodable.
	Decode func(status int, body []byte) error
	// Settles returns why the answer that was decoded does not tell what became of
	// earlier attempts that got none. When it is nil every success does.
	Settles func() error

	authorization []string
}

// Result is how a call ended.
type Result struct {
	Verdict    Verdict
	Situation  Situation
	Unanswered bool // an attempt of a write may have reached the service unanswered
	Status     int  // of the last answer; 0 when the last attempt had none
	Header     http.Header
	Body       []byte // of the last answer, capped
	Err        error  // the cause when there was no usable answer, without addresses
	Kind       Kind
	RetryAfter time.Duration
	Key        string
	Attempts   int
	FirstSent  time.Time // of a write
}

// Attempt describes one attempt to an observer. It holds no values.
type Attempt struct {
	Number   int
	Status   int
	Kind     Kind // empty when an answer arrived
	Duration time.Duration
}

// Observer sees calls by their route templates. Each function may be nil.
type Observer struct {
	Start   func(ctx context.Context, call *Call) context.Context
	Attempt func(ctx context.Context, call *Call, attempt Attempt)
	End     func(ctx context.Context, call *Call, result *Result, duration time.Duration)
}

// Handler carries out one call.
type Handler func(ctx context.Context, call *Call) *Result

// Pipeline is immutable and safe for concurrent use.
type Pipeline struct {
	client   *http.Client
	observer Observer
	handle   Handler
}

// New returns a pipeline over the client.
func New(client *http.Client, observer Observer) *Pipeline {
	p := &Pipeline{client: client, observer: observer}
	p.handle = p.chain()
	return p
}

// chain puts a call's wrappers together, outermost first: the deadline bounds
// all that follows, the key is chosen once for all attempts, a call that lacks
// its credentials is observed but never sent, and retry sends attempts, each of
// which is traced, read, classified and decoded before the next is considered.
func (p *Pipeline) chain() Handler {
	return deadline(idempotency(p.observe(authorise(p.retry))))
}

// Do carries out the call. The result is never nil.
func (p *Pipeline) Do(ctx context.Context, call *Call) *Result { return p.handle(ctx, call) }

// CloseIdleConnections closes connections that no call is using.
func (p *Pipeline) CloseIdleConnections() { p.client.CloseIdleConnections() }

func deadline(next Handler) Handler {
	return func(ctx context.Context, call *Call) *Result {
		if call.Limits.CallTimeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, call.Limits.CallTimeout)
			defer cancel()
		}
		return next(ctx, call)
	}
}

func idempotency(next Handler) Handler {
	return func(ctx context.Context, call *Call) *Result {
		if call.Method == http.MethodPost && call.Key == "" {
			call.Key = rand.Text()
		}
		return next(ctx, call)
	}
}

func (p *Pipeline) observe(next Handler) Handler {
	return func(ctx context.Context, call *Call) *Result {
		if p.observer.Start == nil && p.observer.End == nil {
			return next(ctx, call)
		}
		start := time.Now()
		if p.observer.Start != nil {
			ctx = p.observer.Start(ctx, call)
		}
		result := next(ctx, call)
		if p.observer.End != nil {
			p.observer.End(ctx, call, result, time.Since(start))
		}
		return result
	}
}

func authorise(next Handler) Handler {
	return func(ctx context.Context, call *Call) *Result {
		value, err := call.Authorise(ctx)
		if err != nil {
			return &Result{Verdict: Local, Err: err, Key: call.Key}
		}
		call.authorization = value
		return next(ctx, call)
	}
}
