package main

import (
	"bytes"
	"io"
	"net/http"

	"github.com/stripe/stripe-go/v85"

	"github.com/quickstream-go/quickstream"
)

// stubBase is where requests go that a stub answers.
const stubBase = "https://service.invalid/rest/v1"

// stub answers every request at once, so that nothing but the client costs time.
type stub struct {
	body   []byte
	header http.Header
}

func newStub(body string) *stub {
	return &stub{[]byte(body), http.Header{"Content-Type": {"application/json"}}}
}

// RoundTrip answers without looking at the request.
func (s *stub) RoundTrip(req *http.Request) (*http.Response, error) {
	body := new(stubBody)
	body.content.Reset(s.body)
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: s.header, Body: body, ContentLength: int64(len(s.body)), Request: req,
	}, nil
}

// stubBody can only be read, like the body of a real answer.
type stubBody struct{ content bytes.Reader }

func (b *stubBody) Read(p []byte) (int, error) { return b.content.Read(p) }
func (b *stubBody) Close() error               { return nil }

var _ io.ReadCloser = (*stubBody)(nil)

// ours returns a client of the library.
func ours(base string, opts ...quickstream.ClientOption) (*quickstream.Client, error) {
	keys := quickstream.Keys{Secret: quickstream.NewSecretKey(key)}
	return quickstream.NewClient(quickstream.CustomURL(base), keys, opts...)
}

// stripes returns a client of stripe-go that says nothing and reports nothing.
func stripes(base string, client *http.Client) *stripe.Client {
	return stripe.NewClient(key, stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		URL: stripe.String(base), HTTPClient: client, MaxNetworkRetries: stripe.Int64(0),
		EnableTelemetry: stripe.Bool(false), LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
}

// pooled returns a transport that keeps as many connections as there are callers,
// so that peers are not compared by their settings.
func pooled() *http.Transport {
	return &http.Transport{MaxIdleConns: 200, MaxIdleConnsPerHost: 100}
}
