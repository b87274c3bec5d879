package durable

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Inbox returns the handler of the webhook endpoint. It verifies a notification, commits it
// with the job that acts on it, and answers 200, whether the API is up or not. The job asks
// the API to confirm the notification. The transaction that marks it as done also changes
// the engine's write that it is about, or calls OnEvent for any other. A notification that
// the API does not confirm is tried again, with pauses that grow: see [Engine.Health].
func (e *Engine[TTx]) Inbox(verifier *signature.Verifier, opts ...webhooks.HandlerOption) http.Handler {
	return webhooks.NewInbox(verifier, e.keep, opts...)
}

// keep stores a notification and its job. A known id with other content is stored too, as a conflict.
func (e *engine) keep(ctx context.Context, n *webhooks.Notification) error {
	others := 0
	err := within(ctx, e.db, func(tx tx) error {
		added, err := tx.Exec(ctx, `INSERT INTO quickstream.notification (id, digest, raw, state, received_at, changed_at, failures, problem)
			VALUES ($1, $2, $3, 'received', `+database.Now+`, `+database.Now+`, 0, '') ON CONFLICT (id, digest) DO NOTHING`,
			n.ID, n.Digest(), string(n.Raw()))
		if err != nil || added == 0 {
			return err
		}
		if others, err = count(ctx, tx, "SELECT count(*) FROM quickstream.notification WHERE id = $1 AND digest <> $2", n.ID, n.Digest()); err != nil {
			return err
		}
		return e.enqueue(ctx, tx, inboxQueue, 0, job{n.ID, n.Digest()})
	})
	if err == nil && others > 0 {
		return webhooks.ErrConflict
	}
	return err
}

// workInbox confirms a notification and acts on it. It asks the API outside of the transaction that commits the effect
// and the "done" together.
func (e *engine) workInbox(ctx context.Context, id, digest string) error {
	var raw string
	var at time.Time
	err := query(ctx, e.db, func(scan func(...any) error) error { return scan(&raw, &at) },
		"SELECT raw, "+database.Now+" FROM quickstream.notification WHERE id = $1 AND digest = $2 AND state = 'received'", id, digest)
	if err != nil || raw == "" {
		return err // done
	}
	if err = e.act(ctx, id, digest, raw, at); err == nil || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, within(ctx, e.db, func(tx tx) error {
		return execute(ctx, tx, `UPDATE quickstream.notification SET failures = failures + 1, problem = $1, changed_at = `+database.Now+`
			WHERE id = $2 AND digest = $3 AND state = 'received'`, problemOf(err), id, digest)
	}))
}

// act confirms a notification, and commits its effect with the mark that it is done. Its content goes then.
func (e *engine) act(ctx context.Context, id, digest, raw string, at time.Time) error {
	n, err := webhooks.Parse([]byte(raw))
	if err != nil {
		return err
	}
	act := func(ctx context.Context, n *webhooks.Notification) error {
		return within(ctx, e.db, func(tx tx) (err error) {
			ended, err := tx.Exec(ctx, `UPDATE quickstream.notification SET state = 'done', raw = '', problem = '', changed_at = `+database.Now+`
				WHERE id = $1 AND digest = $2 AND state = 'received'`, id, digest)
			if err != nil || ended != 1 {
				return err
			}
			return e.effect(ctx, tx, n, at)
		})
	}
	return webhooks.ConfirmWith(e.client, act)(ctx, n)
}

// effect applies an event to the payment that it is about, or gives it to OnEvent.
func (e *engine) effect(ctx context.Context, tx tx, n *webhooks.Notification, at time.Time) error {
	event, err := n.Event()
	if err != nil {
		return err
	}
	if payment, ok := event.(*webhooks.PaymentEvent); ok {
		t := payment.Transaction()
		r, err := e.about(ctx, tx, t)
		if err != nil {
			return err
		}
		if r != nil {
			return e.apply(ctx, tx, r, ofTransaction(t, at))
		}
	}
	if e.onEvent == nil {
		return nil
	}
	return guard("OnEvent", func() error { return e.onEvent(ctx, tx, n) })
}
