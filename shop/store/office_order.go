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
	Order    bool       // and not an agreement
	State    string     // of the payment that counts, or that it was charged twice
	Payments []*payback // that were taken and not voided
	Busy     bool       // something is being given back
	Why      string     // why that takes its time
	Steps    int        // how much has followed the payments
	Writes   []write
	Timeline []entry
}

// payback is a payment of which money can be given back.
type payback struct {
	ID, Receipt string
	Left        int64
}

// write is one write to the service, with what speaks for it, and what does not.
type write struct {
	durable.Record

	Follows  string
	Events   []durable.Event
	Decided  *durable.Event // by a person, or nil
	Evidence string
}

// Open reports whether a person may close it.
func (w write) Open() bool {
	return w.State == durable.StateNotFound || w.State == durable.StateEscalated
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
	d.Timeline, err = s.timeline(ctx, id, d.Writes)
	return d, err
}

// writes reads what was sent for an order, the payment that counts first.
func (s *server) writes(ctx context.Context, d *orderView) error {
	main, there, err := s.paymentOf(ctx, d.ID)
	if err != nil {
		return err
	}
	list, err := s.engine.Writes(ctx, d.ID)
	if err != nil {
		return err
	}
	for _, one := range list {
		w, err := s.writeOf(ctx, one)
		if err != nil {
			return err
		}
		d.Writes = append(d.Writes, w)
	}
	if i := slices.IndexFunc(d.Writes, func(w write) bool { return w.ID == main.ID }); i > 0 {
		d.Writes = slices.Concat(d.Writes[i:i+1], d.Writes[:i], d.Writes[i+1:])
	}
	switch {
	case there && !main.Paid(): // of what was taken the order knows whether there is another one, and whether that is back
		d.State = main.Name()
	case !there && len(d.Writes) > 0: // an agreement
		d.State = d.Writes[0].Name()
	case !there:
		d.State = ""
	}
	d.paybacks()
	return nil
}

// paybacks finds what can be given back of the payments, and whether something is.
func (d *orderView) paybacks() {
	for _, w := range d.Writes {
		if w.Operation == quickstream.OperationPay && w.Paid() {
			d.Payments = append(d.Payments, &payback{w.ID, w.ReceiptNumber, w.Cents()})
		}
	}
	for _, w := range d.Writes {
		if w.Follows == "" {
			continue
		}
		d.Steps++
		if w.State.Open() {
			d.Busy, d.Why = true, w.Problem
		}
		for _, p := range d.Payments {
			if p.ID == w.Follows && w.Blocks() {
				p.Left -= w.Cents()
			}
		}
	}
}

// Back is the id of what the page's forms give back. It counts what has followed the payments, so
// that of two people, or two presses of a button, who see the same page one gives back.
func (d orderView) Back() string { return fmt.Sprintf("%s-back-%d", d.ID, d.Steps+1) }

// writeOf is a write with its history.
func (s *server) writeOf(ctx context.Context, of durable.Write) (w write, err error) {
	w.Record, w.Follows = of.Common(), follows(of)
	w.Events, err = s.engine.Events(ctx, w.ID)
	for i := range w.Events {
		if w.Events[i].Kind == durable.EventDecided {
			w.Decided = &w.Events[i]
		}
	}
	w.Evidence = evidence(w)
	return w, err
}

// readWrite reads a write by its id.
func (s *server) readWrite(ctx context.Context, id string) (write, error) {
	found, err := s.engine.Write(ctx, id)
	if err != nil {
		return write{}, err
	}
	return s.writeOf(ctx, found)
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
func evidence(p write) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-14s %s\n", name+":", value)
		}
	}
	line("Order", p.Order)
	line("Write", p.ID)
	line("Operation", string(p.Operation))
	line("State", p.Text())
	if p.Amount.IsPositive() {
		line("Amount", p.Amount.StringFixed(2)+" "+string(p.Currency))
	}
	if p.Operation != quickstream.OperationCreateAgreement && p.Operation != quickstream.OperationRegisterAccount { // whose receipt is a handle
		line("Receipt", p.ReceiptNumber)
	}
	line("Follows", p.Follows)
	line("Reference", p.Reference)
	line("Written", stamp(p.Written))
	line("Changed", stamp(p.Changed))
	if !p.Due.IsZero() {
		line("Next look-up", stamp(p.Due))
	}
	line("Problem", p.Problem)
	line("Replaced by", p.ReplacedBy)
	if d := p.Decided; d != nil {
		line("Decided", fmt.Sprintf("%s, by %s at %s: %s", d.Standing.Text(), d.By, stamp(d.At), d.Note))
	}
	for i, look := range p.Record.Evidence {
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
	for _, one := range list {
		w, err := s.readWrite(r.Context(), one.ID)
		if err != nil {
			return nil, err
		}
		open = append(open, w)
	}
	return open, nil
}
