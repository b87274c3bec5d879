package durable

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

const (
	// readingsApart is how far the times of two processes may differ.
	readingsApart = time.Second
	// mostLeap is how far the database's clock may be from where it is expected.
	mostLeap = time.Minute
	// mostAway is how far it may have moved since it was stored last, which engines at work do every minute.
	mostAway = 2 * time.Minute
	// mostSkew is how far the service's clock may be from the true time: an assumption. The minute is for its
	// Date, which has whole seconds, and for the way of an answer.
	mostSkew = time.Hour + time.Minute
)

// clock is the time of the installation: the database's, which goes on by this machine's monotonic clock
// from one reading to the next. A leap is not followed before the service's clock agrees with it: the
// machine may have slept, or the database's clock may be wrong.
type clock struct {
	ahead func() time.Duration // of Options.Clock before this machine's
	here  func() time.Time     // this machine's, with its monotonic reading

	still bool // it stands still, in tests

	mu       sync.Mutex
	last     time.Time // what now has returned
	read, at time.Time // what the database's clock showed, and when by this machine
	since    time.Time // what is earlier may be compared with it no more: it has leapt since
	away     bool      // it may have leapt since an engine was at work
	sure     bool      // the service has confirmed it since this engine was made
	leap     time.Time // what it shows instead; zero if it is where it is expected
	leapt    time.Time // when by this machine
	kept     time.Time // when it was stored last, or the service was asked
}

func newClock(opts func() time.Time, db any) *clock {
	c := &clock{here: time.Now, ahead: func() time.Duration { return 0 }}
	machine := time.Now
	if probe, tested := db.(database.Probe); tested {
		machine = probe.Machine
	}
	if _, driven := db.(database.Driver); driven { // its time stands still
		c.here, c.still = machine, true
	}
	if opts != nil {
		c.ahead = func() time.Duration { return opts().Sub(machine()) }
	}
	return c
}

// now is the time that everything is compared with. No two calls get the same, and a little later is never
// earlier: a follow-up that is written after another one has a later time.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.read.Add(c.here().Sub(c.at) + c.ahead())
	if behind := c.last.Sub(now); !c.still && behind >= 0 && behind < readingsApart {
		now = c.last.Add(time.Microsecond) // as fine as the databases keep it
	}
	c.last = now
	return now
}

// expected is what the database's clock should show now.
func (c *clock) expected() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read.Add(c.here().Sub(c.at))
}

// saw takes a reading of the database's clock. It is old by the time it took to arrive, and so one that is
// only a little behind is not followed.
func (c *clock) saw(read time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	here := c.here()
	switch later := read.Sub(c.read) - here.Sub(c.at); {
	case c.read.IsZero() || later > 0 && later <= mostLeap || later < -readingsApart && later >= -mostLeap:
		c.read, c.at, c.leap = read, here, time.Time{}
	case later.Abs() > mostLeap:
		c.leap, c.leapt = read, here
	default:
		c.leap = time.Time{}
	}
}

// judge compares a doubtful time with the service's, which is true within an hour. An engine that was made
// while the database's clock is wrong goes by the service's, so that nothing it writes looks old later.
func (c *clock) judge(service time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown, at := c.shown()
	here := c.here()
	apart := shown.Add(here.Sub(at)).Sub(service)
	switch apart = min(apart.Abs(), (apart + c.ahead()).Abs()); {
	case apart <= mostSkew:
		if !c.leap.IsZero() {
			c.last, c.since = time.Time{}, shown.Add(here.Sub(at)+c.ahead())
		}
		c.read, c.at, c.leap, c.away, c.sure = shown, at, time.Time{}, false, true
	case !c.sure && c.leap.IsZero():
		c.read, c.at, c.away = service.Add(-c.ahead()), here, true
		c.last, c.since = time.Time{}, service
	}
}

// heed follows a doubtful time that another engine has confirmed and stored.
func (c *clock) heed(last, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown, at := c.shown()
	if shown.Add(c.here().Sub(at)+c.ahead()).Sub(last).Abs() <= mostAway {
		c.last, c.since = time.Time{}, since
		c.read, c.at, c.leap, c.away = shown, at, time.Time{}, false
	}
}

// shown is what the database's clock has shown last, and when by this machine.
func (c *clock) shown() (read, at time.Time) {
	if !c.leap.IsZero() {
		return c.leap, c.leapt
	}
	return c.read, c.at
}

// passed is how much time has surely passed since another: none of a leap counts.
func (c *clock) passed(t time.Time) time.Duration {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.Before(c.since) {
		t = c.since
	}
	return max(0, now.Sub(t))
}

// doubted reports whether the time is doubtful: until the service has confirmed it nothing is given up,
// emptied or done for the day. Sending goes on.
func (c *clock) doubted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.away || !c.leap.IsZero()
}

// due reports once a minute that the time is to be stored, or the service to be asked.
func (c *clock) due() bool {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.kept).Abs() < time.Minute {
		return false
	}
	c.kept = now
	return true
}

// databaseAhead is how far the database's clock is ahead of this machine's.
func (c *clock) databaseAhead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown, at := c.shown()
	return shown.Sub(at.Round(0))
}

// stale reports whether the last reading is older than a minute, by the later of two clocks: the
// monotonic one stands still while the machine sleeps.
func (c *clock) stale() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(c.here().Sub(c.at), c.here().Round(0).Sub(c.at)) > time.Minute
}

const (
	// timeName is the name under which the time stands, once a minute.
	timeName = "clock"
	// longestPause is longer than a queued write rests, or one that is being sent has, and longestWait
	// longer than any write waits for the service.
	longestPause = 2 * time.Hour
	longestWait  = 15 * 24 * time.Hour
)

// readTime returns the time after a reading of the database's clock.
func (e *engine) readTime(ctx context.Context, tx tx) (time.Time, error) {
	var read time.Time
	err := query(ctx, tx, func(scan func(...any) error) error { return scan(&read) }, "SELECT "+database.Now)
	if err == nil {
		e.time.saw(read)
	}
	return e.clock(), err
}

// beginTime takes the database's time, and doubts it if it is far from that of the last engine.
func (e *engine) beginTime(ctx context.Context, tx tx) error {
	if err := execute(ctx, tx, "INSERT INTO quickstream.meta (name, value) VALUES ($1, '') ON CONFLICT DO NOTHING", timeName); err != nil {
		return err
	}
	now, err := e.readTime(ctx, tx)
	if err != nil {
		return err
	}
	text, err := meta(ctx, tx, timeName)
	switch {
	case err != nil:
		return err
	case text == "": // the first engine
		return e.storeTime(ctx, tx, now)
	}
	last, since := stored(text)
	e.time.begin(now, last, since)
	return nil
}

// stored reads the time that was stored last, and when the clock had leapt before that; zero if it cannot.
func stored(text string) (last, since time.Time) {
	var at, leapt int64
	if _, err := fmt.Sscan(text, &at, &leapt); err != nil {
		return time.Time{}, time.Time{}
	}
	return time.UnixMicro(at), time.UnixMicro(leapt)
}

// refreshTime reads the time before a write is stored, if the machine may have slept or the clock is
// doubted: a program that never starts an engine asks no service, and follows those that have.
func (e *engine) refreshTime(ctx context.Context, tx tx) error {
	if !e.time.stale() && !e.time.doubted() {
		return nil
	}
	if _, err := e.readTime(ctx, tx); err != nil || !e.time.doubted() {
		return err
	}
	text, err := meta(ctx, tx, timeName)
	if err == nil {
		e.time.heed(stored(text))
	}
	return err
}

// begin compares the time with the one that was stored last, and when the clock had leapt before that.
func (c *clock) begin(now, last, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since = since; now.Sub(last).Abs() > mostAway {
		c.since, c.away = now, true
	}
}

// leaped is when the clock has leapt last, as far as this process knows.
func (c *clock) leaped() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since
}

// keepTime stores the time once a minute, or asks the service as often while it is doubtful.
func (e *engine) keepTime(ctx context.Context) error {
	if !e.time.due() {
		return nil
	}
	now := time.Time{}
	err := within(ctx, e.db, func(tx tx) (err error) {
		if now, err = e.readTime(ctx, tx); err != nil || e.time.doubted() {
			return err
		}
		return e.storeTime(ctx, tx, now)
	})
	if err != nil || !e.time.doubted() {
		return err
	}
	answer, judge := e.serviceTime()
	failed := e.client.Check(ctx, answer)
	judge()
	if e.time.doubted() {
		e.logger.WarnContext(ctx, "quickstream: the database's clock is not where it is expected, or the service's clock shows another time: nothing is given up or emptied", "error", problemOf(failed))
	}
	return nil
}

func (e *engine) storeTime(ctx context.Context, tx tx, now time.Time) error {
	if err := setMeta(ctx, tx, timeName, fmt.Sprint(now.UnixMicro(), max(0, e.time.leaped().UnixMicro()))); err != nil {
		return err
	}
	// What a wrong clock has put off for longer than anything waits is due.
	err := execute(ctx, tx, `UPDATE quickstream.write SET next_at = $1, due_at = $1 WHERE due_at > $2
		AND (state IN ('queued', 'sending') OR written_at > $2 OR due_at > $3)`, now, now.Add(longestPause), now.Add(longestWait))
	if err != nil {
		return err
	}
	return execute(ctx, tx, "UPDATE quickstream.notification SET next_at = $1, due_at = $1 WHERE due_at > $2", now, now.Add(longestPause))
}
