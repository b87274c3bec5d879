package durable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	// readerPause is how long the lists stay reserved for a process that has stopped reading.
	readerPause = 30 * time.Second
	// readAgain is the shortest pause before the lists are read again, after a failure or while look-ups may lag.
	readAgain = 5 * time.Second
	// settlesWithin is the most days until a payment that is made today settles: two business days, over Easter and
	// Christmas too.
	settlesWithin = 7
)

// restore reads the service's lists for payments that the database lacks, as long as the history of the database is
// being restored. One process at a time reads them; two at once do no harm.
func (e *engine) restore(ctx context.Context) error {
	g, err := e.gates(ctx, e.db)
	if err != nil || !g.restoring.on() || e.stopping.Load() {
		return err
	}
	var mine restoring
	var at time.Time
	err = e.changeRestoring(ctx, func(_ tx, s *restoring, now time.Time) (bool, error) {
		if !s.on() || s.Next.After(now) {
			return false, nil
		}
		s.Next = now.Add(readerPause)
		mine, at = *s, now
		return true, nil
	})
	if err != nil || at.IsZero() {
		return err
	}
	unreadable := e.readLists(ctx, mine, at)
	if ctx.Err() != nil {
		return ctx.Err() // another process goes on
	}
	return e.changeRestoring(ctx, func(tx tx, s *restoring, now time.Time) (bool, error) {
		if !s.Began.Equal(mine.Began) { // it has ended, or begun again
			return false, nil
		}
		s.Next, s.Unreadable = now.Add(max(readAgain, 4*now.Sub(at))), unreadable
		switch {
		case unreadable != "":
			e.logger.ErrorContext(ctx, "quickstream: the service's lists cannot be read after the history of the database has changed: see EndRestoring", "problem", unreadable)
			return true, execute(ctx, tx, "UPDATE quickstream.write SET suspect = $1 WHERE state = 'queued' AND suspect = $2", suspectFailed, suspectBefore)
		case s.Read.IsZero():
			s.Read = at
		}
		if at.Before(s.Read.Add(e.lag)) || s.MaybeCopy {
			return true, nil
		}
		*s = restoring{Ended: now}
		return true, e.recordInstallation(ctx, tx, Event{Kind: EventRestoringEnded, By: "the engine", Note: "all lists were read, and look-ups show everything"})
	})
}

// readLists reads the lists of all days on which an unknown payment can have settled. It returns the first list that
// could not be read, and reads the others all the same.
func (e *engine) readLists(ctx context.Context, s restoring, now time.Time) (unreadable string) {
	first := quickstream.DateOf(s.Since.Add(-time.Hour).In(e.sydney)) // clocks differ
	last := quickstream.DateOf(now.In(e.sydney)).AddDays(settlesWithin)
	for date := first; date.Compare(last) <= 0 && ctx.Err() == nil; date = date.AddDays(1) {
		day := comparison{engine: e, date: date, receipts: map[string]bool{}, restoring: true}
		if err := day.readDay(ctx); err != nil {
			unreadable = cmp.Or(unreadable, fmt.Sprintf("%s: %s", date, problemOf(err)))
		}
	}
	return unreadable
}

var (
	errUnexpectedlyEmpty = errors.New("the service lists nothing, and the database has payments that settled on that day")
	errUnreadableItem    = errors.New("a transaction cannot be read")
)

// readDay reads all that the service has settled on a day, page by page. An empty first page, or a 404 in the service's
// error body, is a day without transactions, unless the database has some of it. Any other failure is an error.
func (c *comparison) readDay(ctx context.Context) error {
	begun, err := c.gates(ctx, c.db)
	if err != nil {
		return err
	}
	read, unreadable := 0, 0
	for page, err := range pages(ctx, c.client.Transactions.BySettlementDate(c.date)) {
		if err == nil {
			err = c.page(ctx, page.Data, begun.now)
		}
		if err == nil && c.restoring { // keeps other processes from reading
			err = c.changeRestoring(ctx, func(_ tx, s *restoring, now time.Time) (bool, error) {
				s.Next = now.Add(readerPause)
				return s.on(), nil
			})
		}
		if err != nil {
			return err
		}
		read += len(page.Data) + len(page.Unreadable)
		unreadable += len(page.Unreadable)
	}
	switch {
	case unreadable > 0:
		return fmt.Errorf("%w: %d of %s", errUnreadableItem, unreadable, c.date)
	case read > 0:
		return nil
	}
	n, err := count(ctx, c.db, "SELECT count(*) FROM (SELECT 1 FROM quickstream.write WHERE settles_on <> '' AND settles_on = $1 AND "+sqlApproved()+" LIMIT 1) AS settled", c.date.String())
	if err == nil && n > 0 {
		err = errUnexpectedlyEmpty
	}
	return err
}

const foundLost = "found at the service, and not in the database"

var errNotStored = errors.New("a payment that the database lacks could not be stored: another one has its id, its order or its token")

// storeLost stores a payment that the database lacks, if it is for an order of this installation. The order is then
// paid, and another payment of it that waits is not sent.
func (e *engine) storeLost(ctx context.Context, t *quickstream.Transaction, at time.Time) (*row, error) {
	order := t.Metadata[orderMember]
	if order == "" || t.Metadata[installationMember] != e.installation || t.ReceiptNumber == "" || !mayPay(t) {
		return nil, nil //nolint:nilnil // it is another program's
	}
	seen, found := ofTransaction(t, at), e.lostRow(NewWrite{ID: "lost " + t.ReceiptNumber, Order: order}, t, at)
	err := within(ctx, e.db, func(tx tx) error {
		if err := e.lock(ctx, tx, found); err != nil {
			return err
		}
		known, err := e.about(ctx, tx, t)
		if err != nil || known != nil {
			found = known
			return err
		}
		current, err := e.one(ctx, tx, "order_id = $1 AND follows = '' AND replaced_by = '' AND "+sqlBlocks()+" LIMIT 1", order)
		if err != nil {
			return err
		}
		if current != nil {
			found.ReplacedBy = current.ID
		}
		stored := false
		for _, id := range []string{t.Metadata[writeMember], found.ID} { // its own may have been used again since
			if id != "" && !stored && err == nil {
				found.ID = id
				stored, err = e.insert(ctx, tx, found, e.statements.insert)
			}
		}
		if err == nil && !stored { // the list then counts as unread
			err = errNotStored
		}
		if err != nil {
			return err
		}
		return e.record(ctx, tx, found, Event{Kind: EventLookedUp, Seen: seen.seen})
	})
	if err != nil {
		return nil, err
	}
	return found, e.observe(ctx, found, seen)
}

// lostRow returns the row of a payment that the database lacks.
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
		Version: quickstream.IntentVersion, Operation: operation, Reference: t.PaymentReferenceNumber, ReceiptNumber: t.ReceiptNumber, MadeAt: sent,
	}, at)
	r := e.rowOf(w, c.Intent)
	r.Standing, r.ReceiptNumber, r.Reference, r.lookups = standing(StateUnknown), t.ReceiptNumber, t.PaymentReferenceNumber, c
	r.customer, r.Due, r.SupplierBusinessCode, r.Problem = digest(t.CustomerReferenceNumber), at, t.SupplierBusinessCode, foundLost
	if t.PrincipalAmount != nil {
		r.Amount, r.Currency = t.PrincipalAmount.Amount, t.PrincipalAmount.Currency
	}
	return r
}
