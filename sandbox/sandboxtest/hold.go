package sandboxtest

import (
	"context"
	"net/http"
	"sync"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// holding are the options of a client past whose writes the clock is not moved: from the first byte on,
// because a hook before it may take as long as it likes.
func holding(box *sandbox.Sandbox) []quickstream.ClientOption {
	return []quickstream.ClientOption{
		quickstream.WithHTTPClient(&http.Client{Transport: holdingTransport{box.HTTPClient().Transport}}),
		quickstream.WithObserver(quickstream.Observer{
			Start: func(ctx context.Context, call quickstream.CallInfo) context.Context {
				if call.Method == http.MethodGet {
					return ctx
				}
				return context.WithValue(ctx, callKey{}, &heldCall{hold: box.Hold})
			},
			End: func(ctx context.Context, _ quickstream.CallInfo, _ quickstream.EndInfo) {
				if c, ok := ctx.Value(callKey{}).(*heldCall); ok {
					c.end()
				}
			},
		}),
	}
}

type callKey struct{}

// heldCall is a write of a client.
type heldCall struct {
	hold func() (release func())

	mu      sync.Mutex
	release func()
	ended   bool
}

func (c *heldCall) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.release == nil && !c.ended {
		c.release = c.hold()
	}
}

func (c *heldCall) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.release != nil {
		c.release()
	}
}

type holdingTransport struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t holdingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if c, ok := r.Context().Value(callKey{}).(*heldCall); ok {
		c.begin()
	}
	return t.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t holdingTransport) CloseIdleConnections() {
	if inner, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		inner.CloseIdleConnections()
	}
}
