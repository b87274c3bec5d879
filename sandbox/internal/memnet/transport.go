package memnet

import (
	"context"
	"net"
	"net/http"
)

// Transport is an http.Transport over a listener's network. It can fail the dial of a
// request: a server cannot refuse a connection that it has accepted.
type Transport struct {
	*http.Transport
	fail func(*http.Request) error
}

// NewTransport returns a transport to a listener. A request for which fail returns an
// error is not sent: its dial fails with that error.
func NewTransport(l *Listener, fail func(*http.Request) error) *Transport {
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		if address != Host+":80" {
			host, _, _ := net.SplitHostPort(address)
			return nil, NoSuchHost(host)
		}
		return l.Dial(ctx)
	}
	return &Transport{&http.Transport{MaxIdleConnsPerHost: 128, DialContext: dial}, fail}
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.fail(r); err != nil {
		broken := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, err }}
		return broken.RoundTrip(r)
	}
	return t.Transport.RoundTrip(r)
}
