package durable

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Comparison is the result of the comparisons with the service: see [Engine.CompareNow].
type Comparison struct {
	// Day is the settlement date of the last comparison that came to its end, and At when it did. Transactions is how
	// many the service had on that day, and Differences how many differed, with those that were Found on other days in the
	// 12 hours before. Day is zero if there was none.
	Day          quickstream.Date `json:"day,omitzero"`
	At           time.Time        `json:"at,omitzero"`
	Transactions int              `json:"transactions"`
	Differences  int              `json:"differences"`
	// Found are the first differences, up to 100.
	Found []Found `json:"found,omitempty"`
	// FailingSince is when comparisons began to fail; zero if the last one succeeded. Problem says why.
	FailingSince time.Time `json:"failingSince,omitzero"`
	Problem      string    `json:"problem,omitempty"`
}

// Found is a difference as [Comparison] keeps it: enough to find the payment.
type Found struct {
	Kind          DifferenceKind        `json:"kind"`
	WriteID       string                `json:"write,omitempty"` // empty if there is none here
	Order         string                `json:"order,omitempty"`
	Operation     quickstream.Operation `json:"operation,omitempty"`
	ReceiptNumber string                `json:"receipt,omitempty"`
	Amount        decimal.Decimal       `json:"amount"`
	Date          quickstream.Date      `json:"date,omitzero"` // the settlement date that was compared
}

// mostFound is how many differences a [Comparison] keeps.
const mostFound = 100

// comparisonName is the name under which the last comparison is stored.
const comparisonName = "comparison"

// CompareNow compares the transactions that the service settled on a date with the database, in both
// directions. It stores payments that are missing here, applies what the service says of the others, and notifies
// OnDifference of each difference. It reads page by page, and keeps the receipts of the day in memory.
func (e *Engine[TTx]) CompareNow(ctx context.Context, date quickstream.Date) error {
	return named(e.counted(ctx, date))
}

// counted runs a comparison and stores its result.
func (e *engine) counted(ctx context.Context, date quickstream.Date) error {
	c := &comparison{engine: e, date: date, receipts: map[string]bool{}}
	failed := c.compare(ctx)
	if ctx.Err() != nil { // it was cut off, and says nothing
		return failed
	}
	err := within(ctx, e.db, func(tx tx) error {
		last, err := readComparison(ctx, tx)
		if err != nil {
			return err
		}
		now, err := databaseNow(ctx, tx)
		if err != nil {
			return err
		}
		switch {
		case failed == nil:
			if now.Sub(last.At) < 12*time.Hour { // made up together: they stay visible
				kept := slices.DeleteFunc(last.Found, func(f Found) bool { return f.Date == date })
				c.differences += len(kept)
				c.found = append(kept, c.found...)[:min(len(kept)+len(c.found), mostFound)]
			}
			last = Comparison{Day: date, At: now, Transactions: c.transactions, Differences: c.differences, Found: c.found}
		case last.FailingSince.IsZero():
			last.FailingSince = now
			fallthrough
		default:
			last.Problem = problemOf(failed)
		}
		return setMetaJSON(ctx, tx, comparisonName, last)
	})
	return errors.Join(failed, err)
}

func readComparison(ctx context.Context, from reader) (c Comparison, err error) {
	text, err := meta(ctx, from, comparisonName)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &c)
	}
	return c, err
}

// comparison is one run of the comparison of a date.
type comparison struct {
	*engine
	transactions, differences int
	found                     []Found

	date     quickstream.Date
	receipts map[string]bool // of all that the service has
	// restoring has it store and apply, and report nothing.
	restoring bool
}

func (c *comparison) compare(ctx context.Context) error {
	err := c.readDay(ctx)
	empty := errors.Is(err, errUnexpectedlyEmpty)
	if empty || errors.Is(err, errUnreadableItem) {
		err = c.differ(ctx, Difference{Kind: DifferenceUnreadable, Date: c.date, Err: err})
	}
	if err != nil || empty { // a payment that is not in the list proves nothing then
		return err
	}
	return c.here(ctx)
}

// anys returns values as arguments.
func anys[T any](values []T) []any {
	args := make([]any, len(values))
	for i, value := range values {
		args[i] = value
	}
	return args
}

// list is the list of the first n arguments, for IN.
func list(n int) string {
	if n == 0 {
		return "('')"
	}
	var b strings.Builder
	for i := range n {
		b.WriteString(",$" + strconv.Itoa(i+1))
	}
	return "(" + b.String()[1:] + ")"
}

// page compares a page that was read at a time, or later. One statement finds the writes by their receipts, which is
// almost all of them.
func (c *comparison) page(ctx context.Context, page []*quickstream.Transaction, at time.Time) error {
	rows, receipts, known := make([]*row, len(page)), make([]any, len(page)), map[string]*row{}
	for i, t := range page {
		receipts[i] = t.ReceiptNumber
		c.receipts[t.ReceiptNumber] = true
	}
	c.transactions += len(page)
	err := c.each(ctx, c.db, func(r *row) { known[r.ReceiptNumber] = r },
		"receipt <> '' AND operation <> 'Transactions.Void' AND receipt IN "+list(len(receipts)), receipts...)
	for i, t := range page {
		if rows[i] = known[t.ReceiptNumber]; rows[i] == nil && err == nil {
			rows[i], err = c.about(ctx, c.db, t)
		}
	}
	for i, t := range page {
		if err == nil {
			err = c.pair(ctx, t, rows[i], at)
		}
	}
	return err
}

// pair compares a transaction with its write: it reports differences, and applies what is new.
func (c *comparison) pair(ctx context.Context, t *quickstream.Transaction, r *row, at time.Time) error {
	d := Difference{Date: c.date, Transaction: t}
	switch {
	case r == nil:
		return c.without(ctx, d, at)
	case r.unreadable != nil:
		d.Kind, d.Write, d.Err = DifferenceUnreadable, r.shown(), r.unreadable
		return c.differ(ctx, d)
	}
	for _, kind := range r.differences(t) {
		d.Kind, d.Write = kind, r.shown()
		if err := c.differ(ctx, d); err != nil {
			return err
		}
	}
	seen := ofTransaction(t, at)
	if r.unchangedBy(seen, c.policy) {
		return nil
	}
	return c.observe(ctx, r, seen)
}

// without reports a transaction that no write of the database has. It first stores a payment of this installation.
func (c *comparison) without(ctx context.Context, d Difference, at time.Time) error {
	t := d.Transaction
	stored, err := c.storeLost(ctx, t, at)
	if err != nil || c.restoring {
		return err
	}
	switch {
	case stored != nil && !stored.Paid():
		return nil // it has taken nothing so far, and its order shows it
	case stored != nil:
		if d.Kind, d.Write = DifferenceMissingHere, stored.shown(); stored.Reason == ReasonDoubleCharged {
			d.Kind = DifferenceDoubleCharged
		}
		return c.differ(ctx, d)
	}
	d.Kind = DifferenceNotOurs
	other, err := c.one(ctx, c.db, ofReceipt+" LIMIT 1", t.OriginalReceiptNumber)
	if err != nil {
		return err
	}
	if other != nil {
		d.Write = other.shown()
	}
	return c.differ(ctx, d)
}

// here finds the writes that are approved here and missing in the service's list.
func (c *comparison) here(ctx context.Context) error {
	var missing []*row
	err := c.each(ctx, c.db, func(r *row) {
		if !c.receipts[r.ReceiptNumber] {
			missing = append(missing, r)
		}
	}, "settles_on = $1 AND settles_on <> '' AND receipt <> '' AND "+sqlApproved()+" ORDER BY receipt", c.date.String())
	for _, r := range missing {
		if err == nil {
			err = c.missingThere(ctx, r)
		}
	}
	return err
}

// missingThere asks the service about a write that was missing in its list: a list that shifts while it is read can skip
// an entry.
func (c *comparison) missingThere(ctx context.Context, r *row) error {
	t, err := c.client.Transactions.Get(ctx, r.ReceiptNumber)
	switch {
	case err != nil && !isNone(err):
		return err
	case err == nil && t.SettlementDate == c.date:
		return c.pair(ctx, t, r, r.now)
	}
	if err := c.differ(ctx, Difference{Kind: DifferenceMissingThere, Date: c.date, Write: r.shown(), Transaction: t}); err != nil || t == nil {
		return err
	}
	return c.observe(ctx, r, ofTransaction(t, r.now))
}
