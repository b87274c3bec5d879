package durable

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// after returns the write after an observation. It is the only place where a write changes its
// standing after it was claimed. It is pure: what a second payment of the order means for it is
// added by compareWithOrder.
func (r row) after(o observed, policy resolve.Policy, now time.Time) row {
	if o.Problem != "" && r.State.InProgress() {
		r.Problem = o.Problem
	}
	if o.Sends != 0 && o.Sends < r.Sends && !o.found() {
		return r // what was not found before it was sent again
	}
	// A process that looked up meanwhile may have found nothing yet.
	holder := o.Claim != "" && o.Claim == r.claim
	unseen := r.State == StateSending || r.State == StateResolving && !r.mayBeFound()
	switch o.Kind {
	case sawPermit:
		if holder && unseen {
			return r.queuedAgain(o.Permit, now)
		}
	case sawRefusal:
		// It is proof, also if a look-up found nothing before the answer came; but not of an earlier send, nor against
		// what was found. A write that was never claimed here can be one whose claim was lost.
		switch {
		case r.Sends > 1 && holder:
			o.Kind, o.Seen = sawTransaction, resolve.Observation{Result: resolve.LookupFailed}
			return r.looked(o, policy, now)
		case holder && unseen, r.State == StateQueued && r.claim == "" && r.lastSent.IsZero():
			return r.ended(standing(StateRefused)).chosenAgain(now)
		}
	case sawTooLate:
		if r.State == StateQueued && o.Sends == r.Sends {
			return r.ended(standing(StateNotSent))
		}
	case sawConflict:
		if r.State == StateQueued || r.neverClaimed() {
			return r.inConflict()
		}
	case sawReturn:
		if r.Blocks() && r.State != StateQueued && !r.twice() {
			returned := settledAs(quickstream.OutcomeApproved)
			returned.Reversal = ReversalReturned
			return r.ended(returned)
		}
	case sawDone:
		if !r.Approved() {
			r.ReceiptNumber = o.Receipt
			return r.ended(settledAs(quickstream.OutcomeApproved))
		}
	case sawNothing:
		return r.missed(o.Seen, now)
	case sawDecision:
		r.decision = o.Decision
		if o.Receipt != "" {
			r.ReceiptNumber = o.Receipt
		}
		r = r.ended(o.Decision.Standing)
		r.Due = r.lookups.NextLook // OnOutcome is notified of a charge that comes late all the same
		return r
	case sawTransaction:
		return r.looked(o, policy, now)
	}
	return r
}

// missed waits for another write than a transaction, a little longer each time. What is
// not found in two days is not_found; if there is something that may be it, or the look-ups fail, a
// person has to find out.
func (r row) missed(seen resolve.Observation, now time.Time) row {
	if !r.State.InProgress() || r.State == StateQueued && nothing(seen) { // as in looked
		return r
	}
	age := now.Sub(r.Written)
	switch {
	case seen.Result == resolve.LookupFailed: // which is no proof that it is not there
		if age > 72*time.Hour {
			return r.ended(standing(StateEscalated))
		}
	case len(seen.Candidates) > 0 && age > time.Hour:
		r.Problem = "it may be one of these: " + strings.Join(tokensSeen(seen), ", ")
		return r.ended(standing(StateEscalated))
	case age > 48*time.Hour:
		return r.ended(standing(StateNotFound))
	}
	r.Standing, r.Due = standing(StateResolving), now.Add(min(max(age, time.Second), time.Hour))
	return r
}

// queuedAgain queues a write again whose answer permits another send, with pauses that grow. Intent
// and references stay: one look-up finds every send.
func (r row) queuedAgain(p permit, now time.Time) row {
	switch again := r.permit == permitUnavailable || r.permit == permitUnavailableAgain; {
	case p == permitNotExecuted:
		if r.Sends--; r.Sends > 0 { // an earlier answer says what comes before the next send
			p = r.permit
		}
	case p == permitUnavailable && again:
		p = permitUnavailableAgain
	}
	r.permit, r.Standing, r.lookups = p, standing(StateQueued), resolve.Case{}
	r.Failures++
	failures := r.Failures
	if p == permitUnavailableAgain { // its pause begins with the second one
		failures--
	}
	r.Due = now.Add(pause(p.rule().pause, failures))
	if !r.intent.Complete { // it cannot be sent from the row
		return r.ended(standing(StateNotSent))
	}
	return r
}

// ended is a write that has ended. A second approval of it is looked for all the same, if there can be one.
func (r row) ended(s Standing) row {
	r.Standing, r.Due = s, time.Time{}
	if r.lookups.Intent.Resent {
		r.Due = r.lookups.NextLook
	}
	return r
}

// looked is a write after a transaction was read, or was not found.
func (r row) looked(o observed, policy resolve.Policy, now time.Time) row {
	over := !r.State.InProgress() && !o.found() && r.lookups.NextLook.IsZero()
	switch {
	case over && r.State != StateNotFound && r.State != StateEscalated:
		return r // weaker than what is known
	case r.gone(o):
		return r.lookedOn(o, policy, now)
	case r.State == StateQueued && o.Claim == "" && nothing(o.Seen):
		return r // the look-up began before an answer permitted another send
	}
	if later, ok := r.reversedBy(o); ok {
		return r.ended(later)
	}
	if r.intent.Version == 0 {
		return r.seenEmpty(o)
	}
	was := r.Standing
	if r.Approved() && !r.lookups.Status.Final() && (o.Seen.Outcome != quickstream.OutcomeApproved || o.Seen.ReceiptNumber == r.ReceiptNumber) {
		return r // as a person has said, or the list of returns
	}
	if holder := o.Claim != "" && o.Claim == r.claim; holder && r.Sends > 1 && o.Seen.Outcome != quickstream.OutcomeApproved {
		o.Seen, o.Receipt = resolve.Observation{Result: resolve.LookupFailed}, "" // it says nothing of an earlier send
	}
	if r.sentAgain(o) { // it is approved, and is looked up again
		r.lookups = r.resent(o, now)
		r.ReceiptNumber, r.Seen, r.Due, r.Standing = o.Receipt, o.Seen, r.lookups.NextLook, settledAs(o.Seen.Outcome)
		return r.reported(o)
	}
	if r.lookups.Version == 0 {
		r.lookups = r.begun(o, now)
	}
	if over && r.lookups.Outcome == "" { // a person looks, who decides by what was seen
		r.lookups = stopped(r.lookups, r.State)
	}
	r.lookups = notAhead(r.lookups, now)
	if r.lookups.Status.Final() {
		was = r.standingOf(r.lookups)
	}
	r.lookups = policy.Next(r.lookups, o.Seen, now)
	r.Due = r.lookups.NextLook
	r.Seen, r.Evidence = r.lookups.Seen, r.lookups.Lookups
	r.ReceiptNumber = r.receiptAfter(o)
	r = r.reported(o)
	if r.decision != nil && r.lookups.Status != resolve.StatusSettled && r.lookups.Status != resolve.StatusDoubleCharged {
		return r // a person's decision holds against all but an outcome
	}
	if now := r.standingOf(r.lookups); now != was || !r.Approved() {
		r.Standing = now // an approval that is seen again does not undo what came after it
	}
	if r.State == StateSettled {
		return r.chosenAgain(now)
	}
	return r
}

// lookedOn is a write whose money is back, after a look-up for a second approval has not found one.
func (r row) lookedOn(o observed, policy resolve.Policy, now time.Time) row {
	if r.lookups.Intent.Resent && !r.lookups.NextLook.IsZero() {
		seen := o.Seen
		if seen.ReceiptNumber == r.lookups.Seen.ReceiptNumber { // that this one is back is known
			seen = resolve.Observation{Result: resolve.LookupNone}
		}
		r.lookups = policy.Next(r.lookups, seen, now)
		r.Due = r.lookups.NextLook
	}
	return r
}

// receiptAfter is the receipt number of a write that was looked up.
func (r row) receiptAfter(o observed) string {
	switch settled := r.lookups.Status == resolve.StatusSettled && r.lookups.Seen.ReceiptNumber != ""; {
	case r.intent.Operation == quickstream.OperationVoid: // which is that of the payment
		return ""
	case settled: // an older look-up may tell of the decline before a retry
		return r.lookups.Seen.ReceiptNumber
	case o.Seen.Result == resolve.LookupFailed: // the receipt of an unusable answer may be another's
		return r.ReceiptNumber
	case o.Receipt != "" && (r.ReceiptNumber == "" || o.found()):
		return o.Receipt
	default:
		return cmp.Or(r.ReceiptNumber, r.lookups.Seen.ReceiptNumber)
	}
}

// seenEmpty is an emptied write after a look-up that began before it was emptied, or an event that came again. It cannot
// be looked up, and only a charge changes its outcome.
func (r row) seenEmpty(o observed) row {
	taken := o.Seen.Result == resolve.LookupSettled && o.Seen.Outcome == quickstream.OutcomeApproved
	switch same := r.ReceiptNumber == "" || o.Seen.ReceiptNumber == r.ReceiptNumber; {
	case o.Seen.Result == resolve.LookupDoubleCharged, taken && r.Approved() && !same:
		return r.ended(standing(StateDoubleCharged))
	case taken && !r.Approved():
		r.ReceiptNumber = o.Seen.ReceiptNumber
		return r.ended(settledAs(o.Seen.Outcome))
	}
	return r
}

// inConflict is a write that a person has to look at. Look-ups that find nothing say nothing against that.
func (r row) inConflict() row {
	r = r.ended(standing(StateEscalated))
	if r.lookups.Version != 0 {
		r.lookups = stopped(r.lookups, r.State)
	}
	return r
}

// stopped is a case that has ended without an outcome, in the state of its write. Only a person looks up then.
func stopped(c resolve.Case, s State) resolve.Case {
	c.Status, c.Step, c.NextLook = resolve.Status(s), 0, time.Time{}
	return c
}

// notAhead is a case without times that a wrong clock has written.
func notAhead(c resolve.Case, now time.Time) resolve.Case {
	if c.NextLook.After(now.Add(longestWait)) {
		c.NextLook = now
	}
	if c.Intent.NotBefore.After(now.Add(mostSkew)) {
		c.Intent.NotBefore = now
	}
	return c
}

// reported is a write with what a transaction says of it.
func (r row) reported(o observed) row {
	if !o.SettlesOn.IsZero() {
		r.SettlesOn = o.SettlesOn
	}
	if o.Total.Valid {
		r.total = o.Total.Decimal
	}
	return r
}

// begun is the case of a write that is looked up for the first time, or whose answer has come.
func (r row) begun(o observed, now time.Time) resolve.Case {
	intent := r.sentIntent()
	intent.Attempts = 0          // unknown to others than the process that has sent it
	if r.State == StateSending { // by the clock that now is read from, and not by the machine's
		intent.NotBefore = r.Changed
	}
	if o.Claim == "" || o.Claim != r.claim {
		return resolve.Begin(intent, now)
	}
	intent.Attempts, intent.ReceiptNumber = max(o.Attempts, r.Sends), o.Receipt
	c := resolve.Begin(intent, now)
	c.Unanswered = o.Receipt == ""
	return c
}

// sentAgain reports whether an observation is the first approval of a write that was sent more than once. A look-up or an
// event may have come before the answer.
func (r row) sentAgain(o observed) bool {
	approved := o.Seen.Result == resolve.LookupSettled && o.Seen.Outcome == quickstream.OutcomeApproved
	if !approved || r.lookups.Intent.Resent || r.Sends < 2 && !o.Resent {
		return false
	}
	known := r.Standing == settledAs(quickstream.OutcomeApproved) && o.Seen.ReceiptNumber == r.ReceiptNumber
	return !r.lookups.Status.Final() || known && o.Claim != "" && o.Claim == r.claim
}

// resent is the case of a write that is approved, and of which an earlier request may be approved too.
func (r row) resent(o observed, now time.Time) resolve.Case {
	intent := r.sentIntent()
	intent.Attempts = max(o.Attempts, r.Sends)
	c := resolve.Begin(intent, now)
	c.Intent.Resent, c.Until, c.Status, c.Lookups = true, now.Round(0).Add(lookupLag), resolve.StatusSettled, r.lookups.Lookups
	c.Seen, c.Outcome = o.Seen, o.Seen.Outcome
	return c
}

// chosenAgain queues a reversal again after its void was refused, as when the cut-off has passed
// since the transaction was read: it becomes a refund.
func (r row) chosenAgain(now time.Time) row {
	refused := r.State == StateRefused || r.declined()
	if r.Operation != OperationReverse || r.intent.Operation != quickstream.OperationVoid || !refused {
		return r
	}
	r.intent, r.lookups = reverseIntent(r.intent.Target, now), resolve.Case{}
	r.keyNumber, r.keySent = r.keyNumber+1, time.Time{} // it is another request
	r.Failures++
	r.Standing, r.Due = standing(StateQueued), now.Add(pause(time.Second, r.Failures))
	r.claim, r.Sends, r.permit = "", 0, permitNone
	return r
}

// mayBeFound reports whether a look-up has seen anything that may be the write.
func (r row) mayBeFound() bool {
	return slices.ContainsFunc(r.lookups.Lookups, func(l resolve.Lookup) bool { return !nothing(l.Observation) })
}

// nothing reports whether a look-up has seen nothing that may be the write.
func nothing(seen resolve.Observation) bool {
	return (seen.Result == resolve.LookupNone || seen.Result == resolve.LookupFailed) && len(seen.Candidates) == 0
}

// neverClaimed reports whether a payment waits that this history of the database has not sent. One
// that a restored backup holds may be being looked up.
func (r row) neverClaimed() bool {
	waits := r.State == StateQueued || r.State == StateResolving || r.State == StateNotFound
	return waits && r.claim == "" && r.intent.Complete
}

// found reports whether a transaction was seen that has ended.
func (o observed) found() bool {
	return o.Seen.Result == resolve.LookupSettled || o.Seen.Result == resolve.LookupDoubleCharged
}

// gone reports whether an observation is of money that is known to have come back: nothing that is
// seen of that transaction afterwards takes it again.
func (r row) gone(o observed) bool {
	return r.Reversal != ReversalNone && (r.decision == nil || r.decision.Standing != r.Standing) &&
		o.Seen.ReceiptNumber == r.ReceiptNumber && o.Seen.Result != resolve.LookupDoubleCharged
}

// reversedBy is the standing of an approved payment whose money has come back by an observation that
// is later than the approval.
func (r row) reversedBy(o observed) (Standing, bool) {
	s := settledAs(quickstream.OutcomeApproved)
	if !r.Paid() || r.twice() || o.Seen.ReceiptNumber != r.ReceiptNumber || !o.At.After(r.Changed) {
		return s, false
	}
	switch o.Seen.Outcome {
	case quickstream.OutcomeVoided:
		s.Reversal = ReversalVoided
	case quickstream.OutcomeDeclined:
		s.Reversal = ReversalReturned
	default:
		return s, false
	}
	return s, true
}

// twice reports whether two transactions of the write itself are approved. If the money of one comes back, the other has
// taken it all the same.
func (r row) twice() bool { return r.lookups.Status == resolve.StatusDoubleCharged }

// standingOf is the standing of a write that is being resolved.
func (r row) standingOf(c resolve.Case) Standing {
	switch c.Status {
	case resolve.StatusNotFound:
		return standing(StateNotFound)
	case resolve.StatusEscalated:
		return standing(StateEscalated)
	case resolve.StatusDoubleCharged:
		return standing(StateDoubleCharged)
	case resolve.StatusSettled:
		switch c.Outcome {
		case quickstream.OutcomeApproved, quickstream.OutcomeDeclined, quickstream.OutcomeRejected:
			return settledAs(c.Outcome)
		case quickstream.OutcomeVoided: // it was approved before
			done := settledAs(quickstream.OutcomeApproved)
			if r.intent.Operation != quickstream.OperationVoid {
				done.Reversal = ReversalVoided
			}
			return done
		default:
			return standing(StateEscalated)
		}
	default:
		return standing(StateResolving)
	}
}
