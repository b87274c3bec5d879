package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// shownSpan shows how long something took, or has lasted, as people say it.
func shownSpan(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// did names an operation of the library as a person would.
func did(operation quickstream.Operation, state, receipt string) string {
	names := map[quickstream.Operation]string{
		quickstream.OperationPay: "Payment", quickstream.OperationRefund: "Refund", quickstream.OperationVoid: "Void", durable.OperationReverse: "Give back",
		quickstream.OperationRegisterAccount: "Registration of the card", quickstream.OperationCreateAgreement: "PayTo agreement",
	}
	switch {
	case operation == durable.OperationReverse && state == stateApproved && receipt == "":
		return "Void"
	case operation == durable.OperationReverse && state == stateApproved:
		return "Refund"
	}
	if name := names[operation]; name != "" {
		return name
	}
	return string(operation)
}

// tone is how a state is shown: good, bad, open, or for a person.
func tone(state string) string {
	switch state {
	case stateApproved:
		return "good"
	case "declined", "rejected", "refused", "not_sent":
		return "bad"
	case "not_found", "escalated", stateDoubleCharged:
		return "person"
	case "voided", "returned":
		return "back"
	default:
		return "open"
	}
}

// words shows a state as durable's Standing.Text does.
func words(state string) string { return strings.ReplaceAll(state, "_", " ") }

// pair is what the form of a decision needs.
func pair(formToken string, about write) struct {
	FormToken string
	Write     write
} {
	return struct {
		FormToken string
		Write     write
	}{formToken, about}
}
