package durable

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// Inbox returns the handler of the webhook endpoint. It verifies a notification, commits
// it with the job that acts on it, and answers 200: whether the API is up or not. The job
// asks the API, applies what it says to the payment that the notification is about, and
// gives all others to OnEvent, in the transaction that ends the notification. What the
// API does not confirm is asked again, with pauses that grow, and shown in [Engine.Health].
func (e *Engine[TTx]) Inbox(verifier *signature.Verifier, opts ...webhooks.HandlerOption) http.Handler {
	return webhooks.NewInbox(verifier, e.keep, opts...)
}

// keep stores a notification and its job. One id with other content is stored beside.
func (e *engine) keep(ctx context.Context, n *webhooks.Notification) error {
	e.step("before the inbox")
	carrier := ""
	if e.carrier != nil {
		carrier = e.carrier(ctx)
	}
	raw, err := e.seal(string(n.Raw()), n.ID)
	if err != nil {
		return err
	}
	now, others := e.clock(), 0
	err = within(ctx, e.db, func(tx tx) error {
		added, err := tx.Exec(ctx, `INSERT INTO quickstream.notification
			(id, digest, raw, state, due_at, next_at, received_at, changed_at, failures, problem, carrier)
			VALUES ($1, $2, $3, 'received', $4, $5, $5, $5, 0, '', $6) ON CONFLICT (id, digest) DO NOTHING`,
			n.ID, n.Digest(), raw, now.Add(lease), now, carrier)
		if err != nil || added == 0 {
			return err
		}
		err = query(ctx, tx, func(scan func(...any) error) error { return scan(&others) },
			"SELECT count(*) FROM quickstream.notification WHERE id = $1 AND digest <> $2", n.ID, n.Digest())
		if err != nil {
			return err
		}
		err = e.enqueue(ctx, tx, newQueue, notificationJob{ID: n.ID, Digest: n.Digest()})
		e.step("before the inbox's commit")
		return err
	})
	e.step("after the inbox")
	if err == nil && others > 0 {
		return webhooks.ErrConflict
	}
	return err
}

// notification is one as it is stored.
type notification struct {
	raw, carrier string
	failures     int
}

// workNotification confirms a notification and acts on it. The API is asked outside of
// the transaction in which the effect and "done" are one.
func (e *engine) workNotification(ctx context.Context, job notificationJob) error {
	var kept notification
	var next time.Time
	err := within(ctx, e.db, func(tx tx) error {
		return query(ctx, tx, func(scan func(...any) error) error {
			return scan(&kept.raw, &kept.failures, &kept.carrier, &next)
		}, "SELECT raw, failures, carrier, next_at FROM quickstream.notification WHERE id = $1 AND digest = $2 AND state = 'received'",
			job.ID, job.Digest)
	})
	if err != nil || kept.raw == "" {
		return err // done
	}
	if kept.failures > 0 && next.After(e.clock()) {
		return e.early(ctx, "notification", "id = $1 AND digest = $2", job.ID, job.Digest)
	}
	ctx, ended, ok := e.begins(ctx, lease) // no customer waits for it
	if !ok {
		return nil // it is enqueued again
	}
	defer ended()
	if e.resume != nil && kept.carrier != "" {
		ctx = e.resume(ctx, kept.carrier)
	}
	if err = e.act(ctx, job, kept); err == nil || ctx.Err() != nil {
		return err
	}
	e.logger.WarnContext(ctx, "quickstream: a notification is held", "id", job.ID, "failures", kept.failures+1)
	return within(ctx, e.db, func(tx tx) error {
		now := e.clock()
		return execute(ctx, tx, `UPDATE quickstream.notification SET failures = $1, problem = $2, next_at = $3, due_at = $3, changed_at = $4
			WHERE id = $5 AND digest = $6 AND state = 'received'`,
			kept.failures+1, problemOf(err), now.Add(pause(time.Second, kept.failures+1)), now, job.ID, job.Digest)
	})
}

// act confirms a notification, and commits its effect and its end.
func (e *engine) act(ctx context.Context, job notificationJob, kept notification) error {
	raw, err := e.unseal(kept.raw, job.ID)
	if err != nil {
		return err
	}
	n, err := webhooks.Parse([]byte(raw))
	if err != nil {
		return err
	}
	at := e.clock()
	act := func(ctx context.Context, n *webhooks.Notification) error {
		return within(ctx, e.db, func(tx tx) (err error) {
			e.step("before the event's effect")
			ended, err := tx.Exec(ctx, `UPDATE quickstream.notification SET state = 'done', next_at = NULL, due_at = NULL, problem = '', changed_at = $1
				WHERE id = $2 AND digest = $3 AND state = 'received'`, e.clock(), job.ID, job.Digest)
			if err != nil || ended != 1 {
				return err
			}
			err = e.effect(ctx, tx, n, at)
			e.step("before the event's commit")
			return err
		})
	}
	err = webhooks.ConfirmWith(e.client, act)(ctx, n)
	answered(ctx, err, false)
	e.step("after the event's effect")
	return err
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
			seen := r.shownBy(t, at)
			return e.apply(ctx, tx, r.ID, &seen)
		}
	}
	if e.onEvent == nil {
		return nil
	}
	return guard("OnEvent", func() error { return e.onEvent(ctx, tx, n) })
}

// shownBy is the observation of an event's transaction, which settles only if it is what was asked for, as one that a
// look-up finds.
func (r *row) shownBy(t *quickstream.Transaction, at time.Time) observed {
	seen := ofTransaction(t, at)
	if r.adopted() || r.emptied() || !r.intent.Operation.IsTransaction() {
		return seen
	}
	intent := r.sentIntent()
	intent.ReceiptNumber = r.ReceiptNumber
	if seen.Seen = resolve.Observe(intent.Found(t)); seen.Seen.ReceiptNumber == "" { // a candidate at most
		return observed{Kind: sawTransaction, At: at, Seen: seen.Seen}
	}
	return seen
}

// about returns the payment that a transaction is: by its receipt, and where the
// answer to its request is still to come by its intent's id, its reference or its
// end-to-end identifier, if its type is the same. A void or refund is about another one.
func (e *engine) about(ctx context.Context, tx tx, t *quickstream.Transaction) (*row, error) {
	one := func(column, key string) (*row, error) {
		return e.one(ctx, tx, column+" <> '' AND "+column+" = $1 LIMIT 1", key)
	}
	if r, err := e.byReceipt(ctx, tx, t.ReceiptNumber); err != nil || r != nil {
		return r, err
	}
	for _, name := range slices.Sorted(maps.Keys(t.Metadata)) {
		if r, err := one("intent_id", t.Metadata[name]); err != nil || r != nil && r.intent.MetadataName == name && r.hasTypeOf(t) {
			return r, err
		}
	}
	// A reference that the merchant chose may be another transaction's.
	if r, err := one("reference", t.PaymentReferenceNumber); err != nil || r != nil && e.ownsReference(r) && t.Metadata[r.intent.MetadataName] == "" && r.hasTypeOf(t) {
		return r, err
	}
	if r, err := one("end_to_end_id", endToEnd(t)); err != nil || r != nil && r.hasTypeOf(t) {
		return r, err
	}
	return nil, nil //nolint:nilnil // there is none
}

// ownsReference reports whether no other transaction can have the reference of a write.
func (e *engine) ownsReference(r *row) bool {
	return !r.intent.OwnReference && (!r.adopted() || r.Reference == e.reference(r.ID))
}

// hasTypeOf reports whether a transaction may be of the write's type: a refund can carry
// its payment's reference.
func (r *row) hasTypeOf(t *quickstream.Transaction) bool {
	if r.adopted() {
		return mayPay(t)
	}
	kind := requestOf(r.intent).TransactionType
	return kind == "" || t.TransactionType == "" || kind == t.TransactionType
}

func endToEnd(t *quickstream.Transaction) string {
	if t.PayToData == nil {
		return ""
	}
	return t.PayToData.EndToEndID
}
