package sandbox

import (
	"slices"
	"sync"
	"time"
)

// timekeeper is the sandbox's clock.
type timekeeper interface {
	Now() time.Time
	afterFunc(d time.Duration, f func()) (stop func() bool)
}

// packageTime is package time: the real clock, or the fake one of a testing/synctest bubble.
type packageTime struct{}

func (packageTime) Now() time.Time { return time.Now() }

func (packageTime) afterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Clock is a clock that only [Clock.Advance] moves.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	pending []*alarm // by due time, then by creation
}

type alarm struct {
	due time.Time
	f   func()
}

// NewClock returns a clock that shows t0. Give its Now to the client's option WithClock too. Without
// that, do not set the clock more than 30 seconds behind package time: a transaction that looks
// older than its intent is matched only by the intent's id in its metadata.
func NewClock(t0 time.Time) *Clock { return &Clock{now: t0} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// afterFunc calls f after d, in the goroutine of the Advance that reaches that time. The
// returned function prevents the call and reports whether it did.
func (c *Clock) afterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{due: c.now.Add(max(d, 0)), f: f}
	at, _ := slices.BinarySearchFunc(c.pending, a.due, func(p *alarm, due time.Time) int {
		if p.due.After(due) {
			return 1
		}
		return -1 // equal times keep their order
	})
	c.pending = slices.Insert(c.pending, at, a)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.pending, a)
		if i < 0 {
			return false
		}
		c.pending = slices.Delete(c.pending, i, i+1)
		return true
	}
}

// Advance moves the clock forward by d. Everything that becomes due happens in order, at its
// own time, before Advance returns. It ignores a negative d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := c.now.Add(max(d, 0))
	for len(c.pending) > 0 && !c.pending[0].due.After(end) {
		next := c.pending[0]
		c.pending = slices.Delete(c.pending, 0, 1)
		if next.due.After(c.now) {
			c.now = next.due
		}
		c.mu.Unlock() // f may read the time and set new alarms
		next.f()
		c.mu.Lock()
	}
	if end.After(c.now) {
		c.now = end
	}
}
