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

// Filter says which writes a list has. The zero value has all.
type Filter struct {
	// States are those of the list; all if it is empty.
	States []State
	// Reasons are those of the list; all if it is empty.
	Reasons []Reason
	// ReceiptNumber and CustomerReferenceNumber are compared as a whole. Order is a prefix of the order's number, and
	// CardDigits are the last digits of the card, three or four of them.
	Order, ReceiptNumber, CustomerReferenceNumber, CardDigits string
	// Amount is compared exactly; zero takes any. A list by amount alone reads all writes of its time.
	Amount decimal.Decimal
	// Refused leaves those of which OnOutcome has not taken what is known: see [Engine.NotifyAgain].
	Refused bool
	// From and To limit Written: From inclusive, To exclusive. Zero is no limit.
	From, To time.Time
	// After is Next of the page before.
	After Cursor
	// Limit is how many writes a page has at most, up to 1000; 50 by default.
	Limit int
}

// Cursor is a position in a list: printable ASCII that may stand in an address. It can be stored, and stays
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
	err = within(ctx, e.db, func(tx tx) error {
		return e.each(ctx, tx, func(r *row) {
			if len(page.Writes) == f.Limit {
				last := page.Writes[f.Limit-1]
				page.Next = position{last.Written, last.ID}.cursor()
				return
			}
			page.Writes = append(page.Writes, r.shown())
		}, "id IN (SELECT id FROM ("+statement+") AS page) ORDER BY written_at DESC, id DESC", args...)
	})
	return page, named(err)
}

// position is where a write stands in a list.
type position struct {
	written time.Time
	id      string
}

func (p position) cursor() Cursor {
	return Cursor(base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", p.written.UnixMicro(), p.id)))
}

func (c Cursor) position() (of position, err error) {
	text, err := base64.RawURLEncoding.DecodeString(string(c))
	at, id, cut := strings.Cut(string(text), " ")
	micros, failed := strconv.ParseInt(at, 10, 64)
	if err != nil || failed != nil || !cut {
		return of, errors.New("this is no cursor of a list")
	}
	return position{time.UnixMicro(micros).UTC(), id}, nil
}

// lastRune is after every rune that an order's number can go on with.
const lastRune = "\U0010FFFF"

// conditions are those of a filter, with their arguments. indexed means that an index finds the writes.
type conditions struct {
	where   []string
	args    []any
	indexed bool
}

func (c *conditions) argument(value any) string {
	c.args = append(c.args, value)
	return "$" + strconv.Itoa(len(c.args))
}

// in is the condition that a column has one of some values.
func in[T any](c *conditions, column string, values []T) string {
	arguments := make([]string, len(values))
	for i, value := range values {
		arguments[i] = c.argument(value)
	}
	return column + " IN (" + strings.Join(arguments, ", ") + ")"
}

func (c *conditions) add(condition string, value any) {
	c.where = append(c.where, condition+c.argument(value))
}

func (f Filter) conditions() *conditions {
	c := &conditions{indexed: f.ReceiptNumber != "" || f.CustomerReferenceNumber != "" || f.Refused}
	if f.Order != "" {
		c.add("order_id >= ", f.Order)
		c.add("order_id < ", f.Order+lastRune)
	}
	if f.ReceiptNumber != "" {
		c.add("receipt <> '' AND receipt = ", f.ReceiptNumber)
	}
	if f.CustomerReferenceNumber != "" {
		c.add("customer <> '' AND customer = ", digest(f.CustomerReferenceNumber))
	}
	if f.Refused {
		c.where = append(c.where, "changes > notified")
	}
	if f.CardDigits != "" {
		c.add("digits <> '' AND (digits = ", f.CardDigits)
		c.where[len(c.where)-1] += " OR substr(digits, length(digits) - 2) = " + c.argument(f.CardDigits) + ")"
	}
	if len(f.Reasons) > 0 {
		c.where = append(c.where, in(c, "reason", f.Reasons))
	}
	if !f.Amount.IsZero() {
		c.add("amount = ", f.Amount)
	}
	if !f.From.IsZero() {
		c.add("written_at >= ", f.From)
	}
	if !f.To.IsZero() {
		c.add("written_at < ", f.To)
	}
	return c
}

// statement selects one write more than the page has. It reads so many of each state by the index of
// states, and no more of the others.
func (f Filter) statement() (text string, args []any, err error) {
	wanted := f.States
	if len(wanted) == 0 {
		wanted = States()
	}
	c := f.conditions()
	if f.After != "" {
		after, err := f.After.position()
		if err != nil {
			return "", nil, err
		}
		c.where = append(c.where, "(written_at, id) < ("+c.argument(after.written)+", "+c.argument(after.id)+")")
	}
	order := " ORDER BY written_at DESC, id DESC LIMIT " + strconv.Itoa(f.Limit+1)
	of := func(states ...State) string {
		return "SELECT id, written_at FROM quickstream.write WHERE " + strings.Join(append(slices.Clone(c.where), in(c, "state", states)), " AND ")
	}
	if c.indexed {
		return of(wanted...) + order, c.args, nil
	}
	var parts []string
	for i, state := range wanted {
		parts = append(parts, "SELECT id, written_at FROM ("+of(state)+order+") AS part"+strconv.Itoa(i))
	}
	return strings.Join(parts, " UNION ALL ") + order, c.args, nil
}
