package conform

import (
	"fmt"
	"time"
)

// span is a range of durations; the zero span is every duration.
type span struct {
	Low   time.Duration `json:"low"`
	High  time.Duration `json:"high"`
	Known bool          `json:"known"`
}

// narrow takes another observation into account. Two that contradict each other end the knowledge
// of the narrower range: a fault, or a clock that was set.
func (s *span) narrow(low, high time.Duration) {
	switch {
	case !s.Known:
		*s = span{low, high, true}
	case low <= s.High && s.Low <= high:
		s.Low, s.High = max(s.Low, low), min(s.High, high)
	}
}

func (s span) contains(d time.Duration) bool { return s.Known && s.Low <= d && d <= s.High }

func (s span) middle() time.Duration { return (s.Low + s.High) / 2 }

// pick returns the one listed duration in the span, if the span is so narrow that it says more
// than "nearest": to seconds for short durations, and to a twentieth or a quarter of a minute for
// long ones.
func (s span) pick(listed ...time.Duration) result {
	var in []time.Duration
	for _, d := range listed {
		if s.contains(d) {
			in = append(in, d)
		}
	}
	width := s.High - s.Low
	switch {
	case !s.Known:
		return open("no answer said it")
	case len(in) == 0:
		return other(fmt.Sprintf("between %s and %s", brief(s.Low), brief(s.High)))
	case len(in) == 1 && (width <= 4*time.Second || width <= 15*time.Second && in[0] >= time.Minute):
		return is(brief(in[0]))
	default:
		return open(fmt.Sprintf("between %s and %s, which is not narrow enough", brief(s.Low), brief(s.High)))
	}
}

// window is how old a thing was when a change had not yet been seen, and when it was.
type window struct {
	Number int           `json:"number"`
	Before time.Duration `json:"before"` // -1 before the first look
	After  time.Duration `json:"after"`
	Looked int           `json:"looked"` // number of looks
	Seen   bool          `json:"seen"`
}

// span excludes the moment of the last look without the change.
func (w window) span() span { return span{w.Before + 1, w.After, true} }
