package conform

import (
	"fmt"
	"time"
)

// span is a range of durations; the zero span is every duration.
type span struct {
	low, high time.Duration
	known     bool
}

// narrow takes another observation into account. One that contradicts those before is a fault, or
// of a clock that was set, and does not count.
func (s *span) narrow(low, high time.Duration) {
	switch {
	case !s.known:
		*s = span{low, high, true}
	case low <= s.high && s.low <= high:
		s.low, s.high = max(s.low, low), min(s.high, high)
	}
}

func (s span) middle() time.Duration { return (s.low + s.high) / 2 }

// window is how old a thing was when a change had not yet been seen, and when it was.
type window struct {
	number int
	before time.Duration // -1 before the first look
	after  time.Duration
	looked int // number of looks
	seen   bool
}

// pick returns the one listed duration in the window, if the window is so narrow that it says more
// than "nearest": 4 seconds for short durations, and 15 from a minute on.
func (w window) pick(listed ...time.Duration) result {
	var in []time.Duration
	for _, d := range listed {
		if w.before < d && d <= w.after {
			in = append(in, d)
		}
	}
	switch width := w.after - w.before; {
	case len(in) == 0:
		return other(fmt.Sprintf("between %s and %s", brief(max(w.before, 0)), brief(w.after)))
	case len(in) == 1 && (width <= 4*time.Second || width <= 15*time.Second && in[0] >= time.Minute):
		return is(brief(in[0]))
	default:
		return open(fmt.Sprintf("between %s and %s, which is not narrow enough", brief(max(w.before, 0)), brief(w.after)))
	}
}
