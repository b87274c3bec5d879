// Package measure compares ways of doing the same work on a machine that does
// other things at the same time.
//
// Absolute times drift there, and say little. So all ways are timed in turn, in
// short slices, and compared within each round of slices: what else the machine
// does meets all of them. The result is the median over the rounds.
package measure

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// Case is one way of doing the work.
type Case struct {
	Name string
	Do   func() error // once
}

// Plan says how to measure.
type Plan struct {
	Rounds int
	// Slice is how long a case runs in each round, about.
	Slice time.Duration
	// Clock returns the time spent so far; Wall when nil.
	Clock func() time.Duration
	// Settle is called before each slice; runtime.GC when nil.
	Settle func()
}

// Rounds is what was measured: by case and round, the nanoseconds for doing it once.
type Rounds map[string][]float64

// Wall returns a clock that shows how long it has been running.
func Wall() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// Run measures the cases. It stops at the first error.
func (p Plan) Run(cases ...Case) (Rounds, error) {
	if p.Rounds < 1 || p.Slice <= 0 {
		return nil, fmt.Errorf("measure: %d rounds of slices of %v measure nothing", p.Rounds, p.Slice)
	}
	if p.Clock == nil {
		p.Clock = Wall()
	}
	if p.Settle == nil {
		p.Settle = runtime.GC
	}
	r := Rounds{}
	times := make([]int, len(cases))
	for i, c := range cases {
		if _, ok := r[c.Name]; ok {
			return nil, fmt.Errorf("measure: two cases are called %q", c.Name)
		}
		r[c.Name] = nil
		var err error
		if times[i], err = p.calibrate(c); err != nil {
			return nil, err
		}
	}
	for round := range p.Rounds {
		for turn := range cases {
			i := (round + turn) % len(cases)
			p.Settle()
			took, err := p.slice(cases[i], times[i])
			if err != nil {
				return nil, err
			}
			name := cases[i].Name
			r[name] = append(r[name], float64(took)/float64(times[i]))
		}
	}
	return r, nil
}

// calibrate returns how many times a case is done in a slice. It also warms up
// what the case keeps between its calls.
//
// Being interrupted makes a trial look long. Were it taken at its word, the slices
// would be short, and show the cold start behind each collection instead of the
// case. So it is the shortest of some trials that counts.
func (p Plan) calibrate(c Case) (int, error) {
	const trials = 5
	for n := 1; ; n *= 2 {
		shortest := time.Duration(math.MaxInt64)
		for range trials {
			took, err := p.slice(c, n)
			if err != nil {
				return 0, err
			}
			shortest = min(shortest, took)
			if shortest < p.Slice/4 {
				break
			}
		}
		if shortest >= p.Slice/4 || n >= 1<<30 {
			return max(1, int(float64(n)*float64(p.Slice)/float64(max(shortest, 1)))), nil
		}
	}
}

func (p Plan) slice(c Case, times int) (time.Duration, error) {
	start := p.Clock()
	for range times {
		if err := c.Do(); err != nil {
			return 0, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return p.Clock() - start, nil
}

// Subtract adds what a took without what b took in the same round, as a case of its own.
func (r Rounds) Subtract(name, a, b string) {
	r[name] = r.both(a, b, func(x, y float64) float64 { return x - y })
}

// Ratio returns the median over the rounds of what a took, divided by what b
// took in the same round. It is no number if one of them was not measured.
func (r Rounds) Ratio(a, b string) float64 {
	return Median(r.both(a, b, func(x, y float64) float64 { return x / y }))
}

// Took returns the median over the rounds of what a case took.
func (r Rounds) Took(name string) time.Duration { return time.Duration(Median(r[name])) }

func (r Rounds) both(a, b string, f func(x, y float64) float64) (values []float64) {
	for round := range min(len(r[a]), len(r[b])) {
		values = append(values, f(r[a][round], r[b][round]))
	}
	return values
}

// Median returns the middle of the values, or the mean of the two in the middle.
// Of none, or of some that are no numbers, it is no number.
func Median(values []float64) float64 {
	if len(values) == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}
