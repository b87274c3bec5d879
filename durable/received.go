package durable

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/webhooks"
)

// Notification is a webhook notification that waits until the service has confirmed it.
type Notification struct {
	// ID is the service's, and Digest is that of the content: one id can come with several contents.
	ID, Digest string
	// EventType is the type that the notification names; empty if it cannot be read.
	EventType webhooks.EventType
	// Order, ReceiptNumber and Amount are those of the transaction that it is about; empty if it is about none. They are
	// not confirmed: anyone who can reach the endpoint and sign may have written them.
	Order, ReceiptNumber string
	Amount               decimal.Decimal
	Received             time.Time
	// Failures counts how often in a row it could not be confirmed or its hook has failed. After one failure it is
	// held, and Problem says why.
	Failures int
	Problem  string
}

// read fills the fields by which a person recognises a payment.
func (n *Notification) read(raw []byte) {
	parsed, err := webhooks.Parse(raw)
	if err != nil {
		return
	}
	n.EventType = parsed.EventType
	event, _ := parsed.Event()
	payment, is := event.(*webhooks.PaymentEvent)
	if !is {
		return
	}
	t := payment.Transaction()
	n.Order, n.ReceiptNumber = t.Metadata[orderMember], t.ReceiptNumber
	if t.PrincipalAmount != nil {
		n.Amount = t.PrincipalAmount.Amount
	}
}

// Notifications returns up to limit notifications that wait to be confirmed, the oldest first. limit is 1 to 1000.
func (e *Engine[TTx]) Notifications(ctx context.Context, limit int) (list []Notification, err error) {
	if limit < 1 || limit > longestPage {
		return nil, fmt.Errorf("durable: a page has 1 to %d notifications", longestPage)
	}
	err = query(ctx, e.db, func(scan func(...any) error) error {
		var n Notification
		var raw string
		err := scan(&n.ID, &n.Digest, &raw, &n.Received, &n.Failures, &n.Problem)
		n.read([]byte(raw))
		list = append(list, n)
		return err
	}, "SELECT id, digest, raw, received_at, failures, problem FROM quickstream.notification WHERE state = 'received' ORDER BY received_at, id, digest LIMIT "+strconv.Itoa(limit))
	return list, named(err)
}

// RetryNotification tries now to confirm a held notification. by and note are as in [Decision]. The error
// matches [ErrNoWrite] if no such notification waits.
func (e *Engine[TTx]) RetryNotification(ctx context.Context, id, digest, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	err := within(ctx, e.db, func(tx tx) error {
		n, err := count(ctx, tx, "SELECT count(*) FROM quickstream.notification WHERE id = $1 AND digest = $2 AND state = 'received'", id, digest)
		if err == nil && n == 0 {
			err = ErrNoWrite
		}
		if err != nil {
			return err
		}
		opts := e.insertOpts(inboxQueue, 0)
		opts.UniqueOpts = river.UniqueOpts{} // its own job may sleep, and finds nothing to do later
		if err := e.queue.Insert(ctx, tx, []river.InsertManyParams{{Args: job{id, digest}, InsertOpts: opts}}); err != nil {
			return err
		}
		return e.recordInstallation(ctx, tx, Event{Kind: EventAsked, By: by, Note: note})
	})
	return named(err)
}
