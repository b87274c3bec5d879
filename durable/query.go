package durable

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Filter selects the writes of a list. The zero value selects all.
type Filter struct {
	// States are those of the list; all if it is empty.
	States []State
	// Reasons are those of the list; all if it is empty.
	Reasons []Reason
	// ReceiptNumber and CustomerReferenceNumber are compared as a whole. Order is a prefix of the order's number, and
	// CardDigits are the last digits of the card, three or four of them.
	Order, ReceiptNumber, CustomerReferenceNumber, CardDigits string
	// Amount is compared exactly; zero selects any. A list by amount alone reads all writes between From and To.
	Amount decimal.Decimal
	// Unnotified selects only writes whose Notified is false: see [Engine.NotifyAgain].
	Unnotified bool
	// From and To limit Written: From inclusive, To exclusive. Zero is no limit.
	From, To time.Time
	// After is Next of the page before.
	After Cursor
	// Limit is how many writes a page has at most, up to 1000; 50 by default.
	Limit int
}

// Cursor is a position in a list: printable ASCII that needs no escaping in a URL. It can be stored, and stays
// valid. The zero value is the beginning.
type Cursor string

// Page is a part of a list.
type Page struct {
	Writes []Write
	// Next is where the next page begins; empty if there is none.
	Next Cursor
}

const (
	usualPage   = 50
	longestPage = 1000
)

// List returns a page of writes, the last written first.
func (e *Engine[TTx]) List(ctx context.Context, f Filter) (Page, error) {
	var page Page
	if f.Limit == 0 {
		f.Limit = usualPage
	}
	if f.Limit < 1 || f.Limit > longestPage {
		return page, fmt.Errorf("durable: a page has 1 to %d writes", longestPage)
	}
	statement, args, err := f.statement()
	if err != nil {
		return page, named(err)
	}
	err = e.each(ctx, e.db, func(r *row) {
		if len(page.Writes) == f.Limit {
			page.Next = Cursor(base64.RawURLEncoding.EncodeToString([]byte(page.Writes[f.Limit-1].ID)))
			return
		}
		page.Writes = append(page.Writes, r.shown())
	}, "id IN (SELECT id FROM ("+statement+") AS page) ORDER BY written_at DESC, id DESC", args...)
	return page, named(err)
}

// lastRune sorts after all other runes, and so ends the range of a prefix.
const lastRune = "\U0010FFFF"

// conditions are those of a filter, with their arguments.
type conditions struct {
	where []string
	args  []any
}

// add adds a condition with its arguments in place of each question mark.
func (c *conditions) add(condition string, values ...any) {
	for _, value := range values {
		c.args = append(c.args, value)
		condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(c.args)), 1)
	}
	c.where = append(c.where, condition)
}

func (f Filter) conditions() (*conditions, error) {
	c := new(conditions)
	if f.Order != "" {
		c.add("order_id >= ? AND order_id < ?", f.Order, f.Order+lastRune)
	}
	if f.ReceiptNumber != "" {
		c.add("receipt <> '' AND receipt = ?", f.ReceiptNumber)
	}
	if f.CustomerReferenceNumber != "" {
		c.add("customer <> '' AND customer = ?", digest(f.CustomerReferenceNumber))
	}
	if f.Unnotified {
		c.add("changes > notified")
	}
	if f.CardDigits != "" {
		c.add("digits <> '' AND (digits = ? OR substr(digits, length(digits) - 2) = ?)", f.CardDigits, f.CardDigits)
	}
	if len(f.Reasons) > 0 {
		c.add("(reason = ?"+strings.Repeat(" OR reason = ?", len(f.Reasons)-1)+")", anys(f.Reasons)...)
	}
	if !f.Amount.IsZero() {
		c.add("amount = ?", f.Amount)
	}
	if !f.From.IsZero() {
		c.add("written_at >= ?", f.From)
	}
	if !f.To.IsZero() {
		c.add("written_at < ?", f.To)
	}
	if f.After != "" {
		last, err := base64.RawURLEncoding.DecodeString(string(f.After))
		if err != nil {
			return nil, errors.New("this is no cursor of a list")
		}
		c.add("(written_at, id) < (SELECT w.written_at, w.id FROM quickstream.write w WHERE w.id = ?)", string(last))
	}
	return c, nil
}

// statement selects one write more than the page has. It reads that many of each wanted state by the
// index of states, unless another index finds the writes.
func (f Filter) statement() (text string, args []any, err error) {
	c, err := f.conditions()
	if err != nil {
		return "", nil, err
	}
	wanted := slices.DeleteFunc(States(), func(s State) bool { return len(f.States) > 0 && !slices.Contains(f.States, s) })
	order := " ORDER BY written_at DESC, id DESC LIMIT " + strconv.Itoa(f.Limit+1)
	of := func(column string, states ...State) string {
		return "SELECT id, written_at FROM quickstream.write WHERE " + strings.Join(append(slices.Clone(c.where), sqlIn(column, states...)), " AND ")
	}
	if len(wanted) == 0 || f.Order != "" || f.ReceiptNumber != "" || f.CustomerReferenceNumber != "" || f.Unnotified {
		return of("coalesce(state, '')", wanted...) + order, c.args, nil // SQLite would prefer the index of states
	}
	var parts []string
	for i, state := range wanted {
		parts = append(parts, "SELECT id, written_at FROM ("+of("state", state)+order+") AS part"+strconv.Itoa(i))
	}
	return strings.Join(parts, " UNION ALL ") + order, c.args, nil
}
