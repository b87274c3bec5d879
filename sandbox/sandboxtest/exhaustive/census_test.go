package exhaustive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// census counts what occurred on all ways.
type census struct {
	mu     sync.Mutex
	ways   map[string]int // by group
	states map[string]int
	faults map[string]int
	moves  map[move]int
	cells  map[meeting]int
	wrong  []string
}

// place is a status of resolve, and of an open case the step. move is a transition, and meeting a write or look-up that ended
// for a reason.
type (
	place struct {
		status resolve.Status
		step   int
	}
	move    struct{ from, to place }
	meeting struct {
		write  string
		reason transport.Reason
	}
)

func newCensus() *census {
	return &census{ways: map[string]int{}, states: map[string]int{}, faults: map[string]int{}, moves: map[move]int{}, cells: map[meeting]int{}}
}

func (c *census) moved(from, to resolve.Case) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moves[move{place{from.Status, from.Step}, place{to.Status, to.Step}}]++
}

func (c *census) met(write string, reason transport.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reason != "" {
		c.cells[meeting{write, reason}]++
	}
}

func (c *census) begin(group string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ways[group]++
}

// state records the state in which a way has ended, and its faults.
func (c *census) state(box *sandbox.Sandbox, parts ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.states[fmt.Sprint(parts...)]++
	for kind, n := range box.FaultCounts() {
		c.faults[kind] += n
	}
}

// add records the end of a way: result, reason, status and ledger.
func (c *census) add(t *testing.T, w way, m *merchant, box *sandbox.Sandbox) {
	reason, got := transport.Reason("no call"), transport.NotSent
	if m.call {
		reason, got = c.cell(w, w.name, w.class, m.sent, m.resp.Attempts)
	}
	var ledger []string
	for _, e := range box.Ledger() {
		ledger = append(ledger, e.Type+" "+e.Outcome)
	}
	c.state(box, w.name, got, reason, m.load(t).State.Status, m.load(t).State.Step, m.last(), strings.Join(ledger, ","))
}

// cell compares the end of a call with its cell of the retry table, and counts it.
func (c *census) cell(way fmt.Stringer, write string, class transport.Class, err error, attempts int) (transport.Reason, transport.CallResult) {
	cause, got := err, transport.Answered
	var open *quickstream.UnknownOutcomeError
	var network *quickstream.NetworkError
	switch {
	case err == nil:
		got = transport.Success
	case errors.As(err, &open):
		cause, got = open.Cause, transport.Unknown
	case errors.As(err, &network):
		got = transport.NetworkFailed
	}
	reason := reasonOf(cause)
	if want := resultOf(reason, class); attempts == 1 && reason != "" && want != got {
		c.mu.Lock()
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %s ends with result %d, and with %d by the table", way, reason, got, want))
		c.mu.Unlock()
	}
	c.met(write, reason)
	return reason, got
}

// fails records a failed way. It is reported at the end, because a failing test in a bubble
// ends the others.
func (c *census) fails(way fmt.Stringer, wrong, said string, box *sandbox.Sandbox) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s; it said %s", way, wrong, said)
	for _, e := range box.Ledger() {
		fmt.Fprintf(&b, "\n  ledger: %s %s, reference %s, at %s", e.Type, e.Outcome, e.PaymentReferenceNumber, e.Time.UTC().Format("Mon 15:04:05"))
	}
	for _, r := range box.Requests() {
		if r.Method != "GET" {
			fmt.Fprintf(&b, "\n  %s: fault %q, answered %d, replayed %t, carried out %t, at %s",
				r.Operation, r.Fault, r.Status, r.Replayed, r.Committed, r.Time.UTC().Format("Mon 15:04:05"))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wrong = append(c.wrong, b.String())
}

// reasonOf names the end of a call.
func reasonOf(err error) transport.Reason {
	if err == nil {
		return transport.Succeeded
	}
	if api, ok := errors.AsType[*quickstream.APIError](err); ok {
		return transport.Reason(api.Reason)
	}
	if _, ok := errors.AsType[*quickstream.DecodeError](err); ok {
		return transport.Inconclusive
	}
	if network, ok := errors.AsType[*quickstream.NetworkError](err); ok {
		switch {
		case errors.Is(err, quickstream.ErrNotSent):
			return transport.NeverSent
		case network.Kind == quickstream.NetworkKindCancelled, network.Kind == quickstream.NetworkKindDeadline:
			return transport.ContextEnded
		}
		return transport.Lost
	}
	return "" // it ended before its first attempt, or a later attempt was declined
}

func resultOf(reason transport.Reason, class transport.Class) transport.CallResult {
	for _, row := range transport.Table {
		if slices.Contains(row.Reasons, reason) {
			return row.Steps[class].End
		}
	}
	return transport.Unknown
}

// transitions are all that resolve's machine makes here. Doubly charged cases are not looked at any more.
func transitions() map[place][]place {
	looking, held, daily := place{resolve.StatusOpen, 0}, place{resolve.StatusOpen, 1}, place{resolve.StatusOpen, 2}
	settled, absent, escalated, twice := place{status: resolve.StatusSettled}, place{status: resolve.StatusNotFound}, place{status: resolve.StatusEscalated}, place{status: resolve.StatusDoubleCharged}
	return map[place][]place{
		looking:   {looking, held, daily, settled, twice},
		held:      {held, daily, settled, twice},
		daily:     {held, daily, settled, absent, escalated, twice},
		settled:   {settled, twice},
		absent:    {absent, settled, escalated, twice},
		escalated: {escalated, settled, twice},
	}
}

// complete fails if a way failed, or something did not occur.
func (c *census) complete(t *testing.T) {
	const told = 20
	for _, wrong := range c.wrong[:min(len(c.wrong), told)] {
		t.Error(wrong)
	}
	for _, kind := range kindsOfFault(t) {
		assert.Positive(t, c.faults[kind], "no attempt met %s", kind)
	}
	possible := 0
	for from, tos := range transitions() {
		for _, to := range tos {
			possible++
			assert.Positive(t, c.moves[move{from, to}], "nothing went from %v to %v", from, to)
		}
	}
	assert.Len(t, c.moves, possible, "transitions that nobody has named: %v", c.moves)
	cells := 0
	for _, name := range []string{"payment", "void", "agreement", "amendment", "look-up"} {
		for _, row := range transport.Table {
			for _, reason := range row.Reasons {
				inFlight := reason == transport.Conflict && name != "amendment" && name != "look-up" // which counts as inconclusive
				if reason == transport.ThreeDSNotEnabled || reason == transport.ThreeDSUnavailable || inFlight {
					continue
				}
				cells++
				assert.Positive(t, c.cells[meeting{name, reason}], "no %s was %s", name, reason)
			}
		}
	}
	total := 0
	for _, group := range slices.Sorted(maps.Keys(c.ways)) {
		t.Logf("%6d ways: %s", c.ways[group], group)
		total += c.ways[group]
	}
	t.Logf("%d runs, %d distinct states, %d kinds of fault, %d transitions, %d cells of the retry table; %d went wrong",
		total, len(c.states), len(c.faults), len(c.moves), cells, len(c.wrong))
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	return data
}
