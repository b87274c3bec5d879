package transport

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"
)

// attempt is one request.
type attempt struct {
	x       *exchange
	own     bool
	timer   *time.Timer
	address url.URL
	body    *outgoing // nil for none
	trace   httptrace.ClientTrace
	shown   http.Response // to net/http's client and the loop
	// Through a caller's transport, httptrace reports dialled, connected and the requests begun. On
	// our own connections, written knows whether a byte went out.
	dialled, connected atomic.Bool
	wrote              atomic.Int32
	written            gate
	reused             bool
}

// request makes the request of an attempt. Nothing of an earlier one is reused: net/http may still
// read it, and a RoundTripper may have changed it. It has no GetBody, and its body can be read
// once: otherwise net/http would repeat it.
func (a *attempt) request(ctx context.Context, loop *http.Request, agent string) *http.Request {
	call := &a.x.call
	a.trace.GetConn = func(string) { a.dialled.Store(true) }
	a.trace.GotConn = func(info httptrace.GotConnInfo) {
		a.connected.Store(true)
		if a.own {
			a.reused = info.Reused
			hold(info.Conn, &a.written)
		}
	}
	a.trace.WroteHeaders = func() { a.wrote.Add(1) }

	a.address = *call.URL
	header, jar := loop.Header, loop.Header.Get("Cookie") // all that net/http's client adds
	values := []string{a.x.authorization, call.Accept, call.Key, agent, "no-cache"}
	header["User-Agent"] = values[3:4:4]
	for name, values := range call.Header {
		header[name] = append([]string(nil), values...)
	}
	if mine := call.Header.Get("Cookie"); mine != "" && jar != "" {
		header["Cookie"] = []string{mine + "; " + jar}
	}
	header["Authorization"] = values[0:1:1]
	if call.Accept != "" {
		header["Accept"] = values[1:2:2]
	}
	if call.Method == http.MethodGet { // a cache would hide the present state of a payment
		header["Cache-Control"] = values[4:5:5]
	}
	if call.Key != "" {
		header[keyHeader] = values[2:3:3]
	}
	request := &http.Request{
		Method: call.Method, URL: &a.address, Host: a.address.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	switch {
	case call.Upload != nil:
		header["Content-Type"] = []string{call.Upload.ContentType}
		a.body = &outgoing{content: call.Upload.Content, attempt: a, streamed: true}
		request.Body, request.ContentLength = a.body, call.Upload.Length
	case call.Body != nil:
		header["Content-Type"] = []string{"application/json"}
		a.body = &outgoing{content: bytes.NewReader(call.Body), attempt: a}
		request.Body, request.ContentLength = a.body, int64(len(call.Body))
	}
	a.written.window = a.x.window()
	if a.body != nil {
		a.body.gate.window = a.written.window
	}
	return request.WithContext(httptrace.WithClientTrace(ctx, &a.trace))
}

// window returns the time in which the first byte of an attempt has to go out. It begins with the
// first attempt if one may have reached the service, and otherwise with the hook before sending.
func (x *exchange) window() window {
	switch {
	case x.unanswered && x.call.Class != Read:
		return window{x.firstSent, x.call.Limits.ResendWindow}
	case x.call.Life > 0:
		return window{x.claimed, x.call.Life}
	default:
		return window{}
	}
}

// late reports whether the attempt sent nothing because its time had passed.
func (a *attempt) late() bool {
	return a.written.late.Load() || a.body != nil && a.body.gate.late.Load()
}

// send sends the request unless the context has ended.
func (a *attempt) send(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	if ctx := request.Context(); ctx.Err() != nil {
		a.dialled.Store(true) // and never connected
		return nil, context.Cause(ctx)
	}
	if !a.own && a.body == nil && a.written.window.over() { // a gate sees no byte of it
		a.dialled.Store(true)
		a.written.late.Store(true)
		return nil, errTooLate
	}
	resp, err := next.RoundTrip(request)
	switch { // as net/http's client does above a RoundTripper
	case err != nil:
	case resp == nil:
		err = errNoAnswer
	case resp.Body == nil:
		resp.Body = http.NoBody
	}
	if err == nil && a.own && a.written.state.Load() == unused {
		resp.Body.Close()
		return nil, errUnasked
	}
	return resp, err
}

// shut lets nothing more out, and reports whether nothing was sent: only then may a call say so.
// With a caller's transport that holds only if it asked for a connection and got none.
func (a *attempt) shut() (unsent bool) {
	unread := a.body == nil || a.body.gate.shut()
	unwritten := a.written.shut()
	switch {
	case a.x.call.Upload != nil:
		return unread
	case a.own:
		return unwritten
	default:
		return unread && a.dialled.Load() && !a.connected.Load()
	}
}
