package memnet

import (
	"context"
	"net"
	"net/http"
)

// Transport is an http.Transport over a listener's network. It can fail the dial of a
// request: a server cannot refuse a connection that it has accepted.
type Transport struct {
	inner  *http.Transport
	broken *http.Transport // its dial fails with the error in the request's context
	fail   func(*http.Request) error
}

// NewTransport returns a transport to a listener. A request for which fail returns an
// error is not sent: its dial fails with that error.
func NewTransport(l *Listener, fail func(*http.Request) error) *Transport {
	return &Transport{
		fail: fail,
		inner: &http.Transport{
			MaxIdleConnsPerHost: 128,
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				if address != Host+":80" {
					host, _, _ := net.SplitHostPort(address)
					return nil, NoSuchHost(host)
				}
				return l.Dial(ctx)
			},
		},
		broken: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if err, ok := ctx.Value(dialError{}).(error); ok {
					return nil, err
				}
				return nil, ConnectionRefused()
			},
		},
	}
}

type dialError struct{}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.fail(r); err != nil {
		return t.broken.RoundTrip(r.WithContext(context.WithValue(r.Context(), dialError{}, err)))
	}
	return t.inner.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t *Transport) CloseIdleConnections() {
	t.inner.CloseIdleConnections()
	t.broken.CloseIdleConnections()
}
