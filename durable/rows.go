package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// read returns a payment, locked until the transaction ends.
func (e *Engine[TTx]) read(ctx context.Context, tx TTx, id string) (*row, error) {
	return e.one(ctx, tx, "id = $1"+e.db.Words().ForUpdate, id)
}

// each calls f for every payment that a condition names. One that is of another version
// of the program is given with its error.
func (e *Engine[TTx]) each(ctx context.Context, tx TTx, f func(r *row, unreadable error), where string, args ...any) error {
	return query(ctx, e.db, tx, func(scan func(...any) error) error {
		r := new(row)
		err := r.scan(scan)
		if version := (*VersionError)(nil); err == nil || errors.As(err, &version) {
			f(r, err)
			return nil
		}
		return err
	}, "SELECT "+columns+" FROM quickstream.payment WHERE "+where, args...)
}

// one returns the payment that a condition names, or nil.
func (e *Engine[TTx]) one(ctx context.Context, tx TTx, where string, args ...any) (found *row, err error) {
	err = query(ctx, e.db, tx, func(scan func(...any) error) error {
		r, age := new(row), int64(0)
		if err := r.scan(scan, &age); err != nil {
			return err
		}
		r.age = time.Duration(age) * time.Microsecond
		found = r
		return nil
	}, "SELECT "+columns+", "+e.db.Words().Now+" - database_at FROM quickstream.payment WHERE "+where, args...)
	return found, err
}

// peek returns the payment that a condition names, or nil, in a transaction of its own.
func (e *Engine[TTx]) peek(ctx context.Context, where string, args ...any) (found *row, err error) {
	err = within(ctx, e.db, func(tx TTx) (err error) {
		found, err = e.one(ctx, tx, where, args...)
		return err
	})
	return found, err
}

// ofReceipt is the condition of the payment or refund that a receipt is of, and not of what
// is done to it. The index leaves out what is empty, which SQLite cannot tell of a
// parameter.
const ofReceipt = "receipt <> '' AND receipt = $1 AND receipt_of <> receipt"

// byReceipt returns the payment or refund that a receipt is of, or nil.
func (e *Engine[TTx]) byReceipt(ctx context.Context, tx TTx, receipt string) (*row, error) {
	return e.one(ctx, tx, ofReceipt+" LIMIT 1", receipt)
}

// lockOrder waits for whoever changes a payment of the order. PostgreSQL decides what a
// statement sees when it begins, and not when it is let in: what follows sees what they
// have committed.
func (e *Engine[TTx]) lockOrder(ctx context.Context, tx TTx, r *row) error {
	if e.db.Words().ForUpdate == "" || r.ReceiptOf != "" {
		return nil
	}
	return execute(ctx, e.db, tx, "SELECT FROM quickstream.payment WHERE order_id = $1 AND receipt_of = '' ORDER BY id"+e.db.Words().ForUpdate, r.OrderID)
}

// insert writes a payment unless another one forbids it, and reports whether it did: an
// index, or for one that is sent the order's second charge, which no index covers.
func (e *Engine[TTx]) insert(ctx context.Context, tx TTx, r *row) (bool, error) {
	if err := e.lockOrder(ctx, tx, r); err != nil {
		return false, err
	}
	now := e.opts.Clock()
	r.Written, r.Changed, r.version = now, now, 1
	values, err := r.values()
	if err != nil {
		return false, err
	}
	args := append([]any{r.ID, r.OrderID, r.Operation, r.ReceiptOf, micros(now.Add(lease)), micros(r.Written)}, values...)
	n, err := e.db.Exec(ctx, tx, `INSERT INTO quickstream.payment (id, order_id, operation, receipt_of, due_at, written_at, database_at,
		state, version, claim, next_at, changed_at, passed_by, suspect, receipt, reference, intent_id, end_to_end_id,
		amount, total, currency, settles_on, intent, resolution, pending, failures, problem, decided)
		SELECT $1, $2, $3, $4, CAST($5 AS bigint), CAST($6 AS bigint), `+e.db.Words().Now+`,
		$7, CAST($8 AS bigint), $9, CAST($10 AS bigint), CAST($11 AS bigint), $12, CAST($13 AS integer), $14, $15, $16, $17,
		$18, $19, $20, $21, $22, $23, $24, CAST($25 AS bigint), $26, $27
		WHERE $7 NOT IN ('prepared', 'sending') OR $4 <> '' OR NOT EXISTS (SELECT 1 FROM quickstream.payment WHERE order_id = $2 AND receipt_of = '' AND `+secondCharge+`)
		ON CONFLICT DO NOTHING`, args...)
	return n == 1, err
}

// values are the columns that change, in the order of insert and save.
func (r *row) values() ([]any, error) {
	var texts [4]string
	for i, part := range []struct {
		value any
		given bool
	}{{r.intent, true}, {r.looking, r.looking.Version != 0}, {r.pending, len(r.pending) > 0}, {r.Decided, r.Decided != nil}} {
		if !part.given {
			continue
		}
		text, err := json.Marshal(part.value)
		if err != nil {
			return nil, err
		}
		texts[i] = string(text)
	}
	suspect, settles := 0, ""
	if r.suspect {
		suspect = 1
	}
	if !r.SettlesOn.IsZero() {
		settles = r.SettlesOn.String()
	}
	return []any{
		string(r.State), r.version, r.claim, micros(r.Due), micros(r.Changed), r.PassedBy, suspect, r.ReceiptNumber, r.Reference,
		r.intent.ID, r.endToEnd, amountText(r.Amount), amountText(r.total), string(r.Currency), settles, texts[0], texts[1], texts[2],
		r.Failures, r.Problem, texts[3],
	}, nil
}

func amountText(d decimal.Decimal) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}

// save writes a payment back, if it is still as it was read: each change of a payment counts its
// version up. State and claim tell versions apart that a restored backup counts a second time.
func (e *Engine[TTx]) save(ctx context.Context, tx TTx, before, r *row) error {
	r.version = before.version + 1
	if r.State != before.State {
		r.Changed = e.opts.Clock()
	}
	values, err := r.values()
	if err != nil {
		return err
	}
	args := append([]any{r.ID, string(before.State), before.version, before.claim}, values...)
	n, err := e.db.Exec(ctx, tx, `UPDATE quickstream.payment SET state = $5, version = $6, claim = $7, next_at = $8, due_at = $8, changed_at = $9, passed_by = $10,
		suspect = $11, receipt = $12, reference = $13, intent_id = $14, end_to_end_id = $15, amount = $16, total = $17, currency = $18,
		settles_on = $19, intent = $20, resolution = $21, pending = $22, failures = $23, problem = $24, decided = $25
		WHERE id = $1 AND state = $2 AND version = $3 AND claim = $4`, args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("durable: payment %s changed meanwhile", r.ID)
	}
	return err
}

// Payment returns a payment as it stands.
func (e *Engine[TTx]) Payment(ctx context.Context, id string) (Payment, error) {
	return e.find(ctx, "id = $1", id)
}

// PaymentOf returns the payment of an order that counts: the one that keeps it from being
// paid anew, or the last one.
func (e *Engine[TTx]) PaymentOf(ctx context.Context, orderID string) (Payment, error) {
	return e.find(ctx, `order_id = $1 AND receipt_of = ''
		ORDER BY CASE WHEN passed_by = '' AND `+blocking+` THEN 0 WHEN `+secondCharge+` THEN 1 ELSE 2 END, written_at DESC LIMIT 1`, orderID)
}

func (e *Engine[TTx]) find(ctx context.Context, where string, args ...any) (Payment, error) {
	found, err := e.peek(ctx, where, args...)
	switch {
	case err != nil:
		return Payment{}, err
	case found == nil:
		return Payment{}, ErrNoPayment
	default:
		return found.Payment, nil
	}
}
