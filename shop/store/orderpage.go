package store

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

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
	Again   bool // the order can be paid again
	Over    bool // nothing changes any more by itself
	OneBack bool // of two payments one was given back
}

func (s *server) statusOf(ctx context.Context, o order) (status, error) {
	p, there, err := s.paymentOf(ctx, o.ID)
	if err != nil {
		return status{}, err
	}
	at := status{Order: o, Receipt: p.ReceiptNumber}
	switch {
	case (!there || !p.Blocks()) && o.State == stateChallenge:
		at.Kind, at.Receipt = "challenge", ""
		return at, nil
	case !there:
		at.Kind, at.Again, at.Over = "new", true, true
		return at, nil
	}
	switch state := p.Name(); state {
	case string(durable.StateQueued), string(durable.StateSending):
		at.Kind = "sending"
	case stateApproved, stateDoubleCharged:
		if o.State == stateDoubleCharged {
			at.Kind = "twice"
		} else {
			at.Kind, at.Over, at.OneBack = "approved", true, o.Charges > 1
		}
	case string(quickstream.OutcomeDeclined), string(quickstream.OutcomeRejected):
		at.Kind, at.Again, at.Over, at.Advice = "declined", true, true, advice(p.Seen.ResponseCode, p.Seen.NextStep)
	case string(durable.StateRefused):
		at.Kind, at.Again, at.Over = state, true, true
	case string(durable.StateNotSent):
		at.Kind, at.Again, at.Over = "unsent", true, true
	case string(durable.ReversalVoided), string(durable.ReversalReturned):
		at.Kind, at.Over = state, true
	case string(durable.StateNotFound), string(durable.StateEscalated): // are the same to the customer
		at.Kind = "person"
	default:
		at.Kind = "unknown"
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
	s.show(w, r, http.StatusOK, "order", "Your order", at)
}

// told is what a page that waits is told.
type told struct {
	State string `json:"state"`
	HTML  string `json:"html"`
	over  bool
}

// orderEvents tells the order's page each change until nothing changes any more.
func (s *server) orderEvents(w http.ResponseWriter, r *http.Request) {
	s.stream(w, r, func() (told, error) {
		o, err := s.orderOf(r)
		if err != nil {
			return told{}, err
		}
		at, err := s.statusOf(r.Context(), o)
		if err != nil {
			return told{}, err
		}
		body, err := s.render(r, "order", "status", "", at)
		return told{State: at.Kind, HTML: string(body), over: at.Over}, err
	})
}

// stream sends what read returns as server-sent events, when it has changed. What changed
// is committed to the database before it is read, and a process that was killed forgets
// nothing: so that is where it is read from, a few times a second.
func (s *server) stream(w http.ResponseWriter, r *http.Request, read func() (told, error)) {
	now, err := read()
	if err != nil {
		s.missing(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := http.NewResponseController(w)
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for last, silent := (told{}), 0; ; silent++ {
		if now != last {
			data, err := json.Marshal(now)
			if err != nil {
				return
			}
			_, _ = w.Write([]byte("data: " + string(data) + "\n\n"))
			last, silent = now, 0
		} else if silent%50 == 0 {
			_, _ = w.Write([]byte(": still here\n\n")) // so that a proxy does not take it for dead
		}
		if now.over {
			_, _ = w.Write([]byte("event: over\ndata: \n\n"))
		}
		if flusher.Flush() != nil || now.over {
			return
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.ending.Done():
			return
		}
		if now, err = read(); err != nil {
			return // the page asks again
		}
	}
}
