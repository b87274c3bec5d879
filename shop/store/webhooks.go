package store

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net/http"

	"github.com/quickstream-go/quickstream/webhooks"
)

// webhook takes the service's notifications, in the trace of what they are about. What a notification means durable
// asks the service.
func (s *server) webhook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.telemetry.notified(w, r, "", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "The notification cannot be read.", http.StatusBadRequest)
		}))
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	n, err := s.verifier.VerifyBody(r.Header, body)
	if err != nil { // the inbox refuses it, too
		s.telemetry.notified(w, r, "", s.inbox)
		return
	}
	s.telemetry.notified(w, r, s.traceOf(r.Context(), n), s.inbox)
}

// traceOf returns the trace of the payment, or the agreement, that a notification is
// about; "" where none is known.
func (s *server) traceOf(ctx context.Context, n *webhooks.Notification) (carrier string) {
	event, err := n.Event()
	if err != nil {
		return ""
	}
	var orderID, receipt string
	switch event := event.(type) {
	case *webhooks.PaymentEvent:
		orderID, receipt = event.Transaction().CustomerReferenceNumber, event.Transaction().ReceiptNumber
	case *webhooks.AgreementEvent:
		orderID = event.Agreement().PayeeReference
	}
	if orderID == "" {
		return ""
	}
	return s.traceAbout(ctx, orderID, receipt)
}

// onEvent is notified of notifications that are not about a payment, once the service has
// confirmed them.
func (s *server) onEvent(ctx context.Context, tx *sql.Tx, n *webhooks.Notification) error {
	event, err := n.Event()
	if err != nil {
		return err
	}
	if about, ok := event.(*webhooks.AgreementEvent); ok {
		return s.learn(ctx, tx, about.Agreement())
	}
	return nil
}
