package explore

import (
	"fmt"
	"runtime"
	"time"
)

// Turn is an actor's side of a run. All but Yield may be called inside of a step only.
type Turn struct {
	run    *run
	number int
	actor  Actor
	resume chan bool // false ends the actor
	state  state
	step   step
	label  string
	began  bool
	dying  bool // set by the actor alone
}

type state int

const (
	parked state = iota
	acting
	waiting // for another actor, inside of a step
	ended
)

// Yield ends the step of an actor and waits for its next turn. It does not return if the
// actor's process ends here.
func (t *Turn) Yield() {
	if t.dying {
		return // what a dying actor does is no step
	}
	t.run.events <- event{t.number, parked}
	if !<-t.resume {
		t.dying = true
		runtime.Goexit()
	}
	t.run.current = t
}

// Reads and Writes note what the step touches. Steps that only read the same thing do not depend
// on each other.
func (t *Turn) Reads(what string)  { t.step.reads |= t.run.names.bit(what) }
func (t *Turn) Writes(what string) { t.step.writes |= t.run.names.bit(what) }

// Says adds a name of the step for a person.
func (t *Turn) Says(text string) {
	if t.label != "" {
		t.label += ", "
	}
	t.label += text
}

// Number is the actor's place among the actors.
func (t *Turn) Number() int { return t.number }

type event struct {
	actor int
	now   state
}

// run is one run of a schedule.
type run struct {
	world    World
	names    names
	threads  []*Turn
	events   chan event
	taken    []choice
	reported []string
	current  *Turn // the actor that acts
}

func begin(world World, names names) *run {
	r := &run{world: world, names: names, events: make(chan event)}
	for i, actor := range world.Begin() {
		t := &Turn{run: r, number: i, actor: actor, resume: make(chan bool), state: acting}
		r.threads = append(r.threads, t)
		go func() {
			defer func() { r.events <- event{i, ended} }()
			r.current = t
			actor.Run(t)
		}()
		r.settle() // up to its first step, where nothing is shared yet
		t.step, t.label = step{}, ""
	}
	return r
}

func (r *run) ready(i int) bool { return r.threads[i].state == parked }

// over reports whether all actors have ended.
func (r *run) over() bool {
	for _, t := range r.threads {
		if t.state != ended {
			return false
		}
	}
	return true
}

// woken is the rest of a step that was waiting for the step that was taken.
type woken struct {
	choice
	step
}

// take makes a choice, and returns what the step touched, and the waiting steps that it let go on.
func (r *run) take(c choice) (step, []woken) {
	t := r.threads[c.actor()]
	before := make([]state, len(r.threads))
	for i, other := range r.threads {
		before[i] = other.state
	}
	t.step, t.label = step{}, ""
	r.taken = append(r.taken, c)
	r.reported = append(r.reported, "")
	line := len(r.reported) - 1
	t.state, t.began = acting, true
	t.resume <- c < dies
	r.settle()
	t.step.writes |= actorName(r.names, t.number)
	if t.step.tangled, t.step.ended = t.state == waiting, t.state == ended; t.step.tangled {
		t.Says("(waits)")
	}
	if c >= dies {
		t.label = "its process ends"
	}
	r.reported[line] = fmt.Sprintf("%c %s: %s", c.letter(), t.actor.Name, t.label)
	s := t.step
	var others []woken
	for i, other := range r.threads {
		if i != t.number && before[i] == waiting && other.state != waiting {
			other.step.ended = other.state == ended
			other.step.writes |= actorName(r.names, i)
			others = append(others, woken{choice(i), other.step})
			s.tangled = true
			r.reported = append(r.reported, fmt.Sprintf("  %s goes on: %s", other.actor.Name, other.label))
		}
	}
	return s, others
}

// actorName is the thing that each step of an actor writes, and the end of its process too.
func actorName(n names, actor int) uint64 { return n.bit(fmt.Sprint("actor ", actor)) }

// settle waits until every actor that acts has come to its next step or to its end, or waits
// for another one.
func (r *run) settle() {
	waiter, mayWait := r.world.(Waiter)
	for r.moving() {
		if !mayWait {
			r.heard(<-r.events)
			continue
		}
		select {
		case e := <-r.events:
			r.heard(e)
		case <-time.After(patience):
			free := false
			for i, t := range r.threads {
				if t.state == acting && waiter.Waits(i) {
					t.state = waiting
				}
				free = free || t.state == acting || t.state == parked
			}
			if !free { // they wait for each other, which the database ends
				r.heard(<-r.events)
			}
		}
	}
}

func (r *run) heard(e event) {
	r.threads[e.actor].state = e.now
	for _, t := range r.threads { // whoever waited may go on now
		if t.state == waiting {
			t.state = acting
		}
	}
}

func (r *run) moving() bool {
	for _, t := range r.threads {
		if t.state == acting {
			return true
		}
	}
	return false
}

// abandon ends the actors that have not ended.
func (r *run) abandon() {
	for !r.over() {
		for _, t := range r.threads {
			if t.state == parked {
				t.state = acting
				t.resume <- false
			}
		}
		r.settle()
	}
}

func (r *run) schedule() string {
	letters := make([]byte, len(r.taken))
	for i, c := range r.taken {
		letters[i] = c.letter()
	}
	return string(letters)
}
