package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// work is something that is compared with others.
type work struct {
	name string
	do   func() error // once
}

// plan says how to measure: each case runs in each round, for one slice at least.
type plan struct {
	rounds int
	slice  time.Duration
	clock  func() time.Duration // the time spent so far
}

// long returns the plan for cases that take as long as a slice even once.
func (p plan) long() plan { return plan{(p.rounds + 3) / 4, 4 * p.slice, p.clock} }

// cpu returns the processor time of this process, with that in the kernel.
func cpu() time.Duration {
	var used syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// times are how long a case took once, by case and round.
type times map[string][]float64

// run measures the cases, after a round that warms up what they keep.
func (p plan) run(cases ...work) times {
	found := times{}
	for round := range 1 + p.rounds {
		for turn := range cases {
			c := cases[(round+turn)%len(cases)]
			runtime.GC()
			if took := p.once(c); round > 0 {
				found[c.name] = append(found[c.name], took)
			}
		}
	}
	return found
}

// once returns how long a case takes once. It runs the case in batches that grow until a slice is over.
func (p plan) once(c work) float64 {
	start, done := p.clock(), 0
	for batch := 1; ; batch *= 2 {
		for range batch {
			if err := c.do(); err != nil {
				panic(fmt.Errorf("%s: %w", c.name, err))
			}
		}
		done += batch
		if took := p.clock() - start; took >= p.slice {
			return float64(took) / float64(done)
		}
	}
}

// ratio returns the median over the rounds of what one case took, as a multiple of what another
// took in the same round. It is NaN if one of them was not measured.
func (t times) ratio(a, b string) float64 {
	ratios := make([]float64, min(len(t[a]), len(t[b])))
	for round := range ratios {
		ratios[round] = t[a][round] / t[b][round]
	}
	if len(ratios) == 0 {
		return math.NaN()
	}
	slices.Sort(ratios)
	return (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
}
