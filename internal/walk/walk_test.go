//go:build !race

// Not with the race detector: 8,000 calls one after the other have no races to find.

// Package walk_test walks every way that a write can take between the real client and
// the sandbox, and compares the merchant's belief with the ledger.
//
// A way is a sequence of letters, one for what each attempt of a call meets, and the point at
// which the merchant's process dies: before or after something is stored, around an attempt,
// in the middle of one, or around a look-up. The tree of letters grows with the calls: a call
// that makes more attempts than there are letters branches, and other calls have ended. The
// first and second attempts take every letter. The third and fourth take one letter for each
// possible end of an attempt: all letters would make a hundred times as many ways. For the
// letters that make a difference to resolving, a process dies at every point of its work, and
// for the others at the first twelve.
//
// The function verdict checks each way: nothing is charged twice; a charge is never reported
// as refused, declined, absent or not sent; what was not charged is never reported as paid;
// and everything comes to an end.
package walk_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

const (
	byReference = "GET /transactions/for-reference-number"
	byReceipt   = "GET /transactions/{receiptNumber}"
)

// group is a part of the tree.
type group struct {
	name string
	walk func(*testing.T, *census)
}

// TestWalk walks all ways. With -short it explores only the first two attempts, and
// processes die at the first points only; the required coverage is the same.
func TestWalk(t *testing.T) {
	census := newCensus()
	t.Run("ways", func(t *testing.T) {
		for _, g := range slices.Concat(trees(), deaths(), []group{
			{"two processes", twoProcesses},
			{"the caller has no patience", impatient},
			{"look-ups fail", lookUps},
			{"every transition", everyTransition},
		}) {
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				g.walk(t, census)
			})
		}
	})
	census.complete(t)
}

func usual() world { return world{of: "the usual", calendar: true} }

// forgetful is a world that forgets a key at once, and approves at most one attempt.
func forgetful(outcomes ...sandbox.Outcome) world {
	return world{of: "a forgetful", calendar: true, forgets: true, outcomes: outcomes, assume: func(a *sandbox.Assumptions) { a.KeyLifetime = time.Millisecond }}
}

// keyless is a world without idempotency keys: every attempt is a payment.
func keyless() world {
	return world{of: "a keyless", calendar: true, assume: func(a *sandbox.Assumptions) { a.KeyLifetime = 0 }}
}

// shared is a world in which another payment has the merchant's reference too.
func shared(n neighbour) world {
	return world{of: "a shared reference's", calendar: true, reference: "INV-1", neighbour: &n, mayHold: true}
}

// letters are all letters of an attempt of a write.
func (w write) letters() []letter {
	return append(honest(), lies(w.class)...)
}

// trees are the ways of calls that a living process makes.
func trees() []group {
	approved, declined := sandbox.Approved(), sandbox.Declined("51")
	erred := func(outcomes ...sandbox.Outcome) world {
		return world{of: "an erring", calendar: true, outcomes: outcomes, mayHold: true}
	}
	day := 20 * time.Hour
	list := []struct {
		way   way
		depth int
	}{
		{way{write: paid(), world: usual()}, 4},
		{way{write: paid(), world: world{of: "a declining", calendar: true, outcomes: []sandbox.Outcome{declined}}}, 2},
		{way{write: paid(), world: forgetful(approved, declined, declined, declined)}, 3},
		{way{write: paid(), world: forgetful(declined, approved, declined, declined)}, 3},
		{way{write: paid(), world: keyless(), options: []quickstream.CallOption{quickstream.WithoutResend()}}, 4},
		{way{write: paid(), world: erred(sandbox.Erred()), watch: true}, 1},
		{way{write: paid(), world: erred(sandbox.Erred().ThenAfter(day, approved))}, 1},
		{way{write: paid(), world: erred(sandbox.Erred().ThenAfter(day, declined))}, 1},
		{way{write: paid(), world: shared(neighbour{amount: "99.00"})}, 1},
		{way{write: paid(), world: shared(neighbour{amount: "10.50"})}, 1},
		{way{write: paid(), world: shared(neighbour{amount: "99.00", later: true})}, 1},
		{way{write: paid(), world: shared(neighbour{amount: "10.50", later: true, id: true})}, 1},
		{way{write: submitted(), world: world{of: "a calendarless"}, watch: true}, 1},
		{way{write: voided(), world: usual()}, 4},
		// Where the service kept no key, its refusal of the second request could not be told from one of the first.
		{way{write: paid(), world: usual(), letters: []letter{sent("twice", sandbox.SentTwice(http.StatusUnprocessableEntity))}}, 1},
	}
	var groups []group
	for _, l := range list {
		name := fmt.Sprintf("%s in %s world", l.way.name, l.way.of)
		groups = append(groups, group{name, func(t *testing.T, c *census) {
			if testing.Short() {
				l.depth = min(l.depth, 2)
			}
			l.way.grow(t, c, l.depth)
		}})
	}
	return groups
}

// grow walks a way, and its branches if the call made a further attempt.
func (w way) grow(t *testing.T, c *census, depth int) {
	attempts, _ := w.play(t, c)
	at := len(w.letters)
	if attempts <= at || at >= depth {
		return
	}
	next := w.write.letters()
	if at >= 2 {
		next = append(lost(), endings()...)
	}
	if at >= 2 && !simple(w.letters) {
		return
	}
	for _, l := range next {
		branch := w
		branch.letters = append(slices.Clip(w.letters), l)
		branch.grow(t, c, depth)
	}
}

// simple reports whether the ways after the second attempt begin with these letters.
func simple(letters []letter) bool {
	for _, l := range letters {
		if !slices.ContainsFunc(lost(), func(known letter) bool { return known.name == l.name }) {
			return false
		}
	}
	return true
}

// deaths are the ways on which a process dies.
func deaths() []group {
	var groups []group
	for _, w := range []write{submitted(), paid(), voided()} {
		name := "processes of a " + w.name
		if w.name == paid().name {
			name += map[bool]string{true: ", planned", false: ", stored before it is sent"}[len(groups) == 0]
		}
		groups = append(groups, group{name, func(t *testing.T, c *census) { dying(t, c, w) }})
	}
	return groups
}

// beforeResolving are the points of a process up to its first look-ups.
const beforeResolving = 12

// dying makes the process die at every point of its work, for letters that make a difference
// to resolving, and at the earlier points for the others.
func dying(t *testing.T, c *census, w write) {
	different := []string{"reset before", "reset after", late(10 * time.Second).name, late(20 * time.Hour).name, late(47 * time.Hour).name}
	all := [][]letter{nil}
	for _, l := range w.letters() {
		all = append(all, []letter{l})
	}
	for _, letters := range all {
		whole := letters != nil && slices.Contains(different, letters[0].name) && !testing.Short()
		rests := []time.Duration{time.Second}
		if whole {
			rests = append(rests, 8*24*time.Hour)
		}
		for _, rest := range rests {
			for dies := 1; whole || dies <= beforeResolving; dies++ {
				// A planned write may be sent late, and then be carried out late.
				way := way{write: w, world: usual(), letters: letters, dies: dies, rest: rest}
				if _, points := way.play(t, c); points < dies {
					break
				}
			}
		}
	}
	for _, l := range slow() {
		way{write: w, world: usual(), letters: []letter{l}, killing: time.Second}.play(t, c)
	}
}

// twoProcesses have one intent: both send it, or one looks it up while the other sends.
func twoProcesses(t *testing.T, c *census) {
	for _, l := range append(submitted().letters(), letter{}) {
		for _, after := range []time.Duration{0, 500 * time.Millisecond, 10 * time.Minute} {
			for _, looker := range []bool{false, true} {
				way := way{write: submitted(), world: usual(), second: &second{after, looker}}
				if l.name != "" {
					way.letters = []letter{l}
				}
				way.play(t, c)
				way.world, way.options = keyless(), []quickstream.CallOption{quickstream.WithoutResend()}
				way.play(t, c)
			}
		}
	}
}

// impatient callers end the context of the call.
func impatient(t *testing.T, c *census) {
	for _, w := range []write{paid(), submitted(), voided()} {
		for _, l := range slow() {
			way{write: w, world: usual(), letters: []letter{l}, patience: 5 * time.Second}.play(t, c)
		}
	}
}

// lookUps fail in every way, each for as long as one look-up tries.
func lookUps(t *testing.T, c *census) {
	for _, w := range []write{paid(), voided()} {
		operation := byReference
		if w.name == voided().name {
			operation = byReceipt
		}
		for _, l := range w.letters() {
			for _, before := range []bool{true, false} {
				way := way{write: w, world: usual(), letters: []letter{sent("reset after", sandbox.ResetAfterCommit())}, options: []quickstream.CallOption{quickstream.WithoutResend()}}
				if before {
					way.letters = []letter{sent("reset before", sandbox.ResetBeforeCommit())}
				}
				way.looks = []sandbox.Fault{{Operation: operation, Kind: l.kind, Times: 4}}
				if l.name == slow()[0].name && !before { // the merchant does not wait for it
					way.lookTime = 5 * time.Second
				}
				way.play(t, c)
			}
		}
	}
}

// everyTransition makes what the other ways do not: services that carry out late, twice, or
// after the waiting time, and merchants that sleep.
func everyTransition(t *testing.T, c *census) {
	const days = 24 * time.Hour
	before, after := sent("reset before", sandbox.ResetBeforeCommit()), sent("reset after", sandbox.ResetAfterCommit())
	once := func(w world, outcome sandbox.Outcome, l letter) way {
		w.of, w.calendar, w.outcomes = "a slow", true, []sandbox.Outcome{outcome}
		return way{world: w, letters: []letter{l}, options: []quickstream.CallOption{quickstream.WithMaxAttempts(1)}}
	}
	twice := func(l letter, outcomes ...sandbox.Outcome) way {
		w := keyless()
		w.mayDouble, w.mayHold, w.beyond, w.outcomes = true, true, true, outcomes
		return way{world: w, letters: []letter{l, l}, options: []quickstream.CallOption{quickstream.WithMaxAttempts(2)}}
	}
	approved, declined, erred, suspended := sandbox.Approved(), sandbox.Declined("51"), sandbox.Erred(), sandbox.Suspended()
	held, usually := world{mayHold: true}, world{}
	ways := []way{
		once(usually, suspended.ThenAfter(5*days, approved), after),
		once(usually, erred.ThenAfter(30*time.Hour, suspended).ThenAfter(4*days, approved), after),
		once(usually, erred.ThenAfter(47*time.Hour, suspended).ThenAfter(4*days, declined), after),
		once(held, erred.ThenAfter(4*days, approved), after),
		once(world{beyond: true}, approved, late(4*days)),
		once(world{beyond: true, mayHold: true}, erred, late(4*days)),
		once(usually, approved, late(30*time.Hour)),
	}
	for _, l := range []letter{after, late(20 * time.Hour), late(30 * time.Hour), late(47 * time.Hour), late(4 * days)} {
		ways = append(ways, twice(l, approved, approved), twice(l, erred, erred))
	}
	later := erred.ThenAfter(4*days, approved)
	third := twice(after, later, erred.ThenAfter(4*days, declined), approved)
	third.letters, third.options = append(third.letters, late(6*days)), []quickstream.CallOption{quickstream.WithMaxAttempts(3)}
	ways = append(ways, twice(after, later, later), third)
	for _, sleep := range []time.Duration{30 * time.Hour, 7 * days} {
		w := once(usually, approved, before)
		w.sleep = sleep
		ways = append(ways, w)
	}
	for _, hour := range []int{46, 48} {
		w := once(usually, approved, before)
		begin := time.Date(2000, time.January, 3, 9, 1, 0, 0, time.UTC).Add(time.Duration(hour) * time.Hour)
		w.looks = []sandbox.Fault{{Operation: byReference, Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML), Match: func(r sandbox.Request) bool {
			return r.Time.Sub(begin).Abs() < time.Hour
		}}}
		ways = append(ways, w)
	}
	for _, w := range ways {
		w.write, w.watch = paid(), true
		w.play(t, c)
	}
}
