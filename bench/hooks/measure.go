package main

import (
	"math/bits"
	"runtime"
	"time"
)

// histogram counts durations in microseconds, in buckets that are no wider than a
// sixteenth of what they hold.
type histogram struct {
	buckets [30 * 16]uint32
	n       int
	max     time.Duration
}

func (h *histogram) add(d time.Duration) {
	h.n++
	h.max = max(h.max, d)
	h.buckets[bucket(d)]++
}

// bucket returns the index of a duration. The first 32 buckets hold a microsecond
// each; then each sixteen of them twice what the sixteen before hold.
func bucket(d time.Duration) int {
	us := uint64(max(d, 0).Microseconds()) //nolint:gosec // not negative
	shift := max(bits.Len64(us)-5, 0)
	return min(shift*16+int(us>>shift), len(histogram{}.buckets)-1) //nolint:gosec // less than 32
}

// bound returns the end of a bucket.
func bound(i int) time.Duration {
	shift := max(i/16-1, 0)
	return time.Duration(i-shift*16+1) << shift * time.Microsecond
}

// quantile returns what the given share of the durations does not exceed.
func (h *histogram) quantile(share float64) time.Duration {
	rank, seen := int(share*float64(h.n)), 0
	for i, n := range h.buckets {
		if seen += int(n); seen > rank {
			return min(bound(i), h.max)
		}
	}
	return h.max
}

// merge adds what another histogram holds.
func (h *histogram) merge(o *histogram) {
	h.n += o.n
	h.max = max(h.max, o.max)
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}

// points is how often memory is looked at, eight times in each quarter.
const points = 32

// memory is what is in use after a collection.
type memory struct {
	live, inUse uint64 // of the heap: objects, and the pages that hold them
	goroutines  int
}

// gauge looks at the memory, beside what else is going on.
type gauge struct {
	requests chan struct{}
	ended    chan struct{}
	samples  []memory
}

func newGauge() *gauge {
	g := &gauge{requests: make(chan struct{}, points), ended: make(chan struct{}), samples: make([]memory, 0, points)}
	go func() {
		defer close(g.ended)
		for range g.requests {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			g.samples = append(g.samples, memory{m.HeapAlloc, m.HeapInuse, runtime.NumGoroutine()})
		}
	}()
	return g
}

func (g *gauge) take() { g.requests <- struct{}{} }

func (g *gauge) close() {
	close(g.requests)
	<-g.ended
}

// quarter returns the least and the most of each figure in a quarter of the time,
// from 0. The least is closest to what is kept: a collection takes for alive what
// comes up while it runs, and on a busy machine that is a lot.
func quarter(samples []memory, q int) (least, most memory) {
	part := samples[q*points/4 : (q+1)*points/4]
	least, most = part[0], part[0]
	for _, m := range part[1:] {
		least = memory{min(least.live, m.live), min(least.inUse, m.inUse), min(least.goroutines, m.goroutines)}
		most = memory{max(most.live, m.live), max(most.inUse, m.inUse), max(most.goroutines, m.goroutines)}
	}
	return least, most
}
