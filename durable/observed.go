package durable

import (
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// observed is an observation of a write, such as an answer, a look-up or a decision.
type observed struct {
	kind EventKind
	at   time.Time // when it was read, by the database's clock, or earlier; zero for now
	// sends is how often the write was sent when it was looked up; 0 if that does not matter.
	sends int
	// claim is that of the process that sent the write, for its own observations; "" for all others.
	claim  string
	permit permit
	seen   resolve.Observation
	// shown is the transaction, if one was read.
	shown *quickstream.Transaction
	// attempts counts the client's attempts at this send; 0 if unknown. resent means that the client has sent
	// the request again after a lost answer. receipt is one that an unusable answer shows.
	attempts int
	resent   bool
	receipt  string
	problem  string
	reason   Reason
	decided  Standing
	// callsHook means that the transaction that applies it calls OnOutcome.
	callsHook bool
	person    *Event // names the person who decided, or asked for the look-up
}

// ofTransaction returns the observation of a transaction that was read.
func ofTransaction(t *quickstream.Transaction, at time.Time) observed {
	return observed{kind: EventShown, at: at, seen: resolve.Observe(t, nil), shown: t}
}

// judged compares what an event or a list shows with the request of the write, as a look-up does: it settles only if they
// agree. A write without a request has nothing to compare with.
func (r *row) judged(o observed) observed {
	if r.hasNoRequest() || !r.intent.Operation.IsTransaction() {
		return o
	}
	intent := r.sentIntent()
	intent.ReceiptNumber, intent.Answered = r.ReceiptNumber, r.ReceiptNumber != ""
	if o.seen = resolve.Observe(intent.Match(o.shown)); o.seen.ReceiptNumber == "" {
		o.shown = nil // a candidate at most
	}
	return o
}

// found reports whether a transaction with a final outcome was seen.
func (o observed) found() bool {
	return o.seen.Result == resolve.LookupSettled || o.seen.Result == resolve.LookupDoubleCharged
}

// nothing reports whether a look-up has seen nothing that may be the write.
func nothing(seen resolve.Observation) bool {
	return (seen.Result == resolve.LookupNone || seen.Result == resolve.LookupFailed) && len(seen.Candidates) == 0
}

// ofAnswer returns what the process that claimed a write observes of its own request: see permitOf
// for what may be sent again.
func ofAnswer(t *quickstream.Transaction, err error) observed {
	o := observed{kind: EventAnswered, seen: resolve.Observation{Result: resolve.LookupFailed}, problem: problemOf(err)}
	declined, isDeclined := errors.AsType[*quickstream.DeclinedError](err)
	pending, isPending := errors.AsType[*quickstream.PendingError](err)
	unknown, isUnknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	_, refused := errors.AsType[*quickstream.APIError](err)
	permitted := permitOf(err)
	switch {
	case err == nil:
		o.shown = t
	case isDeclined:
		o.shown = declined.Transaction
	case isPending:
		o.shown = pending.Transaction
	case isUnknown:
		o.attempts = unknown.Attempts
		if unknown.Intent != nil {
			o.receipt, o.resent = unknown.Intent.ReceiptNumber, unknown.Intent.Resent
		}
	case permitted != permitNone:
		o.kind, o.permit, o.seen = EventNotExecuted, permitted, resolve.Observation{}
	case refused && isOwn(err):
		o.kind, o.seen = EventRefused, resolve.Observation{}
	} // any other error proves nothing
	if o.shown != nil {
		o.seen = resolve.Observe(o.shown, nil)
		if i := o.shown.Intent(); i != nil {
			o.resent, o.attempts = i.Resent, i.Attempts
		}
	}
	return o
}

// event returns the history entry of an observation, and false if it says nothing new.
func (o observed) event(before, r *row) (Event, bool) {
	event := Event{Kind: o.kind, Seen: o.seen}
	if o.person != nil {
		event.By, event.Note = o.person.By, o.person.Note
	}
	last := before.lookups.Lookups
	looked := o.kind == EventLookedUp || o.kind == EventShown
	same := looked && len(last) > 0 && last[len(last)-1].Result == o.seen.Result && last[len(last)-1].ReceiptNumber == o.seen.ReceiptNumber
	unchanged := looked && len(last) == 0 && before.State != StateUnknown && before.Version+1 == r.Version && before.Standing == r.Standing
	return event, before.Standing != r.Standing || o.person != nil || !same && !unchanged
}
