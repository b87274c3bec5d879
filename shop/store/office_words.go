package store

import (
	"fmt"
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
func did(operation quickstream.Operation, state any) string {
	names := map[quickstream.Operation]string{
		quickstream.OperationPay: "Payment", quickstream.OperationRefund: "Refund", quickstream.OperationVoid: "Void", operationGiveBack: "Give back",
		quickstream.OperationRegisterAccount: "Registration of the card", quickstream.OperationCreateAgreement: "PayTo agreement",
	}
	switch {
	case operation == operationGiveBack && fmt.Sprint(state) == string(durable.StateVoided):
		return "Void"
	case operation == operationGiveBack && fmt.Sprint(state) == string(durable.StateApproved):
		return "Refund"
	}
	if name := names[operation]; name != "" {
		return name
	}
	return string(operation)
}

// tone is how a state is shown: good, bad, open, or for a person.
func tone(state any) string {
	switch durable.State(fmt.Sprint(state)) {
	case durable.StateApproved:
		return "good"
	case durable.StateDeclined, durable.StateRefused, durable.StateNotSent:
		return "bad"
	case durable.StateAbsent, durable.StateEscalated, durable.StateTwice:
		return "person"
	case durable.StateVoided, durable.StateReturned:
		return "back"
	default:
		return "open"
	}
}

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
