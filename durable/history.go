package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// historyName is the name under which the last change of the history stands, and searchTurn that of the
// search after it.
const (
	historyName = "change of history"
	searchTurn  = "search after a change of history"
)

// history is what is known of the last change of the database's history, by its clock.
type history struct {
	Change database.Change `json:"change,omitempty"`
	// Since is when the last claim was stored that is known: what was sent after it may not be known.
	Since   time.Time `json:"since,omitzero"`
	Adopted time.Time `json:"adopted,omitzero"`
	// Lost is when it was last adopted after commits may have been lost. A server that restarts changes nothing of that.
	Lost time.Time `json:"lost,omitzero"`
	// Searching means that payments which the database lacks are read from the service, and Searched
	// that all its lists were read once. Unreadable counts transactions that could not be.
	Searching  bool `json:"searching,omitempty"`
	Searched   bool `json:"searched,omitempty"`
	Unreadable int  `json:"unreadable,omitempty"`
	// Confirmed means that a person has said that it is no copy.
	Confirmed bool `json:"confirmed,omitempty"`

	outdated bool         // the tables ask for more than this program knows
	pause    personsPause // zero if no person has paused the installation
}

// stops reports whether nothing may be claimed.
func (h history) stops() bool { return h.outdated || h.pause.By != "" }

// recent reports whether look-ups may miss what was sent before the change.
func (h history) recent(c *clock) bool {
	return h.Change != database.Same && c.passed(h.Adopted) < lookupLag
}

// mayLack reports whether a write may have been sent in a lost history without a trace here: look-ups may miss
// that, or the search for it has not ended. It finds no follow-ups, which may be asked for again for a week.
func (h history) mayLack(r *row, c *clock) bool {
	return h.recent(c) || h.Searching || !h.Lost.IsZero() && r.follows != "" && c.passed(h.Lost) < reverseWithin
}

// before reports whether a write was there before the change: it may have been sent since.
func (h history) before(r *row) bool {
	return h.Change != database.Same && r.Written.Before(h.Adopted.Add(readingsApart))
}

// lostBefore reports whether a write was there before commits may have been lost: it may have been sent without a trace here.
func (h history) lostBefore(r *row) bool {
	return !h.Lost.IsZero() && r.Written.Before(h.Lost.Add(readingsApart))
}

// lost reports whether commits may have been lost.
func (h history) lost() bool {
	return h.Change == database.Advanced || h.Change == database.Replaced
}

// waits is until when a write waits: one that was there before, because the original of a copy may be
// sending it, and a payment, until the lists were read in which that of its order may be.
// The time that a list which cannot be read holds payments is short.
func (h history) waits(r *row, c *clock) time.Duration {
	switch {
	case h.Change == database.Replaced && !h.Confirmed && h.before(r) && h.recent(c):
		return min(lookupLag-c.passed(h.Adopted), linePause) // a person may confirm the history meanwhile
	case r.isPayment() && h.Searching && !h.Searched && c.passed(h.Adopted) < longestSearch:
		return searchPause
	default:
		return 0
	}
}

const (
	// searchPause is how long a payment rests while the lists are read for the first time, and longestSearch
	// how long they hold it.
	searchPause   = time.Second
	longestSearch = 3 * time.Minute
)

func readHistory(ctx context.Context, tx tx) (h history, err error) {
	err = query(ctx, tx, func(scan func(...any) error) error {
		var name, text string
		if err := scan(&name, &text); err != nil {
			return err
		}
		switch {
		case text == "":
			return nil
		case name == historyName:
			return json.Unmarshal([]byte(text), &h)
		case name == pauseName:
			return json.Unmarshal([]byte(text), &h.pause)
		}
		needed, err := strconv.Atoi(text)
		h.outdated = needed > safety
		return err
	}, "SELECT name, value FROM quickstream.meta WHERE name IN ($1, $2, $3)", historyName, safetyName, pauseName)
	return h, err
}

func storeHistory(ctx context.Context, tx tx, h history) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return setMeta(ctx, tx, historyName, string(text))
}

// recognise looks whether the history of the database has changed, as far as it can tell by itself.
func (e *engine) recognise(ctx context.Context) error {
	return e.adopt(ctx, func(tx tx) (database.Change, time.Time, error) {
		change, err := e.db.History(ctx, tx)
		if err != nil || change == database.Same {
			return change, time.Time{}, err
		}
		since, err := e.lastClaim(ctx, tx)
		return change, since, err
	})
}

// Restored tells the engine that the database was restored from a backup that was made at a time. It
// is needed only where that cannot be seen: after rows were put back by hand. Call it once, before any
// engine is started. What follows is as after any change of the history: see REPLICATION.md.
func (e *Engine[TTx]) Restored(ctx context.Context, since time.Time) error {
	err := e.adopt(ctx, func(tx) (database.Change, time.Time, error) { return database.Replaced, since, nil })
	if err != nil {
		err = fmt.Errorf("durable: %w", err)
	}
	return err
}

// ConfirmHistory says that the database is no copy of one that is in use: writes that were there before
// are looked up and sent at once, and wait no longer for what the original may be sending. by and note
// are as in [Decision].
func (e *Engine[TTx]) ConfirmHistory(ctx context.Context, by, note string) error {
	return e.decideHistory(ctx, Event{Kind: EventHistoryConfirmed, By: by, Note: note}, func(h *history) { h.Confirmed = true })
}

// EndRestoring ends the search for payments that a restored backup does not know, as when the service
// cannot list them. Orders whose payments were not found can be paid again. by and note are as in
// [Decision].
func (e *Engine[TTx]) EndRestoring(ctx context.Context, by, note string) error {
	return e.decideHistory(ctx, Event{Kind: EventRestoringEnded, By: by, Note: note}, func(h *history) { h.Searching = false })
}

func (e *engine) decideHistory(ctx context.Context, event Event, change func(*history)) error {
	if err := checkPerson(event.By, event.Note); err != nil {
		return err
	}
	err := e.retried(ctx, func(tx tx) error {
		if err := setMeta(ctx, tx, "adopting", ""); err != nil {
			return err
		}
		h, err := readHistory(ctx, tx)
		if err != nil || h.Change == database.Same {
			return err
		}
		change(&h)
		if err := e.record(ctx, tx, &row{}, event); err != nil {
			return err
		}
		if err := storeHistory(ctx, tx, h); err != nil {
			return err
		}
		return execute(ctx, tx, "UPDATE quickstream.write SET next_at = $1, due_at = $1 WHERE state = 'queued' AND next_at <= $2", e.clock(), e.clock().Add(linePause))
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}

// adopt takes the database as it is, if its history has changed, and begins the search for what it
// does not know. One process at a time judges that: the next one finds it adopted.
func (e *engine) adopt(ctx context.Context, changed func(tx) (database.Change, time.Time, error)) error {
	return e.retried(ctx, func(tx tx) error {
		if err := setMeta(ctx, tx, "adopting", ""); err != nil {
			return err
		}
		change, since, err := changed(tx)
		if err != nil || change == database.Same {
			return err
		}
		now, err := e.readTime(ctx, tx)
		if err != nil {
			return err
		}
		now = now.UTC().Truncate(time.Microsecond)
		last, err := readHistory(ctx, tx)
		if err != nil {
			return err
		}
		next := history{Change: change, Since: earliest(since, now), Adopted: now, Lost: last.Lost, Searching: true}
		if last.Searching { // what it searches for may not all have been found
			next.Since = earliest(next.Since, last.Since)
		}
		if last.recent(e.time) && weight(last.Change) > weight(change) { // it remains a copy when its server restarts
			next.Change, next.Confirmed = last.Change, last.Confirmed
		}
		if next.lost() {
			next.Lost = now
		}
		e.logger.WarnContext(ctx, "quickstream: the history of the database has changed: what is sent is looked up first", "change", string(change), "since", next.Since)
		if err := storeHistory(ctx, tx, next); err != nil {
			return err
		}
		if err := execute(ctx, tx, "DELETE FROM quickstream.meta WHERE name = $1", searchTurn); err != nil {
			return err
		}
		return e.db.Adopt(ctx, tx)
	})
}

// weight orders changes by what may be lost.
func weight(c database.Change) int {
	return slices.Index([]database.Change{database.Same, database.Restarted, database.Advanced, database.Replaced}, c)
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
	now, err := e.readTime(ctx, tx)
	if err != nil || e.time.doubted() {
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
	now, err := e.readTime(ctx, tx)
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

// readLost looks every minute for payments that the database does not know after its history has
// changed, and ends when one that was made just before must have become visible.
func (e *engine) readLost(ctx context.Context) error {
	var h history
	now := time.Time{}
	err := within(ctx, e.db, func(tx tx) (err error) {
		if h, err = readHistory(ctx, tx); err != nil || !h.Searching {
			return err
		}
		if now, err = e.readTime(ctx, tx); err == nil && h.Adopted.After(now.Add(dailyPause)) { // its clock was wrong
			h.Adopted = now
			err = storeHistory(ctx, tx, h)
		}
		return err
	})
	if err != nil || !h.Searching {
		return err
	}
	due := func(now, _ time.Time) time.Time { return now.Truncate(time.Minute) }
	return e.once(ctx, searchTurn, time.Minute, due, func(ctx context.Context, _ time.Time) error {
		last := !h.recent(e.time) // when it begins: what is shown while it works may be missing from what it has read
		unreadable, err := e.findLost(ctx, h.Since, now)
		if err != nil {
			return err
		}
		return within(ctx, e.db, func(tx tx) error {
			if err := setMeta(ctx, tx, "adopting", ""); err != nil {
				return err
			}
			next, err := readHistory(ctx, tx)
			if err != nil || !next.Adopted.Equal(h.Adopted) {
				return err // it has changed again
			}
			next.Unreadable, next.Searched, next.Searching = unreadable, true, next.Searching && !last
			return storeHistory(ctx, tx, next)
		})
	})
}

// findLost reads what the service has settled or will settle since a backup was made,
// and writes down the payments that the backup does not know: their orders are paid.
// A transaction or a list that cannot be read is counted, and stops no sale.
func (e *engine) findLost(ctx context.Context, since, now time.Time) (unreadable int, err error) {
	// The settlement date of a payment may lie after a long weekend.
	last := quickstream.DateOf(now).AddDays(6)
	for date := quickstream.DateOf(since).AddDays(-1); date.Compare(last) <= 0; date = date.AddDays(1) {
		for page, err := range pages(ctx, e.client.Transactions.BySettlementDate(date)) {
			if api, answered := errors.AsType[*quickstream.APIError](err); answered && api.StatusCode < 500 && ownWords(err) && !stops(err) {
				unreadable++ // the key may not list, or not this day
				break
			}
			if err != nil {
				return unreadable, err
			}
			for _, t := range page.Data {
				if err := e.adoptLost(ctx, t); err != nil {
					return unreadable, err
				}
			}
			for _, err := range page.Unreadable { // it may be an order's payment
				unreadable++
				e.logger.WarnContext(ctx, "quickstream: a transaction of the search could not be read", "error", err)
			}
		}
	}
	return unreadable, nil
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
		same, err := e.one(ctx, tx, "id = $1", lost.ID)
		switch {
		case err != nil:
			return err
		case same != nil && same.Order != order: // the id was used for another order since
			lost.ID = "lost " + t.ReceiptNumber
		case same != nil: // it was written again since
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

const foundLost = "found at the service after a backup was restored"

// lost is the row of a payment that the database does not know.
func (e *engine) lost(w NewWrite, t *quickstream.Transaction, at time.Time) *row {
	sent := t.TransactionTime.Time
	if sent.IsZero() || sent.After(at) {
		sent = at
	}
	c := resolve.Begin(quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: quickstream.OperationPay, Reference: t.PaymentReferenceNumber,
		ReceiptNumber: t.ReceiptNumber, NotBefore: sent,
	}, at)
	r := e.rowOf(w, c.Intent)
	r.Standing, r.ReceiptNumber, r.Reference, r.lookups = standing(StateResolving), t.ReceiptNumber, t.PaymentReferenceNumber, c
	switch {
	case t.TransactionType == quickstream.TransactionTypePreauth:
		r.Operation = quickstream.OperationPreauthorise
	case t.PayToData != nil:
		r.Operation = quickstream.OperationCollect
	}
	r.kind, r.Due, r.Business, r.Problem = kindPayment, at, t.SupplierBusinessCode, foundLost
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
