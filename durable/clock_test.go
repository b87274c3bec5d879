package durable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestClock: what the installation's time does when the database's clock, the machine's or both do what
// they should not, and the service says what time it is.
func TestClock(t *testing.T) {
	begun := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		monotonic, database time.Duration // what has passed until the next reading
		service             time.Duration // 0 if it has not answered
		passed              time.Duration // by the installation's time
		doubted             bool
	}{
		"an hour":                                                              {monotonic: time.Hour, database: time.Hour, passed: time.Hour},
		"the reading took long to arrive":                                      {monotonic: time.Hour, database: time.Hour - 500*time.Millisecond, passed: time.Hour},
		"the database's clock is set back a little":                            {monotonic: time.Hour, database: time.Hour - 5*time.Second, passed: time.Hour - 5*time.Second},
		"the database's clock is set on a little":                              {monotonic: time.Hour, database: time.Hour + 50*time.Second, passed: time.Hour + 50*time.Second},
		"it leaps a year ahead":                                                {monotonic: time.Hour, database: year, passed: time.Hour, doubted: true},
		"it leaps a year back":                                                 {monotonic: time.Hour, database: -year, passed: time.Hour, doubted: true},
		"it leaps, and the service's is where it was":                          {monotonic: time.Hour, database: year, service: time.Hour, passed: time.Hour, doubted: true},
		"the machine has slept, and the service agrees":                        {monotonic: time.Second, database: 8 * time.Hour, service: 8*time.Hour + 50*time.Minute, passed: 8 * time.Hour},
		"the machine has slept, and the service's clock is wrong by two hours": {monotonic: time.Second, database: 8 * time.Hour, service: 10 * time.Hour, passed: time.Second, doubted: true},
	} {
		t.Run(name, func(t *testing.T) {
			here := begun
			c0 := &clock{here: func() time.Time { return here }, ahead: func() time.Duration { return 0 }}
			c0.saw(begun)
			here = here.Add(c.monotonic)
			c0.saw(begun.Add(c.database))
			if c.service != 0 {
				c0.judge(begun.Add(c.service))
			}
			assert.Equal(t, c.passed, c0.now().Sub(begun))
			assert.Equal(t, c.doubted, c0.doubted())
			c0.saw(begun.Add(c.passed))
			assert.False(t, c0.doubted(), "it is where it is expected again")
		})
	}
}

// TestClockMovesOn: no two calls get the same time, also between two ticks of the machine's clock.
func TestClockMovesOn(t *testing.T) {
	begun := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	c := &clock{here: func() time.Time { return begun }, ahead: func() time.Duration { return 0 }}
	c.saw(begun)
	last := c.now()
	for range 3 {
		now := c.now()
		assert.Equal(t, time.Microsecond, now.Sub(last))
		last = now
	}
}

// TestPassed: none of a leap counts as time that has passed, whether a process has met it or was started
// after it.
func TestPassed(t *testing.T) {
	begun := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	here := begun
	running := func() *clock {
		return &clock{here: func() time.Time { return here }, ahead: func() time.Duration { return 0 }}
	}
	met := running()
	met.saw(begun)
	here = here.Add(10 * time.Second)
	leapt := here.Add(5 * time.Minute)
	met.saw(leapt)
	met.judge(here) // within an hour
	started := running()
	started.saw(leapt)
	started.begin(leapt, begun, time.Time{})
	assert.True(t, started.doubted())
	started.judge(here)
	later := running()
	later.saw(leapt.Add(20 * time.Second))
	later.begin(leapt.Add(20*time.Second), leapt, met.leaped()) // as the others have stored it
	assert.False(t, later.doubted())
	here = here.Add(20 * time.Second)
	for name, c := range map[string]*clock{"running": met, "started after it": started} {
		assert.False(t, c.doubted(), name)
		assert.Equal(t, 20*time.Second, c.passed(begun).Round(time.Millisecond), name)
		assert.Equal(t, 5*time.Second, c.passed(leapt.Add(15*time.Second)).Round(time.Millisecond), name)
	}
	assert.Equal(t, 40*time.Second, later.passed(begun).Round(time.Millisecond))

	asksNobody := running() // a program that starts no engine
	asksNobody.saw(leapt.Add(-10 * time.Minute))
	asksNobody.saw(leapt.Add(20 * time.Second))
	asksNobody.heed(leapt.Add(-time.Hour), time.Time{})
	assert.True(t, asksNobody.doubted(), "the others have not followed")
	asksNobody.heed(leapt, met.leaped())
	assert.False(t, asksNobody.doubted())
	assert.Equal(t, leapt.Add(20*time.Second), asksNobody.now().Round(time.Millisecond))
	assert.Equal(t, 20*time.Second, asksNobody.passed(begun).Round(time.Millisecond))
}

// TestClockStartedApart: however far the database's clock is from the service's, an engine that doubts it at its
// start does so until the service has answered twice, and no longer.
func TestClockStartedApart(t *testing.T) {
	here := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	for apart := 59 * time.Minute; apart <= 62*time.Minute; apart += time.Second {
		for _, shown := range []time.Time{here.Add(apart), here.Add(-apart)} {
			c := &clock{here: func() time.Time { return here }, ahead: func() time.Duration { return 0 }}
			c.saw(shown)
			c.begin(shown, shown.Add(-time.Hour), time.Time{})
			assert.True(t, c.doubted())
			c.judge(here)
			c.judge(here)
			assert.False(t, c.doubted(), "%s apart", shown.Sub(here))
		}
	}
}
