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
	errTooLate  = errors.New("too late to send again")
	errOver     = errors.New("the attempt is over")
	errUnasked  = errors.New("the server answered before it was asked")
)

// Upload is a request body that is sent while it is read. It is read at most
// once: after its first byte was taken there is no further attempt.
type Upload struct {
	Content     io.Reader
	Length      int64 // of the content
	ContentType string
}

// outgoing is the body of a request. net/http reads it on a goroutine of its own,
// which can outlive the attempt.
type outgoing struct {
	content  io.Reader
	attempt  *attempt
	streamed bool
	gate     gate
	since    time.Time // when the write was first sent, if an attempt may have arrived
	window   time.Duration
	late     atomic.Bool // it was not given out for that
}

// Read gives the body out once. Its first call is the moment at which sending
// begins, however long it took to get a connection.
func (o *outgoing) Read(p []byte) (int, error) {
	first, ok := o.gate.pass()
	if !ok {
		return 0, errOver
	}
	if first && !o.since.IsZero() && since(o.since) >= o.window {
		o.late.Store(true)
		o.gate.shut()
		return 0, errTooLate
	}
	if !o.streamed {
		return o.content.Read(p)
	}
	// The time that this side takes does not count.
	o.attempt.timer.Stop()
	n, err := o.content.Read(p)
	o.attempt.patience()
	return n, err
}

// Close leaves the content alone: it is the caller's, and a next attempt's where
// this one did not get as far as reading it.
func (o *outgoing) Close() error { return nil }

// patience begins anew to wait for the other side.
func (a *attempt) patience() { a.timer.Reset(a.x.call.Limits.AttemptTimeout) }

// readBody reads the body up to its cap and drains a little more, because a
// connection whose body is not read to the end is lost. What could be read is
// returned with the error: it may hold a receipt number.
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

// deliver hands a body over while it arrives. Once some of it was, or the sink
// failed, there is no further attempt.
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

// retryAfter reads the header in either of its forms; an absent, negative or
// unreadable value asks for nothing.
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
