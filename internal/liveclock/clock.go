// Package liveclock drives a sandbox's clock in real time.
package liveclock

import (
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Clock is a sandbox's clock that runs, and jumps forward on demand.
type Clock struct {
	*sandbox.Clock
	mu   sync.Mutex
	lead time.Duration
}

// New returns a clock that shows the real time.
func New() *Clock { return &Clock{Clock: sandbox.NewRunningClock(time.Now())} }

// Jump moves the clock forward by d. When it returns, everything due by then has happened.
func (c *Clock) Jump(d time.Duration) {
	c.Advance(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lead += d
}

// Ahead returns how far the clock is ahead of real time.
func (c *Clock) Ahead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lead
}
