package measure

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{7}, 7},
		{[]float64{9, 1, 5}, 5},
		{[]float64{1000, 1, 2, 3}, 2.5},
		{[]float64{2, 2, 2, 2, 900}, 2},
	} {
		if got := Median(tt.values); got != tt.want {
			t.Errorf("Median(%v) = %v, want %v", tt.values, got, tt.want)
		}
	}
	for _, values := range [][]float64{nil, {1, math.NaN(), 2}} {
		if got := Median(values); !math.IsNaN(got) {
			t.Errorf("Median(%v) = %v", values, got)
		}
	}
	values := []float64{3, 1, 2}
	Median(values)
	if values[0] != 3 || values[1] != 1 {
		t.Error("Median has sorted its argument")
	}
}

// machine is a clock that only the cases move, at a speed that changes.
type machine struct {
	now   time.Duration
	speed int64
	log   []string
}

func (m *machine) clock() time.Duration { return m.now }

func (m *machine) doing(name string, cost time.Duration) Case {
	return Case{name, func() error {
		m.now += time.Duration(int64(cost) * m.speed)
		m.log = append(m.log, name)
		return nil
	}}
}

func TestRatioSurvivesDrift(t *testing.T) {
	m := &machine{speed: 1}
	slices := 0
	plan := Plan{Rounds: 9, Slice: 100 * time.Microsecond, Clock: m.clock, Settle: func() {
		if slices++; slices%2 == 0 { // another machine in every round
			m.speed = m.speed*3%17 + 1
		}
	}}
	r, err := plan.Run(m.doing("a", 300), m.doing("b", 100))
	if err != nil {
		t.Fatal(err)
	}
	if slices != 18 {
		t.Errorf("settled before %d slices", slices)
	}
	// The speed changes in the middle of every round, so that single rounds are off.
	if got := r.Ratio("a", "b"); got < 0.5 || got > 12 {
		t.Errorf("ratio %v", got)
	}

	m = &machine{speed: 1}
	slices = 0
	plan.Clock = m.clock
	plan.Settle = func() {
		if slices%2 == 0 { // now between rounds
			m.speed = m.speed*3%17 + 1
		}
		slices++
	}
	if r, err = plan.Run(m.doing("a", 300), m.doing("b", 100)); err != nil {
		t.Fatal(err)
	}
	if got := r.Ratio("a", "b"); got != 3 {
		t.Errorf("ratio %v, want 3", got)
	}
	r.Subtract("a without b", "a", "b")
	if got := r.Ratio("a without b", "b"); got != 2 {
		t.Errorf("share %v, want 2", got)
	}
	if got := r.Ratio("a", "c"); !math.IsNaN(got) {
		t.Errorf("ratio to what was not measured: %v", got)
	}
}

func TestRotationAndSlices(t *testing.T) {
	m := &machine{speed: 1}
	plan := Plan{Rounds: 4, Slice: 40, Clock: m.clock}
	slice := 0
	plan.Settle = func() {
		if slice == 0 {
			m.log = nil // of the calibration
		}
		slice++
		m.log = append(m.log, "|")
	}
	r, err := plan.Run(m.doing("a", 10), m.doing("b", 20), m.doing("c", 100))
	if err != nil {
		t.Fatal(err)
	}
	// Every case begins a round in its turn, and runs as often as fills a slice.
	want := "|aaaa|bb|c" + "|bb|c|aaaa" + "|c|aaaa|bb" + "|aaaa|bb|c"
	if got := strings.Join(m.log, ""); got != want {
		t.Errorf("ran %s\nwant %s", got, want)
	}
	if got := r.Took("b"); got != 20 {
		t.Errorf("b took %v", got)
	}
}

// A machine that is busy interrupts one trial in three for as long as ten slices.
func TestCalibrationSurvivesInterruptions(t *testing.T) {
	m := &machine{speed: 1}
	plan := Plan{Rounds: 1, Slice: 1000, Clock: m.clock}
	trial := 0
	plan.Clock = func() time.Duration {
		if trial++; trial%6 == 2 { // at the end of a trial
			m.now += 10 * plan.Slice
		}
		return m.now
	}
	n, err := plan.calibrate(m.doing("a", 1))
	if err != nil {
		t.Fatal(err)
	}
	if n != 1000 {
		t.Errorf("%d times fill a slice, want 1000", n)
	}
}

func TestRunFails(t *testing.T) {
	boom := errors.New("boom")
	calls := 0
	failing := Case{"late", func() error {
		if calls++; calls > 500 {
			return boom
		}
		return nil
	}}
	m := &machine{speed: 1}
	_, err := Plan{Rounds: 1000, Slice: 100, Clock: m.clock, Settle: func() {}}.Run(m.doing("a", 10), Case{"late", func() error {
		m.now += 10
		return failing.Do()
	}})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "late") {
		t.Errorf("error %v", err)
	}
	if _, err := (Plan{}).Run(m.doing("a", 1)); err == nil {
		t.Error("an empty plan was carried out")
	}
	if _, err := (Plan{Rounds: 1, Slice: 1}).Run(m.doing("a", 1), m.doing("a", 1)); err == nil {
		t.Error("two cases of one name were accepted")
	}
}

func TestClocks(t *testing.T) {
	for name, clock := range map[string]func() time.Duration{"wall": Wall(), "cpu": CPU()} {
		start := clock()
		for deadline := time.Now().Add(5 * time.Second); clock() == start; {
			if time.Now().After(deadline) {
				t.Fatalf("%s: the clock stands still", name)
			}
		}
		if clock() < start {
			t.Errorf("%s: the clock runs backwards", name)
		}
	}
}
