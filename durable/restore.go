package durable

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
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
func (e *engine) recognise(ctx context.Context) error {
	return e.adopt(ctx, func(tx tx) (bool, time.Time, error) {
		restored, err := e.db.Restored(ctx, tx)
		if err != nil || !restored {
			return false, time.Time{}, err
		}
		since, err := e.lastClaim(ctx, tx)
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
func (e *engine) Restored(ctx context.Context, since time.Time) error {
	return e.adopt(ctx, func(tx) (bool, time.Time, error) { return true, since, nil })
}

// adopt takes the database as it is, if it was restored, and begins the search for what it
// does not know. One process at a time judges that: the next one finds it adopted.
func (e *engine) adopt(ctx context.Context, restored func(tx) (bool, time.Time, error)) error {
	return e.retried(ctx, func(tx tx) error {
		if err := setMeta(ctx, tx, "adopting", ""); err != nil {
			return err
		}
		yes, since, err := restored(tx)
		if err != nil || !yes {
			return err
		}
		now, _, err := e.databaseTime(ctx, tx)
		if err != nil {
			return err
		}
		open, err := e.search(ctx, tx)
		if err != nil {
			return err
		}
		since = earliest(since, now)
		if open != nil { // what it looks for may not all have been found
			since = earliest(since, open.since)
		}
		e.logger.WarnContext(ctx, "quickstream: the database was restored from a backup: nothing of it is sent before it was looked up", "since", since)
		if err := execute(ctx, tx, `UPDATE quickstream.write SET suspect = true, version = version + 1, next_at = $1, due_at = $1 WHERE state = 'queued'`,
			e.clock()); err != nil {
			return err
		}
		if err := setMeta(ctx, tx, restoring, search{since, now}.text()); err != nil {
			return err
		}
		if err := execute(ctx, tx, "DELETE FROM quickstream.meta WHERE name = $1", restoringRead); err != nil {
			return err
		}
		return e.db.Adopt(ctx, tx)
	})
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// lastClaimed is the name under which claims store the database's time.
const lastClaimed = "last claim"

// stampClaim stores the database's time beside a claim, once a minute, and waits for no
// other claim. A time that is ahead of the database's is set back.
func (e *engine) stampClaim(ctx context.Context, tx tx) error {
	now, _, err := e.databaseTime(ctx, tx)
	if err != nil {
		return err
	}
	return execute(ctx, tx, `UPDATE quickstream.meta SET value = $1 WHERE name IN (SELECT name FROM quickstream.meta WHERE name = $2
		AND CASE WHEN name = $2 THEN CAST(value AS bigint) END NOT BETWEEN $3 AND $4`+e.dialect.SkipLocked+")",
		strconv.FormatInt(now.UnixMicro(), 10), lastClaimed, now.Add(-time.Minute).UnixMicro(), now.UnixMicro())
}

// lastClaim is when a claim was last stored: what was sent after it is not known here. A
// database in which no claim has stored a time is searched for two days, or from its newest
// claimed row on where that is older.
func (e *engine) lastClaim(ctx context.Context, tx tx) (time.Time, error) {
	text, err := meta(ctx, tx, lastClaimed)
	if err != nil {
		return time.Time{}, err
	}
	if stored, _ := strconv.ParseInt(text, 10, 64); stored != 0 {
		return time.UnixMicro(stored).UTC(), nil
	}
	now, _, err := e.databaseTime(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	var newest time.Time
	err = query(ctx, tx, func(scan func(...any) error) error { return scan(&newest) },
		"SELECT max(last_sent_at) FROM quickstream.write")
	since := now.Add(-48 * time.Hour)
	if !newest.IsZero() {
		since = earliest(since, newest)
	}
	return since, err
}

// search is a search for what a restored backup does not know: since when that may have been
// made, and when the backup was adopted, by the database's clock.
type search struct{ since, adopted time.Time }

func (s search) text() string { return fmt.Sprint(s.since.UnixMicro(), s.adopted.UnixMicro()) }

// search returns the search that is open, or nil.
func (e *engine) search(ctx context.Context, tx tx) (*search, error) {
	text, err := meta(ctx, tx, restoring)
	if err != nil || text == "" {
		return nil, err
	}
	var since, adopted int64
	if _, err := fmt.Sscan(text, &since, &adopted); err != nil {
		return nil, err
	}
	return &search{time.UnixMicro(since).UTC(), time.UnixMicro(adopted).UTC()}, nil
}

// readLost looks every minute for what a restored backup does not know, where there is
// one, and ends when a payment that was made just before must have become visible.
func (e *engine) readLost(ctx context.Context) error {
	var open *search
	var now time.Time
	err := within(ctx, e.db, func(tx tx) (err error) {
		if open, err = e.search(ctx, tx); err != nil || open == nil {
			return err
		}
		if now, _, err = e.databaseTime(ctx, tx); err == nil && open.adopted.After(now.Add(dailyPause)) {
			open.adopted = now // its clock was wrong
			err = setMeta(ctx, tx, restoring, open.text())
		}
		return err
	})
	if err != nil || open == nil {
		return err
	}
	due := func(now time.Time, _ time.Duration) time.Time { return now.Truncate(time.Minute) }
	return e.once(ctx, restoringRead, due, func(ctx context.Context, _ time.Time) error {
		if err := e.findLost(ctx, open.since, now); err != nil || now.Sub(open.adopted) < visibleAfter {
			return err
		}
		return within(ctx, e.db, func(tx tx) error {
			return execute(ctx, tx, "DELETE FROM quickstream.meta WHERE name = $1 AND value = $2", restoring, open.text())
		})
	})
}

// visibleAfter is how long a transaction may take to appear in a list: an assumption.
const visibleAfter = 15 * time.Minute

// findLost reads what the service has settled or will settle since a backup was made,
// and writes down the payments that the backup does not know: their orders are paid.
func (e *engine) findLost(ctx context.Context, since, now time.Time) error {
	// The settlement date of a payment may lie after a long weekend.
	last := quickstream.DateOf(now).AddDays(6)
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

// adoptLost stores a payment that the database does not know, if it is that of an order of this
// installation.
func (e *engine) adoptLost(ctx context.Context, t *quickstream.Transaction) error {
	order := t.Metadata[orderMember]
	if order == "" || t.Metadata[installationMember] != e.installation || t.ReceiptNumber == "" || !mayPay(t) {
		return nil
	}
	at, found := e.clock(), ""
	seen := ofTransaction(t, at)
	err := within(ctx, e.db, func(tx tx) error {
		known, err := e.about(ctx, tx, t) // not by the order, which another try may have
		if err != nil {
			return err
		}
		if known != nil { // what is stored may be older than what was read
			found = known.ID
			return nil
		}
		lost := e.lost(NewWrite{ID: cmp.Or(t.Metadata[writeMember], "lost "+t.ReceiptNumber), Order: order}, t, at)
		if _, err := e.lock(ctx, tx, lost); err != nil {
			return err
		}
		if same, err := e.one(ctx, tx, "id = $1", lost.ID); err != nil || same != nil && same.Order != order {
			return err
		} else if same != nil { // it was written again since
			found, seen, err = e.besideCurrent(ctx, tx, lost, same, t, seen)
			return err
		}
		current, err := e.one(ctx, tx, "order_id = $1 AND kind = 'payment' AND replaced_by = '' AND "+sqlBlocks()+" LIMIT 1"+e.dialect.ForUpdate, order)
		if err != nil {
			return err
		}
		if current != nil {
			found, seen, err = e.besideCurrent(ctx, tx, lost, current, t, seen)
			return err
		}
		if _, err := e.insert(ctx, tx, lost); err != nil {
			return err
		}
		found = lost.ID
		return e.record(ctx, tx, lost, Event{Kind: EventLookedUp, Seen: seen.Seen})
	})
	if err != nil || found == "" {
		return err
	}
	return e.observeOne(ctx, found, seen) // the order is paid, also if OnOutcome refuses it
}

// mayPay reports whether a transaction can be an order's payment or first
// pre-authorisation.
func mayPay(t *quickstream.Transaction) bool {
	switch t.TransactionType {
	case quickstream.TransactionTypePayment, quickstream.TransactionTypePreauth, "":
		return t.AuthorisationType == ""
	default:
		return false
	}
}

// agrees reports whether a transaction can be the payment that a row describes. A business
// or currency that is left out says nothing.
func (r *row) agrees(t *quickstream.Transaction) bool {
	wanted := requestOf(r.intent)
	return t.TransactionType == wanted.TransactionType &&
		t.PrincipalAmount != nil && t.PrincipalAmount.Amount.Equal(r.Amount) &&
		(t.PrincipalAmount.Currency == "" || t.PrincipalAmount.Currency == r.Currency) &&
		(t.SupplierBusinessCode == "" || wanted.SupplierBusinessCode == "" || t.SupplierBusinessCode == wanted.SupplierBusinessCode)
}

// lost is the row of a payment that the database does not know.
func (e *engine) lost(w NewWrite, t *quickstream.Transaction, at time.Time) *row {
	c := resolve.BeginTransaction(t, at)
	r := e.rowOf(w, c.Intent)
	r.Standing, r.ReceiptNumber, r.Reference, r.lookups = standing(StateResolving), t.ReceiptNumber, t.PaymentReferenceNumber, c
	if t.TransactionType == quickstream.TransactionTypePreauth {
		r.Operation = quickstream.OperationPreauthorise
	}
	r.kind, r.Due, r.Business, r.Problem = kindPayment, at, t.SupplierBusinessCode, "found at the service after a backup was restored"
	if t.PrincipalAmount != nil {
		r.Amount, r.Currency = t.PrincipalAmount.Amount, t.PrincipalAmount.Currency
	}
	return r
}

// besideCurrent is what a lost payment means for its order's current one, and returns the row that it
// is and what was seen of that. A row that was never claimed is the lost payment if it agrees with
// it, because it must not be sent beside it. One that does not agree is not sent: a person has to find
// out whose payment was found. Beside any other row the lost payment is the second.
func (e *engine) besideCurrent(ctx context.Context, tx tx, lost, current *row, t *quickstream.Transaction, seen observed) (string, observed, error) {
	outcome, agrees := seen.Seen.Outcome, current.agrees(t)
	took := outcome != quickstream.OutcomeDeclined && outcome != quickstream.OutcomeRejected && outcome != quickstream.OutcomeVoided
	switch {
	case current.emptied() && current.Amount.Equal(lost.Amount) && current.Currency == lost.Currency:
		return "", seen, nil // it was emptied, and is this one
	case took && current.claim == "" && current.State == StateEscalated && !agrees:
		return "", seen, nil // it waits for a person already
	case took && current.neverClaimed() && !agrees:
		return current.ID, observed{
			Kind: sawConflict, At: seen.At,
			Problem: "the service has a transaction of this order that differs in type, amount, currency or business: receipt number " + t.ReceiptNumber,
		}, nil
	case took && current.neverClaimed():
		found := *current
		found.Standing, found.ReceiptNumber, found.lookups, found.Due, found.Problem = lost.Standing, lost.ReceiptNumber, lost.lookups, lost.Due, lost.Problem
		return current.ID, seen, e.save(ctx, tx, current, &found)
	}
	if lost.ID == current.ID { // this send of it, beside another
		lost.ID = "lost " + lost.ReceiptNumber
	}
	lost.ReplacedBy = current.ID
	_, err := e.insert(ctx, tx, lost)
	return lost.ID, seen, err
}
