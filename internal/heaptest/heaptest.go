// Package heaptest measures how much memory is held at a time.
package heaptest

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"
)

// slack is how much garbage may gather before the collector runs.
const slack = 512 << 10

func held() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()) //nolint:gosec // no heap is that large
}

// peakOf returns the most bytes that f adds to what was held before. The collector runs often, so that garbage
// hardly counts.
func peakOf(before int64, f func()) (peak int64) {
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(int(min(10, max(1, 100*slack/held())))))
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				peak = max(peak, held()-before)
			case <-done:
				return
			}
		}
	}()
	f()
	after := held() - before
	close(done)
	<-watched
	return max(peak, after)
}

// Least returns the least of several peaks, and stops at enough: with small inputs, garbage can
// exceed what is held.
func Least(enough int64, f func()) int64 {
	runtime.GC()
	before := held() // once: memory that one run has not released yet is no allowance for the next
	peak := peakOf(before, f)
	for range 100 { // on a busy machine the collector comes late
		if peak <= enough {
			break
		}
		peak = min(peak, peakOf(before, f))
	}
	return peak
}

// Full returns a text of the given length: before, element repeated, after, and then blanks.
func Full(length int, before, element, after string) string {
	room := length - len(before) - len(after)
	body := before + strings.TrimSuffix(strings.Repeat(element, room/len(element)), ",") + after
	return body + strings.Repeat(" ", length-len(body))
}
