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
// asks the service. The verifier judges the headers before it reads the body, which the inbox reads once more.
func (s *server) webhook(w http.ResponseWriter, r *http.Request) {
	var read bytes.Buffer
	first := r.WithContext(r.Context())
	first.Body = io.NopCloser(io.TeeReader(r.Body, &read))
	n, err := s.verifier.Verify(first)
	r.Body = io.NopCloser(io.MultiReader(&read, r.Body))
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
