// Package liveclock drives a sandbox's clock in real time.
package liveclock

import (
	"context"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Clock drives a sandbox's clock in real time, and jumps forward on demand.
type Clock struct {
	*sandbox.Clock
	mu   sync.Mutex
	last time.Time // when the clock was moved last, in real time
	lead time.Duration
}

// New returns a clock that shows the real time and advances while [Clock.Run] runs.
func New() *Clock {
	now := time.Now()
	return &Clock{Clock: sandbox.NewClock(now), last: now}
}

// tick is how often the clock catches up with real time.
const tick = 50 * time.Millisecond

// Run advances the clock until ctx ends.
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

// Jump moves the clock forward by d. When it returns, everything due by then has happened.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.Advance(now.Sub(c.last) + d)
	c.last = now
	c.lead += d
}

// Ahead returns how far the clock is ahead of real time.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lead
}
