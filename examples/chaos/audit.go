package main

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// findings is what the audit has against a run.
type findings struct {
	orders   []*order
	ledger   sandbox.Ledger
	double   []string // orders that were charged more than once, with their charges
	problems []string
	payable  int // orders that could be paid
	paid     int // of those
}

// audit holds the merchant's table against the service's ledger, in both
// directions. It reads the ledger by order and not by key or by payment reference:
// a payer who has paid twice does not care that the keys differ.
func audit(s *service, orders []*order, careful bool) *findings {
	f := &findings{orders: orders, ledger: s.box.Ledger()}
	entries := make(map[string]sandbox.Ledger)
	for _, e := range f.ledger {
		entries[e.CustomerReferenceNumber] = append(entries[e.CustomerReferenceNumber], e)
	}
	plans := make(map[string]plan, len(s.orders))
	for _, p := range s.orders {
		plans[p.order.ID] = p
	}
	for _, o := range orders {
		f.compare(o, entries[o.ID])
		p := plans[o.ID]
		delete(entries, o.ID)
		if p.payable {
			f.payable++
			if o.Status == statusPaid {
				f.paid++
			}
		}
		if careful {
			f.endings(o, p)
		}
	}
	for id := range entries {
		f.problem("the ledger has payments for %q, of which the merchant knows nothing", id)
	}
	if f.paid*100 < f.payable*95 {
		f.problem("only %d of %d orders that could be paid were paid", f.paid, f.payable)
	}
	for kind, n := range s.box.FaultCounts() {
		if n == 0 {
			f.problem("no call met the fault %s", kind)
		}
	}
	return f
}

func (f *findings) problem(format string, args ...any) {
	f.problems = append(f.problems, fmt.Sprintf(format, args...))
}

// compare holds one order against what the service has charged for it.
func (f *findings) compare(o *order, entries sandbox.Ledger) {
	charged := entries.Charged(o.ID)
	switch {
	case len(charged) > 1:
		text := fmt.Sprintf("%s charged %d times:", o.ID, len(charged))
		for _, e := range charged {
			text += fmt.Sprintf(" %d.%02d (receipt %s)", e.Amount/100, e.Amount%100, e.Receipt)
		}
		f.double = append(f.double, text)
	case len(charged) == 1 && o.Status != statusPaid:
		f.problem("%s is %q in the merchant's table and was charged (receipt %s)", o.ID, o.Status, charged[0].Receipt)
	case len(charged) == 0 && o.Status == statusPaid:
		f.problem("%s is paid in the merchant's table and was never charged", o.ID)
	case len(charged) == 1:
		e := charged[0]
		if e.Receipt != o.Receipt {
			f.problem("%s was charged with receipt %s, and the merchant's table has %s", o.ID, e.Receipt, o.Receipt)
		}
		if amount := decimal.New(e.Amount, -2); !amount.Equal(o.Amount) {
			f.problem("%s was charged %s instead of %s", o.ID, amount, o.Amount)
		}
	}
}

// endings checks that every intent that was ever stored ended charged once, known
// to be uncharged, or, when nobody can know, escalated with its evidence.
func (f *findings) endings(o *order, p plan) {
	if o.Status == statusOpen {
		f.problem("%s was never settled", o.ID)
	}
	charges := 0
	for i, t := range o.Tries {
		switch t.Ended {
		case endDone:
			charges++
		case endDeclined, endRefused, endAbsent:
		case endEscalated:
			if !p.unknowable {
				f.problem("%s was escalated, although the service came to know its outcome", o.ID)
			}
			if t.State == nil || t.State.Status != resolve.StatusEscalated || looksOf(t.State) < 3 || len(t.State.Receipts()) == 0 {
				f.problem("%s was escalated without evidence", o.ID)
			}
		default:
			f.problem("try %d of %s never ended", i+1, o.ID)
		}
	}
	if paid := o.Status == statusPaid; paid != (charges == 1) || charges > 1 {
		f.problem("%s is %q with %d tries that ended charged", o.ID, o.Status, charges)
	}
	if p.unknowable && o.Status != statusEscalated {
		f.problem("%s is %q, although nobody can know its outcome", o.ID, o.Status)
	}
}

func looksOf(state *resolve.Case) (n int) {
	for _, look := range state.Lookups {
		n += look.Count
	}
	return n
}

func (f *findings) err() error {
	switch {
	case len(f.double) > 0:
		return fmt.Errorf("%d orders were charged more than once", len(f.double))
	case len(f.problems) > 0:
		return fmt.Errorf("%d findings", len(f.problems))
	default:
		return nil
	}
}
