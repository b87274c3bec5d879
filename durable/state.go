package durable

import (
	"strings"

	"github.com/quickstream-go/quickstream"
)

// State is the state of a write. A write that holds the money, or may still take it, is never declined,
// not_sent, voided or returned: a switch on the state alone frees no order that may be paid.
type State string

// The states.
const (
	// StateQueued: stored, and not being sent. After a refusal that permits another send it is queued
	// again: see Write.Sends.
	StateQueued State = "queued"
	// StateSending: claimed by one process, which may have sent it. No other process sends it.
	StateSending State = "sending"
	// StatePending: the service has it, and it is not final, such as a PayTo payment that waits for its
	// payer.
	StatePending State = "pending"
	// StateUnknown: it may have been sent, and is looked up. Write.Case says what was found.
	StateUnknown State = "unknown"
	// StateApproved: the money was taken, or the follow-up was done.
	StateApproved State = "approved"
	// StateDeclined: it took no money. The reason says if the service rejected or refused it.
	StateDeclined State = "declined"
	// StateNotSent: given up before it was sent. The reason says why.
	StateNotSent State = "not_sent"
	// StateNeedsPerson: a person has to find out its outcome, or to act. Its order stays blocked: it may be paid.
	StateNeedsPerson State = "needs_person"
	// StateVoided: it was approved, and cancelled before settlement.
	StateVoided State = "voided"
	// StateReturned: it was approved, and the bank has sent the money back.
	StateReturned State = "returned"
)

// Reason says why a write is in its state, if the state alone does not.
type Reason string

// The reasons, by state.
const (
	ReasonNone Reason = ""

	ReasonRejected Reason = "rejected" // declined: by the service, and not by the bank
	ReasonRefused  Reason = "refused"  // declined: the service did not accept the request

	ReasonTooLate     Reason = "too_late"   // not_sent: after Options.SendWithin, or the token's ten minutes
	ReasonCancelled   Reason = "cancelled"  // not_sent: by a person
	ReasonMoneyBack   Reason = "money_back" // not_sent: the payment that it follows was voided or returned
	ReasonNothingLeft Reason = "nothing"    // not_sent: refunds made elsewhere leave too little of the payment
	ReasonOtherPaid   Reason = "other_paid" // not_sent: another payment of the order was found
	ReasonSuspended   Reason = "suspended"  // pending: by fraud screening; a person acts in the portal
	ReasonImpossible  Reason = "impossible" // not_sent: the service can neither void nor refund it
	ReasonAltered     Reason = "altered"    // needs_person: its row and its request say different things
	ReasonRestored    Reason = "restored"   // needs_person: it may have been sent before a restore, and that could not be read
	ReasonUnresolved  Reason = "unresolved" // needs_person: no final status after the longest time that one may take
	ReasonReversed    Reason = "reversed"   // needs_person: approved, and later not, after a lost answer or a capture
	ReasonNotFound    Reason = "not_found"  // needs_person: look-ups found nothing, which is no permission to pay again
	// ReasonLookupsFailed of needs_person: its look-ups have failed for too long.
	ReasonLookupsFailed Reason = "look_ups_failed"
	// ReasonDoubleCharged of needs_person: it was approved although it, or another payment of its order,
	// was approved already. Paid reports true. Nothing refunds it automatically.
	ReasonDoubleCharged Reason = "double_charged"
)

// States returns all states.
func States() []State {
	return []State{
		StateQueued, StateSending, StatePending, StateUnknown, StateApproved, StateDeclined, StateNotSent, StateNeedsPerson, StateVoided, StateReturned,
	}
}

// InProgress reports whether the outcome is not known yet, and comes without a person.
func (s State) InProgress() bool {
	return s == StateQueued || s == StateSending || s == StatePending || s == StateUnknown
}

// Blocks reports whether a payment in this state keeps its order from being paid again.
func (s State) Blocks() bool { return !s.isFree() }

func (s State) isFree() bool {
	return s == StateDeclined || s == StateNotSent || s == StateVoided || s == StateReturned
}

// isUnknown reports whether the service may or may not have executed the write.
func (s State) isUnknown() bool {
	return s == StateSending || s == StatePending || s == StateUnknown || s == StateNeedsPerson
}

// Standing is a state with its reason.
type Standing struct {
	State  State
	Reason Reason
}

// approved reports whether the money was taken and has not come back, or a follow-up was done.
func (s Standing) approved() bool {
	return s.State == StateApproved || s.State == StateNeedsPerson && s.Reason == ReasonDoubleCharged
}

// Name returns the state and its reason as one identifier, such as needs_person.not_found.
func (s Standing) Name() string {
	if s.Reason == ReasonNone {
		return string(s.State)
	}
	return string(s.State) + "." + string(s.Reason)
}

// Text returns the state and its reason in words.
func (s Standing) Text() string {
	text := strings.ReplaceAll(string(s.State), "_", " ")
	if s.Reason != ReasonNone {
		text += " (" + strings.ReplaceAll(string(s.Reason), "_", " ") + ")"
	}
	return text
}

func standing(s State, r ...Reason) Standing {
	if len(r) > 0 {
		return Standing{s, r[0]}
	}
	return Standing{State: s}
}

// ofOutcome returns the standing of a write whose transaction has an outcome. void is true for a void.
func ofOutcome(o quickstream.Outcome, void bool) Standing {
	switch o {
	case quickstream.OutcomeApproved:
		return standing(StateApproved)
	case quickstream.OutcomeDeclined:
		return standing(StateDeclined)
	case quickstream.OutcomeRejected:
		return standing(StateDeclined, ReasonRejected)
	case quickstream.OutcomeVoided:
		if void {
			return standing(StateApproved)
		}
		return standing(StateVoided)
	case quickstream.OutcomeSuspended:
		return standing(StatePending, ReasonSuspended)
	case quickstream.OutcomePending:
		return standing(StatePending)
	default:
		return standing(StateUnknown)
	}
}

// sqlIn returns the condition that a column has one of the values. Without values it is never true.
func sqlIn[T ~string](column string, values ...T) string {
	if len(values) == 0 {
		return "1 = 0"
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = "'" + string(v) + "'"
	}
	return column + " IN (" + strings.Join(texts, ", ") + ")"
}

// sqlStates returns the condition that the state is one for which holds returns true.
func sqlStates(holds func(State) bool) string {
	var states []State
	for _, s := range States() {
		if holds(s) {
			states = append(states, s)
		}
	}
	return sqlIn("state", states...)
}

func sqlBlocks() string  { return sqlStates(State.Blocks) }
func sqlUnknown() string { return sqlStates(State.isUnknown) }

// sqlHolds is the condition of a payment that keeps its order from being paid again: see Write.MayPayAgain.
func sqlHolds() string {
	return sqlBlocks() + " AND NOT (replaced_by <> '' AND reason = '" + string(ReasonNotFound) + "')"
}

// sqlApproved is Standing.approved as a condition.
func sqlApproved() string {
	return "(state = '" + string(StateApproved) + "' OR state = '" + string(StateNeedsPerson) + "' AND reason = '" + string(ReasonDoubleCharged) + "')"
}
