package walk_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// census counts what occurred on all ways.
type census struct {
	mu     sync.Mutex
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
	return &census{faults: map[string]int{}, moves: map[move]int{}, cells: map[meeting]int{}}
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

// add counts what a way has met, and compares the end of its call with the retry table.
func (c *census) add(w way, m *merchant, box *sandbox.Sandbox) {
	if m.call {
		c.cell(w, m.sent, m.resp.Attempts)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for kind, n := range box.FaultCounts() {
		c.faults[kind] += n
	}
}

// cell compares the end of a call with its cell of the retry table, and counts it.
func (c *census) cell(w way, err error, attempts int) {
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
	if want := resultOf(reason, w.class); attempts == 1 && reason != "" && want != got {
		c.mu.Lock()
		c.wrong = append(c.wrong, fmt.Sprintf("%s: %s ends with result %d, and with %d by the table", w, reason, got, want))
		c.mu.Unlock()
	}
	c.met(w.name, reason)
}

// fails records a failed way. It is reported at the end, because a failing test in a bubble
// ends the others.
func (c *census) fails(w way, wrong, said string, box *sandbox.Sandbox) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s; it said %s", w, wrong, said)
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
	for _, name := range []string{"payment", "void", "look-up"} {
		for _, row := range transport.Table {
			for _, reason := range row.Reasons {
				inFlight := reason == transport.Conflict && name != "look-up" // which counts as inconclusive
				if reason == transport.ThreeDSNotEnabled || reason == transport.ThreeDSUnavailable || inFlight {
					continue
				}
				assert.Positive(t, c.cells[meeting{name, reason}], "no %s was %s", name, reason)
			}
		}
	}
}
