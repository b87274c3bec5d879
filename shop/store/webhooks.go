package store

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net/http"
	"sync"

	"github.com/quickstream-go/quickstream/webhooks"
)

// webhook takes the service's notifications. What a notification says is written into the
// timeline, each time that it comes; what it means durable asks the service.
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
	s.telemetry.untaken.came(n)
	if s.telemetry.notified(w, r, s.noteEvent(r.Context(), n), s.inbox) == http.StatusOK {
		s.telemetry.untaken.taken(n)
	}
}

// untaken are the notifications that have come and that the inbox has not taken: the
// service delivers them again. One that came twice is taken when either was.
type untaken struct {
	mu  sync.Mutex
	all map[[2]string]bool // by id and digest
}

// maxUntaken bounds what is remembered of notifications that nobody delivers again.
const maxUntaken = 1000

func (u *untaken) came(n *webhooks.Notification) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all == nil {
		u.all = map[[2]string]bool{}
	}
	if len(u.all) < maxUntaken {
		u.all[[2]string{n.ID, n.Digest()}] = true
	}
}

func (u *untaken) taken(n *webhooks.Notification) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.all, [2]string{n.ID, n.Digest()})
}

func (u *untaken) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.all)
}

// noteEvent returns the trace of the payment, or the agreement, that a notification is
// about; "" where none is known.
func (s *server) noteEvent(ctx context.Context, n *webhooks.Notification) (carrier string) {
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
	if err := s.note(ctx, s.db, orderID, kindEvent, string(n.EventType)); err != nil {
		s.logger.WarnContext(ctx, "an event is missing in the timeline", "error", err)
	}
	return s.traceAbout(ctx, orderID, receipt)
}

// onEvent is told of notifications that are not about a payment, once the service has
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
