package transport

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
)

// keyHeader is deliberately not in canonical form. net/http sends a POST again
// by itself, below any retry setting, when it finds the canonical name and an
// HTTP/1 connection breaks; under this name it does so only where HTTP/2 proves
// that the request was not processed.
const keyHeader = "idempotency-key"

// try is what one attempt needs for itself. Nothing of an earlier attempt is used
// again: net/http may still be reading its request, a RoundTripper may have
// changed it, and its context has ended.
type try struct {
	request http.Request
	url     url.URL
	trace   trace
}

// prepare makes the request of the next attempt, with a context that its trace
// follows.
func (r *run) prepare(next *try) error {
	next.url = *r.call.URL
	next.request = http.Request{
		Method: r.call.Method, URL: &next.url, Header: r.call.bare(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	r.trace = &next.trace
	next.request = *next.request.WithContext(r.trace.follow(r.ctx))
	r.request.Request = &next.request
	if r.call.Body != nil {
		if err := r.request.SetBody(r.call.Body); err != nil {
			return fmt.Errorf("request body: %w", err)
		}
	}
	return nil
}

// follow returns the context of an attempt, which the trace observes and ends.
func (t *trace) follow(ctx context.Context) context.Context {
	t.hooks.GetConn = func(string) { t.dialled.Store(true) }
	t.hooks.GotConn = func(httptrace.GotConnInfo) { t.connected.Store(true) }
	t.hooks.WroteHeaders = func() { t.sent.Add(1) }
	ctx, t.end = context.WithCancel(ctx)
	return httptrace.WithClientTrace(ctx, &t.hooks)
}

// bare returns the header that net/http's client gets to see. It would copy the
// whole of it for redirects, none of which is followed; what it needs is the
// cookies, because it adds those of the caller's jar to them.
func (c *Call) bare() http.Header {
	header := http.Header{}
	if cookies, ok := c.Header["Cookie"]; ok {
		header["Cookie"] = cookies
	}
	return header
}

// complete adds to the header, once the request has passed net/http's client.
func (c *Call) complete(header http.Header) {
	for name, values := range c.Header {
		if name != "Cookie" {
			header[name] = values
		}
	}
	header["Authorization"] = c.authorization
	header["Accept"] = c.Accept
	if c.Key != "" {
		header[keyHeader] = []string{c.Key}
	}
	switch {
	case c.Upload != nil:
		header["Content-Type"] = []string{c.Upload.ContentType}
	case c.Body != nil:
		header["Content-Type"] = []string{"application/json"}
	}
}
