package conform

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Many reads do not keep the run from a look that has to come at its second.
func TestLooksGoBeforeManyReads(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	reads := task{due: at(time.Minute), long: true}
	for _, test := range []struct {
		name string
		look time.Duration // when it is due
		now  time.Duration
		want time.Duration // when the first task is due
	}{
		{"soon after the reads", 70 * time.Second, 0, 70 * time.Second},
		{"long after the reads", time.Hour, 0, time.Minute},
		{"soon after late reads", time.Hour, 59 * time.Minute, time.Hour},
		{"before the reads", time.Second, 0, time.Second},
		{"after the end of the run", 3 * time.Hour, 2*time.Hour + 59*time.Minute, time.Minute},
	} {
		got := next([]task{reads, {due: at(test.look)}}, at(test.now), at(2*time.Hour))
		assert.Equal(t, at(test.want), got.due, test.name)
	}
}
