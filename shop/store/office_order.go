package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
)

// orderView is all that is known of an order, or of an agreement.
type orderView struct {
	ID, Item string
	Amount   int64
	Order    bool          // and not an agreement
	State    durable.State // of the payment that counts, or that it was charged twice
	Payments []*payback    // that were taken and not voided
	Busy     bool          // something is being given back
	Why      string        // why that takes its time
	Steps    int           // how much has followed the payments
	Writes   []write
	Timeline []entry
}

// payback is a payment of which money can be given back.
type payback struct {
	Receipt string
	Left    int64
}

// write is one write to the service, with what speaks for it, and what does not.
type write struct {
	durable.Payment

	Open     bool // a person may close it
	Evidence string
}

// Cents is the amount.
func (w write) Cents() int64 { return cents(w.Amount) }

func cents(amount decimal.Decimal) int64 { return amount.Shift(2).IntPart() }

func (s *server) orderData(r *http.Request) (any, error) {
	return s.orderView(r.Context(), r.PathValue("order"))
}

func (s *server) orderView(ctx context.Context, id string) (d orderView, err error) {
	d.ID, d.Order = id, true
	err = s.db.QueryRowContext(ctx, "SELECT item, amount, state FROM shop_order WHERE id = ?", id).Scan(&d.Item, &d.Amount, &d.State)
	if errors.Is(err, sql.ErrNoRows) {
		d.Order = false
		err = s.db.QueryRowContext(ctx, "SELECT item || ', each month', amount FROM shop_agreement WHERE reference = ?", id).Scan(&d.Item, &d.Amount)
	}
	if err != nil {
		return d, err
	}
	if err = s.writes(ctx, &d); err != nil {
		return d, err
	}
	d.Timeline, err = s.timeline(ctx, id)
	return d, err
}

// cases reads what was sent for an order: what the shop was told of, and the payment
// that is under way.
func (s *server) writes(ctx context.Context, d *orderView) error {
	main, there, err := s.paymentOf(ctx, d.ID)
	if err != nil {
		return err
	}
	told, err := s.written(ctx, "order_id = ?", d.ID)
	if err != nil {
		return err
	}
	// Of what was taken the order knows whether there is another one, and whether that is back.
	if known := d.Order && (main.State == durable.StateApproved || main.State == durable.StateTwice); !known {
		d.State = main.State
	}
	if there {
		d.Writes = append(d.Writes, writeOf(main))
	}
	for _, w := range told {
		if w.ID == main.ID {
			continue
		}
		p, err := s.engine.Payment(ctx, w.ID)
		if err != nil {
			return err
		}
		d.Writes = append(d.Writes, writeOf(p))
	}
	d.paybacks()
	return nil
}

// paybacks finds what can be given back of the payments, and whether something is.
func (d *orderView) paybacks() {
	for _, w := range d.Writes {
		if w.Operation == quickstream.OperationPay && (w.State == durable.StateApproved || w.State == durable.StateTwice) {
			d.Payments = append(d.Payments, &payback{w.ReceiptNumber, w.Cents()})
		}
	}
	for _, w := range d.Writes {
		if w.Operation != operationGiveBack {
			continue
		}
		d.Steps++
		if w.State.Open() || w.Open {
			d.Busy, d.Why = true, w.Problem
		}
		for _, p := range d.Payments {
			if p.Receipt == w.ReceiptOf && w.State.Blocks() {
				p.Left -= w.Cents()
			}
		}
	}
}

func writeOf(p durable.Payment) write {
	return write{
		Payment: p, Evidence: evidence(p),
		Open: p.State == durable.StateAbsent || p.State == durable.StateEscalated,
	}
}

// GiveBack are the payments of which money can be given back now.
func (d orderView) GiveBack() (can []*payback) {
	for _, p := range d.Payments {
		if !d.Busy && p.Left > 0 {
			can = append(can, p)
		}
	}
	return can
}

// evidence says in plain text what is known of a payment, for the service's technical
// support. It holds no handles, by which somebody could pay.
func evidence(p durable.Payment) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-14s %s\n", name+":", value)
		}
	}
	line("Order", p.OrderID)
	line("Write", p.ID)
	line("Operation", string(p.Operation))
	line("State", string(p.State))
	if p.Amount.IsPositive() {
		line("Amount", p.Amount.StringFixed(2)+" "+string(p.Currency))
	}
	if p.Operation != quickstream.OperationCreateAgreement && p.Operation != quickstream.OperationRegisterAccount { // whose receipt is a handle
		line("Receipt", p.ReceiptNumber)
	}
	line("Follows", p.ReceiptOf)
	line("Reference", p.Reference)
	line("Written", stamp(p.Written))
	line("Changed", stamp(p.Changed))
	if !p.Due.IsZero() {
		line("Next look-up", stamp(p.Due))
	}
	line("Problem", p.Problem)
	line("Passed by", p.PassedBy)
	if p.Decided != nil {
		line("Decided", fmt.Sprintf("%s, by %s at %s: %s", p.Decided.Verdict, p.Decided.Who, stamp(p.Decided.At), p.Decided.Reason))
	}
	for i, look := range p.Evidence {
		line(fmt.Sprintf("Look-up %d", i+1), looked(look))
	}
	return b.String()
}

// looked is a line of evidence.
func looked(look resolve.Lookup) string {
	parts := []string{stamp(look.At)}
	if look.Count > 1 {
		parts[0] = fmt.Sprintf("%s to %s, %d times", parts[0], stamp(look.Last), look.Count)
	}
	parts = append(parts, cmp.Or(look.Result.Text(), "no answer"), string(look.Outcome))
	for _, named := range [][2]string{
		{"receipt", look.ReceiptNumber},
		{"code", look.ResponseCode},
		{"next step", look.NextStep.Text()},
		{"candidates", strings.Join(look.Candidates, " ")},
	} {
		if named[1] != "" {
			parts = append(parts, named[0]+" "+named[1])
		}
	}
	if !look.SettlementDate.IsZero() {
		parts = append(parts, "settles on "+look.SettlementDate.String())
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// personData lists what a person has to find out.
func (s *server) personData(r *http.Request) (any, error) {
	list, err := s.written(r.Context(), forPerson)
	if err != nil {
		return nil, err
	}
	var open []write
	for _, w := range list {
		p, err := s.engine.Payment(r.Context(), w.ID)
		if err != nil {
			return nil, err
		}
		open = append(open, writeOf(p))
	}
	return open, nil
}
