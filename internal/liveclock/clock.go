// Package liveclock makes a sandbox's clock go as the real one does.
package liveclock

import (
	"context"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Clock makes a sandbox's clock go as fast as the real one, and jump forward on
// demand.
type Clock struct {
	*sandbox.Clock
	mu   sync.Mutex
	last time.Time // when the clock was moved last, in real time
	lead time.Duration
}

// New returns a clock that shows the real time, and goes while [Clock.Run] runs.
func New() *Clock {
	now := time.Now()
	return &Clock{Clock: sandbox.NewClock(now), last: now}
}

// tick is how often the clock catches up with real time.
const tick = 50 * time.Millisecond

// Run lets the clock go until ctx ends.
func (c *Clock) Run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.Jump(0)
		case <-ctx.Done():
			return
		}
	}
}

// Jump moves the clock by d beyond the real time that has passed. What becomes
// due on the way has happened when it returns.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.Advance(now.Sub(c.last) + d)
	c.last = now
	c.lead += d
}

// Ahead is by how much the clock was moved beyond real time.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lead
}
