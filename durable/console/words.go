package console

import (
	"cmp"
	"fmt"
	"slices"
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
func what(r durable.Record) string {
	names := map[quickstream.Operation]string{
		quickstream.OperationPay: "Payment", quickstream.OperationRefund: "Refund", quickstream.OperationVoid: "Void",
		quickstream.OperationPreauthorise: "Pre-authorisation", quickstream.OperationCapture: "Capture", durable.OperationReverse: "Refund of all",
		quickstream.OperationCancelPreauthorisation: "Cancellation", quickstream.OperationTopUp: "Top-up", quickstream.OperationVerifyAccount: "Card check",
		quickstream.OperationRegisterAccount: "Stored account", quickstream.OperationCreateAgreement: "PayTo agreement", quickstream.OperationUploadPaymentFile: "Payment file",
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
func isTransaction(r durable.Record) bool {
	return r.Operation.IsTransaction() || r.Operation == durable.OperationReverse
}

// receipt is the receipt number of a write. A token is never shown.
func receipt(r durable.Record) string {
	if isTransaction(r) {
		return r.ReceiptNumber
	}
	return ""
}

// problem is what went wrong last. Of what is no transaction it can name tokens.
func problem(r durable.Record) string {
	if isTransaction(r) || r.Problem == "" {
		return r.Problem
	}
	return "the service's answer needs a person; support can see it by the reference"
}

// meaning is a sentence on where a write is.
func meaning(r durable.Record) string {
	return map[string]string{
		"queued":         "It waits to be sent. Nothing has happened to the money yet.",
		"sending":        "It is being sent, or was sent and the answer is not here yet.",
		"resolving":      "It was sent, and its outcome is not known yet. The service is asked again by itself. Do not take the money another way.",
		"approved":       map[bool]string{true: "The money was taken.", false: "The service has done it."}[r.Operation == quickstream.OperationPay],
		"declined":       "The service or the customer's bank said no. No money was taken, and the order can be paid again.",
		"rejected":       "The service or the customer's bank said no. No money was taken, and the order can be paid again.",
		"refused":        "The service did not accept the request. No money was taken, and the order can be paid again.",
		"not_sent":       "It was given up before it was sent. No money was taken, and the order can be paid again.",
		"not_found":      "The service shows nothing that may be it. That is no proof that no money was taken: ask its support. The order cannot be paid again until a person decides.",
		"escalated":      "What became of it cannot be found out by asking. Give the evidence below to the service's support, and then decide.",
		"double_charged": "The customer was charged twice for one order. Refund one of the two payments, once: nothing does that by itself.",
		"voided":         "It was cancelled before settlement. The customer has the money.",
		"returned":       "The bank has returned the money after it was approved. The order is not paid.",
	}[r.Name()]
}

// seen is what an answer or a look-up showed.
func seen(o resolve.Observation) string {
	text := words(o.Outcome)
	if o.Outcome == "" {
		text = cmp.Or(o.Result.Text(), "no answer")
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
func entries(r durable.Record, events []durable.Event) (list []entry) {
	texts := map[durable.EventKind]string{
		durable.EventQueued: "accepted, and stored to be sent", durable.EventClaimed: "being sent to the service", durable.EventRefused: "the service refused the request",
		durable.EventNotExecuted: "the service did not carry it out: it is sent again", durable.EventExpired: "given up before it was sent",
		durable.EventReturned: "the bank returned the money", durable.EventAnswered: "the answer did not come, or says nothing final: it is looked up",
		durable.EventLookedUp: "the money was released", durable.EventAsked: "asked for", durable.EventDecided: "decided", durable.EventNotified: "the shop's program knows",
	}
	for _, event := range events {
		e := entry{At: event.At, Kind: string(event.Kind), What: what(r), By: event.By, Text: cmp.Or(texts[event.Kind], words(event.Kind))}
		switch {
		case event.Kind == durable.EventAnswered && event.Seen.Outcome != "":
			e.Text = "the service answered: " + seen(event.Seen)
		case event.Kind == durable.EventLookedUp && event.Seen.Result != "":
			e.Text = "the service was asked: " + seen(event.Seen)
		case event.Kind == durable.EventDecided || event.Kind == durable.EventNotified:
			e.Text += ": " + event.Standing.Text()
		}
		if event.Note != "" {
			e.Text += ": " + event.Note
		}
		list = append(list, e)
	}
	return list
}

// evidence says in plain text what is known of a write, for the service's support. It has no tokens.
func (c *console[TTx]) evidence(d durable.Details) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-14s %s\n", name+":", value)
		}
	}
	r := d.Write.Common()
	line("What", what(r)+" ("+string(r.Operation)+")")
	line("State", r.Text())
	if r.Amount.IsPositive() {
		line("Amount", r.Amount.StringFixed(2)+" "+string(r.Currency))
	}
	line("Receipt", receipt(r))
	line("Reference", r.Reference)
	line("Order", r.Order)
	line("Id", r.ID)
	line("Business", r.Business)
	line("Follows", follows(d.Write))
	line("Written", c.stamp(r.Written))
	line("Changed", c.stamp(r.Changed))
	if !r.Due.IsZero() {
		line("Next step", c.stamp(r.Due))
	}
	line("Problem", problem(r))
	line("Replaced by", r.ReplacedBy)
	for i, look := range r.Evidence {
		line(fmt.Sprintf("Look-up %d", i+1), c.looked(r, look))
	}
	return b.String()
}

// looked is a line of evidence.
func (c *console[TTx]) looked(r durable.Record, look resolve.Lookup) string {
	parts := []string{c.stamp(look.At)}
	if look.Count > 1 {
		parts[0] = fmt.Sprintf("%s to %s, %d times", parts[0], c.stamp(look.Last), look.Count)
	}
	parts = append(parts, cmp.Or(look.Result.Text(), "no answer"), words(look.Outcome))
	named := func(name, value string) {
		if value != "" {
			parts = append(parts, name+" "+value)
		}
	}
	named("code", look.ResponseCode)
	named("next step", look.NextStep.Text())
	if isTransaction(r) {
		named("receipt", look.ReceiptNumber)
		named("candidates", strings.Join(look.Candidates, " "))
	}
	if !look.SettlementDate.IsZero() {
		named("settles on", look.SettlementDate.String())
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

// follows is the id of what a follow-up follows.
func follows(w durable.Write) string {
	f, _ := w.(durable.FollowUp)
	return f.Follows
}

// consequence says of a decision what follows from it, before it is made.
func consequence(v durable.Verdict) string {
	return map[durable.Verdict]string{
		durable.VerdictApproved: "The money was taken. The shop's program is notified, and the order counts as paid. The receipt is read from the service first.",
		durable.VerdictDeclined: "The service got it, and no money was taken. The order can be paid again at once. If it was taken after all, the customer pays twice.",
		durable.VerdictNotSent:  "It never reached the service. The order can be paid again at once. If it was taken after all, the customer pays twice.",
		durable.VerdictVoided:   "It was taken, and cancelled before settlement. The order can be paid again at once.",
		durable.VerdictReturned: "It was taken, and the bank has returned the money. The order can be paid again at once.",
	}[v]
}
