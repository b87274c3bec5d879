package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Compare holds what the service has settled on a date against the database, in both
// directions, and tells OnDifference what it finds. What the service says of a payment
// is applied as if it had been looked up: OnOutcome is told where that changes anything.
// It reads page by page, in constant memory.
func (e *Engine[TTx]) Compare(ctx context.Context, date quickstream.Date) error {
	return e.counted(ctx, date, e.compare)
}

func (e *engine) compare(ctx context.Context, date quickstream.Date, n *tally) error {
	c, err := e.comparison(ctx, date, n)
	if err != nil {
		return err
	}
	at := e.clock() // before the page was read
	for page, err := range pages(ctx, e.client.Transactions.BySettlementDate(date)) {
		if err != nil {
			return fmt.Errorf("durable: %w", err)
		}
		for _, unreadable := range page.Unreadable {
			if err := c.differ(ctx, Difference{Kind: Unreadable, Date: date, Err: unreadable}); err != nil {
				return err
			}
		}
		if err := c.page(ctx, page.Data, at); err != nil {
			return err
		}
		at = e.clock()
	}
	return c.here(ctx)
}

// comparison is one run of the comparison of a date.
type comparison struct {
	*engine
	*tally

	date quickstream.Date
	run  string
}

// comparison begins a run.
func (e *engine) comparison(ctx context.Context, date quickstream.Date, n *tally) (*comparison, error) {
	// Its number begins with the time, so that what runs that were cut off have left can be
	// removed.
	now := e.clock()
	c := &comparison{e, n, date, runAt(now) + rand.Text()}
	return c, e.letGo(ctx, "<", runAt(now.Add(-3*24*time.Hour)))
}

func runAt(t time.Time) string { return fmt.Sprintf("%020d ", t.UnixMicro()) }

// pair is a transaction and the payment that it is.
type pair struct {
	transaction *quickstream.Transaction
	row         *row       // nil where there is none
	without     Difference // what there is then
	version     error      // of a row of another version of the program
}

// page compares transactions of the service's that were read at a time, or later; a zero
// time tells that they are a report's, whose word is looked up before it is applied.
func (c *comparison) page(ctx context.Context, page []*quickstream.Transaction, at time.Time) error {
	c.transactions += len(page)
	var pairs []pair
	err := c.retried(ctx, func(tx tx) (err error) {
		if pairs, err = c.pairs(ctx, tx, page); err == nil {
			err = c.mark(ctx, tx, pairs)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	for _, p := range pairs {
		if err := c.pair(ctx, p, at); err != nil {
			return err
		}
	}
	return nil
}

// pairs finds the payments of transactions: by receipt all at once, as almost all are
// known by theirs.
func (c *comparison) pairs(ctx context.Context, tx tx, page []*quickstream.Transaction) ([]pair, error) {
	known := map[string]pair{}
	receipts := make([]any, 0, len(page))
	for _, t := range page {
		receipts = append(receipts, t.ReceiptNumber)
	}
	err := c.each(ctx, tx, func(r *row, version error) { known[r.ReceiptNumber] = pair{row: r, version: version} },
		"receipt <> '' AND receipt IN "+list(len(receipts)), receipts...)
	if err != nil {
		return nil, err
	}
	pairs := make([]pair, len(page))
	for i, t := range page {
		p := known[t.ReceiptNumber]
		p.transaction = t
		if p.row == nil {
			if p.row, err = c.about(ctx, tx, t); err == nil && p.row == nil {
				p.without, err = c.without(ctx, tx, t)
			}
			if err != nil {
				return nil, err
			}
		}
		pairs[i] = p
	}
	return pairs, nil
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

// mark notes which payments the service has on the date.
func (c *comparison) mark(ctx context.Context, tx tx, pairs []pair) error {
	args, values := []any{c.run}, ""
	for _, p := range pairs {
		if p.row != nil {
			args = append(args, p.row.ID)
			values += fmt.Sprintf(",($1,$%d)", len(args))
		}
	}
	if values == "" {
		return nil
	}
	return execute(ctx, tx, "INSERT INTO quickstream.compared (run, id) VALUES "+values[1:]+" ON CONFLICT DO NOTHING", args...)
}

// without is the difference of a transaction that is no payment of the database.
func (c *comparison) without(ctx context.Context, tx tx, t *quickstream.Transaction) (Difference, error) {
	d := Difference{Kind: NotOurs, Date: c.date, Transaction: t}
	where, key := ofReceipt, t.OriginalReceiptNumber
	if order := t.Metadata[orderMember]; order != "" && t.Metadata[installationMember] == c.installation {
		d.Kind, key = MissingHere, order
		where = "order_id = $1 AND kind = 'payment' AND " + sqlPaid()
	}
	other, err := c.one(ctx, tx, where+" LIMIT 1", key)
	if err != nil || other == nil {
		return d, err
	}
	d.Write = other.write()
	if other.emptied() && t.PrincipalAmount != nil && t.PrincipalAmount.Amount.Equal(other.Amount) {
		return d, nil // it was emptied, and is this one
	}
	if d.Kind == MissingHere && t.TransactionType != quickstream.TransactionTypeRefund && approved(t) {
		d.Kind = DoubleCharged
	}
	return d, nil
}

// pair tells what differs, and applies what is new.
func (c *comparison) pair(ctx context.Context, p pair, at time.Time) error {
	if err := c.refunds(ctx, p.transaction); err != nil {
		return err
	}
	if p.row == nil {
		return c.differ(ctx, p.without)
	}
	if p.version != nil {
		return c.differ(ctx, Difference{Kind: Unreadable, Date: c.date, Write: p.row.write(), Transaction: p.transaction, Err: p.version})
	}
	kinds := p.row.differences(p.transaction)
	for _, kind := range kinds {
		if err := c.differ(ctx, Difference{Kind: kind, Date: c.date, Write: p.row.write(), Transaction: p.transaction}); err != nil {
			return err
		}
	}
	seen := ofTransaction(p.transaction, at)
	if at.IsZero() {
		if len(kinds) == 0 {
			return nil
		}
		at := c.clock()
		t, err := c.client.Transactions.Get(ctx, p.transaction.ReceiptNumber)
		if err != nil {
			return fmt.Errorf("durable: %w", err)
		}
		seen = ofTransaction(t, at)
	}
	if next := p.row.after(seen, c.policy, c.clock()); next.same(p.row) {
		return nil // as almost always
	}
	return c.observeOne(ctx, p.row.ID, seen)
}

// refunds adds up the refunds of a refund's payment, as the service knows them.
func (c *comparison) refunds(ctx context.Context, t *quickstream.Transaction) error {
	if t.TransactionType != quickstream.TransactionTypeRefund || t.OriginalReceiptNumber == "" || !approved(t) {
		return nil
	}
	payment, err := c.peek(ctx, ofReceipt+" LIMIT 1", t.OriginalReceiptNumber)
	if err != nil || payment == nil {
		return err
	}
	limit, sum := c.mostRefunded(payment.Amount, payment.total), decimal.Decimal{}
	for refund, err := range c.client.Transactions.Refunds(t.OriginalReceiptNumber).All(ctx) {
		switch {
		case isNone(err) || errors.Is(err, quickstream.ErrUnreadableItem): // those of the date are told as such
		case err != nil:
			return fmt.Errorf("durable: %w", err)
		case approved(refund) && refund.PrincipalAmount != nil:
			sum = sum.Add(refund.PrincipalAmount.Amount)
		}
	}
	if !sum.GreaterThan(limit) {
		return nil
	}
	return c.differ(ctx, Difference{Kind: RefundsExceed, Date: c.date, Write: payment.write(), Transaction: t})
}

// here finds what is approved here and was not among what the service settled. It reads
// a part at a time, as nobody else can write to a SQLite file meanwhile.
func (c *comparison) here(ctx context.Context) error {
	for after := ""; ; {
		var last *string
		var missing []pair
		err := within(ctx, c.db, func(tx tx) error {
			err := query(ctx, tx, func(scan func(...any) error) error { return scan(&last) }, `SELECT max(receipt) FROM
				(SELECT receipt FROM quickstream.write WHERE settles_on = $1 AND settles_on <> '' AND receipt > $2 ORDER BY receipt LIMIT 1000) AS part`, c.date.String(), after)
			if err != nil || last == nil {
				return err
			}
			return c.each(ctx, tx, func(r *row, version error) { missing = append(missing, pair{row: r, version: version}) },
				`settles_on = $1 AND settles_on <> '' AND receipt > $2 AND receipt <= $3 AND `+sqlPaid()+` AND
				NOT EXISTS (SELECT 1 FROM quickstream.compared c WHERE c.run = $4 AND c.id = quickstream.write.id) ORDER BY receipt`,
				c.date.String(), after, *last, c.run)
		})
		if err != nil {
			return fmt.Errorf("durable: %w", err)
		}
		if last == nil {
			return c.letGo(ctx, "=", c.run)
		}
		for _, p := range missing {
			if err := c.missingThere(ctx, p); err != nil {
				return err
			}
		}
		after = *last
	}
}

// letGo removes what was noted by a run, or by those before it, a part at a time.
func (e *engine) letGo(ctx context.Context, which, run string) error {
	for n := int64(1); n > 0; {
		err := within(ctx, e.db, func(tx tx) (err error) {
			n, err = tx.Exec(ctx, "DELETE FROM quickstream.compared WHERE (run, id) IN (SELECT run, id FROM quickstream.compared WHERE run "+which+" $1 LIMIT 5000)", run)
			return err
		})
		if err != nil {
			return fmt.Errorf("durable: %w", err)
		}
	}
	return nil
}

// missingThere asks the service about a payment that was not where it should be: a list
// that moved while it was read may have lost it.
func (c *comparison) missingThere(ctx context.Context, p pair) error {
	at, d := c.clock(), Difference{Kind: MissingThere, Date: c.date, Write: p.row.write()}
	t, err := c.client.Transactions.Get(ctx, p.row.ReceiptNumber)
	if err != nil {
		switch unreadable := (*quickstream.DecodeError)(nil); {
		case errors.As(err, &unreadable):
			d.Kind, d.Err = Unreadable, err
		case !isNone(err):
			return fmt.Errorf("durable: %w", err)
		}
		return c.differ(ctx, d)
	}
	if t.SettlementDate == c.date {
		p.transaction = t
		return c.pair(ctx, p, at)
	}
	d.Transaction = t
	if err := c.differ(ctx, d); err != nil {
		return err
	}
	if p.version == nil {
		return c.observeOne(ctx, p.row.ID, ofTransaction(t, at))
	}
	return nil
}
