package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable"
)

// Record is a write as the pages show it.
type Record = durable.Write

// row is a line of a list.
type row struct {
	Record

	What, Follows string
}

func rowOf(w durable.Write) row {
	return row{w, what(w), w.Follows}
}

func rowsOf(writes []durable.Write) (rows []row) {
	for _, w := range writes {
		rows = append(rows, rowOf(w))
	}
	return rows
}

// tab is a list by state.
type tab struct {
	Name, Title string
	states      []durable.State
	reasons     []durable.Reason

	Count   int // of those that are not over
	Address string
	Current bool
}

func tabs() []tab {
	return []tab{
		{Title: "All"},
		{Name: "person", Title: "For a person", states: []durable.State{durable.StateNeedsPerson}},
		{Name: "open", Title: "Under way", states: []durable.State{durable.StateQueued, durable.StateSending, durable.StatePending, durable.StateUnknown}},
		{Name: "approved", Title: "Approved", states: []durable.State{durable.StateApproved}},
		{Name: "declined", Title: "Declined", states: []durable.State{durable.StateDeclined}, reasons: []durable.Reason{durable.ReasonNone}},
		{Name: "rejected", Title: "Rejected or refused", states: []durable.State{durable.StateDeclined}, reasons: []durable.Reason{durable.ReasonRejected, durable.ReasonRefused}},
		{Name: "ended", Title: "Not sent", states: []durable.State{durable.StateNotSent}},
		{Name: "back", Title: "Voided or returned", states: []durable.State{durable.StateVoided, durable.StateReturned}},
	}
}

// search is what a person looks for.
type search struct {
	Tab, Find, Amount, From, To string
}

func searchOf(q request) search {
	return search{q.field("tab"), q.field("find"), q.field("amount"), q.field("from"), q.field("to")}
}

// address is the list at another place, or of another tab.
func (s search) address(tab string, after durable.Cursor) string {
	values := url.Values{}
	for name, value := range map[string]string{"tab": tab, "find": s.Find, "amount": s.Amount, "from": s.From, "to": s.To, "after": string(after)} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return "./?" + values.Encode()
}

// errForm is what was filled in wrongly.
type errForm string

// Error says what.
func (e errForm) Error() string { return string(e) }

// filter is the search as durable takes it. Days are those of Sydney. An amount alone is looked for in a month.
func (c *console[TTx]) filter(s search, now time.Time) (f durable.Filter, note string, err error) {
	for _, t := range tabs() {
		if t.Name == s.Tab {
			f.States, f.Reasons = t.states, t.reasons
		}
	}
	for text, at := range map[*string]*time.Time{&s.From: &f.From, &s.To: &f.To} {
		if *text == "" {
			continue
		}
		if *at, err = time.ParseInLocation(time.DateOnly, *text, c.sydney); err != nil {
			return f, "", errForm("A day is written as 2026-11-25.")
		}
	}
	if !f.To.IsZero() {
		f.To = f.To.AddDate(0, 0, 1)
	}
	if s.Amount != "" {
		if f.Amount, err = amountIn(s.Amount); err != nil {
			return f, "", err
		}
		if f.From.IsZero() && f.To.IsZero() {
			f.From, note = now.AddDate(0, 0, -31), "Of this amount in the last 31 days: say a day to look further back."
		}
	}
	return f, note, nil
}

// amountIn reads an amount of at most two decimals.
func amountIn(text string) (decimal.Decimal, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "$")
	whole, cents, _ := strings.Cut(text, ".")
	amount, err := decimal.NewFromString(text)
	if err != nil || !amount.IsPositive() || len(whole) > 9 || len(cents) > 2 || strings.Trim(whole+cents, "0123456789") != "" {
		return amount, errForm("An amount is written in dollars and cents, such as 12.50.")
	}
	return amount, nil
}

// list is the page of payments.
type list struct {
	search

	Customer   string // whose payments they are; they have no tabs
	Tabs       []tab
	Rows       []row
	Unreadable int
	Next       string
	Note       string
}

func (c *console[TTx]) payments(q request, _ string) {
	s, after := searchOf(q), durable.Cursor(q.field("after"))
	glance, err := c.glance(q.Context())
	if err != nil {
		c.fail(q, err)
		return
	}
	l := list{search: s}
	f, note, err := c.filter(s, glance.now())
	if f.After, l.Note = after, note; err == nil {
		err = c.read(q.Context(), &l, f)
	}
	for _, t := range tabs() {
		for _, state := range t.states {
			t.Count += glance.Health.Writes[state]
		}
		t.Address, t.Current = s.address(t.Name, ""), t.Name == s.Tab
		l.Tabs = append(l.Tabs, t)
	}
	p := page{Name: "payments", Title: "Payments", Address: s.address(s.Tab, after), Content: l}
	if wrong, isForm := errors.AsType[errForm](err); isForm {
		p.Notice = wrong.Error()
	} else if err != nil {
		c.fail(q, err)
		return
	}
	c.show(q, p)
}

// customer shows the payments of a customer.
func (c *console[TTx]) customer(q request, notice string) {
	reference := q.field("reference")
	if reference == "" { // every payment has none, or another one
		c.message(q, http.StatusUnprocessableEntity, "Not found", "Fill in the customer's reference.")
		return
	}
	found, err := c.engine.List(q.Context(), durable.Filter{CustomerReferenceNumber: reference, Limit: mostFound})
	if err != nil {
		c.fail(q, err)
		return
	}
	l := list{Customer: reference, Rows: rowsOf(found.Writes), Unreadable: found.Unreadable}
	if found.Next != "" {
		l.Note = "These are the newest."
	}
	c.show(q, page{Name: "payments", Title: "Payments of a customer", Notice: notice, Content: l})
}

// mostFound is how many writes of an order or a customer are shown.
const mostFound = 200

// read reads a page of a list, or what has an id, an order number or a receipt.
func (c *console[TTx]) read(ctx context.Context, l *list, f durable.Filter) error {
	if l.Find == "" {
		page, err := c.engine.List(ctx, f)
		l.Rows, l.Unreadable = rowsOf(page.Writes), page.Unreadable
		if page.Next != "" {
			l.Next = l.address(l.Tab, page.Next)
		}
		return err
	}
	w, err := c.engine.Get(ctx, l.Find)
	if err == nil {
		l.Rows = rowsOf([]durable.Write{w})
	}
	if !errors.Is(err, durable.ErrNoWrite) {
		return err
	}
	f.After, f.Limit = "", mostFound
	byOrder, byReceipt := f, f
	byOrder.Order, byReceipt.ReceiptNumber = l.Find, l.Find
	for _, f := range []durable.Filter{byOrder, byReceipt} {
		page, err := c.engine.List(ctx, f)
		l.Rows = rowsOf(page.Writes)
		if err != nil || len(l.Rows) > 0 {
			return err
		}
	}
	return nil
}
