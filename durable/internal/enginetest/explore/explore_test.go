// Package explore runs every schedule of a few actors that share something once, up to a number of
// preemptions. It leaves out a schedule that is equivalent to one that was run: the two differ only in the
// order of steps that do not depend on each other.
package explore

import (
	"slices"
	"strings"
	"time"
)

// World is the state that the actors share.
type World interface {
	// Begin restores the state of the beginning, and returns the actors, which are always
	// the same.
	Begin() []Actor
	// Judge returns what is wrong after all actors have ended, or nil.
	Judge() error
}

// Waiter is a World whose actors may wait for each other inside of a step.
type Waiter interface {
	// Waits reports whether an actor that is inside of a step waits for another one.
	Waits(actor int) bool
}

// Actor is a thread of steps. Its steps must be determined by what it sees.
type Actor struct {
	Name string
	// Mortal means that its process may end at any step.
	Mortal bool
	// Run takes the steps, and passes its turn to each.
	Run func(*Turn)
}

// Options limit the exploration.
type Options struct {
	Preemptions int  // how often an actor that could go on has to wait for another one
	Deaths      int  // how many mortal actors end before their time
	Atomic      bool // the end of a process shows only in the steps that it no longer takes
	First       bool // ends at the first violation
	Most        int  // ends after so many schedules; 0 for no such end
}

// Result is the result of an exploration.
type Result struct {
	Schedules  int // no two of which are equivalent
	Runs       int // some were given up, because they became equivalent to an earlier one
	Diverged   int // runs that did not repeat, because the world is not deterministic
	Violations []Violation
	Cut        bool // it ended before all schedules were run
}

// Violation is a schedule after which something was wrong.
type Violation struct {
	Schedule    string // see Replay
	Preemptions int
	Err         error
	Steps       []string
}

// Shortest returns the violation with the fewest preemptions, turns and steps, or nil.
func (r Result) Shortest() *Violation {
	if len(r.Violations) == 0 {
		return nil
	}
	v := slices.MinFunc(r.Violations, func(a, b Violation) int {
		for _, d := range []int{a.Preemptions - b.Preemptions, turns(a.Schedule) - turns(b.Schedule), len(a.Schedule) - len(b.Schedule)} {
			if d != 0 {
				return d
			}
		}
		return strings.Compare(a.Schedule, b.Schedule)
	})
	return &v
}

func turns(schedule string) (n int) {
	for i := 1; i < len(schedule); i++ {
		if schedule[i] != schedule[i-1] {
			n++
		}
	}
	return n
}

// choice is the actor that takes the next step. From dies on it is the actor whose process ends.
type choice int

const dies choice = 32

func (c choice) actor() int { return int(c % dies) }

// letter returns a choice as a schedule names it: a is the first actor, and A the end of its process.
func (c choice) letter() byte {
	if c >= dies {
		return byte('A' + c.actor())
	}
	return byte('a' + c.actor())
}

func choiceOf(letter byte) choice {
	if letter >= 'a' {
		return choice(letter - 'a')
	}
	return dies + choice(letter-'A')
}

// node is a place in the tree of schedules.
type node struct {
	before  trace
	choices []choice
	at      int // which of the choices is taken
	known   map[choice]step
	last    int // the actor that acted last and can go on, or -1
	used    int // preemptions
	deaths  int
	alive   int // actors
}

type explorer struct {
	Options
	world   World
	path    []*node
	visited map[uint64]costs
	leaves  map[uint64]bool
	met     memory
	names   names
	result  Result
}

// Run runs every schedule within the bounds.
func Run(world World, options Options) Result {
	x := &explorer{Options: options, world: world, visited: map[uint64]costs{}, leaves: map[uint64]bool{}, met: memory{}, names: names{}}
	for {
		x.runOne()
		if x.First && len(x.result.Violations) > 0 || x.Most > 0 && x.result.Schedules >= x.Most {
			x.result.Cut = x.back()
			return x.result
		}
		if !x.back() {
			return x.result
		}
	}
}

// back goes back to the last node with another choice, and reports whether there is one.
func (x *explorer) back() bool {
	for len(x.path) > 0 {
		n := x.path[len(x.path)-1]
		for n.at++; n.at < len(n.choices); n.at++ {
			if !x.covered(n, n.choices[n.at]) {
				return true
			}
		}
		x.path = x.path[:len(x.path)-1]
	}
	return false
}

// covered reports whether it is known, without running it, that all schedules after a choice
// were explored already.
func (x *explorer) covered(n *node, c choice) bool {
	s, known := n.known[c]
	if !known || s.tangled {
		return false
	}
	sum := n.before.with(c, s).sum
	if n.alive == 1 && (s.ended || c >= dies) {
		return x.leaves[sum]
	}
	used, last := n.used+cost(n.last, c), lastAfter(n.last, c, s)
	for other, least := range x.visited[sum] {
		if least != 0 && least-1+differ(other-1, last) <= used {
			return true
		}
	}
	return false
}

// costs are one more than the least preemptions with which the steps of a trace were explored; 0
// if they were not. The index is one more than the actor that acted last and could go on; 0 if none.
type costs []int

// differ returns how many more preemptions the same steps may take after one actor than after another.
func differ(last, wanted int) int {
	if last < 0 || last == wanted {
		return 0
	}
	return 1
}

func lastAfter(last int, c choice, s step) int {
	switch {
	case c >= dies && c.actor() != last:
		return last
	case c >= dies || s.ended:
		return -1
	default:
		return c.actor()
	}
}

// cost is 1 for a choice that preempts the actor that acted last and can go on.
func cost(last int, c choice) int {
	if c < dies && last >= 0 && c.actor() != last {
		return 1
	}
	return 0
}

// runOne runs the schedule that the path leads to, and then the first one from there.
func (x *explorer) runOne() {
	x.result.Runs++
	r := begin(x.world, x.names)
	defer r.abandon()
	var before trace
	last, used, deaths := -1, 0, 0
	for depth := 0; !r.over(); depth++ {
		if depth == len(x.path) {
			n := x.node(r, before, last, used, deaths)
			if n == nil {
				return // equivalent to one that was run
			}
			x.path = append(x.path, n)
		}
		n := x.path[depth]
		c := n.choices[n.at]
		if !r.ready(c.actor()) {
			x.result.Diverged++
			return
		}
		s, woken := r.take(c)
		if known, again := n.known[c]; again && known != s {
			x.result.Diverged++
			return
		}
		n.known[c] = s
		x.met.add(c, n.before, s, x.names)
		before, last, used, deaths = n.before.with(c, s), lastAfter(n.last, c, s), n.used+cost(n.last, c), n.deaths
		if c >= dies {
			deaths++
		}
		for _, w := range woken {
			before = before.with(w.choice, w.step)
		}
		if last >= 0 && !r.ready(last) { // it waits, so another actor that goes on does not preempt it
			last = -1
		}
	}
	x.judge(r, before.sum, used)
}

// judge counts a schedule that has come to its end.
func (x *explorer) judge(r *run, sum uint64, used int) {
	err := x.world.Judge()
	if x.leaves[sum] {
		return
	}
	x.leaves[sum] = true
	x.result.Schedules++
	if err != nil {
		x.result.Violations = append(x.result.Violations, Violation{Schedule: r.schedule(), Preemptions: used, Err: err, Steps: r.reported})
	}
}

// node returns the node that a run has come to, or nil if all schedules after it were explored.
func (x *explorer) node(r *run, before trace, last, used, deaths int) *node {
	n := &node{before: before, known: map[choice]step{}, last: last, used: used, deaths: deaths}
	for i := range r.threads {
		if s, known := x.met.find(choice(i), before, x.names); known {
			n.known[choice(i)] = s
		}
	}
	if x.Atomic {
		for i := range r.threads {
			n.known[dies+choice(i)] = step{writes: actorName(x.names, i), ended: true}
		}
	}
	visited := x.visited[before.sum]
	add := func(c choice) {
		if n.used+cost(n.last, c) > x.Preemptions {
			return
		}
		for other, least := range visited { // the same steps, and another actor acted last
			if least != 0 && least-1+cost(other-1, c) <= n.used+cost(n.last, c) {
				return
			}
		}
		n.choices = append(n.choices, c)
	}
	if last >= 0 && r.ready(last) {
		add(choice(last))
	}
	for i := range r.threads {
		if i != last && r.ready(i) {
			add(choice(i))
		}
	}
	for i, t := range r.threads {
		if t.state != ended {
			n.alive++
		}
		if t.actor.Mortal && r.ready(i) && deaths < x.Deaths && t.began {
			add(dies + choice(i))
		}
	}
	if visited == nil {
		visited = make(costs, len(r.threads)+1)
		x.visited[before.sum] = visited
	}
	if least := visited[last+1]; least == 0 || used < least-1 {
		visited[last+1] = used + 1
	}
	for n.at < len(n.choices) && x.covered(n, n.choices[n.at]) {
		n.at++
	}
	if n.at == len(n.choices) {
		return nil
	}
	return n
}

// Replay runs one schedule again, as a Violation names it: a letter for each step, a for the first
// actor, and a capital for the end of its process. It returns the steps and the judgement.
func Replay(world World, schedule string) ([]string, error) {
	r := begin(world, names{})
	defer r.abandon()
	for i := 0; i < len(schedule) && !r.over(); i++ {
		if c := choiceOf(schedule[i]); c.actor() < len(r.threads) && r.ready(c.actor()) {
			r.take(c)
		}
	}
	for i := 0; !r.over(); i = (i + 1) % len(r.threads) { // of a schedule that was cut short
		if r.ready(i) {
			r.take(choice(i))
		}
	}
	return r.reported, world.Judge()
}

// patience is how long a step may take before the world is asked whether it waits for another actor.
const patience = 2 * time.Millisecond
