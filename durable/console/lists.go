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

// tab is a list by state. Writes that need a person are on the first page.
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

// address returns the address of the list at another place, or of another tab.
func (s search) address(tab string, after durable.Cursor) string {
	values := url.Values{}
	for name, value := range map[string]string{"tab": tab, "find": s.Find, "from": s.From, "to": s.To, "after": string(after)} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return "payments?" + values.Encode()
}

// errForm says what was filled in wrongly.
type errForm string

// Error implements error.
func (e errForm) Error() string { return string(e) }

// when reads a day in Sydney, or an hour of it, and returns where it begins and ends.
func (c *console[TTx]) when(text string) (from, to time.Time, err error) {
	for _, day := range []string{"2/1/2006", "2 Jan 2006", "2 January 2006", time.DateOnly} {
		if at, err := time.ParseInLocation(day, text, c.sydney); err == nil {
			return at, at.AddDate(0, 0, 1), nil
		}
		for _, hour := range []string{" 15", " 15:04", " 3pm"} {
			if at, err := time.ParseInLocation(day+hour, text, c.sydney); err == nil {
				at = at.Add(-time.Duration(at.Minute()) * time.Minute)
				return at, at.Add(time.Hour), nil
			}
		}
	}
	return from, to, errForm("A day is written as 25/11/2026, with an hour as 25/11/2026 14:00.")
}

// filter returns the filter of a search's tab and days.
func (c *console[TTx]) filter(s search) (f durable.Filter, err error) {
	for _, t := range tabs() {
		if t.Name == s.Tab {
			f.States = t.states
		}
	}
	if s.From != "" {
		f.From, _, err = c.when(s.From)
	}
	if s.To != "" && err == nil {
		_, f.To, err = c.when(s.To)
	}
	if err == nil && !f.To.IsZero() && !f.From.Before(f.To) {
		err = errForm("The first day is after the last one.")
	}
	return f, err
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

	Tabs []tab
	Rows []durable.Write
	Next string
	Note string
}

// payments shows a page of the list, or what the search field finds. A customer's reference is personal: a post searches for
// it and shows what it finds. It redirects to the address of the search only if that finds something else.
func (c *console[TTx]) payments(q request, _ string) {
	l, after := list{search: searchOf(q)}, durable.Cursor(q.field("after"))
	p := page{Name: "payments", Title: "Payments"}
	f, err := c.filter(l.search)
	posted := q.Method == http.MethodPost && err == nil
	switch {
	case posted && l.Find == "":
		c.redirect(q, l.address(l.Tab, ""))
		return
	case posted:
		customer := f
		customer.CustomerReferenceNumber, customer.Limit = l.Find, mostFound
		err = c.read(q.Context(), &l, customer)
	default:
		for _, t := range tabs() {
			t.Address, t.Current = l.address(t.Name, ""), t.Name == l.Tab
			l.Tabs = append(l.Tabs, t)
		}
		p.Address = l.address(l.Tab, after)
	}
	personal := len(l.Rows) > 0
	if f.After = after; err == nil && l.Find == "" {
		err = c.read(q.Context(), &l, f)
	} else if err == nil {
		err = c.find(q.Context(), &l, f)
	}
	if posted && err == nil && !personal && len(l.Rows) > 0 {
		c.redirect(q, l.address(l.Tab, ""))
		return
	}
	if wrong, isForm := errors.AsType[errForm](err); isForm {
		p.Notice, err = wrong.Error(), nil
	}
	if err != nil {
		c.fail(q, err)
		return
	}
	p.Content = l
	c.show(q, p)
}

// mostFound is how many payments a search finds of each kind, and how many rows a page without a next one shows.
const mostFound = 200

// find adds the writes with an id, the beginning of an order's number, a receipt, an amount, a time or the last digits of a card.
func (c *console[TTx]) find(ctx context.Context, l *list, f durable.Filter) error {
	f.After, f.Limit = "", mostFound
	text := l.Find
	if from, to, err := c.when(text); err == nil {
		f.From, f.To = from, to
		return c.read(ctx, l, f)
	}
	w, err := c.engine.Get(ctx, text)
	if err == nil {
		l.Rows = append(l.Rows, w)
	} else if !errors.Is(err, durable.ErrNoWrite) {
		return err
	}
	var all []durable.Filter
	lower := strings.ToLower(text)
	first, size := utf8.DecodeRuneInString(lower)
	for _, order := range []string{text, strings.ToUpper(text), lower, string(unicode.ToUpper(first)) + lower[size:]} {
		f := f
		f.Order = order
		all = append(all, f)
	}
	byReceipt := f
	byReceipt.ReceiptNumber = text
	all = append(all, byReceipt)
	note := ""
	if f.From.IsZero() { // no index finds amounts and cards
		f.From, note = cmp.Or(f.To, c.opts.Now()).AddDate(0, 0, -31), "By amount and card: 31 days. Fill in a first day to look further back."
	}
	byAmount, byCard := f, f
	if byAmount.Amount, err = amountIn(text); err == nil {
		all, l.Note = append(all, byAmount), note
	}
	if byCard.CardDigits = text; (len(text) == 3 || len(text) == 4) && strings.Trim(text, "0123456789") == "" {
		all = append(all, byCard)
	}
	for _, f := range all {
		if err := c.read(ctx, l, f); err != nil {
			return err
		}
	}
	return nil
}

// read adds a page of a list to the rows that were found, the newest first, each once.
func (c *console[TTx]) read(ctx context.Context, l *list, f durable.Filter) error {
	page, err := c.engine.List(ctx, f)
	l.Rows = append(l.Rows, c.settled(ctx, page.Writes)...)
	if f.Limit == mostFound && page.Next != "" {
		l.Note = "There are more: fill in a day, or more of what you look for."
	} else if page.Next != "" {
		l.Next = l.address(l.Tab, page.Next)
	}
	slices.SortStableFunc(l.Rows, func(x, y durable.Write) int {
		return cmp.Or(y.Written.Compare(x.Written), strings.Compare(y.ID, x.ID))
	})
	l.Rows = slices.CompactFunc(l.Rows, func(x, y durable.Write) bool { return x.ID == y.ID })
	return err
}
