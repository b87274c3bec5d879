package durable

import (
	"strings"

	"github.com/quickstream-go/quickstream"
)

// State is where a write stands.
type State string

// The states.
const (
	// StateQueued: stored, and not being sent. After a refusal that permits another send it is
	// queued again: see Sends.
	StateQueued State = "queued"
	// StateSending: claimed by one process, which may have sent it. No other process sends it.
	StateSending State = "sending"
	// StateResolving: being looked up, or known and not final, such as a PayTo payment that waits
	// for its payer.
	StateResolving State = "resolving"
	// StateSettled: known, with its Outcome.
	StateSettled State = "settled"
	// StateRefused: the service refused the request, or it cannot be made.
	StateRefused State = "refused"
	// StateNotSent: given up before it was sent: its token or Options.SendWithin ended, or the money of what
	// it follows was back. Problem says which.
	StateNotSent State = "not_sent"
	// StateNotFound: nothing that may be it was found, for as long as the service can take. That is
	// absence of evidence, and no permission to pay again. Look-ups go on, and the order is blocked
	// until [Engine.PayAgain] or [Engine.Decide].
	StateNotFound State = "not_found"
	// StateEscalated: a person has to find out, with technical support, and then to [Engine.Decide].
	StateEscalated State = "escalated"
	// StateDoubleCharged: it was approved although it, or another payment of its order, was approved
	// already. Nothing refunds it automatically.
	StateDoubleCharged State = "double_charged"
)

// InProgress reports whether the state says nothing yet.
func (s State) InProgress() bool {
	return s == StateQueued || s == StateSending || s == StateResolving
}

// Open reports whether a write in the state can still turn out to be approved.
func (s State) Open() bool {
	return s != StateSettled && s != StateRefused && s != StateNotSent
}

// unknown are the states of writes whose outcome is unknown.
func unknown() []State {
	return []State{StateSending, StateResolving, StateNotFound, StateEscalated}
}

// Reversal is what became of the money of an approved payment.
type Reversal string

// The reversals.
const (
	ReversalNone     Reversal = "none"
	ReversalVoided   Reversal = "voided"   // before settlement
	ReversalReturned Reversal = "returned" // by the bank, up to three banking days later
)

// Standing is where a write stands. Outcome is set in [StateSettled]: approved, declined or
// rejected. A void, a change or a registration that was done is approved.
type Standing struct {
	State    State
	Outcome  quickstream.Outcome
	Reversal Reversal
}

// Approved reports whether the payment was taken, or the write was done, whatever became of it
// since.
func (s Standing) Approved() bool {
	return s.State == StateDoubleCharged || s.State == StateSettled && s.Outcome == quickstream.OutcomeApproved
}

// Paid reports whether the payment was taken and has not come back. A pre-authorisation is paid from its approval
// until a void: a capture and a cancellation of it are follow-ups, which change nothing of it.
func (s Standing) Paid() bool { return s.Approved() && s.Reversal == ReversalNone }

// Blocks reports whether an order with such a payment cannot be paid again.
func (s Standing) Blocks() bool { return s.State.Open() || s.Paid() }

func (s Standing) declined() bool { return s.State == StateSettled && !s.Approved() }

// Name returns the standing as one identifier, such as not_found or voided, for tables and metrics.
func (s Standing) Name() string {
	switch {
	case s.State != StateSettled:
		return string(s.State)
	case s.Reversal != ReversalNone:
		return string(s.Reversal)
	default:
		return string(s.Outcome)
	}
}

// Text returns the standing in one word, for people.
func (s Standing) Text() string { return strings.ReplaceAll(s.Name(), "_", " ") }

func standing(s State) Standing { return Standing{State: s, Reversal: ReversalNone} }

func settledAs(o quickstream.Outcome) Standing {
	return Standing{StateSettled, o, ReversalNone}
}

// sqlIn returns the condition that a column has one of some values.
func sqlIn[T ~string](column string, values ...T) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = "'" + string(v) + "'"
	}
	return column + " IN (" + strings.Join(texts, ", ") + ")"
}

// sqlBlocks is the condition of [Standing.Blocks].
func sqlBlocks() string {
	return "NOT (" + sqlIn("state", StateRefused, StateNotSent) + " OR state = '" + string(StateSettled) + "' AND (" +
		sqlIn("outcome", quickstream.OutcomeDeclined, quickstream.OutcomeRejected) + " OR " + sqlIn("reversal", ReversalVoided, ReversalReturned) + "))"
}

// sqlPaid is the condition of [Standing.Paid].
func sqlPaid() string {
	return "(state = '" + string(StateDoubleCharged) + "' OR state = '" + string(StateSettled) + "' AND outcome = '" + string(quickstream.OutcomeApproved) +
		"') AND reversal = '" + string(ReversalNone) + "'"
}
