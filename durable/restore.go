package durable

import (
	"context"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// restoring is the name under which the time of a restored backup stands, until what it
// does not know has been looked for. Nothing is sent until then.
const restoring = "restoring"

// restoringRead is the daily work that reads it.
const restoringRead = "restoring read"

// recognise looks whether the database was restored from a backup, as far as it can tell
// by itself.
func (e *Engine[TTx]) recognise(ctx context.Context) error {
	return e.adopt(ctx, func(tx TTx) (bool, time.Time, error) {
		restored, err := e.db.Restored(ctx, tx)
		if err != nil || !restored {
			return false, time.Time{}, err
		}
		since, err := e.newest(ctx, tx)
		return true, since, err
	})
}

// Restored tells the engine that the database was restored from a backup that was made
// at a time. It is needed where that cannot be seen: after a base backup of PostgreSQL was
// started as it is, or a snapshot of the whole volume came back, or the rows alone. Call it
// once, before any engine is started. Nothing is sent any more from payments that exist:
// they are looked up through the whole procedure. Payments that were made after the backup,
// which the database does not know, are read from the service, day by day, before anything
// new is sent.
//
// A dump that was read back, a base backup that was recovered to a point in time, and a
// SQLite file that is older than its mark are recognised without it.
func (e *Engine[TTx]) Restored(ctx context.Context, since time.Time) error {
	return e.adopt(ctx, func(TTx) (bool, time.Time, error) { return true, since, nil })
}

func (e *Engine[TTx]) adopt(ctx context.Context, restored func(TTx) (bool, time.Time, error)) error {
	after := func() error { return nil }
	err := within(ctx, e.db, func(tx TTx) error {
		yes, since, err := restored(tx)
		if err != nil || !yes {
			return err
		}
		e.opts.Logger.WarnContext(ctx, "quickstream: the database was restored from a backup: nothing of it is sent before it was looked up", "since", since)
		if err := execute(ctx, e.db, tx, `UPDATE quickstream.payment SET suspect = 1, version = version + 1, next_at = $1, due_at = $1 WHERE state = 'prepared'`,
			micros(e.opts.Clock())); err != nil {
			return err
		}
		if err := e.setMeta(ctx, tx, restoring, fmt.Sprint(since.UnixMicro(), e.opts.Clock().UnixMicro())); err != nil {
			return err
		}
		if err := execute(ctx, e.db, tx, "DELETE FROM quickstream.meta WHERE name = $1", restoringRead); err != nil {
			return err
		}
		after, err = e.db.Adopt(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	return after()
}

// newest is when the database was written last, which is about when the backup was made.
func (e *Engine[TTx]) newest(ctx context.Context, tx TTx) (time.Time, error) {
	newest := int64(0)
	err := query(ctx, e.db, tx, func(scan func(...any) error) error { return scan(&newest) },
		"SELECT coalesce(max(changed_at), 0) FROM quickstream.payment")
	if newest == 0 {
		return e.opts.Clock().Add(-48 * time.Hour), err
	}
	return moment(newest), err
}

// readLost looks every minute for what a restored backup does not know, where there is
// one, and ends when a payment that was made just before must have become visible.
func (e *Engine[TTx]) readLost(ctx context.Context) error {
	text := ""
	err := within(ctx, e.db, func(tx TTx) (err error) {
		text, err = meta(ctx, e.db, tx, restoring)
		return err
	})
	if err != nil || text == "" {
		return err
	}
	var since, adopted int64
	if _, err := fmt.Sscan(text, &since, &adopted); err != nil {
		return err
	}
	now := e.opts.Clock()
	return e.once(ctx, restoringRead, now.Truncate(time.Minute), func(ctx context.Context) error {
		if err := e.findLost(ctx, moment(since)); err != nil || now.Sub(moment(adopted)) < visibleAfter {
			return err
		}
		return within(ctx, e.db, func(tx TTx) error {
			return execute(ctx, e.db, tx, "DELETE FROM quickstream.meta WHERE name = $1 AND value = $2", restoring, text)
		})
	})
}

// visibleAfter is how long a transaction may take to appear in a list: an assumption.
const visibleAfter = 15 * time.Minute

// findLost reads what the service has settled or will settle since a backup was made,
// and writes down the payments that the backup does not know: their orders are paid.
func (e *Engine[TTx]) findLost(ctx context.Context, since time.Time) error {
	// The settlement date of a payment may lie after a long weekend.
	last := quickstream.DateOf(e.opts.Clock()).AddDays(6)
	for date := quickstream.DateOf(since).AddDays(-1); date.Compare(last) <= 0; date = date.AddDays(1) {
		for page, err := range pages(ctx, e.client.Transactions.BySettlementDate(date)) {
			if err != nil {
				return err
			}
			for _, t := range page.Data {
				if err := e.adoptLost(ctx, t); err != nil {
					return err
				}
			}
			if len(page.Unreadable) > 0 { // it may be an order's payment
				return page.Unreadable[0]
			}
		}
	}
	return nil
}

// adoptLost writes down a payment that the database does not know, if it is an order's.
func (e *Engine[TTx]) adoptLost(ctx context.Context, t *quickstream.Transaction) error {
	orderID := t.Metadata[orderMember]
	if orderID == "" || t.ReceiptNumber == "" {
		return nil
	}
	at, found := e.opts.Clock(), ""
	err := within(ctx, e.db, func(tx TTx) error {
		known, err := e.about(ctx, tx, t) // not by the order's reference, which another try may have
		if err != nil {
			return err
		}
		if known != nil { // what stands here may be older than what was read
			found = known.ID
			return nil
		}
		lost, seen := e.lost(orderID, t, at), ofTransaction(t, at)
		written, err := e.insert(ctx, tx, lost)
		if err != nil {
			return err
		}
		if !written { // another row of the order stands
			id, err := e.withStanding(ctx, tx, lost, seen)
			if err != nil || id == "" {
				return err
			}
			lost.ID = id
		}
		found = lost.ID
		return nil
	})
	if err != nil || found == "" {
		return err
	}
	return e.note(ctx, found, ofTransaction(t, at)) // the order is paid, whatever OnOutcome says to it
}

// lost is the row of a payment that the database does not know.
func (e *Engine[TTx]) lost(orderID string, t *quickstream.Transaction, at time.Time) *row {
	state := resolve.BeginTransaction(t, at)
	r := e.rowOf(orderID, state.Intent)
	r.State, r.ReceiptNumber, r.Reference, r.looking = StateUnknown, t.ReceiptNumber, t.PaymentReferenceNumber, state
	r.Due, r.Problem, r.ReceiptOf = at, "found at the service after a backup was restored", ""
	if t.PrincipalAmount != nil {
		r.Amount, r.Currency = t.PrincipalAmount.Amount, t.PrincipalAmount.Currency
	}
	return r
}

// withStanding writes a lost payment down whose order has another one, and returns the
// id that it has then. One that was asked for again after the restore, and not sent yet,
// becomes the lost one, as it must not be sent beside it, and so does one that was sent
// as a renewed intent. Beside any other it is the second.
func (e *Engine[TTx]) withStanding(ctx context.Context, tx TTx, lost *row, seen observed) (string, error) {
	standing, err := e.one(ctx, tx, "order_id = $1 AND receipt_of = '' AND passed_by = '' AND "+blocking+" LIMIT 1"+e.db.Words().ForUpdate, lost.OrderID)
	if err != nil || standing == nil {
		return "", err
	}
	switch seen.Seen.Outcome {
	case quickstream.OutcomeDeclined, quickstream.OutcomeRejected, quickstream.OutcomeVoided: // the order may be paid
	default:
		if standing.State == StatePrepared && (!standing.suspect || standing.Reference == lost.Reference) {
			lost.ID, lost.Written = standing.ID, standing.Written
			return standing.ID, e.save(ctx, tx, standing, lost)
		}
	}
	lost.PassedBy = standing.ID
	_, err = e.insert(ctx, tx, lost)
	return lost.ID, err
}
