package durable

import (
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// after returns the payment after an observation. It is the only place where a payment
// changes its state after it was claimed. It is pure: what a second payment of the order
// means for it is added by beside.
func (r row) after(o observed, policy resolve.Policy, now time.Time) row {
	if o.Problem != "" && r.State.Open() {
		r.Problem = o.Problem
	}
	if o.Of != "" && o.Of != r.intent.IdempotencyKey && !o.found() {
		return r // an intent that another one has taken the place of
	}
	// Whoever looked meanwhile may have seen nothing yet.
	holder := o.Claim != "" && o.Claim == r.claim && (r.State == StateSending || r.State == StateUnknown && !r.evident())
	switch o.Kind {
	case sawNotDone:
		if holder {
			return r.renewed(now)
		}
	case sawRefusal:
		// It is proof, also where somebody has looked in vain before the answer came.
		if holder || r.State == StatePrepared || r.State == StateUnknown && o.Claim != "" && o.Claim == r.claim {
			return r.ended(StateRefused).chosenAnew(now)
		}
	case sawTooLate:
		if r.State == StatePrepared {
			return r.ended(StateNotSent)
		}
	case sawConflict:
		if r.State == StatePrepared || r.neverClaimed() {
			return r.ended(StateEscalated)
		}
	case sawReturn:
		if r.State.Blocks() && r.State != StatePrepared {
			return r.ended(StateReturned)
		}
	case sawDone:
		if r.State != StateApproved {
			r.ReceiptNumber = o.Receipt
			return r.ended(StateApproved)
		}
	case sawNothing:
		return r.missed(o.Seen, now)
	case sawDecision:
		r.Decided = o.Decision
		if o.Receipt != "" {
			r.ReceiptNumber = o.Receipt
		}
		r = r.ended(o.Decision.Verdict)
		r.Due = r.looking.NextLook // a charge that comes late is told all the same
		return r
	case sawTransaction:
		return r.seen(o, policy, now)
	}
	return r
}

// missed waits for another write than a transaction, a little longer each time. What is
// not found in two days is absent; where there is something that may be it, or it cannot
// be looked for, a person has to tell.
func (r row) missed(seen resolve.Observation, now time.Time) row {
	if !r.State.Open() {
		return r
	}
	age := now.Sub(r.Written)
	switch {
	case seen.Result == resolve.LookupFailed: // which is no proof that it is not there
		if age > 72*time.Hour {
			return r.ended(StateEscalated)
		}
	case len(seen.Candidates) > 0 && age > time.Hour:
		r.Problem = "it may be one of these: " + strings.Join(seen.Candidates, ", ")
		return r.ended(StateEscalated)
	case age > 48*time.Hour:
		return r.ended(StateAbsent)
	}
	r.State, r.Due = StateUnknown, now.Add(min(max(age, time.Second), time.Hour))
	return r
}

// renewed prepares a payment again that is proven not to have been carried out, with
// pauses that grow.
func (r row) renewed(now time.Time) row {
	r.intent, r.State, r.looking = r.intent.Renewed(), StatePrepared, resolve.Case{}
	r.Failures++
	r.Due = now.Add(pause(r.Failures))
	if !r.intent.Complete { // it cannot be sent from the row
		return r.ended(StateNotSent)
	}
	return r
}

// pause is how long to wait after so many failures in a row.
func pause(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 12), time.Hour)
}

func (r row) ended(state State) row {
	r.State, r.Due = state, time.Time{}
	return r
}

// seen is a payment after a transaction was read, or was not found.
func (r row) seen(o observed, policy resolve.Policy, now time.Time) row {
	found := o.found()
	if !r.State.Open() && !found && r.looking.NextLook.IsZero() || r.gone(o) {
		return r // weaker than what is known
	}
	if later, ok := r.taken(o); ok {
		return r.ended(later)
	}
	was := r.State
	if r.took() && !r.looking.Status.Final() && (o.Seen.Outcome != quickstream.OutcomeApproved || o.Seen.ReceiptNumber == r.ReceiptNumber) {
		return r // as a person has said, or the list of returns
	}
	if r.looking.Version == 0 {
		intent := r.intent
		intent.Attempts = o.Attempts
		if r.State == StateSending { // by the clock that now is read from, and not by the machine's
			intent.NotBefore = r.Changed
		}
		if o.Claim != "" && o.Claim == r.claim {
			intent.ReceiptNumber = o.Receipt
			if o.Seen.Result != resolve.LookupFailed {
				intent.Attempts = 1
			}
		}
		r.looking = resolve.Begin(intent, now)
	}
	if r.looking.Status.Final() {
		was = stateOf(r.looking)
	}
	r.looking = policy.Next(r.looking, o.Seen, now)
	r.Due = r.looking.NextLook
	r.Seen, r.Evidence = r.looking.Seen, r.looking.Lookups
	if o.Receipt != "" && (r.ReceiptNumber == "" || found) {
		r.ReceiptNumber = o.Receipt
	}
	if r.ReceiptNumber == "" {
		r.ReceiptNumber = r.looking.Seen.ReceiptNumber
	}
	if !o.SettlesOn.IsZero() {
		r.SettlesOn = o.SettlesOn
	}
	if o.Total.Valid {
		r.total = o.Total.Decimal
	}
	if r.Decided != nil && r.looking.Status != resolve.StatusSettled && r.looking.Status != resolve.StatusDoubleCharged {
		return r // a person's word holds against all but an outcome
	}
	if state := stateOf(r.looking); state != was || !r.took() {
		r.State = state // an approval that is seen again does not undo what came after it
	}
	if r.State == StateAbsent && r.intent.Operation == quickstream.OperationVoid {
		// It was not voided before it was settled, and cannot be any more.
		r.State, r.Problem = StateRefused, "the transaction stands"
		return r.chosenAnew(now)
	}
	return r
}

// chosenAnew sends what is to be given back by another way after its void was refused,
// as when the cut-off has passed since the transaction was read.
func (r row) chosenAnew(now time.Time) row {
	if r.Operation != giveBack || r.intent.Operation != quickstream.OperationVoid {
		return r
	}
	r.intent, r.looking = giveBackIntent(r.ReceiptOf, now), resolve.Case{}
	r.Failures++
	r.State, r.Due = StatePrepared, now.Add(pause(r.Failures))
	return r
}

// took reports whether the money was taken, whatever became of it since.
func (r row) took() bool {
	return r.State == StateApproved || r.State == StateVoided || r.State == StateReturned || r.State == StateTwice
}

// evident reports whether anything was seen that may be the payment.
func (r row) evident() bool {
	for _, look := range r.looking.Lookups {
		if look.Result != resolve.LookupNone && look.Result != resolve.LookupFailed || len(look.Candidates) > 0 {
			return true
		}
	}
	return false
}

// found reports whether a transaction was seen that has ended.
func (o observed) found() bool {
	return o.Seen.Result == resolve.LookupSettled || o.Seen.Result == resolve.LookupDoubleCharged
}

// gone reports whether an observation is of money that is known to have been given back:
// nothing that is seen of that transaction afterwards brings it again.
func (r row) gone(o observed) bool {
	return (r.State == StateVoided || r.State == StateReturned) && (r.Decided == nil || r.Decided.Verdict != r.State) &&
		o.Seen.ReceiptNumber == r.ReceiptNumber && o.Seen.Result != resolve.LookupDoubleCharged
}

// taken is what has become since of the money of an approved payment: a reading that is
// later than the approval tells, and an older one does not.
func (r row) taken(o observed) (State, bool) {
	if r.State != StateApproved || o.Seen.ReceiptNumber != r.ReceiptNumber || !o.At.After(r.Changed) {
		return "", false
	}
	switch o.Seen.Outcome {
	case quickstream.OutcomeVoided:
		return StateVoided, true
	case quickstream.OutcomeDeclined:
		return StateReturned, true
	default:
		return "", false
	}
}

// stateOf is the state of a payment that is being resolved.
func stateOf(c resolve.Case) State {
	switch c.Status {
	case resolve.StatusNotFound:
		return StateAbsent
	case resolve.StatusEscalated:
		return StateEscalated
	case resolve.StatusDoubleCharged:
		return StateTwice
	case resolve.StatusSettled:
		switch c.Outcome {
		case quickstream.OutcomeApproved:
			return StateApproved
		case quickstream.OutcomeDeclined, quickstream.OutcomeRejected:
			return StateDeclined
		case quickstream.OutcomeVoided:
			return StateVoided
		default:
			return StateEscalated
		}
	default:
		return StateUnknown
	}
}
