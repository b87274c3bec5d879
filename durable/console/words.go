package console

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// stamp is a time in Sydney, with the name of its zone.
func (c *console[TTx]) stamp(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(c.sydney).Format("2 Jan 2006, 15:04:05 MST")
}

// span is how long something has lasted.
func span(d time.Duration) string {
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d >= 2*unit {
			return fmt.Sprintf("%d %s", d/unit, []string{"days", "hours", "minutes"}[i])
		}
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}

// count is a number of things.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// ahead is how far a clock is ahead of another.
func ahead(by time.Duration, of string) string {
	switch {
	case by.Abs() < time.Second:
		return "the same as " + of
	case by < 0:
		return span(-by) + " behind " + of
	default:
		return span(by) + " ahead of " + of
	}
}

// money is an amount as people write it.
func money(amount decimal.Decimal, currency quickstream.Currency) string {
	if currency == quickstream.CurrencyAUD {
		return "$" + amount.StringFixed(2)
	}
	return strings.TrimSpace(amount.StringFixed(2) + " " + string(currency))
}

// words is an identifier in words.
func words(name any) string { return strings.ReplaceAll(fmt.Sprint(name), "_", " ") }

// what is what a write asks of the service.
func what(w durable.Write) string {
	if w.Operation == durable.OperationReverse && w.Approved() && w.ReceiptNumber == "" {
		return "Void"
	}
	return cmp.Or(map[quickstream.Operation]string{
		quickstream.OperationPay: "Payment", quickstream.OperationCollect: "PayTo payment", quickstream.OperationRefund: "Refund", quickstream.OperationVoid: "Void",
		quickstream.OperationPreauthorise: "Pre-authorisation", quickstream.OperationCapture: "Capture", durable.OperationReverse: "Refund of all",
		quickstream.OperationCancelPreauthorisation: "Cancellation",
	}[w.Operation], string(w.Operation))
}

// takes reports whether a write takes money.
func takes(w durable.Write) bool {
	return w.Operation == quickstream.OperationPay || w.Operation == quickstream.OperationCollect || w.Operation == quickstream.OperationCapture
}

// label is a state in the words of the pages.
func label(s durable.Standing) string {
	return cmp.Or(map[string]string{
		"queued": "waiting", "sending": "being sent", "pending.suspended": "held by fraud screening",
		"declined.rejected": "rejected", "declined.refused": "refused", "not_sent": "not sent", "not_sent.cancelled": "cancelled", "returned.reversed": "reversed",
		"needs_person.not_found": "not found", "needs_person.look_ups_failed": "look-ups failed", "needs_person.unresolved": "no final status",
		"needs_person.restored": "from before a restore", "needs_person.altered": "altered",
		"needs_person.double_charged": "charged twice",
	}[s.Name()], map[durable.State]string{durable.StateNotSent: "not sent"}[s.State], words(s.State))
}

// meaning is a sentence on where a write is. With elsewhere another payment of its order was taken, or may be: a payment, or
// the pre-authorisation of a capture.
func meaning(w durable.Write, elsewhere bool) string {
	const others = "The other payments of the order are below."
	money := takes(w)
	taken, not, wait, blocked, unpaid := "The money was taken.", "No money was taken, and the order can be paid again.", "Do not take the money another way.",
		"The order cannot be paid again until a person decides.", "The order is not paid."
	if elsewhere {
		not, blocked, unpaid = "No money was taken by it. "+others, others, ""
	}
	if !money {
		taken, not, wait, blocked = "The service has done it.", "It was not done, and can be asked for again.", "Do not do it another way.", ""
	}
	switch name := w.Name(); {
	case name == "queued" && w.Operation == quickstream.OperationRefund:
		return "It waits to be sent: a refund is possible once its payment has settled, which can take a day or more."
	case name == "queued" && w.Sends > 0 && money:
		return "It was sent, and the service could not take it then. It is looked up, and then sent again by itself. " + wait
	case name == "needs_person.double_charged" && !money:
		return "The service has done it twice. Nothing undoes that by itself: ask its support with the evidence below."
	default:
		texts := map[string]string{
			"queued":                       "It waits to be sent. Nothing has happened to the money yet.",
			"sending":                      "It is being sent, or was sent and the answer is not here yet.",
			"pending":                      "It was sent, and its outcome is not known yet. The service is asked again by itself. " + wait,
			"pending.suspended":            "Fraud screening holds it: somebody releases or refuses it in the service's portal. " + wait,
			"unknown":                      "It was sent, and its outcome is not known yet. The service is asked again by itself. " + wait,
			"approved":                     taken,
			"declined":                     "The service or the customer's bank said no. " + not,
			"declined.refused":             "The service did not accept the request. " + not,
			"not_sent":                     "It was given up before it was sent. " + not,
			"needs_person":                 "Look-ups cannot find out what became of it. Give the evidence below to the service's support, and then decide. " + blocked,
			"needs_person.not_found":       "The service shows nothing that may be it. That is no proof that no money was taken: ask its support. " + blocked,
			"needs_person.look_ups_failed": "The service could not be asked: look-ups have failed. Look it up again when the service answers. " + blocked,
			"needs_person.double_charged":  twice,
			"voided":                       "It was cancelled before settlement. The customer has the money.",
			"returned":                     "The bank has returned the money after it was approved. " + unpaid,
			"returned.reversed":            "The service has reversed it. The customer has the money. " + unpaid,
		}
		return cmp.Or(texts[name], texts[string(w.State)])
	}
}

const twice = "The customer was charged twice for one order. Refund one of the two payments, once: nothing does that by itself."

// found is what a look-up came to.
func found(r resolve.LookupResult) string {
	return cmp.Or(map[resolve.LookupResult]string{
		resolve.LookupNone: "not found", resolve.LookupPending: "found, without a final status", resolve.LookupSettled: "found, with a final status",
		resolve.LookupAmbiguous: "several match", resolve.LookupDoubleCharged: "several match and are approved", resolve.LookupFailed: "look-up failed",
	}[r], string(r))
}

// seen is what an answer or a look-up showed.
func seen(o resolve.Observation) string {
	text := words(o.Outcome)
	if o.Outcome == "" {
		text = cmp.Or(found(o.Result), "no answer")
	}
	if o.ResponseCode != "" {
		text += " (code " + o.ResponseCode + ")"
	}
	return text
}

// happened is an event in words.
func happened(e durable.Event) string {
	text := cmp.Or(map[durable.EventKind]string{
		durable.EventQueued: "accepted, and stored to be sent", durable.EventClaimed: "being sent to the service", durable.EventRefused: "the service refused the request",
		durable.EventNotExecuted: "the service did not carry it out: it is sent again", durable.EventExpired: "given up before it was sent",
		durable.EventReturned: "the bank returned the money", durable.EventAnswered: "the answer did not come, or says nothing final: it is looked up",
		durable.EventLookedUp: "looked up", durable.EventAsked: "asked for", durable.EventDecided: "decided", durable.EventCancelled: "cancelled before it was sent",
		durable.EventReplaced: "another payment was asked for instead", durable.EventLost: "the process that sent it has ended: it is looked up",
		durable.EventShown: "the service has shown it", durable.EventHeld: "not sent: a person has to look",
	}[e.Kind], words(e.Kind))
	looked := e.Kind == durable.EventLookedUp || e.Kind == durable.EventShown
	switch answered := e.Kind == durable.EventAnswered; {
	case answered && e.Seen.Result == "" && e.Standing.Approved():
		text = "the service has done it"
	case answered && e.Seen.Outcome != "":
		text = "the service answered: " + seen(e.Seen)
	case looked && e.Seen.Result != "":
		text += ": " + seen(e.Seen)
	case looked && e.Standing.State == durable.StateVoided:
		text += ": the money was released"
	case looked && e.Standing.Approved():
		text += ": it is done"
	case e.Kind == durable.EventNotExecuted && e.Standing.State != durable.StateQueued:
		text = "the service did not carry it out"
	case e.Kind == durable.EventDecided && e.Standing.State != "":
		text += ": " + label(e.Standing)
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

// consequence says of a decision what follows from it, before it is made; elsewhere is as of [meaning].
func consequence(v durable.Verdict, w durable.Write, elsewhere bool) string {
	again := "The order can be paid again at once. If this is wrong, the customer pays twice."
	if elsewhere {
		again = "The other payments of the order stay. If this is wrong, the customer pays twice."
	}
	switch {
	case !takes(w) && v == durable.VerdictApproved:
		return "It was done as it was asked for. The shop's program is notified."
	case !takes(w):
		return "It was not done, and can be asked for again. If it was done after all, it is done twice."
	}
	return map[durable.Verdict]string{
		durable.VerdictApproved: "The money was taken. The shop's program is notified, and the order counts as paid. The receipt is read from the service first.",
		durable.VerdictDeclined: "The service got it, and no money was taken. " + again,
		durable.VerdictNotSent:  "It never reached the service. " + again,
		durable.VerdictVoided:   "It was taken, and cancelled before settlement. " + again,
		durable.VerdictReturned: "It was taken, and the bank has returned the money. " + again,
	}[v]
}

// difference is what a difference of the comparison means, and what to do.
func difference(kind durable.DifferenceKind) string {
	return cmp.Or(map[durable.DifferenceKind]string{
		durable.MissingHere:     "The service had a payment that was missing here. It is stored now, and its order is paid. Ship the order.",
		durable.MissingThere:    "It is approved here, and not among what was settled that day. Ask the service's support with the receipt. Ship nothing more until they answer.",
		durable.DifferentAmount: "The service took another amount. Compare it with the order, and refund what is too much.",
		durable.DifferentState:  "The service and this page say different things. Look the payment up, and go by what it shows.",
		durable.Late:            "It has ended at the service, and was still open here. It is closed now: nothing is to be done.",
		durable.DoubleCharged:   "The customer was charged twice. Open it, and refund one of the two.",
		durable.NotFoundCharged: "It was not found, and was charged after all. If the order was paid again, refund one of the two.",
		durable.NotOurs:         "It was made elsewhere, such as in the portal. Ask who has made it. If it pays an order, do not take that order's money again.",
		durable.Unreadable:      "The service's list could not be read. Compare that day again. If it stays, send this page to the service's support.",
	}[kind], words(kind))
}
