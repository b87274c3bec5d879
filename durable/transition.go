package durable

import (
	"cmp"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// after returns the write after an observation. It is pure. A state is changed elsewhere only by a claim,
// by Cancel before any claim, by propagateVoid and paysAlone, by compareWithOrder, which adds what a second payment of
// the order means, and by change for a pre-authorisation that was captured.
func (r row) after(o observed, p resolve.Policy) row {
	if o.problem != "" && r.State.InProgress() && (o.claim == "" || o.claim == r.claim) {
		r.Problem = o.problem
	}
	if o.sends != 0 && o.sends < r.Sends && !o.found() {
		return r // it was not found, but was sent again since
	}
	if r.Reason == ReasonReversed && o.seen.ReceiptNumber == r.ReceiptNumber && o.at.Before(r.Changed) {
		return r // it was read before the money came back
	}
	// It may have been looked up meanwhile without being found.
	holder := o.claim != "" && o.claim == r.claim
	unseen := r.State == StateSending || r.State == StateUnknown && !r.mayBeFound()
	switch {
	case o.kind == EventNotExecuted && holder && unseen:
		return r.queuedAgain(o.permit)
	case o.kind == EventRefused && holder && unseen && r.Sends > 1:
		// It says nothing of an earlier send, which was refused too, or which a lost history may hold. A look-up decides as soon
		// as it has to show that one.
		r.forgetCase()
		r.Standing, r.giveUp, r.Due = standing(StateQueued), ReasonRefused, r.now
	case r.State == StateSending && o.kind == EventLost:
		r.lookups = resolve.Begin(r.sentIntent(), r.now) // it is looked up at once
		r.Standing, r.Due = standing(StateUnknown), r.lookups.NextLook
	case o.kind == EventRefused && holder && unseen && r.Sends == 1:
		r.forgetCase()
		return r.ended(standing(StateDeclined, ReasonRefused))
	case (o.kind == EventExpired || o.kind == EventCancelled) && r.State == StateQueued && o.sends == r.Sends:
		if o.reason == ReasonRefused {
			return r.ended(standing(StateDeclined, o.reason))
		}
		return r.ended(standing(StateNotSent, o.reason))
	case o.kind == EventHeld && r.State == StateQueued:
		r.Problem = o.problem
		return r.ended(standing(StateNeedsPerson, o.reason))
	case o.kind == EventReturned && (r.approved() || r.Reason == ReasonReversed) && !r.twice():
		r.decided = false // a person knew nothing of it
		return r.ended(standing(StateReturned))
	case o.kind == EventDecided:
		r.decided, r.byPerson = true, true
		r.ReceiptNumber = cmp.Or(o.receipt, r.ReceiptNumber)
		r.Standing, r.Due = o.decided, r.lookups.NextLook // OnOutcome is still notified of a late charge
		if r.approved() {
			// Another approval is a second charge, however late it comes.
			looked := r.lookups
			r.lookups = r.settledCase()
			r.lookups.NextLook, r.lookups.Until, r.lookups.Lookups = r.Due, r.now.Add(longestWait), looked.Lookups
			r.lookups.Changed = looked.Changed // the person has seen that
		}
	case o.kind == EventAnswered && holder:
		return r.answered(o, p)
	case o.kind == EventShown:
		if o = r.judged(o); o.shown != nil || r.State.InProgress() { // a candidate says nothing of a write that has ended
			return r.looked(o, p)
		}
	case o.kind == EventLookedUp:
		return r.looked(o, p)
	}
	return r
}

// answered returns the write after its own request was answered, or the answer was lost.
func (r row) answered(o observed, p resolve.Policy) row {
	wanted := quickstream.OutcomeApproved
	if r.isVoid() {
		wanted = quickstream.OutcomeVoided
	}
	approved := o.seen.Result == resolve.LookupSettled && o.seen.Outcome == wanted
	switch {
	case !approved && (r.Sends > 1 || r.isVoid()): // it says nothing of an earlier send
		o.seen, o.shown, o.receipt = resolve.Observation{Result: resolve.LookupFailed}, nil, ""
	case o.shown != nil && (r.State == StateSending || r.State == StateUnknown && !r.mayBeFound()):
		r.forgetCase() // a look-up meanwhile may have found nothing yet
	}
	return r.looked(o, p)
}

// settledCase returns the case of an approved write: another approval beside it is double_charged.
func (r row) settledCase() resolve.Case {
	intent := r.sentIntent()
	intent.Attempts, intent.Resent = max(r.Sends, 2), true
	c := resolve.Begin(intent, r.now)
	c.Status, c.Outcome, c.NextLook = resolve.StatusSettled, quickstream.OutcomeApproved, time.Time{}
	c.Seen = resolve.Observation{Result: resolve.LookupSettled, Outcome: c.Outcome, ReceiptNumber: r.ReceiptNumber}
	if r.isVoid() {
		c.Outcome = quickstream.OutcomeVoided
	}
	return c
}

// queuedAgain returns a write whose answer permits another send as queued, with pauses that grow. Its
// intent and its reference stay, so one look-up finds every send.
func (r row) queuedAgain(p permit) row {
	if p == permitNotExecuted {
		if r.Sends--; r.Sends > 0 { // an earlier answer says what comes before the next send
			p = r.permit
		}
	}
	r.permit, r.Standing = p, standing(StateQueued)
	r.forgetCase()
	r.Failures++
	r.Due = r.now.Add(pause(time.Second, r.Failures))
	if p == permitRefused {
		r.Due = r.now.Add(pause(20*time.Second, r.Failures))
	}
	return r
}

// ended returns the write with a final standing. It is still looked up if there can be a second approval of it.
func (r row) ended(s Standing) row {
	r.Standing, r.Due, r.giveUp, r.Failures = s, time.Time{}, ReasonNone, 0
	if r.lookups.Version != 0 && r.lookups.Status == resolve.StatusSettled {
		r.Due = r.lookups.NextLook
	}
	return r
}

func (r *row) forgetCase() { r.lookups, r.lookupsText = resolve.Case{}, "" }

// looked returns the write after a transaction was read, or none was found.
func (r row) looked(o observed, p resolve.Policy) row {
	if o.kind == EventLookedUp && o.seen.Result != resolve.LookupFailed {
		r.LookedUp = r.now
	}
	if later, ok := r.reversedBy(o); ok {
		return r.shows(o).ended(later)
	}
	switch weak := nothing(o.seen) || o.seen.Result == resolve.LookupSettled && o.seen.Outcome != quickstream.OutcomeApproved; {
	case r.State == StateQueued && o.kind != EventAnswered && nothing(o.seen):
		return r
	case r.lookups.Version != 0:
	case r.approved() && (weak || o.seen.ReceiptNumber == r.ReceiptNumber || o.seen.Result == resolve.LookupPending):
		return r.shows(o)
	case r.moneyBack() && (weak || o.seen.ReceiptNumber == r.ReceiptNumber || o.seen.Result == resolve.LookupPending):
		return r
	case r.State.isFree() && (weak || o.seen.Result == resolve.LookupPending && o.seen.ReceiptNumber == r.ReceiptNumber):
		return r // weaker than what is known
	case r.approved() || r.moneyBack():
		r.lookups = r.settledCase()
	default:
		r.lookups = r.begun(o)
	}
	if r.State == StateSending && o.kind != EventAnswered && !o.found() {
		return r // the process that sends it has the answer, or a job finds that this process has ended
	}
	if o.kind == EventAnswered && o.shown == nil && len(r.lookups.Lookups) == 0 { // it is looked up at once
		r.Standing, r.Due = r.standingOf(r.lookups), r.lookups.NextLook
		return r
	}
	was, changed := r.standingOf(r.lookups), r.lookups.Changed
	r.lookups = p.Next(r.lookups, o.seen, r.now)
	r.Due = r.lookups.NextLook
	if now := r.standingOf(r.lookups); !r.stays(now, was, o, r.lookups.Changed && !changed) {
		r.Standing = now
	}
	r = r.shows(o)
	if o.kind == EventAnswered && r.lookups.Status == resolve.StatusSettled && r.Due.IsZero() { // nothing more is looked for
		r = r.ended(r.Standing)
		r.forgetCase()
	}
	return r
}

// stays reports whether a write keeps its state although its case would change it. changed means that the case has just seen the
// end of an approval.
func (r row) stays(now, was Standing, o observed, changed bool) bool {
	final := r.lookups.Status == resolve.StatusSettled || r.lookups.Status == resolve.StatusDoubleCharged
	switch {
	case r.decided && !final && !(changed && o.seen.ReceiptNumber == r.ReceiptNumber):
		return true // only an outcome overrides a person's decision, or the end of an approval
	case (r.Reason == ReasonAltered || r.Reason == ReasonRestored) && nothing(o.seen):
		return true // a look-up that finds nothing does not say what a person has to find out
	case r.moneyBack() && !r.decided && now.Reason != ReasonDoubleCharged && o.seen.ReceiptNumber == r.ReceiptNumber:
		return true // the same transaction does not take the money again
	case now == was && (r.approved() || r.moneyBack()):
		return true // an approval that is seen again does not undo what came after it
	default:
		return false
	}
}

// standingOf returns the standing of a write by its case.
func (r row) standingOf(c resolve.Case) Standing {
	switch c.Status {
	case resolve.StatusNotFound:
		return standing(StateNeedsPerson, ReasonNotFound)
	case resolve.StatusEscalated:
		switch {
		case c.Changed:
			return standing(StateNeedsPerson, ReasonReversed)
		case !c.FailingSince.IsZero():
			return standing(StateNeedsPerson, ReasonLookupsFailed)
		default:
			return standing(StateNeedsPerson, ReasonUnresolved)
		}
	case resolve.StatusDoubleCharged:
		return standing(StateNeedsPerson, ReasonDoubleCharged)
	case resolve.StatusSettled:
		return ofOutcome(c.Outcome, r.isVoid())
	case resolve.StatusOpen:
		if c.Seen.Result == resolve.LookupPending && c.Seen.ReceiptNumber != "" && len(c.Lookups) > 0 && c.Lookups[len(c.Lookups)-1].Result == resolve.LookupPending {
			return ofOutcome(c.Seen.Outcome, r.isVoid())
		}
	}
	return standing(StateUnknown)
}

// shows returns the write with the receipt, settlement date, total and card digits that a transaction shows.
func (r row) shows(o observed) row {
	if r.lookups.Version != 0 && r.lookups.Status == resolve.StatusSettled && !r.isVoid() {
		r.ReceiptNumber = cmp.Or(r.lookups.Seen.ReceiptNumber, r.ReceiptNumber)
	}
	t := o.shown
	if t == nil || r.isVoid() {
		return r
	}
	if r.ReceiptNumber == "" || o.kind == EventAnswered || o.found() && !r.approved() {
		r.ReceiptNumber = cmp.Or(t.ReceiptNumber, r.ReceiptNumber)
	}
	if t.ReceiptNumber != r.ReceiptNumber {
		return r
	}
	if !t.SettlementDate.IsZero() {
		r.SettlementDate = t.SettlementDate
	}
	if t.TotalAmount != nil {
		r.Total = t.TotalAmount.Amount
	}
	if t.CreditCard != nil {
		r.CardDigits = cmp.Or(lastDigits(t.CreditCard.MaskedCardNumber4Digits, 4), lastDigits(t.CreditCard.CardNumber, 3), r.CardDigits)
	}
	return r
}

// lastDigits returns the last digits of a masked number, up to most.
func lastDigits(masked string, most int) string {
	end := len(masked)
	begin := end
	for begin > 0 && end-begin < most && masked[begin-1] >= '0' && masked[begin-1] <= '9' {
		begin--
	}
	return masked[begin:]
}

// begun returns the case of a write that is looked up for the first time, or that was answered.
func (r row) begun(o observed) resolve.Case {
	intent := r.sentIntent()
	if r.hasNoRequest() {
		intent.ReceiptNumber = cmp.Or(intent.ReceiptNumber, o.seen.ReceiptNumber)
	}
	if o.kind != EventAnswered {
		return resolve.Begin(intent, r.now)
	}
	intent.Attempts, intent.Resent, intent.ReceiptNumber = o.attempts, o.resent, o.receipt
	if r.Sends > 1 {
		intent.Attempts = max(o.attempts, 2)
	}
	if o.shown != nil && !o.resent && r.Sends == 1 {
		intent.ReceiptNumber, intent.Answered = o.shown.ReceiptNumber, true
	}
	c := resolve.Begin(intent, r.now)
	c.Unanswered = o.shown == nil || o.resent || r.Sends > 1
	return c
}

// mayBeFound reports whether a look-up has seen anything that may be the write.
func (r row) mayBeFound() bool {
	return slices.ContainsFunc(r.lookups.Lookups, func(l resolve.Lookup) bool { return !nothing(l.Observation) })
}

// reversedBy returns the standing of an approved payment whose money has come back. Only an observation
// later than the approval shows that.
func (r row) reversedBy(o observed) (s Standing, back bool) {
	watched := r.lookups.Version != 0 && !r.lookups.NextLook.IsZero()
	if !r.Paid() || r.twice() || watched || o.seen.Result != resolve.LookupSettled || o.seen.ReceiptNumber != r.ReceiptNumber || !o.at.After(r.Changed) {
		return s, false
	}
	switch o.seen.Outcome {
	case quickstream.OutcomeVoided:
		return standing(StateVoided), true
	case quickstream.OutcomeDeclined:
		return standing(StateReturned), true
	default:
		return s, false
	}
}

// twice reports whether two transactions of the write itself are approved. If the money of one comes back, that of the
// other is still taken.
func (r row) twice() bool {
	return r.lookups.Version != 0 && r.lookups.Status == resolve.StatusDoubleCharged
}
