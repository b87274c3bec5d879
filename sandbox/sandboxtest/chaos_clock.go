package sandboxtest

import (
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// runningClock is a sandbox's clock that keeps up with package time and can skip
// ahead of it. It catches up whenever a request is sent, which is soon enough:
// nobody else reads it.
type runningClock struct {
	*sandbox.Clock
	mu      sync.Mutex
	skipped time.Duration
}

func newRunningClock() *runningClock {
	return &runningClock{Clock: sandbox.NewClock(time.Now())}
}

// skip moves the clock ahead. No call may be in flight, nor one that was given up: its
// idempotency key could be forgotten between two attempts that are a moment apart.
func (c *runningClock) skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped += d
	c.keepUp()
}

func (c *runningClock) keepUp() {
	c.Advance(time.Now().Add(c.skipped).Sub(c.Now()))
}

// clockedTransport lets the clock catch up before each request.
type clockedTransport struct {
	clock *runningClock
	inner http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t clockedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	t.clock.mu.Lock()
	t.clock.keepUp()
	t.clock.mu.Unlock()
	return t.inner.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.CloseIdleConnections.
func (t clockedTransport) CloseIdleConnections() {
	if inner, ok := t.inner.(interface{ CloseIdleConnections() }); ok {
		inner.CloseIdleConnections()
	}
}
