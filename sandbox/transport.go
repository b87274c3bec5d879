package sandbox

import (
	"context"
	"net"
	"net/http"
)

// HTTPClient returns a client whose connections lead to this sandbox, in
// memory, and nowhere else: other host names do not resolve. All clients of a
// sandbox share one connection pool.
func (b *Sandbox) HTTPClient() *http.Client { return &http.Client{Transport: b.transport} }

// clientTransport is a normal http.Transport over memory, with one addition:
// the faults that keep a request from being sent are played here, because a
// service cannot refuse a connection that it has already got.
type clientTransport struct {
	box    *Sandbox
	inner  *http.Transport
	broken *http.Transport // its dial fails with the fault of the request
}

func newClientTransport(b *Sandbox) *clientTransport {
	return &clientTransport{
		box: b,
		inner: &http.Transport{
			MaxIdleConnsPerHost: 128,
			DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
				if addr != memoryHost+":80" {
					host, _, _ := net.SplitHostPort(addr)
					return nil, noSuchHost(host)
				}
				return b.listener.dial(ctx)
			},
		},
		broken: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if err, ok := ctx.Value(dialFault{}).(error); ok {
					return nil, err
				}
				return nil, refused()
			},
		},
	}
}

type dialFault struct{}

// RoundTrip implements http.RoundTripper.
func (t *clientTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.box.dialFault(r); err != nil {
		return t.broken.RoundTrip(r.WithContext(context.WithValue(r.Context(), dialFault{}, err)))
	}
	return t.inner.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *clientTransport) CloseIdleConnections() {
	t.inner.CloseIdleConnections()
	t.broken.CloseIdleConnections()
}

func noSuchHost(host string) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
}
