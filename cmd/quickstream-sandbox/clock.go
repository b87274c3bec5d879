package main

import (
	"context"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// liveClock makes a sandbox's clock go as fast as the real one, and jump forward
// on demand.
type liveClock struct {
	*sandbox.Clock
	mu   sync.Mutex
	last time.Time // when the clock was moved last, in real time
	lead time.Duration
}

func newLiveClock() *liveClock {
	now := time.Now()
	return &liveClock{Clock: sandbox.NewClock(now), last: now}
}

// tick is how often the clock catches up with real time.
const tick = 50 * time.Millisecond

func (c *liveClock) run(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.jump(0)
		case <-ctx.Done():
			return
		}
	}
}

// jump moves the clock by d beyond the real time that has passed. What becomes
// due on the way has happened when it returns.
func (c *liveClock) jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.Advance(now.Sub(c.last) + d)
	c.last = now
	c.lead += d
}

// ahead is by how much the clock was moved beyond real time.
func (c *liveClock) ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lead
}
