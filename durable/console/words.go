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

// stamp returns a time in Sydney, with the name of its zone.
func (c *console[TTx]) stamp(t time.Time) string {
	return t.In(c.sydney).Format("2 Jan 2006, 15:04:05 MST")
}

// stored returns a time as the database stores it, for forms.
func stored(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// span returns a duration in words.
func span(d time.Duration) string {
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute} {
		if d >= 2*unit {
			return fmt.Sprintf("%d %s", d/unit, []string{"days", "hours", "minutes"}[i])
		}
	}
	return fmt.Sprintf("%d seconds", d/time.Second)
}

// long reports whether a duration, or the distance of two clocks, is so long that a person should know.
func long(d time.Duration) bool { return d.Abs() > 2*time.Minute }

// count returns a number of things in words.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// ahead returns in words how far a clock is ahead of another.
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

// money returns an amount as people write it.
func money(amount decimal.Decimal, currency quickstream.Currency) string {
	if currency == quickstream.CurrencyAUD {
		return "$" + amount.StringFixed(2)
	}
	return strings.TrimSpace(amount.StringFixed(2) + " " + string(currency))
}

// words returns an identifier in words.
func words(name any) string { return strings.ReplaceAll(fmt.Sprint(name), "_", " ") }

// what returns the name of a write's operation for the pages.
func what(w durable.Write) string {
	if w.Operation == durable.OperationReverse && w.Done() && w.ReceiptNumber == "" {
		return "Void"
	}
	return cmp.Or(map[quickstream.Operation]string{
		quickstream.OperationPay: "Payment", quickstream.OperationCollect: "PayTo payment", quickstream.OperationRefund: "Refund", quickstream.OperationVoid: "Void",
		quickstream.OperationPreauthorise: "Pre-authorisation", quickstream.OperationCapture: "Capture", durable.OperationReverse: "Refund of all",
		quickstream.OperationCancelPreauthorisation: "Cancellation",
	}[w.Operation], string(w.Operation))
}

// takes reports whether a write takes money: a payment, a PayTo collection or a capture.
func takes(w durable.Write) bool {
	return w.Operation == quickstream.OperationPay || w.Operation == quickstream.OperationCollect || w.Operation == quickstream.OperationCapture
}

// label returns a state in the words of the pages.
func label(s durable.Standing) string {
	return cmp.Or(map[string]string{
		"queued": "waiting", "sending": "being sent", "pending.suspended": "held by fraud screening",
		"declined.rejected": "rejected", "declined.refused": "refused", "not_sent": "not sent", "not_sent.cancelled": "cancelled",
		"needs_person.not_found": "not found", "needs_person.look_ups_failed": "look-ups failed", "needs_person.unresolved": "no final status",
		"needs_person.reversed": "approved before", "needs_person.restored": "from before a restore", "needs_person.altered": "altered",
		"needs_person.double_charged": "charged twice",
	}[s.Name()], words(s.State))
}

// found returns the result of a look-up in words.
func found(r resolve.LookupResult) string {
	return cmp.Or(map[resolve.LookupResult]string{
		resolve.LookupNone: "not found", resolve.LookupPending: "found, without a final status", resolve.LookupSettled: "found, with a final status",
		resolve.LookupAmbiguous: "several match", resolve.LookupDoubleCharged: "several match and are approved", resolve.LookupFailed: "look-up failed",
	}[r], string(r))
}
