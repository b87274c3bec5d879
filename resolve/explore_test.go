//go:build !race

// Not with the race detector: all that can be seen of a payment, walked by one goroutine, has no races to find.

package resolve_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// facts are the observations that a state was given, kept beside it.
type facts struct {
	something bool   // a transaction that may be the payment was seen
	doubt     bool   // a transaction that may be another one was seen
	approved  string // the receipts, each once
	twice     bool
}

func (f facts) with(o resolve.Observation, void bool) facts {
	if void {
		return f // for a void only the outcome voided counts
	}
	approved := o.Result == resolve.LookupSettled && o.Outcome == quickstream.OutcomeApproved
	if approved && !strings.Contains(f.approved, o.ReceiptNumber) {
		f.approved += o.ReceiptNumber
	}
	f.twice = f.twice || o.Result == resolve.LookupDoubleCharged || len(f.approved) > len("R1")
	f.doubt = f.doubt || len(o.Candidates) > 0 || o.Result == resolve.LookupPending && o.ReceiptNumber != "R1"
	f.something = f.something || o.ReceiptNumber != "" || len(o.Candidates) > 0
	return f
}

// explorer walks through everything that can happen to one payment.
type explorer struct {
	t      *testing.T
	policy resolve.Policy
	begin  resolve.Case
	cutOff time.Time // the first that can settle it
	absent time.Time // not before
	seen   map[string]bool
	steps  int
}

type node struct {
	state resolve.Case
	facts facts
	now   time.Time
}

// observations are all that a look-up can make.
func observations() []resolve.Observation {
	saw := func(s resolve.LookupResult, outcome quickstream.Outcome, receipt string) resolve.Observation {
		return resolve.Observation{
			Result: s, Outcome: outcome, ReceiptNumber: receipt, SettlementDate: quickstream.NewDate(2026, time.June, 15),
		}
	}
	near, pending := foundNothing(), saw(resolve.LookupPending, quickstream.OutcomePending, "R1")
	near.Candidates, pending.PayTo = []resolve.Candidate{{ReceiptNumber: "C1"}}, true
	soft, doubtful := saw(resolve.LookupSettled, quickstream.OutcomeDeclined, "R1"), saw(resolve.LookupSettled, quickstream.OutcomeDeclined, "R1")
	soft.Retryable, doubtful.Doubtful = true, true
	return []resolve.Observation{
		foundNothing(), near, pending, soft, doubtful,
		{Result: resolve.LookupFailed},
		{Result: "something new"},
		saw(resolve.LookupSettled, quickstream.OutcomePending, ""),
		saw(resolve.LookupPending, quickstream.OutcomeUnknown, "R1"), saw(resolve.LookupPending, quickstream.OutcomeUnknown, "R2"),
		saw(resolve.LookupPending, quickstream.OutcomeSuspended, "R1"),
		saw(resolve.LookupSettled, quickstream.OutcomeApproved, "R1"), saw(resolve.LookupSettled, quickstream.OutcomeApproved, "R2"),
		saw(resolve.LookupSettled, quickstream.OutcomeRejected, "R1"), saw(resolve.LookupSettled, quickstream.OutcomeVoided, "R1"),
		{Result: resolve.LookupAmbiguous, Candidates: []resolve.Candidate{{ReceiptNumber: "R1", Matches: true}, {ReceiptNumber: "R2", Matches: true}}},
		{Result: resolve.LookupDoubleCharged, Candidates: []resolve.Candidate{{ReceiptNumber: "R1", Matches: true}, {ReceiptNumber: "R2", Matches: true}}},
	}
}

// instants are the times at which a state may be looked at: before its time, in time, after the
// cut-off that follows, and after a week without any work.
func (e *explorer) instants(n node) []time.Time {
	due := n.state.NextLook
	if due.IsZero() {
		due = n.now.Add(time.Hour)
	}
	day := due.In(location)
	evening := time.Date(day.Year(), day.Month(), day.Day()+1, 18, 30, 0, 0, location)
	return []time.Time{due.Add(-time.Second), due, evening, due.AddDate(0, 0, 7)}
}

// explore goes to a depth from every state that is new.
func (e *explorer) explore(nodes []node, depth int) {
	for ; depth > 0; depth-- {
		var found []node
		for _, n := range nodes {
			for _, o := range observations() {
				for _, now := range e.instants(n) {
					next := node{e.policy.Next(n.state, o, now), n.facts.with(o, e.begin.Intent.Operation == "Transactions.Void"), now}
					e.steps++
					e.check(n, next, o)
					if key := e.key(next); !e.seen[key] {
						e.seen[key] = true
						found = append(found, next)
					}
				}
			}
		}
		nodes = found
	}
	for i := 0; i < len(nodes); i += 10 {
		e.runOut(nodes[i])
	}
}

// ladder returns the states of a payment that is never found, to the last.
func (e *explorer) ladder() (rungs []node) {
	for n := (node{state: e.begin}); !n.state.NextLook.IsZero() && len(rungs) < 100; rungs = append(rungs, n) {
		n.now = n.state.NextLook
		n.state = e.policy.Next(n.state, foundNothing(), n.now)
	}
	return rungs
}

// key distinguishes states, but not how often, when and in which order things were seen.
func (e *explorer) key(n node) string {
	s := n.state
	var looks []string
	for _, l := range s.Lookups {
		looks = append(looks, string(l.Result), string(l.Outcome), l.ReceiptNumber, fmt.Sprint(l.Retryable, l.Candidates))
	}
	slices.Sort(looks)
	return fmt.Sprint(s.Status, s.Step, s.Outcome, s.NextLook.IsZero(), s.Intent.ReceiptNumber, s.FailingSince.IsZero(), s.Seen.ReceiptNumber, s.Seen.Outcome, looks, n.facts)
}

// check asserts what has to hold after every step.
func (e *explorer) check(before, after node, o resolve.Observation) {
	t, s, now, f := e.t, after.state, after.now, after.facts
	fail := func(text string) {
		t.Helper()
		was, _ := json.Marshal(before.state)
		is, _ := json.Marshal(s)
		t.Fatalf("%s\nat  %s\nsaw %+v\nwas %s\nis  %s", text, now, o, was, is)
	}
	ended := s.Status.Final()
	settled := s.Status == resolve.StatusSettled
	switch {
	case counted(s) != counted(before.state)+1 && !before.state.Status.Final():
		fail("a look is not in the evidence")
	case !ended && s.NextLook.IsZero(), !s.NextLook.IsZero() && !s.NextLook.After(now):
		fail("it is not looked at again, or at once")
	case s.NextLook.After(now.AddDate(0, 0, 15)):
		fail("it is forgotten")
	case before.state.Status.Final() && !ended, before.state.Status != resolve.StatusNotFound && before.state.Status.Final() && s.Status == resolve.StatusNotFound:
		fail("an end is taken back")
	case f.twice != (s.Status == resolve.StatusDoubleCharged):
		fail("two charges and their status disagree")
	case f.approved != "" && s.Outcome != quickstream.OutcomeApproved && !(s.Changed && s.Status == resolve.StatusEscalated):
		fail("a charge is not known")
	case settled && s.Outcome == quickstream.OutcomeApproved && f.approved == "":
		fail("it is charged, and was not")
	case settled && s.Outcome == "", !settled && s.Status != resolve.StatusDoubleCharged && s.Outcome != "":
		fail("the outcome is not that of the status")
	case s.Status == resolve.StatusNotFound && (f.something || s.Intent.ReceiptNumber != ""):
		fail("what was seen is absent")
	case s.Status == resolve.StatusNotFound && (now.Before(e.absent) && !before.now.After(e.absent)):
		fail("it is absent too early")
	case s.Status == resolve.StatusNotFound && before.state.Status != s.Status && s.Lookups[len(s.Lookups)-1].Result != resolve.LookupNone:
		fail("it is absent by a look that did not find nothing")
	case s.Status == resolve.StatusEscalated && len(s.Lookups) == 0:
		fail("it is escalated without evidence")
	}
	if refused := settled && !before.state.Status.Final() && s.Outcome != quickstream.OutcomeApproved; refused && e.begin.Intent.Attempts != 1 &&
		e.begin.Intent.ReceiptNumber == "" && e.begin.Intent.Operation == "" && (now.Before(e.cutOff) || f.doubt) {
		fail("a refusal is believed too early, or beside a doubt")
	}
	if before.state.Status.Final() && !f.twice && !s.Changed && f.approved == before.facts.approved && before.state.Outcome != "" && before.state.Outcome != s.Outcome {
		fail("an outcome changes by itself")
	}
	moved := progressOf(s) != progressOf(before.state) || !s.NextLook.Equal(before.state.NextLook) || !s.FailingSince.IsZero() && !s.FailingSince.Equal(before.state.FailingSince)
	if early := now.Before(before.state.NextLook); early && moved && s.Status != resolve.StatusSettled && s.Status != resolve.StatusDoubleCharged && s.Status != resolve.StatusEscalated {
		fail("a look before its time has moved it")
	}
	e.stored(s, now)
}

// stored asserts that a state is the same after a restart, and small.
func (e *explorer) stored(s resolve.Case, now time.Time) {
	data, err := json.Marshal(s)
	require.NoError(e.t, err)
	require.Less(e.t, len(data), 8<<10)
	if e.steps%7 > 0 { // reading costs more than all else
		return
	}
	var restored resolve.Case
	require.NoError(e.t, json.Unmarshal(data, &restored), string(data))
	again, err := json.Marshal(restored)
	require.NoError(e.t, err)
	require.Equal(e.t, string(data), string(again))
	here, _ := json.Marshal(e.policy.Next(s, foundNothing(), now))
	there, _ := json.Marshal(e.policy.Next(restored, foundNothing(), now))
	require.Equal(e.t, string(here), string(there))
	same, _ := json.Marshal(s)
	require.Equal(e.t, string(data), string(same), "the given state is left alone")
}

// runOut finds nothing any more, in time: the case is over after some days.
func (e *explorer) runOut(n node) {
	for step := 0; !n.state.NextLook.IsZero(); step++ {
		require.Less(e.t, step, 45, "%+v", n.state)
		next := node{e.policy.Next(n.state, foundNothing(), n.state.NextLook), n.facts, n.state.NextLook}
		e.check(n, next, foundNothing())
		n = next
	}
	require.True(e.t, n.state.Status.Final())
}

// TestEverything explores all states that a payment can reach by all look-up results at all
// instants that matter.
func TestEverything(t *testing.T) {
	sent := at("2026-06-12 20:00") // a Friday
	off, on := resolve.DefaultPolicy(resolve.ServiceRetriesOff()), resolve.DefaultPolicy(resolve.ServiceRetriesFor(4*24*time.Hour))
	on.Calendar = resolve.Calendar{
		IsBusinessDay: func(d quickstream.Date) bool { return d.Day != 13 && d.Day != 14 }, Until: quickstream.NewDate(2026, time.June, 16),
	}
	states, steps := 0, 0
	for name, intent := range map[string]quickstream.Intent{
		"sent":         {},
		"sent once":    {Attempts: 1},
		"with receipt": {ReceiptNumber: "R1"},
		"void":         {Operation: "Transactions.Void", Target: "R1"},
	} {
		depth := 2
		if name == "sent" {
			depth = 3
		}
		for policy, p := range map[string]resolve.Policy{"off": off, "on": on} {
			intent.MadeAt = sent
			e := &explorer{t: t, policy: p, begin: resolve.Begin(intent, sent), seen: map[string]bool{}, cutOff: at("2026-06-15 18:30"), absent: at("2026-06-17 18:30")}
			if policy == "on" {
				e.absent = at("2026-06-16 18:30")
			}
			e.explore([]node{{e.begin, facts{}, sent}}, depth)
			e.explore(e.ladder(), 2)
			t.Logf("%s, retries %s: %d states, %d steps", name, policy, len(e.seen), e.steps)
			states, steps = states+len(e.seen), steps+e.steps
		}
	}
	t.Logf("%d states, %d steps", states, steps)
}
