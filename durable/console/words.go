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
func what(r Record) string {
	names := map[quickstream.Operation]string{
		quickstream.OperationPay: "Payment", quickstream.OperationCollect: "PayTo payment", quickstream.OperationRefund: "Refund", quickstream.OperationVoid: "Void",
		quickstream.OperationPreauthorise: "Pre-authorisation", quickstream.OperationCapture: "Capture", durable.OperationReverse: "Refund of all",
		quickstream.OperationCancelPreauthorisation: "Cancellation", quickstream.OperationTopUp: "Top-up", quickstream.OperationVerifyAccount: "Card check",
		quickstream.OperationCreateAgreement: "PayTo agreement", quickstream.OperationUploadPaymentFile: "Payment file",
	}
	if r.Operation == durable.OperationReverse && r.Approved() && r.ReceiptNumber == "" {
		return "Void"
	}
	if name := names[r.Operation]; name != "" {
		return name
	}
	_, name, _ := strings.Cut(string(r.Operation), ".")
	return cmp.Or(name, string(r.Operation))
}

// isTransaction reports whether a write has a receipt and no token.
func isTransaction(r Record) bool {
	return r.Operation.IsTransaction() || r.Operation == durable.OperationReverse
}

// receipt is the receipt number of a write. A token is never shown.
func receipt(r Record) string {
	if isTransaction(r) {
		return r.ReceiptNumber
	}
	return ""
}

// problem is what went wrong last, as long as the outcome is open. Of what is no transaction it can name tokens.
func problem(r Record) string {
	switch {
	case r.State == durable.StateApproved || r.State == durable.StateDeclined:
		return ""
	case isTransaction(r) || r.Problem == "":
		return r.Problem
	}
	return "the service's answer needs a person; support can see it by the reference"
}

// takes reports whether a write takes money.
func takes(r Record) bool {
	return r.Operation == quickstream.OperationPay || r.Operation == quickstream.OperationCollect || r.Operation == quickstream.OperationCapture
}

// meaning is a sentence on where a write is. With elsewhere another payment of its order was taken, or may be: a payment, or
// the pre-authorisation of a capture.
func meaning(r Record, elsewhere bool) string {
	again, blocked, unpaid := "No money was taken, and the order can be paid again.", "The order cannot be paid again until a person decides.", "The order is not paid."
	if elsewhere {
		again, blocked, unpaid = "No money was taken by it. What else there is of the order stands below.", "What else there is of the order stands below.", ""
	}
	const notDone = "It was not done, and can be asked for again."
	other := map[string]string{
		"approved": "The service has done it.", "declined": notDone, "rejected": notDone, "refused": notDone, "not_sent": notDone,
		"resolving":      "It was sent, and its outcome is not known yet. The service is asked again by itself. Do not do it another way.",
		"not_found":      "The service shows nothing that may be it. That is no proof that it was not done: ask its support.",
		"double_charged": "The service has done it twice. Nothing undoes that by itself: ask its support with the evidence below.",
	}[wordOf(r)]
	switch {
	case r.State == durable.StateQueued && r.Operation == quickstream.OperationRefund:
		return "It waits to be sent: a refund is possible once its payment has settled, which can take a day or more. Until then all of the payment can be voided, from its page."
	case r.State == durable.StateQueued && r.Sends > 0 && takes(r):
		return "It was sent, and the service could not take it then. It is looked up, and then sent again by itself. Do not take the money another way."
	case other != "" && !takes(r):
		return other
	case r.State == durable.StatePending && r.Reason == durable.ReasonSuspended:
		return "Fraud screening holds it: somebody releases or refuses it in the service's portal. Do not take the money another way."
	case r.State == durable.StateReturned && r.Reason == durable.ReasonReversed:
		return "The service has reversed it. The customer has the money. " + unpaid
	}
	return map[string]string{
		"queued":         "It waits to be sent. Nothing has happened to the money yet.",
		"sending":        "It is being sent, or was sent and the answer is not here yet.",
		"resolving":      "It was sent, and its outcome is not known yet. The service is asked again by itself. Do not take the money another way.",
		"approved":       "The money was taken.",
		"declined":       "The service or the customer's bank said no. " + again,
		"rejected":       "The service or the customer's bank said no. " + again,
		"refused":        "The service did not accept the request. " + again,
		"not_sent":       "It was given up before it was sent. " + again,
		"not_found":      "The service shows nothing that may be it. That is no proof that no money was taken: ask its support. " + blocked,
		"escalated":      "What became of it cannot be found out by asking. Give the evidence below to the service's support, and then decide.",
		"double_charged": "The customer was charged twice for one order. Refund one of the two payments, once: nothing does that by itself.",
		"voided":         "It was cancelled before settlement. The customer has the money.",
		"returned":       "The bank has returned the money after it was approved. " + unpaid,
	}[wordOf(r)]
}

// wordOf is a state in the words of the pages.
func wordOf(r Record) string {
	switch {
	case r.State == durable.StateUnknown || r.State == durable.StatePending:
		return "resolving"
	case r.State == durable.StateDeclined && r.Reason == durable.ReasonRefused:
		return "refused"
	case r.State != durable.StateNeedsPerson:
		return string(r.State)
	case r.Reason == durable.ReasonNotFound || r.Reason == durable.ReasonDoubleCharged:
		return string(r.Reason)
	default:
		return "escalated"
	}
}

// found is what a look-up came to.
func found(r resolve.LookupResult) string {
	texts := map[resolve.LookupResult]string{
		resolve.LookupNone: "not found", resolve.LookupPending: "found, without a final status", resolve.LookupSettled: "found, with a final status",
		resolve.LookupAmbiguous: "several match", resolve.LookupDoubleCharged: "several match and are approved", resolve.LookupFailed: "look-up failed",
	}
	return cmp.Or(texts[r], string(r))
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

// entry is a line of a timeline.
type entry struct {
	At         time.Time
	Text, By   string
	Kind, What string // what, for a follow-up
}

// entries are the lines of a history.
func entries(r Record, events []durable.Event) (list []entry) {
	texts := map[durable.EventKind]string{
		durable.EventQueued: "accepted, and stored to be sent", durable.EventClaimed: "being sent to the service", durable.EventRefused: "the service refused the request",
		durable.EventNotExecuted: "the service did not carry it out: it is sent again", durable.EventExpired: "given up before it was sent",
		durable.EventReturned: "the bank returned the money", durable.EventAnswered: "the answer did not come, or says nothing final: it is looked up",
		durable.EventLookedUp: "the service was asked", durable.EventAsked: "asked for", durable.EventDecided: "decided", durable.EventCancelled: "cancelled before it was sent",
		durable.EventReplaced: "another payment was asked for instead",
	}
	for _, event := range events {
		e := entry{At: event.At, Kind: string(event.Kind), What: what(r), By: event.By, Text: cmp.Or(texts[event.Kind], words(event.Kind))}
		switch {
		case event.Kind == durable.EventAnswered && event.Seen.Result == "" && event.Standing.Approved():
			e.Text = "the service has done it"
		case event.Kind == durable.EventLookedUp && event.Seen.Result == "" && event.Standing.State == durable.StateVoided:
			e.Text = "the money was released"
		case event.Kind == durable.EventLookedUp && event.Seen.Result == "" && event.Standing.Approved():
			e.Text += ": it is done"
		case event.Kind == durable.EventNotExecuted && event.Standing.State != durable.StateQueued:
			e.Text = "the service did not carry it out"
		case event.Kind == durable.EventAnswered && event.Seen.Outcome != "":
			e.Text = "the service answered: " + seen(event.Seen)
		case event.Kind == durable.EventLookedUp && event.Seen.Result != "":
			e.Text = "the service was asked: " + seen(event.Seen)
		case event.Standing.State != "" && event.Kind == durable.EventDecided:
			e.Text += ": " + event.Standing.Text()
		}
		if event.Note != "" {
			e.Text += ": " + event.Note
		}
		list = append(list, e)
	}
	return list
}

// follows is the id of what a follow-up follows.
func follows(w durable.Write) string {
	return w.Follows
}

// consequence says of a decision what follows from it, before it is made; elsewhere is as of [meaning].
func consequence(v durable.Verdict, r Record, elsewhere bool) string {
	again := "The order can be paid again at once. If this is wrong, the customer pays twice."
	if elsewhere {
		again = "What else there is of the order stays. If this is wrong, the customer pays twice."
	}
	switch {
	case !takes(r) && v == durable.VerdictApproved:
		return "It was done as it was asked for. The shop's program is notified."
	case !takes(r):
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
