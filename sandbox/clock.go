package sandbox

import (
	"slices"
	"sync"
	"time"
)

// timekeeper is the time a sandbox lives on.
type timekeeper interface {
	Now() time.Time
	afterFunc(d time.Duration, f func()) (stop func() bool)
}

// packageTime is the real clock and, in a testing/synctest bubble, the fake one.
type packageTime struct{}

func (packageTime) Now() time.Time { return time.Now() }

func (packageTime) afterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Clock is a clock that stands still until [Clock.Advance] moves it.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	pending []*alarm // ordered by due time, then by creation
}

type alarm struct {
	due time.Time
	f   func()
}

// NewClock returns a clock that shows t0. It does not change package time, from
// which the client takes the NotBefore of an intent: outside of a testing/synctest
// bubble that is this machine's clock. Let the clock not be more than 30 seconds
// behind it: a transaction that looks that much older than its intent is found by
// the intent's id alone, and never when WithIntentMetadata switched the id off.
func NewClock(t0 time.Time) *Clock { return &Clock{now: t0} }

// Now returns the time the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// afterFunc calls f, in the goroutine of the Advance that reaches it, when d has
// passed. The returned function prevents the call and reports whether it did.
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

// Advance moves the clock forward by d. What becomes due on the way happens in
// order, each at its own time, before Advance returns. A negative d is ignored.
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
		c.mu.Unlock() // f may ask for the time and set new alarms
		next.f()
		c.mu.Lock()
	}
	if end.After(c.now) {
		c.now = end
	}
}
