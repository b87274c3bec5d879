package store

import (
	"context"
	"net/http"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// status is how an order stands, in the customer's terms. Kind is one of: new, challenge,
// sending, pending, suspended, unknown, person, approved, declined, refused, unsent, voided,
// returned and twice.
type status struct {
	Order   order
	Kind    string
	Advice  string // what can be done about a decline
	Receipt string
	Paid    receipt // of an order that is paid
	Again   bool    // the order can be paid again
	Waits   bool    // the payment has no outcome yet, or the service does not show it yet
	OneBack bool    // of two payments one was given back
	Silent  bool    // the customer says that they have answered, and their bank that they have not
}

func (s *server) statusOf(ctx context.Context, o order) (status, error) {
	p, there, err := s.paymentOf(ctx, o.ID)
	if err != nil {
		return status{}, err
	}
	at := status{Order: o, Receipt: p.ReceiptNumber}
	switch {
	case (!there || !p.Blocks()) && o.State == stateChallenge:
		at.Kind, at.Receipt, at.Waits = "challenge", "", true
		return at, nil
	case !there:
		at.Kind, at.Again = "new", true
		return at, nil
	}
	switch state := p.Name(); state {
	case string(durable.StateQueued), string(durable.StateSending):
		at.Kind, at.Waits = "sending", true
	case stateApproved, stateDoubleCharged:
		if o.State == stateDoubleCharged {
			at.Kind, at.Waits = "twice", true
		} else {
			at.Kind, at.OneBack = "approved", o.Charges > 1
		}
	case string(quickstream.OutcomeDeclined), string(quickstream.OutcomeRejected):
		at.Kind, at.Again, at.Advice = "declined", true, advice(p.Seen.ResponseCode, p.Seen.NextStep)
	case string(durable.StateRefused):
		at.Kind, at.Again = state, true
	case string(durable.StateNotSent):
		at.Kind, at.Again = "unsent", true
	case string(durable.ReversalVoided), string(durable.ReversalReturned):
		at.Kind = state
	case string(durable.StateNotFound), string(durable.StateEscalated): // are the same to the customer
		at.Kind, at.Waits = "person", true
	default:
		at.Kind, at.Waits = "unknown", true
		switch p.Seen.Outcome {
		case quickstream.OutcomePending:
			at.Kind = "pending"
		case quickstream.OutcomeSuspended:
			at.Kind = "suspended"
		default:
		}
	}
	return at, nil
}

// advice says what a customer can do about a decline.
func advice(code string, next quickstream.NextStep) string {
	switch code {
	case "51", "61", "65", "AM04":
		return "There is not enough money available for it. Use another card, or try again when there is."
	case "54":
		return "The card has expired. Use another card."
	}
	if next == quickstream.NextStepContactSupport || next == quickstream.NextStepCorrectRequest {
		return "This card cannot be used here. Use another card, or ask your bank."
	}
	return "Your bank did not say more. Check the details, use another card, or ask your bank."
}

// orderPage shows how an order stands.
func (s *server) orderPage(w http.ResponseWriter, r *http.Request) {
	o, err := s.orderOf(r)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	at, err := s.statusOf(r.Context(), o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if at.Kind == stateApproved {
		at.Paid = s.receiptOf(r.Context(), at.Receipt)
		at.Waits = at.Paid == receipt{}
	}
	at.Silent = at.Kind == "challenge" && r.URL.Query().Has("unanswered")
	s.show(w, r, http.StatusOK, "order", "Your order", at)
}
