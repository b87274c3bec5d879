package durable

import (
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
func (e *Engine[TTx]) recognise(ctx context.Context) error {
	return e.adopt(ctx, func(tx TTx) (bool, time.Time, error) {
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
func (e *Engine[TTx]) Restored(ctx context.Context, since time.Time) error {
	return e.adopt(ctx, func(TTx) (bool, time.Time, error) { return true, since, nil })
}

// adopt takes the database as it is, if it was restored, and begins the search for what it
// does not know. One process at a time judges that: the next one finds it adopted.
func (e *Engine[TTx]) adopt(ctx context.Context, restored func(TTx) (bool, time.Time, error)) error {
	return e.retried(ctx, func(tx TTx) error {
		if err := e.setMeta(ctx, tx, "adopting", ""); err != nil {
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
		e.opts.Logger.WarnContext(ctx, "quickstream: the database was restored from a backup: nothing of it is sent before it was looked up", "since", since)
		if err := execute(ctx, e.db, tx, `UPDATE quickstream.payment SET suspect = 1, version = version + 1, next_at = $1, due_at = $1 WHERE state = 'prepared'`,
			micros(e.opts.Clock())); err != nil {
			return err
		}
		if err := e.setMeta(ctx, tx, restoring, search{since, now}.text()); err != nil {
			return err
		}
		if err := execute(ctx, e.db, tx, "DELETE FROM quickstream.meta WHERE name = $1", restoringRead); err != nil {
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
func (e *Engine[TTx]) stampClaim(ctx context.Context, tx TTx) error {
	now, _, err := e.databaseTime(ctx, tx)
	if err != nil {
		return err
	}
	return execute(ctx, e.db, tx, `UPDATE quickstream.meta SET value = $1 WHERE name IN (SELECT name FROM quickstream.meta WHERE name = $2
		AND CASE WHEN name = $2 THEN CAST(value AS bigint) END NOT BETWEEN $3 AND $4`+e.db.Words().SkipLocked+")",
		strconv.FormatInt(now.UnixMicro(), 10), lastClaimed, now.Add(-time.Minute).UnixMicro(), now.UnixMicro())
}

// lastClaim is when a claim was last stored: what was sent after it is not known here. A
// database in which no claim has stored a time is searched for two days, or from its newest
// claimed row on where that is older.
func (e *Engine[TTx]) lastClaim(ctx context.Context, tx TTx) (time.Time, error) {
	text, err := meta(ctx, e.db, tx, lastClaimed)
	if err != nil {
		return time.Time{}, err
	}
	if stored, _ := strconv.ParseInt(text, 10, 64); stored != 0 {
		return moment(stored), nil
	}
	now, _, err := e.databaseTime(ctx, tx)
	if err != nil {
		return time.Time{}, err
	}
	newest := int64(0)
	err = query(ctx, e.db, tx, func(scan func(...any) error) error { return scan(&newest) },
		"SELECT coalesce(max(changed_at), 0) FROM quickstream.payment WHERE claim <> ''")
	since := now.Add(-48 * time.Hour)
	if newest != 0 {
		since = earliest(since, moment(newest))
	}
	return since, err
}

// search is a search for what a restored backup does not know: since when that may have been
// made, and when the backup was adopted, by the database's clock.
type search struct{ since, adopted time.Time }

func (s search) text() string { return fmt.Sprint(s.since.UnixMicro(), s.adopted.UnixMicro()) }

// search returns the search that is open, or nil.
func (e *Engine[TTx]) search(ctx context.Context, tx TTx) (*search, error) {
	text, err := meta(ctx, e.db, tx, restoring)
	if err != nil || text == "" {
		return nil, err
	}
	var since, adopted int64
	if _, err := fmt.Sscan(text, &since, &adopted); err != nil {
		return nil, err
	}
	return &search{moment(since), moment(adopted)}, nil
}

// readLost looks every minute for what a restored backup does not know, where there is
// one, and ends when a payment that was made just before must have become visible.
func (e *Engine[TTx]) readLost(ctx context.Context) error {
	var open *search
	var now time.Time
	err := within(ctx, e.db, func(tx TTx) (err error) {
		if open, err = e.search(ctx, tx); err != nil || open == nil {
			return err
		}
		if now, _, err = e.databaseTime(ctx, tx); err == nil && open.adopted.After(now.Add(dailyPause)) {
			open.adopted = now // its clock was wrong
			err = e.setMeta(ctx, tx, restoring, open.text())
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
		return within(ctx, e.db, func(tx TTx) error {
			return execute(ctx, e.db, tx, "DELETE FROM quickstream.meta WHERE name = $1 AND value = $2", restoring, open.text())
		})
	})
}

// visibleAfter is how long a transaction may take to appear in a list: an assumption.
const visibleAfter = 15 * time.Minute

// findLost reads what the service has settled or will settle since a backup was made,
// and writes down the payments that the backup does not know: their orders are paid.
func (e *Engine[TTx]) findLost(ctx context.Context, since, now time.Time) error {
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

// adoptLost writes down a payment that the database does not know, if it is an order's.
func (e *Engine[TTx]) adoptLost(ctx context.Context, t *quickstream.Transaction) error {
	orderID := t.Metadata[orderMember]
	if orderID == "" || t.ReceiptNumber == "" || !mayPay(t) {
		return nil
	}
	at, found := e.opts.Clock(), ""
	seen := ofTransaction(t, at)
	err := within(ctx, e.db, func(tx TTx) error {
		known, err := e.about(ctx, tx, t) // not by the order's reference, which another try may have
		if err != nil {
			return err
		}
		if known != nil { // what stands here may be older than what was read
			found = known.ID
			return nil
		}
		lost := e.lost(orderID, t, at)
		written, err := e.insert(ctx, tx, lost)
		if found = lost.ID; err != nil || written {
			return err
		}
		found, seen, err = e.withStanding(ctx, tx, lost, t, seen) // another row of the order stands
		return err
	})
	if err != nil || found == "" {
		return err
	}
	return e.note(ctx, found, seen) // the order is paid, whatever OnOutcome says to it
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

// withStanding writes a lost payment down whose order has another one. It returns the id of
// the row that it has then, and what was seen of that row. A row that was never claimed
// becomes the lost payment if it agrees with it, because it must not be sent beside it. One
// that does not agree is not sent: a person has to find out whose payment was found. Beside
// any other row the lost payment is the second.
func (e *Engine[TTx]) withStanding(ctx context.Context, tx TTx, lost *row, t *quickstream.Transaction, seen observed) (string, observed, error) {
	standing, err := e.one(ctx, tx, "order_id = $1 AND receipt_of = '' AND passed_by = '' AND "+blocking+" LIMIT 1"+e.db.Words().ForUpdate, lost.OrderID)
	if err != nil || standing == nil {
		return "", seen, err
	}
	outcome, agrees := seen.Seen.Outcome, standing.agrees(t)
	took := outcome != quickstream.OutcomeDeclined && outcome != quickstream.OutcomeRejected && outcome != quickstream.OutcomeVoided
	switch {
	case standing.intent.Version == 0 && standing.Amount.Equal(lost.Amount) && standing.Currency == lost.Currency:
		return "", seen, nil // it was forgotten, and is this one
	case took && standing.claim == "" && standing.State == StateEscalated && !agrees:
		return "", seen, nil // it waits for a person already
	case took && standing.neverClaimed() && !agrees:
		return standing.ID, observed{
			Kind: sawConflict, At: seen.At,
			Problem: "the service has a transaction of this order that differs in type, amount, currency or business: receipt number " + t.ReceiptNumber,
		}, nil
	case took && standing.neverClaimed():
		lost.ID, lost.Written = standing.ID, standing.Written
		return standing.ID, seen, e.save(ctx, tx, standing, lost)
	}
	lost.PassedBy = standing.ID
	_, err = e.insert(ctx, tx, lost)
	return lost.ID, seen, err
}

// neverClaimed reports whether a payment waits that this history of the database has not
// sent. One that a restored backup holds may be being looked up.
func (r *row) neverClaimed() bool {
	waits := r.State == StatePrepared || r.State == StateUnknown || r.State == StateAbsent
	return waits && r.claim == "" && r.intent.Complete
}
