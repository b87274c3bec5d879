package transport

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWait: pauses grow, lie between the two bounds, and differ from each other,
// so that many clients do not come back at once.
func TestWait(t *testing.T) {
	const lowest, highest = 500 * time.Millisecond, 8 * time.Second
	pause := func(shortest, longest time.Duration, n int) time.Duration {
		x := exchange{call: Call{Limits: &Limits{WaitMin: shortest, WaitMax: longest}}, attempts: n + 1}
		return x.wait()
	}
	for n := range 60 {
		seen := map[time.Duration]bool{}
		var most time.Duration
		for range 200 {
			d := pause(lowest, highest, n)
			assert.GreaterOrEqual(t, d, lowest, "pause %d", n)
			assert.LessOrEqual(t, d, highest, "pause %d", n)
			seen[d], most = true, max(most, d)
		}
		assert.Greater(t, len(seen), 150, "pause %d has no jitter", n)
		if n < 4 {
			assert.LessOrEqual(t, most, lowest<<(n+1), "pause %d", n)
		} else {
			assert.Greater(t, most, highest/2, "pause %d", n)
		}
	}
	for n := range 100 { // shift after shift, and not past the end
		assert.Equal(t, time.Nanosecond, pause(1, 1, n))
		assert.Positive(t, pause(time.Hour, 1<<62, n))
	}
}
