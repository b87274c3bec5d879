package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// DifferenceKind is what the comparison found.
type DifferenceKind string

// The differences.
const (
	MissingHere     DifferenceKind = "missing here"  // an order's payment that is not in the database
	MissingThere    DifferenceKind = "missing there" // approved here, and not settled on its day
	DifferentAmount DifferenceKind = "amount"
	DifferentState  DifferenceKind = "state"
	Late            DifferenceKind = "late" // settled there, and still open here
	ChargedTwice    DifferenceKind = "charged twice"
	AbsentCharged   DifferenceKind = "absent but charged"
	RefundsAbove    DifferenceKind = "refunds above the payment"
	NotOurs         DifferenceKind = "not ours" // made by something else of the merchant's
	Unreadable      DifferenceKind = "unreadable"
)

// Difference is what the service and the database say differently about a payment.
type Difference struct {
	Kind DifferenceKind
	Date quickstream.Date
	// Payment is the payment as it stood here; its ID is "" where there is none.
	Payment Payment
	// Transaction is what the service has; nil where there is nothing.
	Transaction *quickstream.Transaction
}

// Compare holds what the service has settled on a date against the database, in both
// directions, and tells OnDifference what it finds. What the service says of a payment
// is applied as if it had been looked up: OnOutcome is told where that changes anything.
// It reads page by page, and keeps no more than a page in memory.
func (e *Engine[TTx]) Compare(ctx context.Context, date quickstream.Date) error {
	run := rand.Text()
	for page, err := range e.settling(date).Pages(ctx) {
		if isNone(err) {
			break
		}
		if err != nil {
			return err
		}
		for range page.Unreadable {
			if err := e.differ(ctx, Difference{Kind: Unreadable, Date: date}); err != nil {
				return err
			}
		}
		for _, t := range page.Data {
			if err := e.compareThere(ctx, run, date, t); err != nil {
				return err
			}
		}
	}
	return e.compareHere(ctx, run, date)
}

func (e *Engine[TTx]) settling(date quickstream.Date) quickstream.List[quickstream.Transaction] {
	return e.client.Transactions.BySettlementDate(date)
}

// compareThere compares a transaction of the service's.
func (e *Engine[TTx]) compareThere(ctx context.Context, run string, date quickstream.Date, t *quickstream.Transaction) error {
	at := e.opts.Clock()
	var found *row
	above := false
	err := within(ctx, e.db, func(tx TTx) (err error) {
		if found, err = e.about(ctx, tx, t); err != nil || found == nil {
			return err
		}
		above, err = e.refundsAbove(ctx, tx, found)
		if err != nil {
			return err
		}
		return execute(ctx, e.db, tx, "UPDATE quickstream.payment SET compared = $1 WHERE id = $2", run, found.ID)
	})
	if err != nil {
		return err
	}
	if found == nil {
		kind := NotOurs
		if t.Metadata[orderMember] != "" {
			kind = MissingHere
		}
		return e.differ(ctx, Difference{Kind: kind, Date: date, Transaction: t})
	}
	kinds := found.differences(t)
	if above {
		kinds = append(kinds, RefundsAbove)
	}
	for _, kind := range kinds {
		if err := e.differ(ctx, Difference{Kind: kind, Date: date, Payment: found.Payment, Transaction: t}); err != nil {
			return err
		}
	}
	return e.observe(ctx, found.ID, ofTransaction(t, at))
}

// differences are what a transaction says differently.
func (r *row) differences(t *quickstream.Transaction) []DifferenceKind {
	var kinds []DifferenceKind
	if t.PrincipalAmount != nil && !t.PrincipalAmount.Amount.Equal(r.Amount) && !r.Amount.IsZero() {
		kinds = append(kinds, DifferentAmount)
	}
	outcome, open := t.Outcome()
	approved := open == nil && outcome == quickstream.OutcomeApproved
	switch {
	case approved && r.ReceiptNumber != "" && r.ReceiptNumber != t.ReceiptNumber && r.State == StateApproved:
		kinds = append(kinds, ChargedTwice)
	case approved && r.State == StateAbsent:
		kinds = append(kinds, AbsentCharged)
	case open == nil && r.State.Open():
		kinds = append(kinds, Late)
	case approved && r.State != StateApproved && r.State != StateTwice, open == nil && !approved && r.State == StateApproved:
		kinds = append(kinds, DifferentState)
	}
	return kinds
}

// refundsAbove reports whether the refunds of a refund's payment exceed it.
func (e *Engine[TTx]) refundsAbove(ctx context.Context, tx TTx, r *row) (bool, error) {
	if r.intent.Operation != refundOperation {
		return false, nil
	}
	payment, err := e.one(ctx, tx, "receipt = $1 AND receipt_of <> receipt LIMIT 1", r.ReceiptOf)
	if err != nil || payment == nil {
		return false, err
	}
	refunded := *r
	refunded.Amount, refunded.ID = decimal.Decimal{}, ""
	switch err := e.refundable(ctx, tx, &refunded, payment.Amount, payment.total); {
	case errors.Is(err, ErrTooMuch):
		return true, nil
	default:
		return false, err
	}
}

// compareHere finds what is approved here and was not among what the service settled.
func (e *Engine[TTx]) compareHere(ctx context.Context, run string, date quickstream.Date) error {
	last := ""
	for {
		var missing []row
		err := within(ctx, e.db, func(tx TTx) error {
			return query(ctx, e.db, tx, func(scan func(...any) error) error {
				var r row
				err := r.scan(scan)
				missing = append(missing, r)
				return err
			}, "SELECT "+columns+` FROM quickstream.payment WHERE settles_on = $1 AND receipt > $2 AND compared <> $3
				AND state IN ('approved', 'charged twice') ORDER BY receipt LIMIT 500`, date.String(), last, run)
		})
		if err != nil || len(missing) == 0 {
			return err
		}
		for _, r := range missing {
			if err := e.differ(ctx, Difference{Kind: MissingThere, Date: date, Payment: r.Payment}); err != nil {
				return err
			}
			last = r.ReceiptNumber
		}
	}
}

func (e *Engine[TTx]) differ(ctx context.Context, d Difference) error {
	if e.opts.OnDifference == nil {
		return nil
	}
	return e.opts.OnDifference(ctx, d)
}

// compareAt is when the comparison of a day is due; zero where there is none.
func (e *Engine[TTx]) compareAt() time.Time {
	if e.opts.CompareAt == nil {
		return time.Time{}
	}
	return e.morning(*e.opts.CompareAt)
}

func (e *Engine[TTx]) compareYesterday(ctx context.Context) error {
	return e.Compare(ctx, quickstream.DateOf(e.opts.Clock().In(e.sydney)).AddDays(-1))
}
