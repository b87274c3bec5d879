package sandbox

import (
	"slices"
	"sync"
	"time"
)

// Clock is a clock that [Clock.Advance] moves. Otherwise a clock of [NewClock] stands still, and a clock
// of [NewRunningClock] runs as package time does.
//
// Advance waits for the end of requests and calls that are under way. On a clock that stands still, the
// delay of a fault ends as soon as nothing else is under way, and moves the clock.
type Clock struct {
	runs  bool
	mu    sync.Mutex
	now   time.Time
	at    time.Time // when it showed now, by package time
	timer *time.Timer

	pending []*alarm // by due time, then by creation

	requests, calls int           // under way
	waiting         int           // requests that wait for the clock
	changed         chan struct{} // closed when one of them changes
}

type alarm struct {
	due    time.Time
	f      func()
	delays bool // a request waits for it
}

// NewClock returns a clock that shows t0 and stands still. Give its Now to the client's option
// WithClock too, as package sandboxtest does. Without that, do not set the clock more than 30 seconds
// behind package time: a transaction that looks older than its intent is matched only by the intent's
// id in its metadata.
func NewClock(t0 time.Time) *Clock {
	return &Clock{now: t0, changed: make(chan struct{})}
}

// NewRunningClock returns a clock that shows t0 and then runs as package time does.
func NewRunningClock(t0 time.Time) *Clock {
	return &Clock{runs: true, now: t0, at: time.Now(), changed: make(chan struct{})}
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown()
}

func (c *Clock) shown() time.Time {
	if !c.runs {
		return c.now
	}
	return c.now.Add(time.Since(c.at))
}

// afterFunc calls f after d, in the goroutine that moves the clock to that time. The
// returned function prevents the call and reports whether it did.
func (c *Clock) afterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.plan(&alarm{due: c.shown().Add(max(d, 0)), f: f})
}

// plan adds an alarm. The caller holds mu.
func (c *Clock) plan(a *alarm) (stop func() bool) {
	at, _ := slices.BinarySearchFunc(c.pending, a.due, func(p *alarm, due time.Time) int {
		if p.due.After(due) {
			return 1
		}
		return -1 // equal times keep their order
	})
	c.pending = slices.Insert(c.pending, at, a)
	if at == 0 {
		c.arm()
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.pending, a)
		if i < 0 {
			return false
		}
		c.remove(i)
		return true
	}
}

// remove takes an alarm away. The caller holds mu.
func (c *Clock) remove(i int) {
	if c.pending[i].delays {
		c.waiting--
		c.change()
	}
	c.pending = slices.Delete(c.pending, i, i+1)
}

// arm sets the timer of a running clock to the first alarm. The caller holds mu.
func (c *Clock) arm() {
	if !c.runs {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	if len(c.pending) > 0 {
		c.timer = time.AfterFunc(c.pending[0].due.Sub(c.shown()), c.catchUp)
	}
}

// catchUp runs every alarm that is due. It does not wait for requests: package time does not either.
func (c *Clock) catchUp() {
	for {
		c.mu.Lock()
		due := c.moveTowards(c.shown())
		c.mu.Unlock()
		if due == nil {
			return
		}
		due.f()
	}
}

// moveTowards moves the clock to the first alarm that is due by end, and returns it, or to end. The caller
// holds mu, and calls the alarm's function without it: the function may read the time and set alarms.
func (c *Clock) moveTowards(end time.Time) (due *alarm) {
	if len(c.pending) > 0 && !c.pending[0].due.After(end) {
		due = c.pending[0]
		c.remove(0)
		end = due.due
	}
	if end.After(c.shown()) {
		c.now, c.at = end, time.Now()
	}
	c.arm()
	return due
}

// leap moves the clock to end. It moves only while everything under way waits for the clock, and stops
// waiting for that if one of the channels is closed.
func (c *Clock) leap(end time.Time, done, gone, closing <-chan struct{}) {
	for {
		c.mu.Lock()
		if c.requests > c.waiting || c.calls > c.waiting {
			changed := c.changed
			c.mu.Unlock()
			select {
			case <-changed:
				continue
			case <-done:
			case <-gone:
			case <-closing:
			}
			return
		}
		due := c.moveTowards(end)
		c.mu.Unlock()
		if due == nil {
			return
		}
		due.f()
	}
}

// wait waits for d, and moves a clock that stands still. It returns false if one of the channels is
// closed before that.
func (c *Clock) wait(d time.Duration, gone, closing <-chan struct{}) bool {
	done := make(chan struct{})
	c.mu.Lock()
	end := c.shown().Add(max(d, 0))
	c.waiting++
	c.change()
	stop := c.plan(&alarm{due: end, f: func() { close(done) }, delays: true})
	c.mu.Unlock()
	defer stop()
	if !c.runs {
		c.leap(end, done, gone, closing)
	}
	select {
	case <-done:
		return true
	case <-gone:
	case <-closing:
	}
	return false
}

// hold counts a request as under way until release is called. holdCall counts a client's call, which
// may pause between its requests.
func (c *Clock) hold() (release func())     { return c.count(&c.requests) }
func (c *Clock) holdCall() (release func()) { return c.count(&c.calls) }

func (c *Clock) count(n *int) (release func()) {
	add := func(by int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		*n += by
		c.change()
	}
	add(1)
	return sync.OnceFunc(func() { add(-1) })
}

// change wakes the goroutines that wait to move the clock. The caller holds mu.
func (c *Clock) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// Advance moves the clock forward by d. Everything that becomes due happens in order, at its own
// time, before Advance returns. It ignores a negative d.
//
// It first waits until no request and no write of a client of package sandboxtest is under way. Otherwise
// the service could forget the idempotency key of a payment before its next attempt, or make the payment
// days after it was sent. Do not call Advance within such a write: it would wait for ever.
func (c *Clock) Advance(d time.Duration) {
	c.leap(c.Now().Add(max(d, 0)), nil, nil, nil)
}
