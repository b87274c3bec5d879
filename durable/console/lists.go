package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/durable"
)

// row is a line of a list.
type row struct {
	durable.Write

	What, Label string
}

func rowOf(w durable.Write) row { return row{w, what(w), label(w.Standing)} }

func rowsOf(writes []durable.Write) (rows []row) {
	for _, w := range writes {
		rows = append(rows, rowOf(w))
	}
	return rows
}

// tab is a list by state. What is for a person stands on the first page.
type tab struct {
	Name, Title string
	states      []durable.State

	Address string
	Current bool
}

func tabs() []tab {
	return []tab{
		{Title: "All"},
		{Name: "open", Title: "Under way", states: []durable.State{durable.StateQueued, durable.StateSending, durable.StatePending, durable.StateUnknown}},
		{Name: "approved", Title: "Approved", states: []durable.State{durable.StateApproved}},
		{Name: "declined", Title: "Declined", states: []durable.State{durable.StateDeclined}},
		{Name: "ended", Title: "Not sent", states: []durable.State{durable.StateNotSent}},
		{Name: "back", Title: "Voided or returned", states: []durable.State{durable.StateVoided, durable.StateReturned}},
	}
}

// search is what a person looks for.
type search struct{ Tab, Find, From, To string }

func searchOf(q request) search {
	return search{q.field("tab"), q.field("find"), q.field("from"), q.field("to")}
}

// address is the list at another place, or of another tab.
func (s search) address(tab string, after durable.Cursor) string {
	values := url.Values{}
	for name, value := range map[string]string{"tab": tab, "find": s.Find, "from": s.From, "to": s.To, "after": string(after)} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return "payments?" + values.Encode()
}

// errForm is what was filled in wrongly.
type errForm string

// Error says what.
func (e errForm) Error() string { return string(e) }

// when reads a day in Sydney, or an hour of it, and returns where it begins and ends.
func (c *console[TTx]) when(text string) (from, to time.Time, ok bool) {
	for _, day := range []string{"2/1/2006", "2 Jan 2006", "2 January 2006", time.DateOnly} {
		if at, err := time.ParseInLocation(day, text, c.sydney); err == nil {
			return at, at.AddDate(0, 0, 1), true
		}
		for _, hour := range []string{" 15", " 15:04", " 3pm"} {
			if at, err := time.ParseInLocation(day+hour, text, c.sydney); err == nil {
				at = at.Add(-time.Duration(at.Minute()) * time.Minute)
				return at, at.Add(time.Hour), true
			}
		}
	}
	return from, to, false
}

// filter is the tab and the days of a search.
func (c *console[TTx]) filter(s search) (f durable.Filter, err error) {
	for _, t := range tabs() {
		if t.Name == s.Tab {
			f.States = t.states
		}
	}
	const form = "A day is written as 25/11/2026, with an hour as 25/11/2026 14:00."
	var ok bool
	if s.From != "" {
		if f.From, _, ok = c.when(s.From); !ok {
			return f, errForm(form)
		}
	}
	if s.To != "" {
		if _, f.To, ok = c.when(s.To); !ok {
			return f, errForm(form)
		}
	}
	if !f.To.IsZero() && !f.From.Before(f.To) {
		return f, errForm("The first day is after the last one.")
	}
	return f, nil
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

	Customer string // whose payments are among them
	Tabs     []tab
	Rows     []row
	Next     string
	Note     string
}

func (c *console[TTx]) payments(q request, _ string) {
	s, after := searchOf(q), durable.Cursor(q.field("after"))
	l := list{search: s}
	f, err := c.filter(s)
	f.After = after
	switch {
	case err == nil && s.Find == "":
		err = c.read(q.Context(), &l, f)
		if l.Next != "" {
			l.Next = s.address(s.Tab, durable.Cursor(l.Next))
		}
	case err == nil:
		err = c.find(q.Context(), &l, f)
	}
	for _, t := range tabs() {
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

// search finds by the one field. A customer's reference is personal: what it finds is shown here, and nothing else leads
// to an address.
func (c *console[TTx]) search(q request, notice string) {
	s := searchOf(q)
	f, err := c.filter(s)
	customer := f
	customer.CustomerReferenceNumber, customer.Limit = s.Find, mostFound
	l := list{search: s, Customer: s.Find}
	if err == nil && s.Find != "" {
		err = c.read(q.Context(), &l, customer)
	}
	if _, isForm := errors.AsType[errForm](err); isForm || err == nil && len(l.Rows) == 0 { // the list says what is wrong
		q.w.Header().Set("Location", s.address(s.Tab, ""))
		q.w.WriteHeader(http.StatusSeeOther)
		return
	}
	if err == nil {
		err = c.find(q.Context(), &l, f)
	}
	if err != nil {
		c.fail(q, err)
		return
	}
	c.show(q, page{Name: "payments", Title: "Payments", Notice: notice, Content: l})
}

// mostFound is how many payments of each kind a search finds.
const mostFound = 200

// find adds what has an id, the beginning of an order's number, a receipt, an amount, a time or the last digits of a card.
func (c *console[TTx]) find(ctx context.Context, l *list, f durable.Filter) error {
	f.After, f.Limit = "", mostFound
	text := l.Find
	if from, to, ok := c.when(text); ok {
		f.From, f.To = from, to
		return c.read(ctx, l, f)
	}
	if w, err := c.engine.Get(ctx, text); err == nil {
		l.Rows = append(l.Rows, rowOf(w))
	} else if !errors.Is(err, durable.ErrNoWrite) {
		return err
	}
	lower := strings.ToLower(text)
	first, size := utf8.DecodeRuneInString(lower)
	for _, order := range []string{text, strings.ToUpper(text), lower, string(unicode.ToUpper(first)) + lower[size:]} {
		f := f
		f.Order = order
		if err := c.read(ctx, l, f); err != nil {
			return err
		}
	}
	byReceipt := f
	byReceipt.ReceiptNumber = text
	if err := c.read(ctx, l, byReceipt); err != nil {
		return err
	}
	if f.From.IsZero() && f.To.IsZero() { // no index finds them
		f.From = time.Now().AddDate(0, 0, -31)
	}
	byAmount, byCard := f, f
	var err error
	if byAmount.Amount, err = amountIn(text); err == nil {
		l.Note = "By amount and card: the last 31 days. Fill in a day to look further back."
		if err := c.read(ctx, l, byAmount); err != nil {
			return err
		}
	}
	if byCard.CardDigits = text; (len(text) == 3 || len(text) == 4) && strings.Trim(text, "0123456789") == "" {
		return c.read(ctx, l, byCard)
	}
	return nil
}

// read adds a page of a list to what was found, the newest first, each once.
func (c *console[TTx]) read(ctx context.Context, l *list, f durable.Filter) error {
	page, err := c.engine.List(ctx, f)
	l.Rows, l.Next = append(l.Rows, rowsOf(page.Writes)...), string(page.Next)
	if f.Limit == mostFound && page.Next != "" {
		l.Next, l.Note = "", "There are more: fill in a day, or more of what you look for."
	}
	slices.SortStableFunc(l.Rows, func(x, y row) int {
		return cmp.Or(y.Written.Compare(x.Written), strings.Compare(y.ID, x.ID))
	})
	l.Rows = slices.CompactFunc(l.Rows, func(x, y row) bool { return x.ID == y.ID })
	return err
}
