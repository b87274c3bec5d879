package durable

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Each lost answer halves the limit. If it was a matter of capacity less is safe, and the rest is longer each time.
func TestLimitFalls(t *testing.T) {
	l, now := limit{}, time.Now()
	for i, s := range []struct {
		safe int
		want limit
	}{
		{0, limit{Most: 10, Safe: 20}},
		{8, limit{Most: 5, Safe: 8, Rest: firstRest, Tried: now}},
		{0, limit{Most: 2, Safe: 8, Rest: firstRest, Tried: now}},
		{3, limit{Most: 1, Safe: 4, Rest: 2 * firstRest, Tried: now}},
		{0, limit{Most: 1, Safe: 4, Rest: 2 * firstRest, Tried: now}},
	} {
		s.want.Changed = now
		if l = l.halved(20, s.safe, now); !reflect.DeepEqual(l, s.want) {
			t.Errorf("after %d lost answers: %+v, want %+v", i+1, l, s.want)
		}
	}
}

// What is lost of more than the service has borne is a matter of capacity, and what was under way then says no more.
func TestBorne(t *testing.T) {
	for _, s := range []struct{ borne, under, safe, rests int }{
		{0, 4, 20, 0}, // any service bears that
		{3, 10, 4, 1},
		{8, 9, 6, 1},
		{12, 14, 10, 1},
		{12, 12, 20, 0},
	} {
		g := &gate{id: "one", workers: 20}
		g.borne[1], g.under[customers] = s.borne, s.under
		for ; g.under[customers] > 0; g.under[customers]-- {
			(&pass{g, customers, 0}).answered(true)
		}
		next, _ := g.next(limit{}, time.Now())
		if next.Most != 1 || next.Safe != s.safe || next.Rest != time.Duration(s.rests)*firstRest {
			t.Errorf("%d are lost, and it has borne %d: %+v", s.under, s.borne, next)
		}
	}
}

// fullGate is a gate under a limit that customers have reached.
func fullGate(t *testing.T, most int) (g *gate, held []*pass) {
	t.Helper()
	g = &gate{id: "one", workers: 20, limit: limit{Most: most}}
	for range most {
		held = append(held, g.enter(t.Context(), customers, 0))
	}
	if slices.Contains(held, nil) || g.enter(t.Context(), customers, 0) != nil || g.enter(t.Context(), backlog, 0) != nil {
		t.Fatal("not as many may begin as the limit says")
	}
	return g, held
}

// The newest customer goes first, and each fifth turn is that of the oldest of the backlog.
func TestWhoseTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, held := fullGate(t, 2)
		var order []int
		for i := range 20 {
			for in, number := range []int{i, 100 + i} {
				go func() {
					if p := g.enter(t.Context(), line(in), time.Minute); p != nil {
						order = append(order, number)
						p.leave()
					}
				}()
				synctest.Wait()
			}
		}
		held[0].leave()
		synctest.Wait()
		want := []int{19, 18, 17, 16, 100, 15, 14, 13, 12, 101, 11, 10, 9, 8, 102, 7, 6, 5, 4, 103, 3, 2, 1, 0, 104}
		for i := 105; i < 120; i++ {
			want = append(want, i)
		}
		if !slices.Equal(order, want) {
			t.Errorf("the turns were %v, want %v", order, want)
		}
	})
}

// Who gets no turn in time gives up, and so does one whose context ends: the next turn is another's.
func TestNoTurnInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, held := fullGate(t, 2)
		begun := time.Now()
		if g.enter(t.Context(), customers, turnPatience) != nil || time.Since(begun) != turnPatience {
			t.Errorf("it waited for %s", time.Since(begun))
		}
		ended, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if g.enter(ended, backlog, turnPatience) != nil {
			t.Error("a job has got a turn whose context had ended")
		}
		held[0].leave()
		if g.underWay() != 1 || len(g.lines[customers])+len(g.lines[backlog]) != 0 {
			t.Errorf("%d are under way, and these wait: %v", g.underWay(), g.lines)
		}
	})
}

// Look-ups that hang leave a turn to customers.
func TestTurnForCustomers(t *testing.T) {
	g := &gate{workers: 20, limit: limit{Most: 3}}
	for i, want := range []bool{true, true, false} {
		if p := g.enter(t.Context(), backlog, 0); (p != nil) != want {
			t.Errorf("look-up %d: %v, want %v", i, p != nil, want)
		}
	}
	if g.enter(t.Context(), customers, 0) == nil {
		t.Error("a customer waits for look-ups")
	}
}

// A round of answers lets the limit grow by one, each second up to what the service has borne, and slowly
// above. At the ceiling there is none.
func TestLimitGrows(t *testing.T) {
	g, stored, now := &gate{id: "one", workers: 7}, limit{}, time.Now()
	step := func(after time.Duration, answers int) int {
		now = now.Add(after)
		for range answers {
			(&pass{g, customers, g.halvings}).answered(false)
		}
		next, take := g.next(stored, now)
		take()
		stored = next
		return next.Most
	}
	g.under[customers] = 4
	step(0, 1)
	for g.under[customers] = 6; g.under[customers] > 0; g.under[customers]-- { // all at once
		(&pass{g, customers, 0}).answered(true)
	}
	for i, s := range []struct {
		after         time.Duration
		answers, want int
	}{
		{0, 0, 1},
		{time.Second, 1, 2},
		{time.Second, 1, 2}, // half of a round
		{0, 1, 3},
		{safeRest / 2, 9, 3},
		{safeRest / 2, 0, 4},
		{firstRest / 2, 9, 4}, // it is what it has borne
		{firstRest / 2, 0, 5},
		{firstRest, 4, 5},
		{0, 1, 6},
		{firstRest, 9, 0},
	} {
		if got := step(s.after, s.answers); got != s.want {
			t.Errorf("step %d: the limit is %d, want %d", i, got, s.want)
		}
	}
	if stored.Safe != 0 || stored.Rest != 0 {
		t.Errorf("it is kept that the service was overloaded: %+v", stored)
	}
}

// Two engines lose answers at once, and have one limit then. One that is not heard of any more counts no more.
func TestLimitOfTwo(t *testing.T) {
	now := time.Now()
	one, other := &gate{id: "one", workers: 20}, &gate{id: "other", workers: 20}
	stored := limit{}
	keep := func(g *gate) {
		next, take := g.next(stored, now)
		take()
		stored = next
	}
	keep(one)
	keep(other)
	keep(one)
	lose := func(g *gate) {
		g.under[customers], g.borne[0] = 8, 3
		(&pass{g, customers, g.halvings}).answered(true)
	}
	lose(one)
	if one.limit.Most != 20 {
		t.Errorf("it has not fallen at once: %d", one.limit.Most)
	}
	lose(other)
	keep(one)
	lose(one) // which began under the limit that the other has not seen yet
	keep(other)
	keep(one)
	keep(other)
	if one.limit.Most != 5 || other.limit.Most != 5 || stored.Safe != 6 || len(stored.Engines) != 2 {
		t.Errorf("the limits are %+v and %+v", one.limit, other.limit)
	}
	now = now.Add(engineLife + time.Second)
	keep(other)
	if len(stored.Engines) != 1 {
		t.Errorf("these count: %v", stored.Engines)
	}
}
