package durable

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	// readerPause is how long the lists belong to a process that does not report any more.
	readerPause = 30 * time.Second
	// readAgain is the pause before lists are read again that could not be, at first, and again while look-ups may lag.
	readAgain = 5 * time.Second
	// settlesWithin is in how many days at most a payment settles that is made today: two business days, over Easter and
	// Christmas too.
	settlesWithin = 7
)

var errNotReader = errors.New("another process reads the lists, or the history has changed again")

// restore reads the service's lists for payments that the database lacks, in one process at a time, as long as the
// history of the database is being restored.
func (e *engine) restore(ctx context.Context) error {
	if e.stopping.Load() {
		return nil
	}
	turn := ""
	var mine restoring
	var at time.Time
	err := within(ctx, e.db, func(tx tx) error {
		g, err := e.gates(ctx, tx)
		mine = g.restoring
		return err
	})
	if err != nil || !mine.on() {
		return err
	}
	err = e.changeRestoring(ctx, func(_ tx, s *restoring, now time.Time) (bool, error) {
		if !s.on() || s.Next.After(now) {
			return false, nil
		}
		turn, at = rand.Text(), now
		s.Reader, s.Next = turn, now.Add(readerPause)
		mine = *s
		return true, nil
	})
	if err != nil || turn == "" {
		return err
	}
	unreadable, err := e.readLists(ctx, mine, at)
	if err != nil {
		if errors.Is(err, errNotReader) || ctx.Err() != nil {
			return nil //nolint:nilerr // another process goes on
		}
		unreadable = problemOf(err)
	}
	return e.changeRestoring(ctx, func(tx tx, s *restoring, now time.Time) (bool, error) {
		if s.Reader != turn || !s.Began.Equal(mine.Began) {
			return false, nil
		}
		took := now.Sub(at)
		s.Reader, s.Unreadable = "", unreadable
		s.Next = now.Add(max(readAgain, 4*took))
		if unreadable != "" {
			if !s.Failed {
				s.Failed = true
				if err := execute(ctx, tx, "UPDATE quickstream.write SET suspect = $1 WHERE state = 'queued' AND suspect = $2", suspectFailed, suspectBefore); err != nil {
					return false, err
				}
			}
			e.logger.ErrorContext(ctx, "quickstream: the service's lists cannot be read after the history of the database has changed: see EndRestoring", "problem", unreadable)
			return true, nil
		}
		if s.Read.IsZero() {
			s.Read = at
		}
		s.Last = at
		return true, e.endRestoring(ctx, tx, s)
	})
}

// endRestoring ends the restoring if the lists were read after look-ups must show everything, and nothing waits for a
// person to confirm the history.
func (e *engine) endRestoring(ctx context.Context, tx tx, s *restoring) error {
	if s.Last.Before(s.Read.Add(e.lag)) || s.MaybeCopy && !s.Confirmed {
		return nil
	}
	*s = restoring{}
	return e.recordInstallation(ctx, tx, Event{Kind: EventRestoringEnded, By: "the engine", Note: "all lists were read, and look-ups show everything"})
}

// report keeps the turn of a process that reads.
func (e *engine) report(ctx context.Context, turn string) error {
	held := false
	err := e.changeRestoring(ctx, func(_ tx, s *restoring, now time.Time) (bool, error) {
		if held = s.Reader == turn; held {
			s.Next = now.Add(readerPause)
		}
		return held, nil
	})
	if err == nil && !held {
		err = errNotReader
	}
	return err
}

// readLists reads the lists of all days on which a payment can have settled that is not known. unreadable says what
// could not be read; then the others are read all the same.
func (e *engine) readLists(ctx context.Context, s restoring, now time.Time) (unreadable string, err error) {
	first := quickstream.DateOf(s.Since.In(e.sydney))
	if s.Since.In(e.sydney).Hour() == 0 { // clocks differ
		first = first.AddDays(-1)
	}
	last := quickstream.DateOf(now.In(e.sydney)).AddDays(settlesWithin)
	for date := first; date.Compare(last) <= 0; date = date.AddDays(1) {
		day := comparison{engine: e, date: date, receipts: map[string]bool{}, restoring: true}
		err := day.readDay(ctx, func() error { return e.report(ctx, s.Reader) })
		switch {
		case errors.Is(err, errNotReader) || ctx.Err() != nil:
			return "", cmp.Or(err, ctx.Err())
		case err != nil:
			unreadable = cmp.Or(unreadable, fmt.Sprintf("%s: %s", date, problemOf(err)))
		}
	}
	return unreadable, nil
}

var (
	errUnexpectedlyEmpty = errors.New("the service lists nothing, and the database has payments that settled on that day")
	errUnreadableItem    = errors.New("a transaction cannot be read")
)

// readDay reads all that the service has settled on a day, page by page. An empty first page, or a 404 in the service's
// error body, is a day without transactions, unless the database has some of it. Any other failure is an error. after is
// called after each page.
func (c *comparison) readDay(ctx context.Context, after func() error) error {
	read, unreadable := 0, 0
	at, err := c.clock(ctx)
	if err != nil {
		return err
	}
	for page, err := range pages(ctx, c.client.Transactions.BySettlementDate(c.date)) {
		if err != nil {
			return err
		}
		read += len(page.Data) + len(page.Unreadable)
		unreadable += len(page.Unreadable)
		if err := c.page(ctx, page.Data, at); err != nil {
			return err
		}
		if err := after(); err != nil {
			return err
		}
		if at, err = c.clock(ctx); err != nil {
			return err
		}
	}
	if unreadable > 0 {
		return fmt.Errorf("%w: %d of %s", errUnreadableItem, unreadable, c.date)
	}
	if read > 0 {
		return nil
	}
	return within(ctx, c.db, func(tx tx) error {
		n, err := count(ctx, tx, "SELECT count(*) FROM (SELECT 1 FROM quickstream.write WHERE settles_on <> '' AND settles_on = $1 AND "+sqlApproved()+" LIMIT 1) AS settled", c.date.String())
		if err == nil && n > 0 {
			err = errUnexpectedlyEmpty
		}
		return err
	})
}

const foundLost = "found at the service, and not in the database"

// storeLost stores a payment that the database lacks, if it is that of an order of this installation. Its order is
// paid.
func (e *engine) storeLost(ctx context.Context, t *quickstream.Transaction, at time.Time) (*row, error) {
	order := t.Metadata[orderMember]
	if order == "" || t.Metadata[installationMember] != e.installation || t.ReceiptNumber == "" || !mayPay(t) {
		return nil, nil //nolint:nilnil // it is another program's
	}
	var found *row
	seen := ofTransaction(t, at)
	err := within(ctx, e.db, func(tx tx) error {
		known, err := e.about(ctx, tx, t) // not by the order, which another try may have
		if err != nil || known != nil {
			found = known
			return err
		}
		lost := e.lostRow(NewWrite{ID: cmp.Or(t.Metadata[writeMember], "lost "+t.ReceiptNumber), Order: order}, t, at)
		if err := e.lock(ctx, tx, lost); err != nil {
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
		current, err := e.one(ctx, tx, "order_id = $1 AND follows = '' AND replaced_by = '' AND "+sqlBlocks()+" LIMIT 1"+e.dialect.ForUpdate, order)
		if err != nil {
			return err
		}
		if current != nil {
			found, seen, err = e.besideCurrent(ctx, tx, lost, current, t, seen)
			return err
		}
		found = lost
		return e.insertLost(ctx, tx, lost, seen)
	})
	if err != nil || found == nil {
		return found, err
	}
	return found, e.observe(ctx, found, seen)
}

var errNotStored = errors.New("a payment that the database lacks could not be stored: another one has its id, its order or its token")

// insertLost stores a row that was read from the service. If it is not stored the list was not read.
func (e *engine) insertLost(ctx context.Context, tx tx, lost *row, seen observed) error {
	stored, err := e.insert(ctx, tx, lost, e.statements.insert)
	if err == nil && !stored {
		err = errNotStored
	}
	if err != nil {
		return err
	}
	return e.record(ctx, tx, lost, Event{Kind: EventLookedUp, Seen: seen.seen})
}

// lostRow is the row of a payment that the database lacks.
func (e *engine) lostRow(w NewWrite, t *quickstream.Transaction, at time.Time) *row {
	sent := t.TransactionTime.Time
	if sent.IsZero() || sent.After(at) {
		sent = at
	}
	operation := quickstream.OperationPay
	switch {
	case t.TransactionType == quickstream.TransactionTypePreauth:
		operation = quickstream.OperationPreauthorise
	case t.PayToData != nil:
		operation = quickstream.OperationCollect
	}
	c := resolve.Begin(quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: operation, Reference: t.PaymentReferenceNumber, ReceiptNumber: t.ReceiptNumber, NotBefore: sent,
	}, at)
	r := e.rowOf(w, c.Intent)
	r.Standing, r.ReceiptNumber, r.Reference, r.lookups = standing(StateUnknown), t.ReceiptNumber, t.PaymentReferenceNumber, c
	r.Due, r.Business, r.Problem = at, t.SupplierBusinessCode, foundLost
	if t.PrincipalAmount != nil {
		r.Amount, r.Currency = t.PrincipalAmount.Amount, t.PrincipalAmount.Currency
	}
	return r
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

// besideCurrent is what a lost payment means for its order's current one, and returns the row that it
// is and what was seen of that. A row that was never claimed is the lost payment if it agrees with
// it, because it must not be sent beside it. One that does not agree is not sent: a person has to find
// out whose payment was found. Beside any other row the lost payment is the second.
func (e *engine) besideCurrent(ctx context.Context, tx tx, lost, current *row, t *quickstream.Transaction, seen observed) (*row, observed, error) {
	outcome, agrees := seen.seen.Outcome, current.agrees(t)
	took := outcome != quickstream.OutcomeDeclined && outcome != quickstream.OutcomeRejected && outcome != quickstream.OutcomeVoided
	switch {
	case took && current.claim == "" && current.Reason == ReasonConflict && !agrees:
		return nil, seen, nil // it waits for a person already
	case took && current.neverClaimed() && !agrees:
		return current, observed{
			kind: sawConflict, at: seen.at, reason: ReasonConflict,
			problem: "the service has a transaction of this order that differs in type, amount, currency or business: receipt number " + t.ReceiptNumber,
		}, nil
	case took && current.neverClaimed():
		found := *current
		found.Standing, found.ReceiptNumber, found.lookups, found.Due, found.Problem = lost.Standing, lost.ReceiptNumber, lost.lookups, lost.Due, lost.Problem
		found.lookups.Intent = found.sentIntent()
		found.lookups.Intent.ReceiptNumber, found.lookups.Intent.Answered = lost.ReceiptNumber, true
		found.Sends = max(found.Sends, 1)
		return current, seen, e.change(ctx, tx, current, &found)
	}
	if lost.ID == current.ID { // this send of it, beside another
		lost.ID = "lost " + lost.ReceiptNumber
	}
	lost.ReplacedBy = current.ID
	return lost, seen, e.insertLost(ctx, tx, lost, seen)
}
