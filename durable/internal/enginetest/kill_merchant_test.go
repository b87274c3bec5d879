package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// attemptID is the id of an order's attempt: the attempt is stored with the order before its form is
// shown, so that a repeated step has the same id.
func attemptID(order string, attempt int64) string { return fmt.Sprint(order, "/", attempt) }

// write is the attempt of an order.
func (o order) write() durable.NewWrite {
	return durable.NewWrite{ID: attemptID(o.id, o.attempt), Order: o.id}
}

// params are those of an order's attempt.
func (m *merchant[TTx]) params(o order) quickstream.TransactionParams {
	p := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(o.amount, -2), Currency: quickstream.CurrencyAUD,
		CustomerReferenceNumber: o.id, ECI: quickstream.ECIInternet,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
	if o.reference != "" { // each attempt has one of its own
		p.PaymentReferenceNumber = fmt.Sprint(o.reference, "-", o.attempt)
	}
	switch o.kind {
	case "mandate":
		return quickstream.CollectParams{
			SupplierBusinessCode: p.SupplierBusinessCode, PrincipalAmount: p.PrincipalAmount, Currency: p.Currency,
			CustomerReferenceNumber: o.id, PaymentReferenceNumber: p.PaymentReferenceNumber,
			AgreementToken: m.Agreement,
		}
	case "details":
		p.Source = quickstream.FromCard(sandboxtest.Card("4242424242424242"))
		p.IPAddress = netip.MustParseAddr("203.0.113.7")
	default:
		p.Source = quickstream.FromAccount(m.Account)
	}
	return p
}

// pay pays an order from the row. An attempt that is repeated has the write that is there.
func (m *merchant[TTx]) pay(ctx context.Context, tx database.Tx, o order) error {
	w := o.write()
	payment, _, err := m.engine.Pay(ctx, m.db.Leave(tx), w, m.params(o))
	switch {
	case errors.Is(err, durable.ErrOrderOpen):
		return nil // another attempt was approved meanwhile
	case err == nil && (payment.ID != w.ID || payment.Order != o.id):
		return fmt.Errorf("%s is %s of %s", w.ID, payment.ID, payment.Order)
	default:
		return err
	}
}

// send pays an order by a card whose details are not to be stored.
func (m *merchant[TTx]) send(ctx context.Context, o order) error {
	params, _ := m.params(o).(quickstream.PayParams)
	_, err := durable.Send(ctx, m.engine, o.write(), func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
		return m.client.Transactions.Pay(ctx, params, stored)
	})
	known := func(sentinel error) bool { return errors.Is(err, sentinel) }
	ended := []error{quickstream.ErrDeclined, quickstream.ErrPending, quickstream.ErrOutcomeUnknown, quickstream.ErrNotSent}
	if errors.As(err, new(*quickstream.APIError)) || slices.ContainsFunc(ended, known) {
		return nil // OnOutcome is notified, or was
	}
	return err
}

// rejected is the standing of a payment that the service refused as one of bad data.
const rejected = "rejected"

var errTables = errors.New("the merchant's tables are locked")

// stood is a standing in the form in which the triggers of the tests write it.
func stood(s durable.Standing) string {
	return fmt.Sprintf("%s %s %s", s.State, s.Outcome, s.Reversal)
}

// outcome is the merchant's OnOutcome: it writes down what it was notified of, and what becomes of the
// order and its refunds.
func (m *merchant[TTx]) outcome(ctx context.Context, typed TTx, change durable.OutcomeChange) error {
	tx, w := m.db.Join(typed), change.Write.Common()
	if _, err := tx.Exec(ctx, "INSERT INTO told (write_id, before, after) VALUES ($1, $2, $3)", w.ID, stood(change.Before), stood(w.Standing)); err != nil {
		return err
	}
	if rand.Float64() < m.RefuseOnce {
		return errTables
	}
	switch w := change.Write.(type) {
	case durable.Payment:
		return m.paymentOutcome(ctx, tx, w)
	case durable.FollowUp:
		return m.refundOutcome(ctx, tx, w)
	default:
		return fmt.Errorf("%T is nothing that this merchant writes", w)
	}
}

// paymentOutcome marks the order, and has its refunds made. An attempt that another one has followed
// changes it only if it is paid.
func (m *merchant[TTx]) paymentOutcome(ctx context.Context, tx database.Tx, p durable.Payment) error {
	state := p.Text()
	switch {
	case p.Paid() && p.State == durable.StateSettled:
		state = "paid"
	case state == declined || state == rejected || state == refused || state == notSent:
		state = "unpaid"
	}
	if state != "unpaid" {
		if _, err := tx.Exec(ctx, "UPDATE orders SET state = $1, write_id = $2 WHERE id = $3 AND ($1 = 'paid' OR write_id = $2)", state, p.ID, p.Order); err != nil {
			return err
		}
		if state != "paid" {
			return nil
		}
		return m.refund(ctx, tx, p.Order)
	}
	// The customer comes back with another card, once: the form has the id of another attempt.
	_, err := tx.Exec(ctx, `UPDATE orders SET state = CASE WHEN again > 0 THEN 'new' ELSE 'unpaid' END,
		write_id = CASE WHEN again > 0 THEN id || '/' || (attempt + 1) ELSE write_id END,
		attempt = CASE WHEN again > 0 THEN attempt + 1 ELSE attempt END,
		again = CASE WHEN again > 0 THEN again - 1 ELSE again END WHERE id = $1 AND write_id = $2`, p.Order, p.ID)
	return err
}

// refundOutcome marks a refund. One that is refused, as before the cut-off, is another one tomorrow;
// after the last line the rest goes back.
func (m *merchant[TTx]) refundOutcome(ctx context.Context, tx database.Tx, f durable.FollowUp) error {
	if _, err := tx.Exec(ctx, "UPDATE refunds SET state = $1 WHERE id = $2", f.Text(), f.ID); err != nil {
		return err
	}
	switch f.Text() {
	case refused:
		_, err := tx.Exec(ctx, `INSERT INTO refunds (id, order_id, amount, state, due)
			SELECT id || '+', order_id, amount, 'wanted', $2 FROM refunds WHERE id = $1`, f.ID, m.now().Add(24*time.Hour).UnixMicro())
		return err
	case approved:
		_, err := tx.Exec(ctx, `UPDATE refunds SET state = 'wanted' WHERE order_id = $1 AND state = 'later'
			AND NOT EXISTS (SELECT 1 FROM refunds AS r WHERE r.order_id = $1 AND r.state NOT IN ('later', 'approved', 'refused'))`, f.Order)
		if err != nil {
			return err
		}
		return m.refund(ctx, tx, f.Order)
	default:
		return nil
	}
}

// wanted is a refund of the merchant's: amount is 0 for all that is left.
type wanted struct {
	id, order, payment string
	amount             int64
}

// refund asks for the refunds of an order that are wanted now. Their ids were stored when they were
// decided.
func (m *merchant[TTx]) refund(ctx context.Context, tx database.Tx, order string) error {
	return m.refundWhich(ctx, tx, "r.order_id = $1 AND r.state = 'wanted' AND r.due <= $2", order, m.now().UnixMicro())
}

// refundWhich asks for some refunds of orders that are paid.
func (m *merchant[TTx]) refundWhich(ctx context.Context, tx database.Tx, which string, args ...any) error {
	rows, err := tx.Query(ctx, "SELECT r.id, r.order_id, o.write_id, r.amount FROM refunds r JOIN orders o ON o.id = r.order_id WHERE o.state = 'paid' AND "+which+" ORDER BY r.id LIMIT 6", args...)
	if err != nil {
		return err
	}
	var all []wanted
	for rows.Next() {
		var w wanted
		if err := rows.Scan(&w.id, &w.order, &w.payment, &w.amount); err != nil {
			rows.Close()
			return err
		}
		all = append(all, w)
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return err
	}
	for _, w := range all {
		if err := m.ask(ctx, tx, w); err != nil {
			return fmt.Errorf("%s: %w", w.id, err)
		}
	}
	return nil
}

func (m *merchant[TTx]) ask(ctx context.Context, tx database.Tx, w wanted) error {
	write := durable.NewWrite{ID: w.id, Order: w.order}
	var followUp durable.FollowUp
	var err error
	if w.amount == 0 {
		followUp, _, err = m.engine.Reverse(ctx, m.db.Leave(tx), write, w.payment)
	} else {
		followUp, _, err = m.engine.Refund(ctx, m.db.Leave(tx), write, w.payment, quickstream.RefundParams{
			PrincipalAmount: decimal.New(w.amount, -2), Currency: quickstream.CurrencyAUD,
		})
	}
	if err == nil && (followUp.ID != w.id || followUp.Follows != w.payment) {
		err = fmt.Errorf("it is %s after %s", followUp.ID, followUp.Follows)
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE refunds SET state = 'asked' WHERE id = $1 AND state = 'wanted'", w.id)
	return err
}

// dice draw what happens in a world.
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// placed is an order as it is placed, with what becomes of its payments.
type placed struct {
	order
	again    int
	lines    []int64 // that are refunded; 0 is all that is left
	outcomes []sandbox.Outcome
}

// place draws an order.
func place(d *rand.Rand, id string, wait time.Duration) placed {
	p := placed{order: order{id: id, kind: "account", amount: 400 + 4*d.Int64N(10_000), attempt: 1}, again: d.IntN(2)}
	switch lot := d.IntN(10); {
	case lot == 0:
		p.kind = "mandate"
	case lot <= 2:
		p.kind = "details"
	}
	if d.IntN(4) == 0 {
		p.reference = "Inv-" + id
	}
	switch d.IntN(9) {
	case 0:
		p.lines = []int64{0}
	case 1:
		p.lines = []int64{p.amount / 4, p.amount / 4}
	case 2:
		p.lines = []int64{p.amount / 4, p.amount / 2, 0}
	}
	if p.kind == "mandate" && len(p.lines) > 1 { // the service refunds all of it, or nothing
		p.lines = []int64{0}
	}
	later := time.Duration(d.IntN(24*60)) * time.Minute
	switch lot := d.IntN(100); {
	case lot < 8:
		p.outcomes = []sandbox.Outcome{sandbox.Declined("51")}
	case lot < 11:
		p.outcomes = []sandbox.Outcome{sandbox.Rejected("QA")}
	case lot < 15:
		p.outcomes = []sandbox.Outcome{sandbox.Erred().ThenAfter(later, sandbox.Approved())}
	case lot < 18:
		p.outcomes = []sandbox.Outcome{sandbox.Erred().ThenAfter(later, sandbox.Declined("05"))}
	case lot < 19:
		p.outcomes = []sandbox.Outcome{sandbox.Erred()}
	case lot < 22 && p.kind != "mandate":
		p.outcomes = []sandbox.Outcome{sandbox.Declined("01").ThenRetried(wait, sandbox.Approved())}
	}
	return p
}

// rows are the statements that place the order.
func (p placed) rows() []string {
	statements := []string{fmt.Sprintf("INSERT INTO orders (id, kind, reference, amount, state, again, attempt, write_id, turn) VALUES ('%s', '%s', '%s', %d, 'new', %d, 1, '%s', 0)",
		p.id, p.kind, p.reference, p.amount, p.again, attemptID(p.id, 1))}
	for i, amount := range p.lines {
		state := "wanted"
		if amount == 0 && i > 0 {
			state = "later"
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO refunds (id, order_id, amount, state, due) VALUES ('%s', '%s', %d, '%s', 0)",
			fmt.Sprint(p.id, " refund ", i+1), p.id, amount, state))
	}
	return statements
}
