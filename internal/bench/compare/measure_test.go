package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{7: {7}, 5: {9, 1, 5}, 2.5: {1000, 1, 2, 3}, 2: {2, 2, 900, 2, 2}} {
		ones := slices.Repeat([]float64{1}, len(values))
		if got := (times{"a": values, "b": ones}).ratio("a", "b"); got != want {
			t.Errorf("the median of %v is %v, want %v", values, got, want)
		}
	}
	if got := (times{"a": {1}}).ratio("a", "b"); !math.IsNaN(got) {
		t.Errorf("ratio of what was not measured: %v", got)
	}
}

// machine is a clock that only the cases move, at a speed that changes.
type machine struct {
	now   time.Duration
	speed int64
	log   string
}

func (m *machine) clock() time.Duration { return m.now }

func (m *machine) work(name string, cost time.Duration) work {
	return work{name, func() error {
		m.now += time.Duration(int64(cost) * m.speed)
		m.log += name
		return nil
	}}
}

func TestEveryCaseBeginsInItsTurn(t *testing.T) {
	m := &machine{speed: 1}
	plan{2, 40, m.clock}.run(m.work("a", 10), m.work("b", 20), m.work("c", 100))
	slice := map[byte]string{'a': "aaaaaaa", 'b': "bbb", 'c': "c"} // 1, 2 and 4 times
	var want strings.Builder
	for _, name := range []byte("abc" + "bca" + "cab") {
		want.WriteString(slice[name])
	}
	if m.log != want.String() {
		t.Errorf("ran %s\nwant %s", m.log, want.String())
	}
}

// TestRatioSurvivesDrift measures on another machine in every round.
func TestRatioSurvivesDrift(t *testing.T) {
	m := &machine{speed: 1}
	turns := 0
	p := plan{9, 1, func() time.Duration {
		if turns++; turns%4 == 1 { // before the first of two cases
			m.speed = m.speed*3%17 + 1
		}
		return m.now
	}}
	found := p.run(m.work("a", 300), m.work("b", 100))
	if len(found["a"]) != 9 || found["a"][0] == found["a"][1] {
		t.Errorf("the machine did not change: %v", found)
	}
	// Half of the rounds begin with b, and all see both cases at one speed.
	if got := found.ratio("a", "b"); got != 3 {
		t.Errorf("ratio %v, want 3", got)
	}
}
