package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable"
)

// verdict compares what the pages say with what the service has charged.
type verdict struct {
	Once, Not, Unknown int      // number of orders that were charged once, that were not, and whose page says that it is not known
	Wrong              []string // the orders that were charged twice, or not as their page says
}

// Good reports whether each order was charged once at most, and no page is wrong.
func (v verdict) Good() bool { return len(v.Wrong) == 0 }

// Text is the verdict in one line.
func (v verdict) Text() string {
	if !v.Good() {
		return strings.Join(v.Wrong, "; ")
	}
	text := fmt.Sprintf("%d charged once, %d not charged, none twice", v.Once, v.Not)
	if v.Once+v.Not+v.Unknown == 0 {
		return "nobody has ordered yet."
	}
	if v.Unknown > 0 {
		text += fmt.Sprintf(", %d being found out", v.Unknown)
	}
	return text + ". Every page says so."
}

// snapshot is all that pages show, as it is at one moment.
type snapshot struct {
	Accounts []account // the newest first
	Verdict  verdict
	Trouble  troubles
	Version  string // changes when something else is shown
}

// find returns an order.
func (s snapshot) find(id string) (account, bool) {
	for _, a := range s.Accounts {
		if a.ID == id {
			return a, true
		}
	}
	return account{}, false
}

// look reads everything that pages show, until two readings in a row are equal, but at most six times. The ledger that the
// first was compared with was then read between two equal readings of the database.
func (s *shop) look(ctx context.Context) (now snapshot, err error) {
	for range 6 {
		before := now.Version
		if now, err = s.read(ctx); err != nil || now.Version == before {
			break
		}
	}
	return now, err
}

// read reads all orders, compares them with the ledger, and notes what is switched on.
func (s *shop) read(ctx context.Context) (now snapshot, err error) {
	orders, err := s.orders(ctx)
	if err != nil {
		return now, err
	}
	agreements, err := s.agreements(ctx)
	if err != nil {
		return now, err
	}
	writes := map[string][]durable.Write{}
	for f, more := (durable.Filter{Limit: 500}), true; more; more = f.After != "" {
		page, err := s.engine.Load().List(ctx, f)
		if err != nil {
			return now, err
		}
		for _, w := range page.Writes {
			writes[w.Order] = append(writes[w.Order], w)
		}
		f.After = page.Next
	}
	var shown []any
	for _, o := range orders {
		asked := slices.DeleteFunc(slices.Clone(agreements), func(a agreement) bool { return a.Order != o.ID })
		a := accountOf(o, writes[o.ID], asked)
		now.Accounts = append(now.Accounts, a)
		shown = append(shown, o, a.said, asked)
		for _, w := range writes[o.ID] {
			shown = append(shown, w.ID, w.Version, w.Name(), w.Failures)
		}
	}
	now.Verdict, now.Trouble = s.judge(now.Accounts), s.trouble()
	sum := sha256.Sum256([]byte(fmt.Sprint(append(shown, now.Verdict, now.Trouble))))
	now.Version = fmt.Sprintf("%x", sum[:8])
	return now, nil
}

// judge compares what pages say with the service's own ledger.
func (s *shop) judge(accounts []account) (v verdict) {
	ledger := s.box.Ledger()
	for _, a := range accounts {
		charged, net := len(ledger.Charged(a.ID)), decimal.New(ledger.Net(a.ID), -2)
		if charged > 1 {
			v.Wrong = append(v.Wrong, fmt.Sprintf("%s was charged %d times", a.ID, charged))
		}
		switch {
		case a.Claim == claimUnknown:
			v.Unknown++
		case charged == 0:
			v.Not++
		default:
			v.Once++
		}
		wrong := a.Claim == claimPaid && (charged != 1 || !net.Equal(a.Payment.Amount.Sub(a.Payment.Refunded))) || a.Claim == claimNotPaid && charged > 0
		if wrong {
			v.Wrong = append(v.Wrong, fmt.Sprintf("the page of %s says %s, and the service has charged %s", a.ID, a.Claim, money(net)))
		}
	}
	return v
}
