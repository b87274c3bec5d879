package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// params are those of an order's payment.
func (m *merchant[TTx]) params(o order) quickstream.PayParams {
	p := quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, PrincipalAmount: decimal.New(o.amount, -2), Currency: quickstream.CurrencyAUD,
		CustomerReferenceNumber: o.id,
	}
	if o.reference != "" { // each payment has one of its own
		p.PaymentReferenceNumber = fmt.Sprint(o.reference, "-", o.turn)
	}
	switch o.kind {
	case "mandate":
		p.Source = quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: m.Agreement})
		return p
	case "details":
		p.Source = quickstream.FromCard(sandboxtest.Card("4242424242424242"))
		p.IPAddress = netip.MustParseAddr("203.0.113.7")
	default:
		p.Source = quickstream.FromAccount(m.Account)
	}
	p.ECI = quickstream.ECIInternet
	p.StoredCredential = &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual}
	return p
}

// send pays an order by a card whose details are not to be stored.
func (m *merchant[TTx]) send(ctx context.Context, o order) error {
	if p, err := m.engine.PaymentOf(ctx, o.id); err == nil && p.State.Blocks() {
		return nil
	} else if err != nil && !errors.Is(err, durable.ErrNoPayment) {
		return err
	}
	_, err := durable.Send(ctx, m.engine, o.id, func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
		return m.client.Transactions.Pay(ctx, m.params(o), stored)
	})
	var unknown *quickstream.UnknownOutcomeError
	var api *quickstream.APIError
	if errors.As(err, &unknown) || errors.As(err, &api) || errors.Is(err, quickstream.ErrNotSent) {
		return nil // OnOutcome is told
	}
	return err
}

var errTables = errors.New("the merchant's tables are locked")

// outcome is the merchant's OnOutcome: it writes down what it was told, and what becomes
// of the order, and has money given back where the customer wants it.
func (m *merchant[TTx]) outcome(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
	p := change.Payment
	if _, err := m.db.Exec(ctx, tx, "INSERT INTO told (payment, before, after) VALUES ($1, $2, $3)", p.ID, string(change.Before), string(change.After)); err != nil {
		return err
	}
	if rand.Float64() < m.RefuseOnce {
		return errTables
	}
	if p.ReceiptOf != "" {
		if change.After != durable.StateApproved {
			return nil
		}
		return m.giveBack(ctx, tx, p.OrderID, p.ReceiptOf)
	}
	state := string(change.After)
	switch change.After {
	case durable.StateApproved:
		state = "paid"
	case durable.StateDeclined, durable.StateRefused, durable.StateNotSent:
		state = "unpaid"
	default:
	}
	// The customer comes back with another card, once.
	if _, err := m.db.Exec(ctx, tx, `UPDATE orders SET state = CASE WHEN $1 = 'unpaid' AND again > 0 THEN 'new' ELSE $1 END,
		again = CASE WHEN $1 = 'unpaid' THEN again - 1 ELSE again END WHERE id = $2`, state, p.OrderID); err != nil {
		return err
	}
	if state != "paid" {
		return nil
	}
	return m.giveBack(ctx, tx, p.OrderID, p.ReceiptNumber)
}

// giveBack gives back what is to be given back of an order, one part after another.
func (m *merchant[TTx]) giveBack(ctx context.Context, tx TTx, orderID, receipt string) error {
	rows, err := m.db.Query(ctx, tx, "UPDATE orders SET parts = parts - 1 WHERE id = $1 AND parts > 0 RETURNING part", orderID)
	if err != nil {
		return err
	}
	var part int64
	for rows.Next() && err == nil {
		err = rows.Scan(&part)
	}
	rows.Close()
	if err != nil || part == 0 {
		return err
	}
	_, err = m.engine.GiveBack(ctx, tx, orderID, receipt, decimal.New(part, -2), quickstream.CurrencyAUD)
	if errors.Is(err, durable.ErrFollowUpOpen) || errors.Is(err, durable.ErrTooMuch) {
		return nil
	}
	return err
}

// dice draw what happens in a world.
func dice(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// placed is an order as it is placed, with what becomes of its payments.
type placed struct {
	order
	again, parts int
	part         int64
	outcomes     []sandbox.Outcome
}

// place draws an order.
func place(d *rand.Rand, id string, wait time.Duration) placed {
	p := placed{order: order{id: id, kind: "account", amount: 400 + 4*d.Int64N(10_000)}, again: d.IntN(2)}
	switch lot := d.IntN(10); {
	case lot == 0:
		p.kind = "mandate"
	case lot <= 2:
		p.kind = "details"
	}
	if d.IntN(4) == 0 {
		p.reference = "Inv-" + id
	}
	switch d.IntN(8) {
	case 0:
		p.parts, p.part = 1, p.amount
	case 1:
		p.parts, p.part = 2, p.amount/4
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
