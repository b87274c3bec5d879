// Package transport makes one logical call: it decides how often a request may be sent, and what an
// answer or its absence means. The caller knows what the bodies contain.
package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// MaxAttempts is the largest number of attempts of a call.
const MaxAttempts = 10

// ResendWindow limits how long after the first sending a write may be sent again with its key. The
// service does not publish how long it remembers a key, and a forgotten key makes a second payment.
const ResendWindow = time.Minute

// keyHeader is not in canonical form: with the canonical name net/http repeats a POST after an
// HTTP/1 connection broke.
const keyHeader = "idempotency-key"

// Transport sends the calls of one client. It is safe for concurrent use.
type Transport struct {
	loop    *retryablehttp.Client
	closing func()
	budget  budget
}

// New returns a transport that sends through the http.Client of the config, or
// through connections of its own.
func New(config HTTPConfig, observer Observer) *Transport {
	client, own := newHTTPClient(config)
	closing := (&http.Client{Transport: client.Transport}).CloseIdleConnections
	build, _ := debug.ReadBuildInfo()
	client.Transport = &roundTripper{next: client.Transport, own: own, agent: userAgent(build), observer: observer, closing: closing}
	return &Transport{
		closing: closing,
		// The loop does not know the call: check uses the call's limits.
		loop: &retryablehttp.Client{HTTPClient: client, RetryMax: MaxAttempts, CheckRetry: check, Backoff: pause, PrepareRetry: renew},
	}
}

// CloseIdleConnections closes connections that no call is using.
func (t *Transport) CloseIdleConnections() { t.closing() }

// exchange is the state of one call. Each attempt finds it as its context.
type exchange struct {
	context.Context
	call          Call
	authorization string
	budget        *budget

	result     Result    // of the latest attempt
	claimed    time.Time // when the hook before sending was called
	attempts   int
	repeats    int // requests that something below sent again by itself
	firstSent  time.Time
	unanswered bool  // an attempt that got no answer may have arrived
	unsettled  error // why the latest answer does not settle those
	temporary  bool  // the latest attempt's failure is temporary
	stale      bool  // the latest attempt's connection had been closed while idle
	over       bool  // there is no further attempt, whatever the table says
	pause      time.Duration
}

type exchangeKey struct{}

// Value returns the exchange itself for its key.
func (x *exchange) Value(key any) any {
	if key == (exchangeKey{}) {
		return x
	}
	return x.Context.Value(key)
}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

// Do carries out one call. The result is never nil.
func (t *Transport) Do(ctx context.Context, call Call) *Result {
	if limit := call.Limits.CallTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if call.Method == http.MethodPost && call.Key == "" {
		call.Key = NewKey()
	}
	x := &exchange{call: call, budget: &t.budget}
	var err error
	if x.authorization, err = call.Authorise(ctx); err == nil && call.Before != nil {
		x.claimed = time.Now()
		err = before(ctx, &x.call)
	}
	if err != nil {
		x.result = Result{End: NotSent, Err: err}
	} else {
		x.Context = ctx
		request := http.Request{Method: call.Method, URL: call.URL, Host: call.URL.Host, Header: http.Header{}}
		resp, err := t.loop.Do(&retryablehttp.Request{Request: request.WithContext(x)})
		if resp != nil {
			resp.Body.Close()
		}
		x.settle(err)
	}
	x.result.Key, x.result.FirstSent = call.Key, x.firstSent
	x.result.Attempts, x.result.Unanswered = x.attempts+x.repeats, x.unanswered
	return &x.result
}

func before(ctx context.Context, call *Call) (err error) {
	defer Report("the hook before sending", &err)
	return call.Before(ctx, call.Key)
}

// roundTripper makes the attempts of all calls of a client. It returns no error to the loop, and
// has no CloseIdleConnections for it: a failed call must not cost others their connections.
type roundTripper struct {
	next     http.RoundTripper
	own      bool // next is our own transport, whose connections show the bytes written
	agent    string
	observer Observer
	closing  func()
}

// RoundTrip makes one attempt and reads its answer to the end, so that the attempt's time limit
// covers the body and the connection can be used again.
func (t *roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	previous := x.result
	x.attempts++
	if x.call.Begun != nil {
		*x.call.Begun = x.attempts
	}
	begun := time.Now()
	if x.attempts == 1 {
		x.firstSent = begun
	}
	if x.stale {
		t.closing() // the others have been idle for as long
		x.stale = false
	}

	ctx, cancel := context.WithCancelCause(req.Context())
	defer cancel(nil)
	a := &attempt{x: x, own: t.own}
	a.timer = time.AfterFunc(x.call.Limits.AttemptTimeout, func() { cancel(errPatience) })
	defer a.timer.Stop()
	resp, err := a.send(t.next, a.request(ctx, req, t.agent))
	if err == nil {
		x.answered(ctx, resp, a) // before shut, which would end an upload and with it the answer
		a.shut()
	} else {
		x.failed(ctx, err, a)
	}
	if a.late() && err != nil {
		x.over = true
		if x.unanswered { // and earlier attempts count
			x.result = previous
		}
	}
	if n := int(a.wrote.Load()) - 1; n > 0 && (!t.own || x.call.Class == Read) {
		x.repeats += n
		x.unanswered = true
	}
	switch x.result.Reason {
	case Lost, ContextEnded:
		x.unanswered = true
	case Succeeded:
		x.budget.refill()
	default:
	}
	if err := t.observer.attempt(x, begun); err != nil {
		x.result.lose(err)
		x.over = true
	}
	// go-retryablehttp and net/http's client act on the answer and the error that they get: the
	// client follows redirects, and the loop drains bodies, wraps errors and closes idle
	// connections. All that is decided above. So they get the same made-up answer for every
	// attempt: 200 without a body, with the true header, whose cookies the client keeps. check and
	// pause read the exchange.
	a.shown = http.Response{StatusCode: http.StatusOK, Header: x.result.Header, Body: http.NoBody, Request: req}
	return &a.shown, nil
}

// failed classifies an attempt without an answer.
func (x *exchange) failed(ctx context.Context, err error, a *attempt) {
	err = clean(err)
	if cause := context.Cause(ctx); errors.Is(cause, errPatience) || errors.Is(cause, context.DeadlineExceeded) {
		err = context.DeadlineExceeded // the attempt's own limit, or that of the caller's http.Client
	}
	x.result = Result{Err: unquoted(err), Reason: Lost}
	x.result.Kind, x.temporary = condition(err)
	over := x.Err()
	switch unsent := a.shut(); {
	case unsent:
		x.result.Reason = NeverSent
		x.stale = a.reused
		x.temporary = x.temporary || x.stale
	case over != nil:
		x.result.Reason = ContextEnded
	}
	if over != nil {
		x.result.Err, x.result.Kind, x.temporary = over, ended(over), false
	}
}

// answered reads an answer and classifies it. A status that has arrived counts, even if the body or
// the context fails.
func (x *exchange) answered(ctx context.Context, resp *http.Response, a *attempt) {
	if x.call.Sink != nil {
		if sink := x.call.Sink(resp.StatusCode, resp.Header); sink != nil {
			x.deliver(ctx, resp, sink, a)
			return
		}
	}
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	body, err := readBody(resp, success)
	if success && err != nil && x.call.Class == Read && !errors.Is(err, errTooLarge) {
		x.failed(ctx, err, a)
		x.result.Status = resp.StatusCode
		return
	}
	r := Result{Status: resp.StatusCode, Header: resp.Header, Body: body}
	switch {
	case !success:
		r.Problem = wire.ParseErrorBody(body)
		sent := http.Request{Header: http.Header{"Authorization": {x.authorization}}}
		key, _, _ := sent.BasicAuth()
		shows := func(text string) bool { return key != "" && strings.Contains(text, key) }
		if shows(r.Problem.TraceCode) || x.call.repeats(r.Problem.TraceCode) {
			r.Problem.TraceCode = ""
		}
		for i, field := range r.Problem.Fields {
			if shows(field.FieldName) || x.call.repeats(field.FieldName) {
				r.Problem.Fields[i].FieldName = ""
			}
		}
		lists := resp.StatusCode == http.StatusUnprocessableEntity && r.Problem.Lists(x.call.Body)
		r.Problem.FromService = (r.Problem.FromService || lists) && err == nil && wire.IsAbout(body, resp.StatusCode, x.call.Method, x.call.place())
		r.Reason = x.judge(resp.StatusCode, r.Problem.FromService)
		if r.Reason == Inconclusive && err == nil && a.wrote.Load() <= 1 && x.refused(resp, body) {
			if r.Reason = x.judge(resp.StatusCode, true); r.Reason == Inconclusive {
				r.Reason = Refused
			}
		}
		r.RetryAfter = retryAfter(resp.Header)
	case !x.call.documents(resp.StatusCode):
		r.Reason, r.Err = Inconclusive, errUndocumented
	case x.call.Upload != nil && a.body.read.Load() < x.call.Upload.Length:
		r.Reason, r.Err = Inconclusive, errPartly
	case err == nil:
		err = x.call.Decode(resp.StatusCode, body)
		if unsettled, ok := errors.AsType[Unsettled](err); ok {
			x.unsettled, err = unsettled.Why, nil
		}
		fallthrough
	default:
		r.Reason = Succeeded
		if err != nil {
			r.Reason, r.Err = Inconclusive, fmt.Errorf("the answer could not be decoded: %w", clean(err))
		}
	}
	x.result = r
}

// refused asks the caller whether an answer without the service's error body refuses a write. It
// asks only if no earlier attempt may have reached the service.
func (x *exchange) refused(resp *http.Response, body []byte) (yes bool) {
	status, call := resp.StatusCode, &x.call
	if call.Refusal == nil || call.Class == Read || x.unanswered || status < 400 || status > 499 {
		return false
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return false
	}
	var panicked error // a panic is not a yes
	defer Report("WithRefusal", &panicked)
	return call.Refusal(status, resp.Header.Clone(), bytes.Clone(body))
}

// check is go-retryablehttp's CheckRetry. It ignores the made-up answer.
func check(ctx context.Context, _ *http.Response, err error) (bool, error) {
	x := exchangeOf(ctx)
	if err != nil { // net/http's client refused the request itself
		x.result = Result{Reason: NeverSent, Err: clean(err), Kind: KindOther}
		return false, err
	}
	return x.again(), nil
}

// pause is go-retryablehttp's Backoff.
func pause(_, _ time.Duration, _ int, resp *http.Response) time.Duration {
	return exchangeOf(resp.Request.Context()).pause
}

// renew is go-retryablehttp's PrepareRetry: it drops the cookies of the last attempt, which
// net/http's client adds again.
func renew(req *http.Request) error {
	req.Header = http.Header{}
	return nil
}

// again reports whether the table, the limits and the context allow another attempt, and sets the
// pause.
func (x *exchange) again() bool {
	limits, rule := x.call.Limits, step(x.result.Reason, x.call.Class).Again
	if rule == Never || x.over || x.Err() != nil || x.attempts >= limits.MaxAttempts || x.result.RetryAfter > limits.WaitMax {
		return false
	}
	x.pause = x.wait()
	switch {
	case rule == Temporary && (!x.temporary || x.unanswered && x.tooLate(x.pause)):
		return false
	case rule == SameKey && (limits.NoResend || x.tooLate(x.pause)):
		return false
	}
	return x.budget.take(x)
}

// tooLate reports whether the service may have forgotten the key after the pause.
func (x *exchange) tooLate(pause time.Duration) bool {
	return x.call.Class != Read && since(x.firstSent)+pause >= x.call.Limits.ResendWindow
}

// since also compares wall clocks, because the monotonic clock may stop while the machine sleeps.
func since(t time.Time) time.Duration {
	return max(time.Since(t), time.Now().Round(0).Sub(t.Round(0)))
}

// wait returns the pause before the next attempt: exponential with jitter, and at least the pause
// that the service asked for.
func (x *exchange) wait() time.Duration {
	if x.stale {
		return 0
	}
	lowest, ceiling := x.call.Limits.WaitMin, x.call.Limits.WaitMax
	if lowest < ceiling>>x.attempts {
		ceiling = lowest << x.attempts
	}
	floor := max(lowest, ceiling/2)
	d := floor + time.Duration(mathrand.Int64N(int64(ceiling-floor)+1)) //nolint:gosec // jitter needs no secrecy
	return max(d, x.result.RetryAfter)
}

// lose makes the latest answer a lost one, because an observer panicked.
func (r *Result) lose(err error) {
	if r.Reason != NeverSent {
		r.Reason = Lost
	}
	r.Err, r.Kind = err, KindOther
}

// Lose makes the answer of a call that has ended a lost one, because its observer panicked.
func (r *Result) Lose(class Class, err error) {
	r.lose(err)
	r.End = step(r.Reason, class).End
	if class != Read && r.Unanswered {
		r.End = Unknown
	}
}

// settle decides how the call ends. A later attempt's answer does not settle an earlier one: a
// "token used", a 503 or a decline (Unsettled) of the second attempt says nothing about the first.
// A context error of the loop means that the context ended in a pause.
func (x *exchange) settle(loopErr error) {
	r, write := &x.result, x.call.Class != Read
	if over := x.Err(); over != nil && errors.Is(loopErr, over) {
		switch {
		case !write:
			*r = Result{Reason: ContextEnded, Err: over, Kind: ended(over)}
		case r.Reason == NeverSent, r.Reason == Lost:
			r.Err, r.Kind = over, ended(over)
		}
	}
	r.End = step(r.Reason, x.call.Class).End
	switch {
	case !write || !x.unanswered:
	case r.Reason != Succeeded:
		r.End = Unknown
	case x.unsettled != nil:
		r.Err, r.End = x.unsettled, Unknown
	}
}
