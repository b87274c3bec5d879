package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/quickstream-go/quickstream/internal/loopback"
)

// HTTPConfig is the caller's choice of connections.
type HTTPConfig struct {
	Client  *http.Client
	Proxy   func(*http.Request) (*url.URL, error)
	RootCAs *x509.CertPool
	// Loopback keeps connections of our own on this machine, and away from proxies.
	Loopback bool
}

// maxIdlePerHost keeps connections of many concurrent callers open: net/http's default of two makes
// all others pay for a new handshake.
const maxIdlePerHost = 100

// newHTTPClient returns a copy of the caller's client, or a client with a transport of our own.
// Neither follows redirects, which would carry card data to another address.
func newHTTPClient(config HTTPConfig) (client *http.Client, own bool) {
	client = &http.Client{}
	if config.Client != nil {
		*client = *config.Client
	}
	if client.Transport == nil {
		client.Transport, own = newTransport(config), true
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client, own
}

// newTransport returns a transport for HTTP/1.1 only. There a connection carries one request at a
// time, so the bytes written to it show whether the request was sent.
func newTransport(config HTTPConfig) *http.Transport {
	secure := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            config.RootCAs,
		ClientSessionCache: tls.NewLRUClientSessionCache(maxIdlePerHost),
		NextProtos:         []string{"http/1.1"},
	}
	dialer := net.Dialer{Timeout: 10 * time.Second}
	if config.Loopback {
		dialer.Control, config.Proxy = loopback.Control, nil
	}
	held := func(conn net.Conn, err error) (net.Conn, error) {
		if err != nil {
			return nil, err
		}
		return newHeldConn(conn), nil
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		Protocols: protocols,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return held(dialer.DialContext(ctx, network, address))
		},
		// Held above TLS, because TLS writes a closing alert that is not a request.
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return held((&tls.Dialer{NetDialer: &dialer, Config: secure}).DialContext(ctx, network, address))
		},
		TLSClientConfig:        secure, // through a proxy
		Proxy:                  config.Proxy,
		MaxIdleConns:           2 * maxIdlePerHost,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusProxyAuthRequired {
				return ErrProxyAuth
			}
			return nil
		},
	}
}

const modulePath = "github.com/quickstream-go/quickstream"

// userAgent returns this module's name and the version that the program was built with: "devel" in
// a workspace and with a replacement by a directory.
func userAgent(build *debug.BuildInfo) string {
	version := "devel"
	if build != nil {
		for _, m := range append([]*debug.Module{&build.Main}, build.Deps...) {
			if m.Path != modulePath {
				continue
			}
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Version != "" && m.Version != "(devel)" {
				version = m.Version
			}
		}
	}
	return "quickstream-go/" + version
}
