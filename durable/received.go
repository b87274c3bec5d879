package durable

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/webhooks"
)

// Notification is a webhook notification that waits until the service has confirmed it.
type Notification struct {
	// ID is the service's, and Digest that of the content: one id can come with several.
	ID, Digest string
	// EventType is what the notification says that it is about; empty if it cannot be read.
	EventType webhooks.EventType
	// Order, ReceiptNumber and Amount are those of the transaction that it is about; empty if it is about none. They are
	// not confirmed: anybody who can reach the endpoint and sign may have written them.
	Order, ReceiptNumber string
	Amount               decimal.Decimal
	Received             time.Time
	// Failures counts how often in a row it could not be confirmed or its hook has failed. With any it is held:
	// Problem says why.
	Failures int
	Problem  string
}

// about takes over what a person recognises a payment by.
func (n *Notification) about(event webhooks.Event) {
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

// Notifications returns up to 1000 notifications that wait to be confirmed, the oldest first, and where
// the next ones begin; that is empty if there are none.
func (e *Engine[TTx]) Notifications(ctx context.Context, after Cursor, limit int) (list []Notification, next Cursor, err error) {
	if limit < 1 || limit > longestPage {
		return nil, "", fmt.Errorf("durable: a page has 1 to %d notifications", longestPage)
	}
	where, args := "state = 'received'", []any{}
	if after != "" {
		p, err := after.position()
		if err != nil {
			return nil, "", named(err)
		}
		id, digest, _ := strings.Cut(p.id, "\x00")
		where, args = where+" AND (received_at, id, digest) > ($1, $2, $3)", []any{p.written, id, digest}
	}
	err = within(ctx, e.db, func(tx tx) error {
		return query(ctx, tx, func(scan func(...any) error) error {
			var n Notification
			var raw string
			if err := scan(&n.ID, &n.Digest, &raw, &n.Received, &n.Failures, &n.Problem); err != nil {
				return err
			}
			if parsed, err := webhooks.Parse([]byte(raw)); err == nil {
				n.EventType = parsed.EventType
				if event, err := parsed.Event(); err == nil {
					n.about(event)
				}
			}
			list = append(list, n)
			return nil
		}, "SELECT id, digest, raw, received_at, failures, problem FROM quickstream.notification WHERE "+where+
			" ORDER BY received_at, id, digest LIMIT "+strconv.Itoa(limit+1), args...)
	})
	if err != nil {
		return nil, "", named(err)
	}
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		next = position{last.Received, last.ID + "\x00" + last.Digest}.cursor()
	}
	return list, next, nil
}

// RetryNotification has a notification that is held confirmed now. by and note are as in [Decision]. The error
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
		if err := e.runNow(ctx, tx, inboxQueue, job{id, digest}); err != nil {
			return err
		}
		return e.recordInstallation(ctx, tx, Event{Kind: EventAsked, By: by, Note: note})
	})
	return named(err)
}
