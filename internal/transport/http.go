package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"time"
)

// HTTPConfig is what a caller may choose about connections.
type HTTPConfig struct {
	Client  *http.Client
	Proxy   func(*http.Request) (*url.URL, error)
	RootCAs *x509.CertPool
}

// maxIdlePerHost keeps connections of many concurrent callers alive: net/http's
// default of two makes the third and every further caller pay a new handshake.
const maxIdlePerHost = 100

// NewHTTPClient returns a copy of the caller's client, or a client over a
// transport tuned for many concurrent calls to one host. Neither follows
// redirects, which would carry card data to an address nobody chose.
func NewHTTPClient(config HTTPConfig) *http.Client {
	client := http.Client{}
	if config.Client != nil {
		client = *config.Client
	}
	if client.Transport == nil {
		client.Transport = newTransport(config)
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

func newTransport(config HTTPConfig) *http.Transport {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		Proxy:                  config.Proxy,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           2 * maxIdlePerHost,
		MaxIdleConnsPerHost:    maxIdlePerHost,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS12,
			RootCAs:            config.RootCAs,
			ClientSessionCache: tls.NewLRUClientSessionCache(maxIdlePerHost),
		},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode == http.StatusProxyAuthRequired {
				return ErrProxyAuth
			}
			return nil
		},
	}
}
