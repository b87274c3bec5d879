package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/quickstream-go/quickstream/internal/wire"
)

const (
	maxBody      = 8 << 20 // of a success, after decompression
	maxErrorBody = 1 << 20
	maxDrain     = 64 << 10 // read on to keep the connection
)

var (
	errTooLarge = errors.New("the answer is larger than the client accepts")
	errNoAnswer = errors.New("the RoundTripper returned neither an answer nor an error")
)

// run is the state of one call. It is the RoundTripper below net/http's client,
// so that every attempt passes through it, whoever started it.
type run struct {
	p    *Pipeline
	call *Call
	// ctx is the caller's context with the deadline of the whole call.
	ctx context.Context //nolint:containedctx // run lives as long as one call

	rounds int32
	extra  int32  // requests that net/http sent again by itself
	last   Result // what the latest attempt came to
	// unanswered is set once an attempt that got no answer may have arrived.
	unanswered bool
	temporary  bool
	delivered  bool        // some of a streamed answer was handed over
	begun      atomic.Bool // some of an upload was taken
	firstSent  time.Time   // of a write

	// One call is one allocation: its http.Client, which is the caller's with run
	// as its transport, its loop, and its first attempt, which mostly is the only
	// one.
	client  http.Client
	loop    retryablehttp.Client
	request retryablehttp.Request // of the attempt under way or about to be made
	trace   *trace                // of the same
	first   try
}

// trace follows what net/http does below one RoundTrip. Nothing can have been
// written before a connection was handed out, which happens on the caller's own
// goroutine; writing happens on another one, so that "headers written" may be
// reported late and is good for counting only.
type trace struct {
	patience
	dialled   atomic.Bool
	connected atomic.Bool
	sent      atomic.Int32
	hooks     httptrace.ClientTrace
	upload    *outgoing // nil for none
	expired   bool      // by a time limit of the caller's http.Client
}

// RoundTrip makes one attempt and reads its answer to the end, so that the
// attempt's time limit covers the body and the connection can be used again.
// Streamed bodies pass through here too: for them the limit is on each wait.
func (r *run) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.tooLate(0) { // the pause took longer than it should have
		return nil, errTooLate
	}
	r.rounds++
	observe := r.p.observer.Attempt
	var start time.Time
	if observe != nil || r.call.Class != Read { // a read's is of no interest
		start = time.Now()
	}
	if r.rounds == 1 {
		r.firstSent = start
	}
	t := r.trace
	t.start(r.call.Limits.AttemptTimeout)
	defer t.stop()
	// Neither concerns net/http's client, which would copy both.
	req.Host = req.URL.Host
	r.call.complete(req.Header)
	resp, err := r.send(req, t)
	if err == nil {
		r.answered(resp, t) // while an upload may go on: its end would be the answer's
		t.endUpload()
	} else {
		t.endUpload()
		t.expired = errors.Is(req.Context().Err(), context.DeadlineExceeded)
		r.failed(clean(err), t)
	}
	if sent := t.sent.Load(); sent > 1 {
		r.extra += sent - 1
	}
	if r.last.Situation == Lost || r.last.Situation == ContextEnded {
		r.unanswered = true
	}
	if observe != nil {
		observe(r.ctx, r.call, Attempt{Number: int(r.rounds), Status: r.last.Status, Kind: r.last.Kind, Duration: time.Since(start)})
	}
	if err != nil {
		return nil, err
	}
	resp.Body = http.NoBody
	return resp, nil
}

// send hands the request over, unless the context has ended before.
func (r *run) send(req *http.Request, t *trace) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		t.dialled.Store(true) // and never connected
		return nil, err
	}
	if upload := r.call.Upload; upload != nil {
		t.upload = &outgoing{upload: upload, run: r, patience: &t.patience}
		req.Body, req.ContentLength = t.upload, upload.Length
	}
	resp, err := r.p.client.Transport.RoundTrip(req)
	switch { // as net/http's client does above a RoundTripper
	case err != nil:
	case resp == nil:
		err = errNoAnswer
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	return resp, err
}

// failed classifies an attempt that ended without an answer.
func (r *run) failed(err error, t *trace) {
	// An error of dialling proves nothing once there was a connection: it may be
	// that of a second try below this package.
	unsent := !t.connected.Load() && (t.dialled.Load() || provesUnsent(err))
	if r.call.Upload != nil {
		unsent = !r.begun.Load() // the error may be the content's own
	}
	if t.expired || t.over.Load() && errors.Is(err, context.Canceled) {
		err = context.DeadlineExceeded // it is what ended the attempt's context
	}
	kind, temporary := condition(err)
	r.temporary = temporary
	r.last = Result{Err: err, Kind: kind}
	switch {
	case unsent:
		r.last.Situation = NeverSent
	case r.ctx.Err() != nil:
		r.last.Situation = ContextEnded
	default:
		r.last.Situation = Lost
	}
	if r.ctx.Err() != nil {
		r.temporary = false
		r.last.Err, r.last.Kind = r.ctx.Err(), KindContext
	}
}

// answered reads and classifies an answer. A status that has arrived counts,
// whatever becomes of the body or the context.
func (r *run) answered(resp *http.Response, t *trace) {
	if r.call.Sink != nil {
		if sink := r.call.Sink(resp.StatusCode, resp.Header); sink != nil {
			r.deliver(resp, sink, t)
			return
		}
	}
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	body, err := readBody(resp, success)
	r.last = Result{Status: resp.StatusCode, Header: resp.Header, Body: body}
	switch {
	case success && err != nil && r.call.Class == Read && !errors.Is(err, errTooLarge):
		r.failed(clean(err), t)
		r.last.Status = resp.StatusCode
	case success:
		if err == nil {
			err = r.call.Decode(resp.StatusCode, body)
		}
		if err != nil {
			r.last.Situation, r.last.Err = Failed, fmt.Errorf("the answer could not be decoded: %w", clean(err))
		}
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		r.last.Situation = Redirected
	case resp.StatusCode == http.StatusProxyAuthRequired:
		// Only a proxy in between answers 407; the request went no further.
		r.last = Result{Situation: NeverSent, Err: ErrProxyAuth, Kind: KindProxy}
		r.temporary = false
	case resp.StatusCode == http.StatusTooManyRequests:
		r.last.Situation = Throttled
		r.last.RetryAfter = retryAfter(resp.Header)
	case resp.StatusCode == http.StatusRequestTimeout:
		r.last.Situation = Failed
	case resp.StatusCode == http.StatusServiceUnavailable:
		r.last.Situation = Failed
		r.last.RetryAfter = retryAfter(resp.Header)
		if _, own := wire.ParseErrorBody(body); own && r.call.ThreeDS {
			r.last.Situation = NotEnabled
		} else if own {
			r.last.Situation = Unavailable
		}
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		r.last.Situation = Refused
	default:
		r.last.Situation = Failed
	}
}

// readBody reads the body up to its cap and drains a little more, because a
// connection whose body is not read to the end is lost. What could be read is
// returned with the error: it may hold a receipt number.
func readBody(resp *http.Response, success bool) ([]byte, error) {
	defer resp.Body.Close()
	limit := int64(maxErrorBody)
	if success {
		limit = maxBody
	}
	room := int64(512)
	if n := resp.ContentLength; n > 0 && n <= limit {
		room = n + 1 // the read that meets the end hands the connection back
	}
	body, err := make([]byte, 0, room), error(nil)
	for err == nil && int64(len(body)) <= limit {
		if len(body) == cap(body) {
			body = slices.Grow(body, 512)
		}
		var n int
		n, err = resp.Body.Read(body[len(body):min(int64(cap(body)), limit+1)])
		body = body[:len(body)+n]
	}
	switch {
	case int64(len(body)) > limit:
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
		return body[:limit], errTooLarge
	case !errors.Is(err, io.EOF):
		return body, err
	case int64(len(body)) < resp.ContentLength: // of RoundTrippers other than net/http's
		return body, io.ErrUnexpectedEOF
	}
	return body, nil
}

// retryAfter reads the header in either of its forms; absent, negative or
// unreadable values are no wish at all.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		const century = 100 * 365 * 24 * 60 * 60
		return time.Duration(min(max(seconds, 0), century)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
