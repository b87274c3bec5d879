package durable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestTurns: a turn counts for an engine that read the time a little earlier than the one
// that has it, and not if its time is wrong.
func TestTurns(t *testing.T) {
	now := time.Date(2026, 11, 24, 4, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		done, until time.Duration // ahead of now
		want        turn
	}{
		{-time.Hour, dailyPause, turn{now.Add(-time.Hour).UnixMicro(), now.Add(dailyPause).UnixMicro()}},
		{-time.Hour, dailyPause + time.Second, turn{now.Add(-time.Hour).UnixMicro(), now.Add(dailyPause + time.Second).UnixMicro()}},
		{dailyPause, 2 * dailyPause, turn{now.Add(dailyPause).UnixMicro(), now.Add(2 * dailyPause).UnixMicro()}},
		{dailyPause + time.Second, 2*dailyPause + time.Second, turn{}},
		{365 * 24 * time.Hour, 365 * 24 * time.Hour, turn{}},
	} {
		text := turn{now.Add(c.done).UnixMicro(), now.Add(c.until).UnixMicro()}.text()
		assert.Equal(t, c.want, turnOf(text, now), "%v %v", c.done, c.until)
	}
	assert.Zero(t, turnOf("", now))
}
