package explore

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// toy is a world of numbers, in which every access is a step of its own.
type toy struct {
	actors  []Actor
	numbers map[string]int
	wrong   func(map[string]int) bool
}

func (w *toy) Begin() []Actor {
	w.numbers = map[string]int{}
	return w.actors
}

func (w *toy) Judge() error {
	if w.wrong != nil && w.wrong(w.numbers) {
		return errors.New("wrong")
	}
	return nil
}

// add returns an actor that reads a number and writes it back, one higher.
func (w *toy) add(name, what string, times int) Actor {
	return Actor{Name: name, Mortal: true, Run: func(t *Turn) {
		for range times {
			t.Yield()
			n := w.numbers[what]
			t.Reads(what)
			t.Yield()
			w.numbers[what] = n + 1
			t.Writes(what)
		}
	}}
}

// A lost update needs one preemption, is found with one and not without, and its schedule
// shows it again.
func TestLostUpdate(t *testing.T) {
	t.Parallel()
	w := &toy{wrong: func(n map[string]int) bool { return n["a"] != 2 }}
	w.actors = []Actor{w.add("one", "a", 1), w.add("two", "a", 1)}
	assert.Empty(t, Run(w, Options{}).Violations)
	found := Run(w, Options{Preemptions: 1}).Shortest()
	require.NotNil(t, found)
	assert.Equal(t, 1, found.Preemptions)
	assert.Equal(t, "abba", found.Schedule)
	steps, err := Replay(w, found.Schedule)
	require.Error(t, err)
	assert.Equal(t, found.Steps, steps)
	_, err = Replay(w, "aabb")
	require.NoError(t, err)
}

// Steps that do not depend on each other have one order, and of those that do each order is
// run: as many as a plain count of all interleavings that differ in a read or a write.
func TestSchedulesAreCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		what      []string
		schedules int
	}{
		"apart":    {[]string{"a", "b", "c"}, 1},
		"together": {[]string{"a", "a"}, 4}, // one after the other, in two ways, or both read before the first or the second writes
		"a pair":   {[]string{"a", "a", "b"}, 4},
	} {
		w := &toy{}
		for _, what := range test.what {
			w.actors = append(w.actors, w.add("adds to "+what, what, 1))
		}
		assert.Equal(t, test.schedules, Run(w, Options{Preemptions: 9}).Schedules, name)
		assert.Equal(t, test.schedules, len(plain(w, len(test.what))), name)
	}
}

// plain counts the orders of two steps of each actor by trying all, and telling them apart by
// what each has read and what was written last.
func plain(w *toy, actors int) map[string]bool {
	seen := map[string]bool{}
	var walk func(order string)
	walk = func(order string) {
		if len(order) == 2*actors {
			seen[sortedByDependence(order, w)] = true
			return
		}
		for i := range actors {
			if n := count(order, byte('a'+i)); n < 2 {
				walk(order + string(byte('a'+i)))
			}
		}
	}
	walk("")
	return seen
}

func count(order string, letter byte) (n int) {
	for i := range len(order) {
		if order[i] == letter {
			n++
		}
	}
	return n
}

// sortedByDependence bubbles independent steps into the order of their actors.
func sortedByDependence(order string, w *toy) string {
	type access struct {
		letter byte
		what   string
		writes bool
	}
	var steps []access
	for i := range len(order) {
		name := w.actors[order[i]-'a'].Name
		steps = append(steps, access{order[i], name[len(name)-1:], count(order[:i], order[i])%2 == 1})
	}
	for changed := true; changed; {
		changed = false
		for i := 1; i < len(steps); i++ {
			a, b := steps[i-1], steps[i]
			if independent := a.what != b.what || !a.writes && !b.writes; independent && a.letter > b.letter {
				steps[i-1], steps[i], changed = b, a, true
			}
		}
	}
	var text []byte
	for _, s := range steps {
		text = append(text, s.letter)
	}
	return string(text)
}

// A process may end at each of its steps, as often as it is said.
func TestDeathsAtEveryStep(t *testing.T) {
	t.Parallel()
	w := &toy{}
	w.actors = []Actor{w.add("one", "a", 2)}
	assert.Equal(t, 1, Run(w, Options{}).Schedules)
	assert.Equal(t, 1+3, Run(w, Options{Deaths: 1}).Schedules, "before the second, third and fourth step, or not at all")
}
