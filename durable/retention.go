package durable

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
)

const (
	// leastKept is how long everything is kept at least: a notification may be delivered again.
	leastKept = webhooks.StoreTolerance + 24*time.Hour
	// notificationsKept is how long ids and digests of confirmed notifications are kept.
	notificationsKept = 30 * 24 * time.Hour
)

// forgottenAtOnce is how many rows are emptied or removed in one transaction.
const forgottenAtOnce = 500

// pursued is the condition of a write whose outcome is still to come.
func pursued() string { return "(state = 'queued' OR " + sqlUnknown() + ")" }

// emptyIntent is the intent of an emptied write, in SQL: it has no request.
func emptyIntent() string {
	return `'{"version":` + strconv.Itoa(quickstream.IntentVersion) + `,"operation":"' || operation || '"}'`
}

// isOver is the condition of a write that can be emptied: it has no open follow-up either.
func isOver() string {
	return `intent <> ` + emptyIntent() + ` AND next_at IS NULL AND changes = notified AND NOT ` + pursued() + `
		AND NOT EXISTS (SELECT 1 FROM (SELECT follows, state FROM quickstream.write WHERE follows <> '') f WHERE f.follows = quickstream.write.id AND ` + pursued() + `)`
}

// forget removes notifications and empties writes that are over and were kept for long enough, by the
// database's clock at both ends. Open writes stay, and writes with an open follow-up. The id of an
// emptied write stays for ever, and its order, receipt and amounts, which limit later refunds.
func (e *engine) forget(ctx context.Context) error {
	err := e.inParts(ctx, func(tx tx, now time.Time) (int64, error) {
		return tx.Exec(ctx, `DELETE FROM quickstream.notification WHERE (id, digest) IN (SELECT id, digest FROM quickstream.notification
			WHERE state = 'done' AND changed_at < $1 LIMIT `+strconv.Itoa(forgottenAtOnce)+`)`, now.Add(-notificationsKept))
	})
	if err != nil || e.kept == 0 {
		return err
	}
	last := "" // each part goes on after the one before
	return e.inParts(ctx, func(tx tx, now time.Time) (n int64, err error) {
		n, last, err = e.emptied(ctx, tx, "changed_at < $1 AND written_at < $1 AND id > $2 AND "+isOver()+" ORDER BY id", now.Add(-e.kept), last)
		return n, err
	})
}

// inParts does a part at a time, until one is not full.
func (e *engine) inParts(ctx context.Context, part func(tx tx, now time.Time) (int64, error)) error {
	for n := int64(forgottenAtOnce); n == forgottenAtOnce; {
		err := within(ctx, e.db, func(tx tx) error {
			now, err := databaseNow(ctx, tx)
			if n = 0; err != nil {
				return err
			}
			n, err = part(tx, now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// emptied empties one part of the writes that a condition selects, and returns how many, and the id of the last one.
func (e *engine) emptied(ctx context.Context, tx tx, where string, args ...any) (n int64, last string, err error) {
	found, err := texts(ctx, tx, "SELECT id FROM quickstream.write WHERE "+where+" LIMIT "+strconv.Itoa(forgottenAtOnce)+e.dialect.SkipLocked, args...)
	if err != nil || len(found) == 0 {
		return 0, "", err
	}
	ids := anys(found)
	if err := execute(ctx, tx, "DELETE FROM quickstream.event WHERE write_id IN "+list(len(ids)), ids...); err != nil {
		return 0, "", err
	}
	n, err = tx.Exec(ctx, `UPDATE quickstream.write SET version = version + 1, claim = '', reference = '', settles_on = '',
		intent = `+emptyIntent()+`, lookups = '', problem = '', customer = '', title = '', digits = '' WHERE id IN `+list(len(ids)), ids...)
	return n, found[len(found)-1], err
}

// Erased is what [Engine.Erase] has removed and left.
type Erased struct {
	// Writes counts those that were emptied.
	Writes int
	// Left counts writes of the customer that are not over, such as a payment whose money may still come back, or
	// that a worker holds at the moment: erase again later.
	Left int
}

// Erase removes the personal data of a customer, by the reference number that the requests had. From writes that
// are over it removes the request with its metadata, the references, the look-ups, the title, the card digits, the
// history with its notes and the digest of the reference. Ids, orders, receipts, amounts, standings and digests of tokens and
// accounts stay, and a notification until it is confirmed: see [Engine.Notifications]. Data at the service and in backups is
// not touched. by and note are as in [Decision], and stay: do not name the customer there.
func (e *Engine[TTx]) Erase(ctx context.Context, customerReferenceNumber, by, note string) (Erased, error) {
	done, err := e.erase(ctx, customerReferenceNumber, by, note)
	return done, named(err)
}

func (e *engine) erase(ctx context.Context, reference, by, note string) (done Erased, err error) {
	customer := digest(reference)
	if customer == "" {
		return done, errors.New("the customer's reference number is required")
	}
	if err := checkPerson(by, note); err != nil {
		return done, err
	}
	err = within(ctx, e.db, func(tx tx) error {
		return e.recordInstallation(ctx, tx, Event{Kind: EventErased, By: by, Note: note})
	})
	if err != nil {
		return done, err
	}
	err = e.inParts(ctx, func(tx tx, _ time.Time) (int64, error) {
		n, _, err := e.emptied(ctx, tx, "customer <> '' AND customer = $1 AND "+isOver(), customer)
		done.Writes += int(n)
		return n, err
	})
	if err != nil {
		return done, err
	}
	done.Left, err = count(ctx, e.db, "SELECT count(*) FROM quickstream.write WHERE customer <> '' AND customer = $1", customer)
	return done, err
}
