package sandboxtest

import (
	"net/http"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// runningClock is a sandbox's clock that follows package time and can skip ahead of it. It
// moves whenever a request is sent. That is enough, because nothing else reads it.
type runningClock struct {
	*sandbox.Clock
	mu      sync.Mutex
	skipped time.Duration
}

func newRunningClock() *runningClock {
	return &runningClock{Clock: sandbox.NewClock(time.Now())}
}

// skip moves the clock ahead. No call may be under way, nor one that its caller has given up:
// its idempotency key could expire between two attempts.
func (c *runningClock) skip(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.skipped += d
	c.keepUp()
}

func (c *runningClock) keepUp() {
	c.Advance(time.Now().Add(c.skipped).Sub(c.Now()))
}

// clockedTransport moves the clock before each request.
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
