package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	maxBody      = 8 << 20 // of a success, after decompression
	maxErrorBody = 1 << 20
	maxDrain     = 64 << 10 // read on to keep the connection
)

var (
	errTooLarge = errors.New("the answer is larger than the client accepts")
	errNoAnswer = errors.New("the RoundTripper returned neither an answer nor an error")
	errPatience = errors.New("no answer in time")
	errTooLate  = errors.New("too long after it was claimed or first sent")
	errOver     = errors.New("the attempt is over")
	errUnasked  = errors.New("the server answered before it was asked")

	errPartly       = errors.New("the service answered before the whole file was sent")
	errUndocumented = errors.New("the status is no documented success")
)

// Upload is a request body that is sent while it is read. It is read at most once: after its first
// byte there is no further attempt.
type Upload struct {
	Content     io.Reader
	Length      int64 // of the content
	ContentType string
}

// outgoing is the body of a request. net/http reads it on its own goroutine, which can outlive the
// attempt.
type outgoing struct {
	content  io.Reader
	attempt  *attempt
	streamed bool
	gate     gate
	read     atomic.Int64 // of a streamed body
}

// Read returns the body once. Its first call is the moment at which sending begins, however long
// getting a connection took.
func (o *outgoing) Read(p []byte) (int, error) {
	if _, ok := o.gate.pass(); !ok {
		if o.gate.late.Load() {
			return 0, errTooLate
		}
		return 0, errOver
	}
	if !o.streamed {
		return o.content.Read(p)
	}
	// Time that the caller's reader takes does not count.
	o.attempt.timer.Stop()
	n, err := o.content.Read(p)
	o.read.Add(int64(n))
	o.attempt.patience()
	return n, err
}

// Close leaves the content open: it is the caller's, and the next attempt needs it if this one did
// not read it.
func (o *outgoing) Close() error { return nil }

// patience restarts the time limit for the other side.
func (a *attempt) patience() { a.timer.Reset(a.x.call.Limits.AttemptTimeout) }

// readBody reads the body up to its limit and drains a little more, because a connection with an
// unread body cannot be used again. With an error it returns the part that was read, which may hold
// a receipt number.
func readBody(resp *http.Response, success bool) ([]byte, error) {
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body is the connection, which no context ends
		return nil, nil
	}
	limit := int64(maxErrorBody)
	if success {
		limit = maxBody
	}
	room := int64(512)
	if n := resp.ContentLength; n > 0 && n <= limit {
		room = n + 1 // reading the end frees the connection
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

// deliver copies a body to the sink as it arrives. After the first byte, or an error of the sink,
// there is no further attempt.
func (x *exchange) deliver(ctx context.Context, resp *http.Response, sink io.Writer, a *attempt) {
	defer resp.Body.Close()
	body := &incoming{body: resp.Body, attempt: a}
	n, err := io.Copy(sink, body)
	if err == nil && n < resp.ContentLength { // of RoundTrippers other than net/http's
		err = io.ErrUnexpectedEOF
		body.failed = true
	}
	if err == nil {
		x.result = Result{Reason: Succeeded, Status: resp.StatusCode, Header: resp.Header}
		return
	}
	x.over = n > 0 || !body.failed
	x.failed(ctx, err, a)
	x.result.Status, x.result.Header = resp.StatusCode, resp.Header
}

// incoming is a streamed answer.
type incoming struct {
	body    io.Reader
	attempt *attempt
	failed  bool
}

func (i *incoming) Read(p []byte) (int, error) {
	i.attempt.patience()
	n, err := i.body.Read(p)
	i.attempt.timer.Stop()
	i.failed = err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// retryAfter reads both forms of the header; an absent, negative or invalid value is 0.
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
